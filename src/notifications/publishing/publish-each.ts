import type { Notification, NotificationInput } from '../../contract/notification.js';
import type { Handle, Transaction } from '../../database/database.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import { countDeliveries } from './limits.js';

/** One notification to publish. */
export interface Publication {
  readonly input: NotificationInput;
  /** The text of `object_data_number`, if the parsed number may be inexact. */
  readonly exactNumber: string | undefined;
}

/** The ids of the published notifications, or the errors for which the publication was refused. */
export type Outcome = { readonly ids: readonly string[] } | { readonly errors: readonly FieldError[] };

/** Why a publication would be refused; undefined if it would be published. */
export type PublicationRefusal = { readonly errors: readonly FieldError[] } | undefined;

export interface EachPublisherOptions {
  readonly database: Handle;
  readonly notifications: {
    publish(
      tx: Transaction,
      requests: readonly NotificationInput[],
      numbers: readonly (string | undefined)[],
    ): Promise<Notification[]>;
    validateEach(
      requests: readonly NotificationInput[],
      numbers: readonly (string | undefined)[],
    ): Promise<FieldError[][]>;
  };
}

/**
 * Publishes or refuses each of several publications independently. The valid ones share one transaction. All errors are
 * found before anything is written. If a publication becomes invalid after that, because its user is deleted, the other
 * publications are tried once more.
 *
 * @returns the outcomes after the commit, in the order of `publications`
 */
export async function publishEach(
  { database, notifications }: EachPublisherOptions,
  publications: readonly Publication[],
): Promise<Outcome[]> {
  const refusals = new Map<Publication, Outcome>();
  const published = new Map<Publication, Outcome>();
  for (const [index, refusal] of (await validatePublications(notifications, publications)).entries()) {
    const publication = publications[index];
    if (publication !== undefined && refusal !== undefined) refusals.set(publication, refusal);
  }
  while (published.size + refusals.size < publications.length) {
    const remaining = publications.filter((publication) => !refusals.has(publication));
    try {
      for (const [publication, outcome] of await publishAll({ database, notifications }, remaining)) {
        published.set(publication, outcome);
      }
    } catch (error) {
      for (const [place, errors] of errorsByPlace(error)) {
        const publication = remaining[place];
        if (publication === undefined) throw error;
        refusals.set(publication, { errors });
      }
    }
  }
  return publications.flatMap((publication) => refusals.get(publication) ?? published.get(publication) ?? []);
}

/** Checks publications as `publishEach` does, and publishes nothing. */
export async function validatePublications(
  notifications: EachPublisherOptions['notifications'],
  publications: readonly Publication[],
): Promise<PublicationRefusal[]> {
  const inputs = publications.map(({ input }) => input);
  const numbers = publications.map(({ exactNumber }) => exactNumber);
  const outcomes = await notifications.validateEach(inputs, numbers);
  return outcomes.map((errors) => (errors.length === 0 ? undefined : { errors }));
}

async function publishAll(
  { database, notifications }: EachPublisherOptions,
  publications: readonly Publication[],
): Promise<[Publication, Outcome][]> {
  const inputs = publications.map(({ input }) => input);
  const numbers = publications.map(({ exactNumber }) => exactNumber);
  const created = await database.transaction((tx) => notifications.publish(tx, inputs, numbers));
  let next = 0;
  return publications.map((publication) => {
    const first = next;
    next += countDeliveries(publication.input);
    return [publication, { ids: created.slice(first, next).map(({ id }) => id) }];
  });
}

/** The errors of a refused request, by the place of the item. Throws any other error again. */
function errorsByPlace(error: unknown): Map<number, FieldError[]> {
  const errors = error instanceof Problem && error.code === 'validation_failed' ? (error.options.errors ?? []) : [];
  const byPlace = new Map<number, FieldError[]>();
  for (const fieldError of errors) {
    const [, place, field] = /^(\d+)\.(.+)$/.exec(fieldError.field ?? '') ?? [];
    if (place === undefined || field === undefined) throw error;
    byPlace.set(Number(place), [...(byPlace.get(Number(place)) ?? []), { ...fieldError, field }]);
  }
  if (byPlace.size === 0) throw error;
  return byPlace;
}
