import { type Database, prepared, type Queryable, sql } from '../../database/database.js';
import type { ImageStorage } from './storage.js';

const batch = 100;
/** Milliseconds between two looks. */
const pause = 60_000;
/** Any fixed number: of several instances one does it at a time. */
const cleaningLock = 7_203_415_022;

/** By the index on check_after; whether something shows an image is looked at again under its lock. */
const selectDue = sql(
  `select id, external_url is null as stored,
          exists (select from notifications n where n.image_id = images.id) as shown
   from images where check_after < db_now() order by check_after limit ${batch}`,
);
const tryLock = sql(`select pg_try_advisory_xact_lock(${cleaningLock}) as mine`);
/** What a publisher holds is about to be shown: it is skipped, and looked at another time. */
const lockImages = prepared(
  'images_clean_lock',
  'select id from images where id = any($1::uuid[]) and check_after < db_now() order by id for update skip locked',
);
/** A statement after the lock of these rows: it sees whatever was published before the lock was got. */
export const deleteUnshown = prepared(
  'images_clean_delete',
  `delete from images where id = any($1::uuid[])
     and not exists (select from notifications n where n.image_id = images.id) returning id`,
);
const postponeShown = prepared(
  'images_clean_postpone',
  `update images set check_after = db_now() + interval '7 days' where id = any($1::uuid[])`,
);
const selectExisting = prepared('images_exist', 'select id from images where id = any($1::uuid[])');

export interface CleaningParts {
  readonly database: Database;
  readonly storage: ImageStorage;
}

export interface Cleaning {
  stop(): Promise<void>;
}

/** Removes images that nothing shows, now and every minute. What fails is told to `onError` and tried again. */
export function startCleaning(parts: CleaningParts, onError: (error: unknown) => void): Cleaning {
  let running: Promise<void> = Promise.resolve();
  const look = () => {
    running = running.then(() => cleanImages(parts)).then(() => undefined, onError);
  };
  look();
  const timer = setInterval(look, pause).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

/**
 * Removes the images whose time has come and that no notification shows, uploaded or hosted elsewhere, and the files
 * that got no row or lost it. A publisher holds the rows of the images that it refers to until it commits, so that an
 * image is either shown and stays, or gone and unknown to the publisher.
 * @returns how many images were removed.
 */
export async function cleanImages({ database, storage }: CleaningParts): Promise<number> {
  let total = 0;
  for (;;) {
    const due = await database.query<{ id: string; stored: boolean; shown: boolean }>(selectDue);
    const unshown = due.filter(({ shown }) => !shown);
    const stored = unshown.filter((image) => image.stored).map(({ id }) => id);
    for (const id of stored) await storage.unsettle(id);
    const idsOf = (images: readonly { id: string }[]) => images.map(({ id }) => id);
    const { removed, looked } = await database.transaction((tx) => removeUnshown(tx, idsOf(due), idsOf(unshown)));
    total += removed.size;
    // The others stay unsettled: another instance may just have removed their rows.
    for (const id of stored.filter((id) => removed.has(id))) await storage.remove(id);
    if (due.length < batch || looked === 0) break;
  }
  await settleLeftovers({ database, storage });
  return total;
}

/**
 * Nothing is looked at while another instance is at it. Only `unshown` are removed: the files of one that lost its last
 * notification just now are not unsettled, and nobody would ever find them without their row. Its turn comes again.
 */
async function removeUnshown(
  tx: Queryable,
  ids: readonly string[],
  unshown: readonly string[],
): Promise<{ removed: ReadonlySet<string>; looked: number }> {
  const [lock] = await tx.query<{ mine: boolean }>(tryLock);
  if (lock?.mine !== true || ids.length === 0) return { removed: new Set(), looked: 0 };
  const locked = (await tx.query<{ id: string }>(lockImages, [ids])).map(({ id }) => id);
  const removable = locked.filter((id) => unshown.includes(id));
  const removed = new Set((await tx.query<{ id: string }>(deleteUnshown, [removable])).map(({ id }) => id));
  await tx.query(postponeShown, [locked.filter((id) => !removed.has(id))]);
  return { removed, looked: locked.length };
}

/** Of a process that died between its files and its row. */
async function settleLeftovers({ database, storage }: CleaningParts): Promise<void> {
  const ids = await storage.longUnsettled();
  if (ids.length === 0) return;
  const existing = new Set((await database.query<{ id: string }>(selectExisting, [ids])).map(({ id }) => id));
  for (const id of ids) await (existing.has(id) ? storage.settle(id) : storage.remove(id));
}
