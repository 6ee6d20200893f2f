import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiKey, IssuedApiKey, NewApiKey, Scope } from '../contract/administration.js';
import { type Database, prepared, type Queryable, sql } from '../database/database.js';
import type { FilterFields } from '../lib/filter/fields.js';
import { newId, nilId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { writePrivateFile } from '../lib/private-file.js';
import { Problem } from '../lib/problem.js';
import { equalBytes } from '../lib/secret-keys.js';
import { sha256 } from '../lib/sha256.js';
import { futureTimeFault, parseTime } from '../lib/times.js';
import { newToken, parseToken } from '../lib/token-strings.js';
import { recordEvent } from './events/events.js';
import { type ListRequest, type Page, readPage } from './listing.js';

/** Who holds a key. */
export interface KeyHolder {
  /** `key:<id>`, or `key:environment` for ADMIN_API_KEY. */
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** The keys of the app's own servers and of operators' scripts. */
export interface ApiKeys {
  /** @throws Problem `validation_failed` */
  create(tx: Queryable, input: NewApiKey, origin: Origin): Promise<IssuedApiKey>;
  /** Those that were not revoked. */
  list(request: ListRequest): Promise<Page<ApiKey>>;
  /** @throws Problem `not_found`, also for a key that was revoked before */
  revoke(tx: Queryable, id: string, origin: Origin): Promise<void>;
  /** Who holds this key; undefined for what is no key, or one that was revoked or has expired. */
  verify(token: string): Promise<KeyHolder | undefined>;
}

/** What keys can be listed by. */
export const keyFilterFields: FilterFields = {
  id: { kind: 'id' },
  name: { kind: 'string', like: true },
  expires_at: { kind: 'time' },
  last_used_at: { kind: 'time' },
  created_at: { kind: 'time' },
};

const columns = 'id, name, scopes, expires_at, last_used_at, created_at';

const insertKey = prepared(
  'key_insert',
  `insert into api_keys (id, name, scopes, token_digest, expires_at, created_at)
   select $1, $2, $3::text[], $4, $5::timestamptz, now from (select db_now() as now) clock
   where $5::timestamptz is null or $5::timestamptz > now
   returning ${columns}`,
);
const revokeKey = prepared(
  'key_revoke',
  'update api_keys set revoked_at = db_now() where id = $1 and revoked_at is null returning name',
);

const isGood = `id = $1 and token_digest = $2 and revoked_at is null and (expires_at is null or expires_at > db_now())`;
const keyIsGood = prepared('key_is_good', `select 1 as good from api_keys where ${isGood}`);

/**
 * `last_used_at` is written at most once a minute, and by nobody who would have to wait for another who writes it: a
 * busy key's requests must not queue up behind one row.
 */
const findKey = prepared(
  'key_verify',
  `with found as (
     select id, scopes from api_keys where ${isGood}),
   stale as (
     select k.id from api_keys k join found on k.id = found.id
     where k.last_used_at is null or k.last_used_at < db_now() - interval '1 minute'
     for no key update of k skip locked),
   touched as (
     update api_keys k set last_used_at = db_now() from stale where k.id = stale.id)
   select id, scopes from found`,
);

/** @param options.environmentKey ADMIN_API_KEY: a key with every scope that no row knows of. */
export function createApiKeys(options: {
  readonly database: Database;
  readonly environmentKey?: string | undefined;
}): ApiKeys {
  const { database, environmentKey } = options;
  // Digests have one length, so comparing them in constant time tells nothing of the key's own.
  const environmentDigest = environmentKey === undefined ? undefined : sha256(environmentKey);
  return {
    create: createKey,
    list: (request) => readPage<ApiKey>(database, { columns, from: 'api_keys', where: 'revoked_at is null' }, request),
    async revoke(tx, id, origin) {
      const [key] = await tx.query<{ name: string }>(revokeKey, [id]);
      if (key === undefined) throw new Problem('not_found');
      await recordEvent(tx, { userId: nilId, type: 'key.revoked', origin, data: { key_id: id, name: key.name } });
    },
    async verify(token) {
      if (environmentDigest !== undefined && equalBytes(sha256(token), environmentDigest)) {
        return { name: 'key:environment', scopes: ['admin'] };
      }
      const parsed = parseToken('key', token);
      if (parsed === undefined) return undefined;
      const [key] = await database.query<{ id: string; scopes: Scope[] }>(findKey, [parsed.ids[0], parsed.digest]);
      return key && { name: `key:${key.id}`, scopes: key.scopes };
    },
  };
}

async function createKey(tx: Queryable, input: NewApiKey, origin: Origin): Promise<IssuedApiKey> {
  const { name, scopes, expires_at } = input;
  const expiresAt = expires_at === undefined ? null : parseTime(expires_at);
  if (expiresAt === undefined) throw invalidExpiry(futureTimeFault(expires_at ?? ''));
  const id = newId();
  const { token, digest } = newToken('key', [id]);
  const [key] = await tx.query<ApiKey>(insertKey, [id, name, scopes, digest, expiresAt]);
  if (key === undefined) throw invalidExpiry('time_in_past');
  await recordEvent(tx, { userId: nilId, type: 'key.created', origin, data: { key_id: id, name, scopes } });
  return { ...key, token };
}

function invalidExpiry(code: 'invalid_time' | 'time_in_past'): Problem {
  return new Problem('validation_failed', { errors: [{ field: 'expires_at', code }] });
}

export interface FirstKeyOptions {
  readonly database: Database;
  readonly dataDir: string;
  /** Whether a person is looking at what is printed. */
  readonly isTerminal: boolean;
  /** ADMIN_API_KEY. */
  readonly environmentKey?: string | undefined;
}

/** How to get the first key: the key itself, to be printed this once, or the file that holds it. */
export interface FirstKey {
  readonly token?: string;
  readonly file?: string;
}

/** The file of DATA_DIR that holds the first key. */
export const FIRST_KEY_FILE = 'admin-key';

const anyKey = prepared('key_any', 'select exists (select 1 from api_keys) as made');
/** Any fixed number that no other lock of ours has: of instances that start together, one makes the key. */
const firstKeyLock = sql('select pg_advisory_xact_lock(7203415002)');

/**
 * Makes the first key, with every scope, unless one was ever made or ADMIN_API_KEY is set. Where nobody is looking, it goes into
 * an owner-only file of DATA_DIR, which is named for as long as the key in it is good.
 */
export async function ensureFirstKey({
  database,
  dataDir,
  isTerminal,
  environmentKey,
}: FirstKeyOptions): Promise<FirstKey> {
  if (environmentKey !== undefined) return {};
  const file = join(dataDir, FIRST_KEY_FILE);
  const wasMade = async (handle: Queryable) => (await handle.query<{ made: boolean }>(anyKey))[0]?.made === true;
  if (await wasMade(database)) return (await holdsGoodKey(database, file)) ? { file } : {};
  const token = await database.transaction(async (tx) => {
    await tx.query(firstKeyLock);
    if (await wasMade(tx)) return undefined;
    const key = await createKey(tx, { name: 'first key', scopes: ['admin'] }, { actor: 'system' });
    // Before the commit: a key that nobody can read would be the first one for good.
    if (!isTerminal) await writePrivateFile(file, `${key.token}\n`, { replace: true });
    return key.token;
  });
  if (token === undefined) return {};
  return isTerminal ? { token } : { file };
}

async function holdsGoodKey(database: Database, file: string): Promise<boolean> {
  const key = parseToken('key', (await readFile(file, 'utf8').catch(() => '')).trim());
  return key !== undefined && (await database.query(keyIsGood, [key.ids[0], key.digest])).length > 0;
}
