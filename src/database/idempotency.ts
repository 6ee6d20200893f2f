import { sha256 } from '../lib/crypto/digests.js';
import { type SecretKeys, unreadableProblem } from '../lib/crypto/secret-keys.js';
import { Problem } from '../lib/problem.js';
import { type Database, type Handle, isStorageFailure, type Transaction } from './database.js';
import { sql, statement } from './sql.js';

/** A stored response. A repeated request gets it again. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** Identifies a request. `caller` and `key` find the row; `request` shows whether it is the same request. */
export interface IdempotentRequest {
  readonly caller: string;
  readonly key: string;
  /** Route and body, as one text. */
  readonly request: string;
}

/**
 * Runs the work of a request once for each caller and key within 24 hours.
 *
 * First it commits a row with a lease of 60 seconds, so that parallel repeats see it. The response commits in the
 * transaction of the work. This commit fails if the lease has expired and another request has taken it over.
 */
export interface Idempotency {
  /**
   * @param perform does the work in the transaction that stores the response
   * @param handle runs this transaction
   * @throws Problem `idempotency_key_reused` if the key was used for a different request, `request_in_progress` while a
   *   request with this key runs.
   */
  run(
    request: IdempotentRequest,
    perform: IdempotentWork,
    handle: Pick<Handle, 'transaction'>,
  ): Promise<{ answer: StoredResponse; replayed: boolean }>;
}

/** Does slow work first (such as hashing), then calls `commit` once with the work that belongs in the transaction. */
export type IdempotentWork = (
  commit: (work: (tx: Transaction) => Promise<StoredResponse>) => Promise<StoredResponse>,
) => Promise<StoredResponse>;

/** The primary key of a row. */
interface RowKey {
  readonly caller: string;
  readonly keyDigest: Buffer;
}

/** A row together with the lease that this request holds on it. */
interface Lease extends RowKey {
  readonly leaseEndsAt: string;
}

interface StoredRow {
  request: Buffer;
  status: number | null;
  headers: Record<string, string> | null;
  sealed_body: Buffer | null;
  retry_after: number;
}

/**
 * Inserts the row, or takes over a row whose response or lease has expired. Returns no row while another request has
 * the lease.
 */
const acquireLease = statement<RowKey & { request: Buffer }, { lease_ends_at: string }>(
  'idempotency_acquire',
  (p) => sql`
    insert into idempotency_keys as existing (caller, key_digest, request, lease_ends_at, created_at)
    select ${p.caller}, ${p.keyDigest}, ${p.request}, now + interval '60 seconds', now
    from (select db_now() as now) clock
    on conflict (caller, key_digest) do update
    set request = excluded.request, lease_ends_at = excluded.lease_ends_at, created_at = excluded.created_at,
        status = null, headers = null, sealed_body = null
    where existing.created_at < db_now() - interval '24 hours'
       or (existing.status is null and existing.lease_ends_at < db_now())
    returning lease_ends_at`,
);
const findRow = statement<RowKey, StoredRow>(
  'idempotency_find',
  (p) => sql`
    select request, status, headers, sealed_body,
           greatest(1, ceil(extract(epoch from lease_ends_at - db_now())))::int as retry_after
    from idempotency_keys where caller = ${p.caller} and key_digest = ${p.keyDigest}`,
);
/** Stores nothing when another request has taken over the lease. */
const storeResponse = statement<
  Lease & { status: number; headers: StoredResponse['headers']; body: Buffer },
  { stored: number }
>(
  'idempotency_store',
  (p) => sql`
    update idempotency_keys set status = ${p.status}, headers = ${p.headers}, sealed_body = ${p.body}
    where caller = ${p.caller} and key_digest = ${p.keyDigest} and lease_ends_at = ${p.leaseEndsAt} and status is null
    returning 1 as stored`,
);
const releaseLease = statement<Lease>(
  'idempotency_release',
  (p) => sql`
    delete from idempotency_keys
    where caller = ${p.caller} and key_digest = ${p.keyDigest} and lease_ends_at = ${p.leaseEndsAt} and status is null`,
);

/** The associated data of an encrypted body: it binds the body to its row. */
const contextOf = ({ caller, keyDigest }: RowKey) => `idempotency ${caller} ${keyDigest.toString('hex')}`;

/**
 * Stored rows are useless without `keys`. A response may contain a new API key, so it is encrypted. A request may contain
 * a password, so its digest is keyed.
 */
export function createIdempotency(database: Database, keys: SecretKeys): Idempotency {
  async function findResponse(row: RowKey, request: string): Promise<StoredResponse> {
    const [stored] = await database.query(findRow(row));
    // The other request failed between the two statements, and released its lease.
    if (stored === undefined) throw new Problem('request_in_progress', { retryAfter: 1 });
    const { sealed_body: encrypted } = stored;
    const body = encrypted === null ? undefined : keys.decrypt(encrypted, contextOf(row));
    // This check comes before the comparison: without the secret key, the digest of the request would not match either.
    if (encrypted !== null && body === undefined) {
      throw unreadableProblem(keys, encrypted, 'a response stored for an Idempotency-Key');
    }
    if (!keys.matches('idempotency', request, stored.request)) throw new Problem('idempotency_key_reused');
    if (stored.status === null || body === undefined) {
      throw new Problem('request_in_progress', { retryAfter: stored.retry_after });
    }
    return { status: stored.status, headers: stored.headers ?? {}, body };
  }

  return {
    async run({ caller, key, request }, perform, handle) {
      const row = { caller, keyDigest: sha256(key) };
      const acquire = acquireLease({ ...row, request: keys.digest('idempotency', request) });
      const [acquired] = await database.query(acquire);
      if (acquired === undefined) return { answer: await findResponse(row, request), replayed: true };
      const lease = { ...row, leaseEndsAt: acquired.lease_ends_at };
      try {
        const answer = await perform((work) =>
          handle.transaction(async (tx) => {
            const { status, headers, body } = await work(tx);
            const encrypted = keys.encrypt(body, contextOf(row));
            const stored = await tx.query(storeResponse({ ...lease, status, headers, body: encrypted }));
            if (stored.length === 0) throw new Problem('request_in_progress', { retryAfter: 1 });
            return { status, headers, body };
          }),
        );
        return { answer, replayed: false };
      } catch (error) {
        // The work had no effect: release the key. If this fails too, the lease expires by itself.
        const released = database.query(releaseLease(lease)).catch(() => undefined);
        if (!isStorageFailure(error)) await released;
        throw error;
      }
    },
  };
}
