import type { TakenAction } from '../../contract/notification.js';
import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';

interface FoundAction {
  sequence: number;
  /** Whether the notification offers the action. */
  is_offered: boolean;
  is_expired: boolean;
  action_key: string | null;
  acted_at: string | null;
}

const findAction = statement<{ userId: string; id: string; key: string }, FoundAction>(
  'action_find',
  (p) => sql`
    select notification.sequence, action_key, acted_at, coalesce(expires_at <= db_now(), false) as is_expired,
           exists (select from jsonb_array_elements(extra -> 'actions') action where action ->> 'key' = ${p.key}) as is_offered
    from (
      select sequence, extra, expires_at from notifications where user_id = ${p.userId} and id = ${p.id} limit 1
    ) notification
      left join notification_states state on state.user_id = ${p.userId} and state.sequence = notification.sequence`,
);

const storeAction = statement<
  { userId: string; sequence: number; key: string; version: number; lastRead: number },
  { acted_at: string }
>(
  'action_store',
  (p) => sql`
    insert into notification_states (user_id, sequence, is_read, action_key, acted_at, version, updated_at)
    values (${p.userId}, ${p.sequence}::bigint, nullif(true, ${p.sequence}::bigint <= ${p.lastRead}::bigint), ${p.key}, db_now(),
            ${p.version}, db_now())
    on conflict (user_id, sequence) do update
    set is_read = excluded.is_read, action_key = excluded.action_key, acted_at = excluded.acted_at,
        version = excluded.version, updated_at = excluded.updated_at
    returning acted_at`,
);

/** A choice of a user who holds the lock of the states. */
export interface ActionChoice {
  readonly userId: string;
  /** The notification. */
  readonly id: string;
  readonly key: string;
  /** The new version of the states. */
  readonly version: number;
  /** The read position. */
  readonly lastRead: number;
}

/**
 * Stores which action the user has chosen, once. The notification is read then.
 * @throws Problem `not_found`, `action_taken`, `notification_expired`
 */
export async function takeAction(
  tx: Queryable,
  { id, ...choice }: ActionChoice,
): Promise<{ readonly action: TakenAction; readonly sequence: number; readonly isNew: boolean }> {
  const [found] = await tx.query(findAction({ userId: choice.userId, id, key: choice.key }));
  if (found === undefined || !found.is_offered) throw new Problem('not_found');
  const { sequence, action_key: key, acted_at: actedAt, is_expired: isExpired } = found;
  if (key !== null && actedAt !== null) {
    if (key !== choice.key) throw new Problem('action_taken', { params: { key } });
    return { action: { key, acted_at: actedAt }, sequence, isNew: false };
  }
  if (isExpired) throw new Problem('notification_expired');
  const [stored] = await tx.query(storeAction({ ...choice, sequence }));
  if (stored === undefined) throw new Error('the action was not stored');
  return { action: { key: choice.key, acted_at: stored.acted_at }, sequence, isNew: true };
}
