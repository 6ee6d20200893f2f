import type { Category, StepChannel } from '../../contract/category.js';
import { arrayText } from '../../database/array-text.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { newId } from '../../lib/ids.js';
import { parseDuration } from '../../lib/times.js';
import type { StepFacts } from './decide.js';

/** A step of a category that is decided later: every step but a push without delay and condition, which publishing creates itself. */
export interface LaterStep {
  readonly channel: StepChannel;
  readonly condition: StepFacts['condition'];
  /** Milliseconds after the publication. */
  readonly after: number;
}

/** The steps of a category, as publishing carries them out. */
export interface CategorySteps {
  /** Whether there is a push without delay and condition. */
  readonly pushesAtOnce: boolean;
  readonly later: readonly LaterStep[];
}

/** What most categories have. */
const onePush: CategorySteps = { pushesAtOnce: true, later: [] };

/** A category keeps its object until it changes, so this is computed once for each version. */
const known = new WeakMap<Category, CategorySteps>();

/** @param category undefined if it was deleted meanwhile. Then it has one push at once */
export function stepsOf(category: Category | undefined): CategorySteps {
  if (category === undefined) return onePush;
  const found = known.get(category);
  if (found !== undefined) return found;
  const later: LaterStep[] = [];
  let pushesAtOnce = false;
  for (const { channel, after, if: condition } of category.steps) {
    const delay = parseDuration(after) ?? 0;
    // A condition needs the decision: an earlier step may have been sent, or the user hides the category from the inbox.
    const isAtOnce = channel === 'push' && delay === 0 && condition === 'always';
    if (isAtOnce) pushesAtOnce = true;
    else later.push({ channel, condition, after: delay });
  }
  const steps = { pushesAtOnce, later };
  known.set(category, steps);
  return steps;
}

/** A notification that was inserted in this transaction. */
export interface InsertedNotification {
  readonly userId: string;
  readonly id: string;
  readonly publishedAt: string;
}

interface Ids {
  readonly id: string;
  /** As texts of arrays. */
  readonly userIds: string;
  readonly notificationIds: string;
  readonly publishedAt: string;
}

const insertStep = statement<Ids & { channel: string; condition: string; after: number }>(
  'pending_step_insert',
  (p) => sql`
    insert into pending_steps (id, user_ids, notification_ids, size, channel, condition, published_at, due_at)
    values (${p.id}, ${p.userIds}::uuid[], ${p.notificationIds}::uuid[], cardinality(${p.userIds}::uuid[]), ${p.channel},
            ${p.condition}, ${p.publishedAt}, ${p.publishedAt}::timestamptz + ${p.after}::float8 * interval '1 ms')`,
);

/** The statement that inserts notifications does the same if all of them have a push at once. */
const insertPushes = statement<Ids>(
  'push_fan_out_insert',
  (p) => sql`
    insert into push_fan_outs (id, user_ids, notification_ids, size, created_at)
    values (${p.id}, ${p.userIds}::uuid[], ${p.notificationIds}::uuid[], cardinality(${p.userIds}::uuid[]), ${p.publishedAt})`,
);

/**
 * Stores the steps of notifications, in the transaction that inserts the notifications: one row for each step, however many notifications
 * have it.
 * @param options.pushes whether to store the pushes at once too. False: the statement that inserted the notifications has stored them
 */
export async function insertSteps(
  tx: Queryable,
  notifications: readonly (InsertedNotification & { readonly steps: CategorySteps })[],
  { pushes }: { readonly pushes: boolean },
): Promise<void> {
  const groups = new Map<string, { step: LaterStep; items: InsertedNotification[] }>();
  for (const { steps, ...item } of notifications) {
    for (const step of steps.later) {
      const key = `${step.channel} ${step.condition} ${step.after}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { step, items: [item] });
      else group.items.push(item);
    }
  }
  for (const { step, items } of groups.values()) await tx.query(insertStep({ ...step, ...idsOf(items) }));
  if (!pushes) return;
  const pushed = notifications.filter(({ steps }) => steps.pushesAtOnce);
  if (pushed.length > 0) await tx.query(insertPushes(idsOf(pushed)));
}

/** Stores notifications whose push is due. The fan-out creates the pushes from this row. Their age counts from `publishedAt`. */
export async function insertDuePushes(tx: Queryable, items: readonly InsertedNotification[]): Promise<void> {
  await tx.query(insertPushes(idsOf(items)));
}

function idsOf(items: readonly InsertedNotification[]): Ids {
  return {
    id: newId(),
    userIds: arrayText(items.map(({ userId }) => userId)),
    notificationIds: arrayText(items.map(({ id }) => id)),
    publishedAt: items.reduce(
      (first, { publishedAt }) => (publishedAt < first ? publishedAt : first),
      items[0]?.publishedAt ?? '',
    ),
  };
}
