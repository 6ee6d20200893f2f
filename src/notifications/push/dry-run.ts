import type { Category } from '../../contract/category.js';
import { type DryRun, type DryRunStep, stepReasons } from '../../contract/push.js';
import type { Database, Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { DecideSteps } from '../deliveries/dry-run.js';
import { notificationOf } from '../inbox/row.js';
import type { PlannedNotification } from '../publishing/publish.js';
import { hasPush } from './decision.js';
import { type PlannedPush, type PushOptions, type PushSubject, planPushes, reachableByUser } from './plan.js';

/** The maximum number of items that a dry run shows. */
const maxItems = 100;

const readClock = statement<Record<never, never>, { now: string }>('clock', () => sql`select db_now() as now`);

/** Finds the recipients of these notifications and the recipients' devices, and decides about each step. Writes nothing. */
export async function dryRun(
  database: Database,
  options: PushOptions,
  planned: readonly PlannedNotification[],
  decideSteps: DecideSteps,
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
  const categories = planned.map(({ content: { category, notification_type: type } }) => {
    const known = options.categories.get(category ?? type);
    if (known === undefined) throw new Error('a planned notification has an unknown category');
    return known;
  });
  const [clock] = await database.query(readClock({}));
  const now = Date.parse(clock?.now ?? '');
  const decided = await decideSteps(
    planned.map(({ userId, content }, index) => ({
      userId,
      category: categories[index] as Category,
      isExpired: content.expires_at !== null && Date.parse(content.expires_at) <= now,
      push: {
        hasDevice: devices.has(userId),
        isMuted: (ofAll[index] ?? []).some(({ end }) => end?.state === 'muted'),
      },
    })),
  );
  const stepsOf = (index: number): DryRunStep[] =>
    (categories[index]?.steps ?? []).map(({ channel, after, if: condition }, step) => {
      const decision = decided[index]?.steps[step] ?? { state: 'send' };
      const reason = decision.state === 'send' ? null : decision.reason;
      const explanation = reason === null ? null : stepReasons[reason];
      return { channel, after, if: condition, state: decision.state, reason, explanation };
    });
  const items = planned.slice(0, maxItems).map(({ userId, content }, index) => ({
    user_id: userId,
    notification_type: content.notification_type,
    description: content.description,
    inbox: decided[index]?.isHidden !== true,
    steps: stepsOf(index),
    push: (pushes[index] ?? [])
      .filter(isShown)
      .map(({ device_id, channel, end }) => ({ device_id, channel, muted: end !== undefined })),
  }));
  return { deliveries: planned.length, push, steps: countSteps(planned.map((_, index) => stepsOf(index))), items };
}

/** How many steps have each decision, the most frequent first. */
function countSteps(all: readonly (readonly DryRunStep[])[]): DryRun['steps'] {
  const counts = new Map<string, DryRun['steps'][number]>();
  for (const { channel, state, reason } of all.flat()) {
    const key = `${channel} ${state} ${reason}`;
    counts.set(key, { channel, state, reason, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].sort((one, other) => other.count - one.count);
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
