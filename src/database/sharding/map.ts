import type { MapCheck } from '../connections/session-check.js';
import type { DatabaseTarget } from '../connections/target.js';
import { createPlainPool, mainShard } from '../database.js';
import { bucketOf } from './bucket.js';

/** The map of users on servers, as this process knows it. */
export interface ShardMap extends MapCheck {
  /** The name of the server that has the rows of a user. */
  shardOf(userId: string): string;
  /** Reads the map if there is a newer version. Calls at the same time share one read. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface MapLog {
  warn(fields: object, message: string): void;
}

interface Contents {
  readonly version: number;
  /** The name of the server of each bucket that is not on `main`. */
  readonly shards: ReadonlyMap<number, string>;
}

/**
 * Milliseconds between two checks for a newer version. They are shorter while users move, because the writes of these users
 * wait until this process has the new map.
 */
const pollIntervals = { usual: 1000, moving: 50 };

const readVersion = 'select version, exists (select from shard_moves) as moving from shard_map';
/** undefined_table */
const missingTableCode = '42P01';
/** One statement, so that the version belongs to the assignments. */
const readAll = 'select m.version, b.bucket, b.shard from shard_map m left join shard_buckets b on true';

/**
 * Reads the map from the directory, and checks for a newer version every second, or more often while users move. Servers
 * refuse the connections of requests if their map is old, but not the connection that reads the map.
 */
export async function openShardMap(directory: DatabaseTarget, log: MapLog): Promise<ShardMap> {
  const pool = createPlainPool(directory, 1, () => undefined);
  let contents: Contents = { version: -1, shards: new Map() };
  let reading: Promise<void> | undefined;
  let isMoving = false;
  const listeners: (() => void)[] = [];

  async function read(): Promise<void> {
    const { rows: versions } = await pool.query<{ version: string; moving: boolean }>(readVersion);
    isMoving = versions[0]?.moving === true;
    // A former primary may answer late, with an older version.
    if (Number(versions[0]?.version ?? 0) <= contents.version) return;
    const { rows } = await pool.query<{ version: string; bucket: number | null; shard: string | null }>(readAll);
    const shards = new Map<number, string>();
    for (const { bucket, shard } of rows) if (bucket !== null && shard !== null) shards.set(bucket, shard);
    contents = { version: Number(rows[0]?.version ?? 0), shards };
    for (const listener of listeners) listener();
  }

  function reload(): Promise<void> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  try {
    await reload();
  } catch (error) {
    if ((error as { readonly code?: string }).code !== missingTableCode) {
      await pool.end();
      throw error;
    }
    // A command has opened a database that is not migrated yet.
    contents = { version: 0, shards: new Map() };
  }
  let isFailing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout;
  const poll = () => {
    timer = setTimeout(
      () =>
        void reload()
          .then(
            () => {
              isFailing = false;
            },
            (error: unknown) => {
              if (!isFailing) log.warn({ err: error }, 'the map of users on servers could not be read');
              isFailing = true;
            },
          )
          .finally(() => isClosed || poll()),
      isMoving ? pollIntervals.moving : pollIntervals.usual,
    ).unref();
  };
  poll();
  return {
    version: () => contents.version,
    onChange: (listener) => void listeners.push(listener),
    onRefused: () => void reload().catch(() => undefined),
    shardOf: (userId) => contents.shards.get(bucketOf(userId)) ?? mainShard,
    reload,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await pool.end();
    },
  };
}
