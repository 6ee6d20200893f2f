import { prepared, type Queryable } from '../../database/database.js';
import { Problem } from '../../lib/problem.js';

/** Uploads of one user that are kept, and that may come within an hour. */
const limits = { kept: 1000, perHour: 100 };

const countImages = prepared(
  'images_count',
  `select count(*) as kept, count(*) filter (where created_at > hour_ago) as recent,
          greatest(1, ceil(extract(epoch from min(created_at - hour_ago) filter (where created_at > hour_ago))))::int
            as retry_after
   from images, (select db_now() - interval '1 hour' as hour_ago) clock
   where user_id = $1`,
);
const lockHead = prepared('images_lock_user', 'select user_id from inboxes where user_id = $1 for update');

/** @throws Problem `too_many_images`, `too_many_requests` */
export async function refuseBeyondQuota(handle: Queryable, userId: string): Promise<void> {
  const [count] = await handle.query<{ kept: number; recent: number; retry_after: number }>(countImages, [userId]);
  if (count === undefined) return;
  if (count.kept >= limits.kept) throw new Problem('too_many_images', { params: { max: limits.kept } });
  if (count.recent >= limits.perHour) throw new Problem('too_many_requests', { retryAfter: count.retry_after });
}

/**
 * The same in the transaction that adds an image, one at a time for a user: the head of the inbox is locked until
 * commit. An erasure removes the head before the images, so that none can come after it.
 * @throws Problem `too_many_images`, `too_many_requests`, `invalid_session_token` when the user is gone
 */
export async function takeQuota(tx: Queryable, userId: string): Promise<void> {
  const [head] = await tx.query(lockHead, [userId]);
  if (head === undefined) throw new Problem('invalid_session_token');
  await refuseBeyondQuota(tx, userId);
}
