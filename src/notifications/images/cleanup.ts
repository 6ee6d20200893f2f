import type { Database, Queryable } from '../../database/database.js';
import { literal, sql, statement, unprepared } from '../../database/sql.js';
import type { ImageStorage } from './storage.js';
import { existingImages } from './uploads.js';

/** The number of images that one transaction checks. */
const batch = 100;
/** Milliseconds between two runs. */
const interval = 60_000;
/**
 * The key of the advisory lock that a process needs to remove images. It lets one instance at a time clean up, and no
 * instance while a backup copies the images. No other lock uses this number.
 */
export const imageRemovalLock = 7_203_415_022;

interface DueRow {
  readonly id: string;
  /** Whether the image was uploaded. Only uploaded images have files. */
  readonly stored: boolean;
  readonly shown: boolean;
}

/**
 * Finds images that may have to be removed, by the index on `check_after`. `deleteUnused` checks again, under the
 * image's lock, whether a notification shows the image.
 */
const selectDue = unprepared(
  statement<Record<never, never>, DueRow>(
    'images_due',
    () => sql`
    select id, external_url is null as stored,
           exists (select from notifications n where n.image_id = images.id) as shown
    from images where check_after < (select db_now()) order by check_after limit ${literal(batch)}`,
  ),
);

const tryLock = unprepared(
  statement<Record<never, never>, { acquired: boolean }>(
    'images_clean_try',
    () => sql`select pg_try_advisory_xact_lock(${literal(imageRemovalLock)}) as acquired`,
  ),
);

/** Skips images that a publisher has locked: a notification is about to show them. A later run checks them again. */
const lockImages = statement<{ ids: readonly string[] }, { id: string }>(
  'images_clean_lock',
  (p) => sql`
    select id from images where id = any(${p.ids}::uuid[]) and check_after < db_now()
    order by id
    for update skip locked`,
);

/**
 * Deletes those of the images that no notification shows. Run it after the statement that locks these rows. Then it
 * sees every notification that was committed before the lock.
 */
export const deleteUnused = statement<{ ids: readonly string[] }, { id: string }>(
  'images_clean_delete',
  (p) => sql`
    delete from images where id = any(${p.ids}::uuid[])
      and not exists (select from notifications n where n.image_id = images.id)
    returning id`,
);

const postponeShown = statement<{ ids: readonly string[] }>(
  'images_clean_postpone',
  (p) => sql`update images set check_after = db_now() + interval '7 days' where id = any(${p.ids}::uuid[])`,
);

export interface ImageCleanupOptions {
  readonly database: Database;
  readonly storage: ImageStorage;
}

export interface ImageCleanup {
  stop(): Promise<void>;
}

/**
 * Removes images that nothing shows, now and every minute.
 * @param onError called when a run fails; the next run tries again
 */
export function startImageCleanup(parts: ImageCleanupOptions, onError: (error: unknown) => void): ImageCleanup {
  let running: Promise<void> = Promise.resolve();
  const run = () => {
    running = running.then(() => cleanUpImages(parts)).then(() => undefined, onError);
  };
  run();
  const timer = setInterval(run, interval).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Removes images whose time `check_after` has passed and that no notification shows, whether they were uploaded or are
 * hosted elsewhere. Also removes files without a row. A publisher locks the images that it refers to until it commits.
 * So an image is either shown and stays, or it is removed and the publisher does not find it.
 * @returns the number of removed images
 */
export async function cleanUpImages({ database, storage }: ImageCleanupOptions): Promise<number> {
  let total = 0;
  for (;;) {
    const dueImages = await database.query(selectDue({}));
    const unused = dueImages.filter(({ shown }) => !shown);
    const stored = idsOf(unused.filter((image) => image.stored));
    for (const id of stored) await storage.markUnsettled(id);
    const { removed, checked } = await database.transaction((tx) => removeUnused(tx, idsOf(dueImages), idsOf(unused)));
    total += removed.size;
    // Images that this run did not remove stay unsettled (marked as perhaps having files without a row), because
    // another instance may just have removed their rows.
    for (const id of stored.filter((id) => removed.has(id))) await storage.remove(id);
    if (dueImages.length < batch || checked === 0) break;
  }
  await settleLeftovers({ database, storage });
  return total;
}

const idsOf = (images: readonly { readonly id: string }[]) => images.map(({ id }) => id);

/**
 * Does nothing while another instance cleans up or a backup runs. Removes only the images in `unused`, whose files are
 * marked as unsettled. Without this mark, no later run would find the files. A later run removes the other images.
 */
async function removeUnused(
  tx: Queryable,
  ids: readonly string[],
  unused: readonly string[],
): Promise<{ removed: ReadonlySet<string>; checked: number }> {
  const [lock] = await tx.query(tryLock({}));
  if (lock?.acquired !== true || ids.length === 0) return { removed: new Set(), checked: 0 };
  const locked = idsOf(await tx.query(lockImages({ ids })));
  const removable = locked.filter((id) => unused.includes(id));
  const removedIds = new Set(idsOf(await tx.query(deleteUnused({ ids: removable }))));
  await tx.query(postponeShown({ ids: locked.filter((id) => !removedIds.has(id)) }));
  return { removed: removedIds, checked: locked.length };
}

/** Settles images whose process died between writing the files and the row. */
async function settleLeftovers({ database, storage }: ImageCleanupOptions): Promise<void> {
  const ids = await storage.longUnsettled();
  const existing = await existingImages(database, ids);
  for (const id of ids) await (existing.has(id) ? storage.markSettled(id) : storage.remove(id));
}
