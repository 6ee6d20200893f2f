import type { Handle, Queryable } from '../database/database.js';
import type { FilterClause } from '../lib/filter/fields.js';
import { matches } from '../lib/filter/match.js';
import { parseFilter } from '../lib/filter/parse.js';
import { newId } from '../lib/ids.js';
import { type Cause, eventOf, includesType, webhookFilterFields } from './catalogue.js';
import {
  endReplay,
  hasWork,
  insertDeliveries,
  insertEvents,
  moveReplay,
  numberEvents,
  type OutboxRow,
  replayStep,
  retryPending,
  type StoredEvent,
  type Subscription,
  selectReplay,
  selectReplayEvents,
  selectSubscriptions,
  takeOutbox,
  tryRelayLock,
} from './relay-queries.js';

/**
 * The message relay of a transactional outbox (https://microservices.io/patterns/data/transactional-outbox.html). It turns the oldest rows
 * of the outbox into events with numbers and into deliveries, in the transaction that deletes the rows. So no event is lost, and no event
 * is delivered for a change that did not happen. After that, it continues a replay even if further events wait, because new events may
 * never pause.
 * @returns whether there may be more
 */
export async function relayEvents(database: Handle): Promise<boolean> {
  const inTurn = (work: (tx: Queryable) => Promise<boolean>) =>
    database.transaction(async (tx) => {
      const [lock] = await tx.query(tryRelayLock({}));
      return lock?.locked === true && work(tx);
    });
  const [work] = await database.query(hasWork({}));
  const hasMoreEvents = work?.events === true && (await inTurn(relayOutbox));
  const hasMoreReplays = work?.replays === true && (await inTurn(continueReplay));
  return hasMoreEvents || hasMoreReplays;
}

/** @returns whether there may be more */
async function relayOutbox(tx: Queryable): Promise<boolean> {
  const rows = await tx.query(takeOutbox({}));
  if (rows.length === 0) return false;
  const events = await numberCauses(tx, rows.flatMap(causesOf));
  await tx.query(insertEvents({ events: JSON.stringify(events) }));
  const subscriptions = await tx.query(selectSubscriptions({}));
  await deliver(tx, events, subscriptions);
  return true;
}

/** The causes of a row, in their order for each user. */
function causesOf(row: OutboxRow): Cause[] {
  const { type, actor, user_ids: users, object_ids, data, created_at, traceparent } = row;
  const sequences = row.sequences?.map(Number);
  const causeOf = (userId: string, more: Readonly<Record<string, unknown>>): Cause => ({
    type,
    actor,
    userId,
    data: { ...data, ...more },
    createdAt: created_at,
    traceparent,
  });
  if (sequences === undefined) return users.map((userId) => causeOf(userId, {}));
  const places = users.map((_, place) => place).sort((one, other) => (sequences[one] ?? 0) - (sequences[other] ?? 0));
  return places.map((place) => {
    const [object, sequence] = [object_ids?.[place] ?? null, sequences[place] ?? null];
    if (type === 'notification.state_changed') return causeOf(users[place] ?? '', {});
    const isMarker = type === 'marker.moved';
    const ids = isMarker
      ? { last_read_sequence: sequence }
      : { notification_id: object, notification_sequence: sequence };
    return causeOf(users[place] ?? '', ids);
  });
}

/** Gives each event the next number of its user. */
async function numberCauses(tx: Queryable, causes: readonly Cause[]): Promise<StoredEvent[]> {
  const known = causes.flatMap((cause) => {
    const event = eventOf(cause);
    return event === undefined ? [] : [{ cause, event }];
  });
  const counts = new Map<string, number>();
  for (const { cause } of known) counts.set(cause.userId, (counts.get(cause.userId) ?? 0) + 1);
  const numbered = await tx.query(numberEvents({ userIds: [...counts.keys()], counts: [...counts.values()] }));
  const next = new Map(
    numbered.map(({ user_id, last_sequence }) => [user_id, last_sequence - (counts.get(user_id) ?? 0) + 1]),
  );
  return known.map(({ cause: { userId, createdAt, traceparent }, event: { type, data } }) => {
    const sequence = next.get(userId) ?? 0;
    next.set(userId, sequence + 1);
    return { user_id: userId, sequence, id: newId(), type, data, created_at: createdAt, traceparent };
  });
}

/** Creates the deliveries of events to the endpoints that want them. */
async function deliver(
  tx: Queryable,
  events: readonly StoredEvent[],
  subscriptions: readonly Subscription[],
  skipsOrder = false,
): Promise<void> {
  const deliveries = subscriptions.flatMap(({ id: endpoint_id, events: patterns, filter }) => {
    const clauses = filter === '' ? [] : parseFilter(filter, webhookFilterFields);
    return events
      .filter((event) => patterns.some((pattern) => includesType(pattern, event.type)) && isWanted(clauses, event))
      .map(({ user_id, sequence, id: event_id, type }) => ({ user_id, endpoint_id, sequence, event_id, type }));
  });
  if (deliveries.length > 0) await tx.query(insertDeliveries({ deliveries: JSON.stringify(deliveries), skipsOrder }));
}

/**
 * Sends events to an endpoint again. An event that still waits for its next attempt is tried now instead, so that it does not arrive twice.
 * @param skipsOrder whether each of them is tried now, also if an event of the same user before it fails
 */
export async function deliverAgain(
  tx: Queryable,
  events: readonly StoredEvent[],
  subscription: Subscription,
  skipsOrder: boolean,
): Promise<void> {
  if (events.length === 0) return;
  const retried = await tx.query(
    retryPending({
      endpointId: subscription.id,
      skipsOrder,
      userIds: events.map(({ user_id }) => user_id),
      sequences: events.map(({ sequence }) => sequence),
    }),
  );
  const keyOf = (event: { readonly user_id: string; readonly sequence: number }) =>
    `${event.user_id} ${event.sequence}`;
  const known = new Set(retried.map(keyOf));
  await deliver(
    tx,
    events.filter((event) => !known.has(keyOf(event))),
    [subscription],
    skipsOrder,
  );
}

const isWanted = (clauses: readonly FilterClause[], { user_id, type, data, created_at }: StoredEvent) =>
  clauses.length === 0 || matches(clauses, { ...data, user_id, type, created_at });

/** @returns whether there may be more */
async function continueReplay(tx: Queryable): Promise<boolean> {
  const [replay] = await tx.query(selectReplay({}));
  if (replay === undefined) return false;
  const { replay_id: replayId } = replay;
  const events = await tx.query(selectReplayEvents({ replayId }));
  // A time span keeps the order of the events of each user.
  await deliverAgain(tx, events, replay, false);
  const last = events.at(-1);
  if (last === undefined || events.length < replayStep) await tx.query(endReplay({ replayId }));
  else {
    const { created_at: time, user_id: userId, sequence } = last;
    await tx.query(moveReplay({ replayId, time, userId, sequence }));
  }
  return true;
}
