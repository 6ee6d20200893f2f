import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recordServiceEvent } from '../audit/events.js';
import type { ApiKey, IssuedApiKey, NewApiKey, Scope } from '../contract/administration.js';
import type { Database, Queryable } from '../database/database.js';
import { type ListRequest, type ListSource, type Page, readPage } from '../database/listing.js';
import { type Parameters, sql, statement } from '../database/sql.js';
import { sha256 } from '../lib/crypto/digests.js';
import { equalBytes } from '../lib/crypto/secret-keys.js';
import { newToken, type ParsedToken, parseToken } from '../lib/crypto/token-strings.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { writePrivateFile } from '../lib/private-file.js';
import { Problem } from '../lib/problem.js';
import { errorCodeOfUnreadableTime, parseTime } from '../lib/times.js';

/** The holder of an API key. */
export interface KeyHolder {
  /** `key:<id>`, or `key:environment` for ADMIN_API_KEY. */
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** API keys, for the app's own servers and for operators' scripts. They belong to no user. */
export interface ApiKeys {
  /** @throws Problem `validation_failed` */
  create(tx: Queryable, input: NewApiKey, origin: Origin): Promise<IssuedApiKey>;
  /** Lists the keys that are not revoked. */
  list(request: ListRequest): Promise<Page<ApiKey>>;
  /** @throws Problem `not_found`, also for a revoked key */
  revoke(tx: Queryable, id: string, origin: Origin): Promise<void>;
  /** The holder of a key; undefined for any other string, and for a revoked or expired key. */
  verify(token: string): Promise<KeyHolder | undefined>;
}

/** The fields that filter lists of keys. */
export const keyFilterFields: FilterFields = {
  id: { kind: 'id' },
  name: { kind: 'string', like: true },
  expires_at: { kind: 'time' },
  last_used_at: { kind: 'time' },
  created_at: { kind: 'time' },
};

const columns = sql`id, name, scopes, expires_at, last_used_at, created_at`;

const keyList: ListSource = {
  columns,
  from: sql`api_keys`,
  where: sql`revoked_at is null`,
};

interface InsertValues {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly digest: Buffer;
  /** RFC 3339; null: never. */
  readonly expiresAt: string | null;
}

const insertKey = statement<InsertValues, ApiKey>(
  'key_insert',
  (p) => sql`
  insert into api_keys (id, name, scopes, token_digest, expires_at, created_at)
  select ${p.id}, ${p.name}, ${p.scopes}::text[], ${p.digest}, ${p.expiresAt}::timestamptz, now
  from (select db_now() as now) clock
  where ${p.expiresAt}::timestamptz is null or ${p.expiresAt}::timestamptz > now
  returning ${columns}`,
);
const revokeKey = statement<{ id: string }, { name: string }>(
  'key_revoke',
  (p) => sql`update api_keys set revoked_at = db_now() where id = ${p.id} and revoked_at is null returning name`,
);

interface KeyValues {
  readonly id: string;
  readonly digest: Buffer;
}

/** SQL: whether a row is the key with this id and digest, and valid. */
const isValid = (p: Parameters<KeyValues>) => sql`id = ${p.id} and token_digest = ${p.digest} and revoked_at is null
  and (expires_at is null or expires_at > db_now())`;

const findValidKey = statement<KeyValues, { valid: number }>(
  'key_is_valid',
  (p) => sql`select 1 as valid from api_keys where ${isValid(p)}`,
);

/**
 * Finds a valid key, and notes that it was used. Writes `last_used_at` at most once a minute, and skips the row if another
 * request holds its lock: requests with a busy key must not queue for one row.
 */
const findKeyAndNoteUse = statement<KeyValues, { id: string; scopes: Scope[] }>(
  'key_verify',
  (p) => sql`
  with found as (
    select id, scopes from api_keys where ${isValid(p)}),
  stale as (
    select k.id from api_keys k join found on k.id = found.id
    where k.last_used_at is null or k.last_used_at < db_now() - interval '1 minute'
    for no key update of k skip locked),
  touched as (
    update api_keys k set last_used_at = db_now() from stale where k.id = stale.id)
  select id, scopes from found`,
);

/** @param options.environmentKey ADMIN_API_KEY: a key with every scope, which has no row */
export function createApiKeys(options: {
  readonly database: Database;
  readonly environmentKey?: string | undefined;
}): ApiKeys {
  const { database, environmentKey } = options;
  // Digests have one length, so a comparison in constant time does not reveal the length of the key.
  const environmentDigest = environmentKey === undefined ? undefined : sha256(environmentKey);
  return {
    create: createKey,
    list: (request) => readPage<ApiKey>(database, keyList, request),
    async revoke(tx, id, origin) {
      const [key] = await tx.query(revokeKey({ id }));
      if (key === undefined) throw new Problem('not_found');
      await recordServiceEvent(tx, { type: 'key.revoked', origin, data: { key_id: id, name: key.name } });
    },
    async verify(token) {
      if (environmentDigest !== undefined && equalBytes(sha256(token), environmentDigest)) {
        return { name: 'key:environment', scopes: ['admin'] };
      }
      const parsed = parseToken('key', token);
      if (parsed === undefined) return undefined;
      const [key] = await database.query(findKeyAndNoteUse(valuesOf(parsed)));
      return key && { name: `key:${key.id}`, scopes: key.scopes };
    },
  };
}

const valuesOf = ({ ids: [id = ''], digest }: ParsedToken): KeyValues => ({ id, digest });

async function createKey(tx: Queryable, input: NewApiKey, origin: Origin): Promise<IssuedApiKey> {
  const { name, scopes, expires_at } = input;
  const expiresAt = expires_at === undefined ? null : parseTime(expires_at);
  if (expiresAt === undefined) throw invalidExpiry(errorCodeOfUnreadableTime(expires_at ?? ''));
  const id = newId();
  const { token, digest } = newToken('key', [id]);
  const [key] = await tx.query(insertKey({ id, name, scopes, digest, expiresAt }));
  if (key === undefined) throw invalidExpiry('time_in_past');
  await recordServiceEvent(tx, {
    type: 'key.created',
    origin,
    data: { key_id: id, name, scopes, expires_at: key.expires_at },
  });
  return { ...key, token };
}

function invalidExpiry(code: 'invalid_time' | 'time_in_past'): Problem {
  return new Problem('validation_failed', { errors: [{ field: 'expires_at', code }] });
}

export interface FirstKeyOptions {
  readonly database: Database;
  readonly dataDir: string;
  /** Whether a person reads the output. */
  readonly isTerminal: boolean;
  /** ADMIN_API_KEY. */
  readonly environmentKey?: string | undefined;
}

/** The first key: the token, which is printed once, or the file with the token. Empty: there is nothing to show. */
export interface FirstKey {
  readonly token?: string;
  readonly file?: string;
}

/** The file in DATA_DIR that holds the first key. */
export const firstKeyFile = 'admin-key';

const anyKey = statement<object, { exists: boolean }>(
  'key_any',
  () => sql`select exists (select 1 from api_keys) as exists`,
);
/** If several instances start together, only one creates the key. No other lock uses this number. */
const lockFirstKey = statement<object>('key_first_lock', () => sql`select pg_advisory_xact_lock(7203415002)`);

/**
 * Creates the first key, with every scope, unless a key was ever created or ADMIN_API_KEY is set. Without a terminal, it
 * writes the key to a file in DATA_DIR that only its owner can read. It returns that file as long as the key is valid.
 */
export async function ensureFirstKey(options: FirstKeyOptions): Promise<FirstKey> {
  const { database, dataDir, isTerminal, environmentKey } = options;
  if (environmentKey !== undefined) return {};
  const file = join(dataDir, firstKeyFile);
  const anyExists = async (handle: Queryable) => (await handle.query(anyKey({})))[0]?.exists === true;
  if (await anyExists(database)) return (await holdsValidKey(database, file)) ? { file } : {};
  const token = await database.transaction(async (tx) => {
    await tx.query(lockFirstKey({}));
    if (await anyExists(tx)) return undefined;
    const key = await createKey(tx, { name: 'first key', scopes: ['admin'] }, { actor: 'system' });
    // Write the file before the commit: if writing fails, the key must not exist, because nobody could read it.
    if (!isTerminal) await writePrivateFile(file, `${key.token}\n`, { replace: true });
    return key.token;
  });
  if (token === undefined) return {};
  return isTerminal ? { token } : { file };
}

async function holdsValidKey(handle: Queryable, file: string): Promise<boolean> {
  const key = parseToken('key', (await readFile(file, 'utf8').catch(() => '')).trim());
  return key !== undefined && (await handle.query(findValidKey(valuesOf(key)))).length > 0;
}
