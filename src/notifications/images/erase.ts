import { type Database, prepared, type Transaction } from '../../database/database.js';
import { Problem } from '../../lib/problem.js';
import { type CleaningParts, deleteUnshown } from './cleaning.js';

const batch = 100;

const selectOfUser = prepared('images_of_user', `select id from images where user_id = $1 limit ${batch}`);
const selectShowing = prepared(
  'images_showing',
  `select id from notifications where image_id = any($1::uuid[]) limit ${batch}`,
);
/** Waits for publishers, unlike the cleaning; what they have published then is found in the next round. */
const lockImages = prepared(
  'images_erase_lock',
  'select id from images where id = any($1::uuid[]) order by id for update',
);

/** Takes the image away from a notification: a change like any other. @throws Problem `not_found` */
export type HideImage = (tx: Transaction, notificationId: string) => Promise<unknown>;

/**
 * Removes all that a deleted user has uploaded, shown or not. For the job that erases a user, after the head of the inbox
 * is gone. Whoever was shown an image hears of a change first. Doing it again or going on after a failure does no harm.
 */
export async function eraseImagesOf(
  { database, storage, hide }: CleaningParts & { readonly hide: HideImage },
  userId: string,
): Promise<void> {
  for (;;) {
    const ids = idsOf(await database.query(selectOfUser, [userId]));
    if (ids.length === 0) return;
    const hidden = await hideAll(database, hide, idsOf(await database.query(selectShowing, [ids])));
    for (const id of ids) await storage.unsettle(id);
    const removed = await database.transaction(async (tx) => {
      await tx.query(lockImages, [ids]);
      return idsOf(await tx.query(deleteUnshown, [ids]));
    });
    for (const id of removed) await storage.remove(id);
    // Somebody who is shown them is being erased as well: the job is repeated later.
    if (hidden + removed.length === 0) throw new Error('images of a deleted user are still shown');
  }
}

const idsOf = (rows: readonly object[]) => (rows as readonly { readonly id: string }[]).map(({ id }) => id);

/** @returns how many are hidden now; what was deleted meanwhile is not. */
async function hideAll(
  database: Pick<Database, 'transaction'>,
  hide: HideImage,
  ids: readonly string[],
): Promise<number> {
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
