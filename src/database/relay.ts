import type { Database, Shard } from './database.js';
import { perShard } from './sharding/routing.js';

/** Milliseconds between two polls. Polling finds the rows of other instances, and of a process that died. */
const pollInterval = 1000;

/** Processes rows of a table that serves as a queue (transactional outbox), soon after their commit. */
export interface Relay {
  /** Call it after the commit of a row, so that the row does not wait for the next poll. */
  notify(): void;
  stop(): Promise<void>;
}

/**
 * Processes rows now, after each call of `notify`, and every second.
 * @param step processes some rows, and returns whether there may be more
 * @param onError called when a step failed. The next poll repeats the step
 */
export function startRelay(step: () => Promise<boolean>, onError: (error: unknown) => void): Relay {
  let running: Promise<void> | undefined;
  let isRequested = false;
  let isStopping = false;

  async function work(): Promise<void> {
    do {
      isRequested = false;
      let hasMore = true;
      while (hasMore && !isStopping) hasMore = await step();
    } while (isRequested && !isStopping);
  }
  const runNow = () => {
    isRequested = true;
    if (isStopping) return;
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  };
  runNow();
  const timer = setInterval(runNow, pollInterval).unref();
  return {
    notify: runNow,
    async stop() {
      isStopping = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** The relays of a table that each shard has. A server that is down delays only the rows of its own users. */
export interface ShardRelays {
  /** Call it after the commit of rows of these users. Never fails. */
  notify(userIds: Iterable<string>): void;
  stop(): Promise<void>;
}

/** Starts a relay for each shard. Its steps run on that shard. */
export function startShardRelays(
  database: Database,
  step: (shard: Shard) => Promise<boolean>,
  onError: (error: unknown, shard: Shard) => void,
): ShardRelays {
  const relays: Relay[] = [];
  const relayOf = perShard(database, (shard) => {
    const relay = startRelay(
      () => step(shard),
      (error) => onError(error, shard),
    );
    relays.push(relay);
    return relay;
  });
  return {
    notify(userIds) {
      try {
        for (const relay of new Set(Array.from(userIds, relayOf))) relay.notify();
      } catch {
        // The user was just moved to a server that SHARDS of this process does not name: its relay is on another instance.
      }
    },
    stop: async () => void (await Promise.all(relays.map((relay) => relay.stop()))),
  };
}
