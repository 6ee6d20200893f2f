import { Problem } from '../lib/problem.js';
import { type SecretKeys, unreadable } from '../lib/secret-keys.js';
import { sha256 } from '../lib/sha256.js';
import { type Database, isStorageFailure, prepared, type Transaction } from './database.js';

/** An answer as it is kept: what a repeat gets. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** What makes two requests the same: caller and key say which row, `request` whether it is really the same. */
export interface IdempotentRequest {
  readonly caller: string;
  readonly key: string;
  /** Route and body, as one text. */
  readonly request: string;
}

/**
 * Runs an effect once per caller and key within 24 hours.
 *
 * A row with a lease of 60 s is committed first, so parallel repeats see that one is on its way; the answer commits
 * with the effect, so it is never kept for an effect that did not happen. When a lease has run out, its holder can no
 * longer commit: its own update finds the row taken over, and rolls back.
 */
export interface Idempotency {
  /**
   * @param effect gets the transaction in which the answer is kept.
   * @param on where that transaction runs: the database, or the lane of a user.
   * @throws Problem `idempotency_key_reused` for another request, `request_in_progress` while one runs.
   */
  run(
    request: IdempotentRequest,
    effect: Effect,
    on: Pick<Database, 'transaction'>,
  ): Promise<{ answer: StoredAnswer; replayed: boolean }>;
}

/** Does slow work first if it must (hashing), then calls `commit` once with what belongs in the transaction. */
export type Effect = (
  commit: (work: (tx: Transaction) => Promise<StoredAnswer>) => Promise<StoredAnswer>,
) => Promise<StoredAnswer>;

const claimRow = prepared(
  'idempotency_claim',
  `insert into idempotency_keys as kept (caller, key_digest, request, lease_ends_at, created_at)
   select $1, $2, $3, now + interval '60 seconds', now from (select db_now() as now) clock
   on conflict (caller, key_digest) do update
   set request = excluded.request, lease_ends_at = excluded.lease_ends_at, created_at = excluded.created_at,
       status = null, headers = null, sealed_body = null
   where kept.created_at < db_now() - interval '24 hours'
      or (kept.status is null and kept.lease_ends_at < db_now())
   returning lease_ends_at`,
);
const findRow = prepared(
  'idempotency_find',
  `select request, status, headers, sealed_body,
          greatest(1, ceil(extract(epoch from lease_ends_at - db_now())))::int as retry_after
   from idempotency_keys where caller = $1 and key_digest = $2`,
);
const keepAnswer = prepared(
  'idempotency_keep',
  `update idempotency_keys set status = $4, headers = $5, sealed_body = $6
   where caller = $1 and key_digest = $2 and lease_ends_at = $3 and status is null returning 1 as kept`,
);
const releaseRow = prepared(
  'idempotency_release',
  'delete from idempotency_keys where caller = $1 and key_digest = $2 and lease_ends_at = $3 and status is null',
);

interface KeptRow {
  request: Buffer;
  status: number | null;
  headers: Record<string, string> | null;
  sealed_body: Buffer | null;
  retry_after: number;
}

/** Binds a sealed body to its row. */
const contextOf = ([caller, key]: readonly [string, Buffer]) => `idempotency ${caller} ${key.toString('hex')}`;

/**
 * What is kept is worth nothing without `keys`: an answer may hold a new API key, so it is sealed; a request may hold a
 * password, so its fingerprint is keyed.
 */
export function createIdempotency(database: Database, keys: SecretKeys): Idempotency {
  async function findAnswer(row: readonly [string, Buffer], request: string): Promise<StoredAnswer> {
    const [kept] = await database.query<KeptRow>(findRow, row);
    // Gone between the two statements: its holder failed just now.
    if (kept === undefined) throw new Problem('request_in_progress', { retryAfter: 1 });
    const { sealed_body: sealed } = kept;
    const body = sealed === null ? undefined : keys.open(sealed, contextOf(row));
    // First: the fingerprint of the request is keyed too, and would not match.
    if (sealed !== null && body === undefined) throw unreadable(keys, sealed, 'an answer kept for an Idempotency-Key');
    if (!keys.matches('idempotency', request, kept.request)) throw new Problem('idempotency_key_reused');
    if (kept.status === null || body === undefined) {
      throw new Problem('request_in_progress', { retryAfter: kept.retry_after });
    }
    return { status: kept.status, headers: kept.headers ?? {}, body };
  }

  return {
    async run({ caller, key, request }, effect, on) {
      const row = [caller, sha256(key)] as const;
      const [claim] = await database.query<{ lease_ends_at: string }>(claimRow, [
        ...row,
        keys.digest('idempotency', request),
      ]);
      if (claim === undefined) return { answer: await findAnswer(row, request), replayed: true };
      const lease = [...row, claim.lease_ends_at] as const;
      try {
        const answer = await effect((work) =>
          on.transaction(async (tx) => {
            const done = await work(tx);
            const sealed = keys.seal(done.body, contextOf(row));
            const kept = await tx.query(keepAnswer, [...lease, done.status, done.headers, sealed]);
            if (kept.length === 0) throw new Problem('request_in_progress', { retryAfter: 1 });
            return done;
          }),
        );
        return { answer, replayed: false };
      } catch (error) {
        // Nothing happened: the key is free again. If this fails too, the lease runs out by itself.
        const released = database.query(releaseRow, lease).catch(() => undefined);
        if (!isStorageFailure(error)) await released;
        throw error;
      }
    },
  };
}
