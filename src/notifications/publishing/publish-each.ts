import type { Notification, NotificationInput } from '../../contract/notification.js';
import type { Handle, Transaction } from '../../database/database.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import { countDeliveries } from './limits.js';

/** One notification to publish. */
export interface PublishItem {
  readonly input: NotificationInput;
  /** The text of `object_data_number`, if the parsed number may be inexact. */
  readonly exactNumber: string | undefined;
}

/** The ids of the published notifications, or the errors for which the item was refused. */
export type Outcome = { readonly ids: readonly string[] } | { readonly errors: readonly FieldError[] };

/** Why an item would be refused; undefined if it would be published. */
export type PublishRefusal = { readonly errors: readonly FieldError[] } | undefined;

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
 * Publishes or refuses each of several items independently. The valid ones share one transaction. All errors are
 * found before anything is written. If an item becomes invalid after that, because its user is deleted, the other
 * items are tried once more.
 *
 * @returns the outcomes after the commit, in the order of `items`
 */
export async function publishEach(
  { database, notifications }: EachPublisherOptions,
  items: readonly PublishItem[],
): Promise<Outcome[]> {
  const refusals = new Map<PublishItem, Outcome>();
  const published = new Map<PublishItem, Outcome>();
  for (const [index, refusal] of (await validatePublishItems(notifications, items)).entries()) {
    const item = items[index];
    if (item !== undefined && refusal !== undefined) refusals.set(item, refusal);
  }
  while (published.size + refusals.size < items.length) {
    const remaining = items.filter((item) => !refusals.has(item));
    try {
      for (const [item, outcome] of await publishAll({ database, notifications }, remaining)) {
        published.set(item, outcome);
      }
    } catch (error) {
      for (const [place, errors] of errorsByPlace(error)) {
        const item = remaining[place];
        if (item === undefined) throw error;
        refusals.set(item, { errors });
      }
    }
  }
  return items.flatMap((item) => refusals.get(item) ?? published.get(item) ?? []);
}

/** Checks items as `publishEach` does, and publishes nothing. */
export async function validatePublishItems(
  notifications: EachPublisherOptions['notifications'],
  items: readonly PublishItem[],
): Promise<PublishRefusal[]> {
  const inputs = items.map(({ input }) => input);
  const numbers = items.map(({ exactNumber }) => exactNumber);
  const outcomes = await notifications.validateEach(inputs, numbers);
  return outcomes.map((errors) => (errors.length === 0 ? undefined : { errors }));
}

async function publishAll(
  { database, notifications }: EachPublisherOptions,
  items: readonly PublishItem[],
): Promise<[PublishItem, Outcome][]> {
  const inputs = items.map(({ input }) => input);
  const numbers = items.map(({ exactNumber }) => exactNumber);
  const created = await database.transaction((tx) => notifications.publish(tx, inputs, numbers));
  let next = 0;
  return items.map((item) => {
    const first = next;
    next += countDeliveries(item.input);
    return [item, { ids: created.slice(first, next).map(({ id }) => id) }];
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
