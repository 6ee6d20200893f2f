import type { DryRun } from '../../contract/push.js';
import type { Database, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { notificationOf } from '../inbox/row.js';
import type { PlannedNotification } from '../publishing/publish.js';
import { hasPush } from './decision.js';
import { type PlannedPush, type PushOptions, type PushSubject, planPushes, reachableByUser } from './plan.js';

/** The maximum number of items that a dry run shows. */
const maxItems = 100;

const readClock = statement<Record<never, never>, { now: string }>('clock', () => sql`select db_now() as now`);

/** Finds the recipients of these notifications and the recipients' devices. Writes nothing. */
export async function dryRun(
  database: Database,
  options: PushOptions,
  planned: readonly PlannedNotification[],
): Promise<DryRun> {
  const devices = await reachableByUser(
    database,
    options,
    planned.map(({ userId }) => userId),
  );
  const ofAll = await planPushes(database, options, { items: planned, devices }, (items) =>
    pushSubjects(database, items),
  );
  const isPushed = ({ content: { category, notification_type: type } }: PlannedNotification) => {
    const known = options.categories.get(category ?? type);
    return known === undefined || hasPush(known);
  };
  const pushes = planned.map((item, index) => (isPushed(item) ? (ofAll[index] ?? []) : []));
  const push = { apns: 0, fcm: 0, web_push: 0, muted: 0 };
  // A push that ends for another reason than a mute is not made.
  const isShown = ({ end }: PlannedPush) => end === undefined || end.state === 'muted';
  for (const { channel, end } of pushes.flat().filter(isShown)) push[end === undefined ? channel : 'muted'] += 1;
  const items = planned.slice(0, maxItems).map(({ userId, content }, index) => ({
    user_id: userId,
    notification_type: content.notification_type,
    description: content.description,
    inbox: true,
    push: (pushes[index] ?? [])
      .filter(isShown)
      .map(({ device_id, channel, end }) => ({ device_id, channel, muted: end !== undefined })),
  }));
  return { deliveries: planned.length, push, items };
}

/**
 * The notifications by id, as if they were published now. They have no sequence, so a mute that filters by the sequence
 * does not match them.
 */
async function pushSubjects(
  handle: Queryable,
  items: readonly PlannedNotification[],
): Promise<ReadonlyMap<string, PushSubject>> {
  const [clock] = await handle.query(readClock({}));
  const now = clock?.now ?? '';
  return new Map(
    items.map(({ id, userId, content }) => {
      const generated = { id, user_id: userId, sequence: 0, created_at: now, updated_at: now };
      const { sequence: _, image: __, ...subject } = notificationOf(content, generated, new Map());
      return [
        id,
        { notification: subject, category: content.category ?? content.notification_type, topic: content.topic },
      ];
    }),
  );
}
