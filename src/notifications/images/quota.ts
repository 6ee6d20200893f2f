import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';

/** The maximum number of stored images of one user, and of uploads within an hour. */
const limits = { stored: 1000, perHour: 100 };
/** Fewer for a guest: a stranger becomes one without a proof, and 20 times an hour. */
const guestLimits = { stored: 10, perHour: 10 };

const countImages = statement<
  { userId: string },
  { stored: number; recent: number; retry_after: number; is_guest: boolean }
>(
  'images_count',
  (p) => sql`
    select count(*) as stored, count(*) filter (where created_at > hour_ago) as recent,
           greatest(1, ceil(extract(epoch from min(created_at - hour_ago) filter (where created_at > hour_ago))))::int
             as retry_after,
           coalesce((select is_guest from users where id = ${p.userId}), false) as is_guest
    from images, (select db_now() - interval '1 hour' as hour_ago) clock
    where user_id = ${p.userId}`,
);

const lockUser = statement<{ userId: string }, { user_id: string }>(
  'images_lock_user',
  (p) => sql`select user_id from inboxes where user_id = ${p.userId} for update`,
);

/** Refuses an upload beyond the user's quota. @throws Problem `too_many_images`, `too_many_requests` */
export async function refuseBeyondQuota(handle: Queryable, userId: string): Promise<void> {
  const [count] = await handle.query(countImages({ userId }));
  if (count === undefined) return;
  const { stored, perHour } = count.is_guest ? guestLimits : limits;
  if (count.stored >= stored) throw new Problem('too_many_images', { params: { max: stored } });
  if (count.recent >= perHour) throw new Problem('too_many_requests', { retryAfter: count.retry_after });
}

/**
 * Checks the quota again in the transaction that adds the image. The inbox row is locked until commit, so uploads of a
 * user are counted one after the other. The erasure of a user removes the inbox row before the images, so no image can
 * be added after that.
 * @throws Problem `too_many_images`, `too_many_requests`; `invalid_session_token` when the user is deleted
 */
export async function takeQuota(tx: Queryable, userId: string): Promise<void> {
  const [row] = await tx.query(lockUser({ userId }));
  if (row === undefined) throw new Problem('invalid_session_token');
  await refuseBeyondQuota(tx, userId);
}
