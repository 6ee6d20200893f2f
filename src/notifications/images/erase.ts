import type { Database, Transaction } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';
import { Problem } from '../../lib/problem.js';
import { deleteUnused, type ImageCleanupOptions, imageRemovalLock } from './cleanup.js';

/** The number of rows that one step reads. */
const batch = 100;

const selectUploads = statement<{ userId: string }, { id: string }>(
  'images_of_user',
  (p) => sql`select id from images where user_id = ${p.userId} limit ${literal(batch)}`,
);

const selectShowing = statement<{ imageIds: readonly string[] }, { id: string }>(
  'images_showing',
  (p) => sql`select id from notifications where image_id = any(${p.imageIds}::uuid[]) limit ${literal(batch)}`,
);

/**
 * Waits until publishers release the images. (The cleanup skips locked images instead.) The next round finds the
 * notifications that were published in the meantime.
 */
const lockImages = statement<{ ids: readonly string[] }, { id: string }>(
  'images_erase_lock',
  (p) => sql`select id from images where id = any(${p.ids}::uuid[]) order by id for update`,
);

/**
 * Waits until a running cleanup ends. A backup holds the same lock. While it runs, this statement fails after the lock
 * timeout, and the queue repeats the job later.
 */
const lockRemoval = statement<Record<never, never>>(
  'images_erase_wait',
  () => sql`select from pg_advisory_xact_lock_shared(${literal(imageRemovalLock)})`,
);

/** Removes the image from a notification, as any other change does. @throws Problem `not_found` */
export type RemoveImageFrom = (tx: Transaction, notificationId: string) => Promise<unknown>;

/**
 * Removes all uploads of a deleted user, whether notifications show them or not. The job that erases a user calls it
 * after the inbox row is removed. First, each notification that shows an image is changed, so that clients no longer
 * show it. It is safe to repeat, also after a failure.
 */
export async function eraseImagesOf(
  { database, storage, hide }: ImageCleanupOptions & { readonly hide: RemoveImageFrom },
  userId: string,
): Promise<void> {
  for (;;) {
    const ids = idsOf(await database.query(selectUploads({ userId })));
    if (ids.length === 0) return;
    const showing = await database.query(selectShowing({ imageIds: ids }));
    const hidden = await hideAll(database, hide, idsOf(showing));
    for (const id of ids) await storage.markUnsettled(id);
    const removedIds = await database.transaction(async (tx) => {
      await tx.query(lockRemoval({}));
      await tx.query(lockImages({ ids }));
      return idsOf(await tx.query(deleteUnused({ ids })));
    });
    for (const id of removedIds) await storage.remove(id);
    // Notifications of another user still show these images, and that user is being erased too. The queue repeats this
    // job later.
    if (hidden + removedIds.length === 0) throw new Error('images of a deleted user are still shown');
  }
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

/** @returns how many notifications were changed. Notifications that were deleted in the meantime are not counted */
async function hideAll(database: Database, hide: RemoveImageFrom, ids: readonly string[]): Promise<number> {
  let hidden = 0;
  for (const id of ids) {
    try {
      await database.transaction((tx) => hide(tx, id));
      hidden += 1;
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_found')) throw error;
    }
  }
  return hidden;
}
