import type { Database, Shard } from '../database.js';
import { type Relay, startRelay } from '../relay.js';
import { perShard } from './routing.js';

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
