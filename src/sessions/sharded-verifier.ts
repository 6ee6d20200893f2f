import type { BatchOptions } from '../database/batching/batch-loader.js';
import type { Database, Shard } from '../database/database.js';
import { perShard, retryMoved } from '../database/sharding/routing.js';
import { parseToken } from '../lib/crypto/token-strings.js';
import { Problem } from '../lib/problem.js';
import type { SessionVerifier } from './verifier.js';

/**
 * Verifies each session by the verifier of its shard (the server that has its row), because snapshots of different
 * servers cannot be compared.
 */
export function createShardedVerifier(
  database: Database,
  create: (shard: Shard, options: BatchOptions) => SessionVerifier,
): SessionVerifier {
  const verifierOf = perShard(database, create);
  if (database.shards.length === 1) return verifierOf('');
  return {
    async verify(text) {
      const token = parseToken('session', text);
      if (token === undefined) throw new Problem('invalid_session_token');
      return retryMoved(() => verifierOf(token.userHex).verify(text, token));
    },
  };
}
