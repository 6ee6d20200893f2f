import { recordEvent } from '../audit/events.js';
import type { MaintenanceTask } from '../database/maintenance/tasks.js';
import { literal, sql, statement } from '../database/sql.js';
import { deleteUser } from './queries.js';

/** Guests that one step removes. */
const batchSize = 100;

/** A session shows the last use of a device until it is removed, and then the device does. */
const findUnused = statement<Record<never, never>, { id: string }>(
  'guest_expiry_find',
  () => sql`
  select u.id from users u
  where u.is_guest and u.created_at < (select db_now()) - interval '90 days'
    and not exists (
      select from devices d
      where d.user_id = u.id and greatest(d.last_login_at, d.last_used_at) > db_now() - interval '90 days')
    and not exists (
      select from sessions s where s.user_id = u.id and s.created_at > db_now() - interval '90 days')
  order by u.created_at limit ${literal(batchSize)} for update of u skip locked`,
);

/** Deletes guests who were not used for 90 days. */
export const guestExpiryTask: MaintenanceTask = {
  name: 'expire guests',
  pauseMs: 3_600_000,
  async step(tx) {
    const unused = await tx.query(findUnused({}));
    for (const { id: userId } of unused) {
      await deleteUser(tx, userId);
      await recordEvent(tx, { userId, type: 'user.deleted', origin: { actor: 'system' } });
    }
    return unused.length < batchSize ? { removed: unused.length } : { removed: unused.length, next: {} };
  },
};
