import type { NotificationInput } from '../contract/notification.js';
import type { Database } from '../database/database.js';
import { type FieldError, Problem } from '../lib/problem.js';
import type { Notifications } from './notifications.js';

/** One notification to publish. */
export interface Publication {
  readonly input: NotificationInput;
  /** `object_data_number` as it was written, where the parsed one may not be it. */
  readonly number: string | undefined;
}

/** What came of it: the ids of what was made, or why nothing was. */
export type Outcome = { readonly ids: readonly string[] } | { readonly faults: readonly FieldError[] };

/** What would come of it; undefined: it would be made. */
export type Forecast = { readonly faults: readonly FieldError[] } | undefined;

export interface EachPublisher {
  readonly database: Pick<Database, 'transaction'>;
  readonly notifications: Pick<Notifications, 'publish' | 'faultsOfEach'>;
}

/**
 * Publishes several, each made or refused by itself, and all that are made in one transaction. Faults are looked for
 * before anything is written; what becomes faulty after that (a user who is deleted) costs the others one more try.
 *
 * @returns in the order of `publications`, once what was made is committed
 */
export async function publishEach(
  { database, notifications }: EachPublisher,
  publications: readonly Publication[],
): Promise<Outcome[]> {
  const refused = new Map<Publication, Outcome>();
  const made = new Map<Publication, Outcome>();
  for (const [index, forecast] of (await forecastEach(notifications, publications)).entries()) {
    const publication = publications[index];
    if (publication !== undefined && forecast !== undefined) refused.set(publication, forecast);
  }
  while (made.size + refused.size < publications.length) {
    const open = publications.filter((publication) => !refused.has(publication));
    try {
      for (const [publication, outcome] of await publishAll({ database, notifications }, open)) {
        made.set(publication, outcome);
      }
    } catch (error) {
      for (const [place, faults] of faultsByPlace(error)) {
        const publication = open[place];
        if (publication === undefined) throw error;
        refused.set(publication, { faults });
      }
    }
  }
  return publications.flatMap((publication) => refused.get(publication) ?? made.get(publication) ?? []);
}

/** What `publishEach` would do. Makes nothing. */
export async function forecastEach(
  notifications: EachPublisher['notifications'],
  publications: readonly Publication[],
): Promise<Forecast[]> {
  const inputs = publications.map(({ input }) => input);
  const numbers = publications.map(({ number }) => number);
  const found = await notifications.faultsOfEach(inputs, numbers);
  return found.map((faults) => (faults.length === 0 ? undefined : { faults }));
}

async function publishAll(
  { database, notifications }: EachPublisher,
  publications: readonly Publication[],
): Promise<[Publication, Outcome][]> {
  const inputs = publications.map(({ input }) => input);
  const numbers = publications.map(({ number }) => number);
  const created = await database.transaction((tx) => notifications.publish(tx, inputs, numbers));
  let next = 0;
  return publications.map((publication) => {
    const first = next;
    next += publication.input.user_ids?.length ?? 1;
    return [publication, { ids: created.slice(first, next).map(({ id }) => id) }];
  });
}

/** The faults of a refused request, by item. Whatever else went wrong is thrown on. */
function faultsByPlace(error: unknown): Map<number, FieldError[]> {
  const faults = error instanceof Problem && error.code === 'validation_failed' ? (error.options.errors ?? []) : [];
  const byPlace = new Map<number, FieldError[]>();
  for (const fault of faults) {
    const [, place, field] = /^(\d+)\.(.+)$/.exec(fault.field ?? '') ?? [];
    if (place === undefined || field === undefined) throw error;
    byPlace.set(Number(place), [...(byPlace.get(Number(place)) ?? []), { ...fault, field }]);
  }
  if (byPlace.size === 0) throw error;
  return byPlace;
}
