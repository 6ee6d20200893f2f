import type { Queryable } from '../database/database.js';
import { bound, compose, identifier, join, type Sql, type SqlPart, sql } from '../database/sql.js';
import { encryptedHeadBytes, encryptedPrefix, pinKeyNames, type SecretKeys } from '../lib/crypto/secret-keys.js';

type KeyType = 'uuid' | 'timestamptz' | 'text' | 'bytea';

/** One kind of stored value that is encrypted with SECRET_KEY, or hashed with it. */
export interface EncryptedKind {
  /** The name in the plural, for messages. */
  readonly name: string;
  readonly table: string;
  /** SQL: which rows contain such a value now. */
  readonly where: Sql;
  /** SQL: the encrypted value. */
  readonly encrypted: Sql;
  /** SQL: the associated data of the encryption. */
  readonly context: Sql;
  /** The columns that identify a row, in the order of an index, with their types. */
  readonly key: Readonly<Record<string, KeyType>>;
  /**
   * The column of the value, if the value does not expire. After a rotation of the keys, the value is encrypted again.
   */
  readonly reencryptedColumn?: string;
  /**
   * For hashes only: returns the names of the keys, the current one first. In this case, the value is the name of the
   * key and not an encrypted text.
   */
  readonly keyNames?: (keys: SecretKeys) => readonly string[];
  /** The maximum number of rows that a check reads, if there may be very many. */
  readonly maxRows?: number;
}

/** The number of rows that one query reads. */
const batchSize = 1000;

/** All values that need a secret key and can be counted. */
export const encryptedKinds: readonly EncryptedKind[] = [
  {
    name: 'secrets of authenticator apps',
    table: 'totp',
    where: sql`true`,
    encrypted: sql`secret`,
    context: sql`'totp:' || user_id`,
    key: { user_id: 'uuid' },
    reencryptedColumn: 'secret',
  },
  {
    name: 'authenticator apps that are being enrolled',
    table: 'challenges',
    where: sql`purpose = 'totp' and ended_at is null and expires_at > (select db_now())`,
    encrypted: sql`decode(kept->>'secret', 'base64')`,
    context: sql`'totp:' || user_id`,
    key: { expires_at: 'timestamptz', id: 'uuid' },
  },
  {
    name: 'queued codes',
    table: 'outbox',
    // The first condition lets the query use the index. It excludes no valid code, because codes expire in less than an
    // hour.
    where: sql`
      created_at > (select db_now() - interval '1 hour') and state = 'queued' and sealed_code is not null
      and expires_at > (select db_now())`,
    encrypted: sql`sealed_code`,
    context: sql`id::text`,
    key: { created_at: 'timestamptz', id: 'uuid' },
  },
  {
    name: 'secrets of webhooks',
    table: 'webhook_endpoints',
    where: sql`true`,
    encrypted: sql`secret`,
    context: sql`'webhook:' || id`,
    key: { id: 'uuid' },
    reencryptedColumn: 'secret',
  },
  {
    name: 'previous secrets of webhooks',
    table: 'webhook_endpoints',
    where: sql`previous_secret is not null and previous_secret_until > (select db_now())`,
    encrypted: sql`previous_secret`,
    context: sql`'webhook:' || id`,
    key: { id: 'uuid' },
    reencryptedColumn: 'previous_secret',
  },
  {
    name: 'signing keys of webhooks',
    table: 'webhook_keys',
    where: sql`true`,
    encrypted: sql`private_key`,
    context: sql`'webhook-key:' || id`,
    key: { id: 'uuid' },
    reencryptedColumn: 'private_key',
  },
  {
    name: 'signing keys of access tokens',
    table: 'signing_keys',
    where: sql`true`,
    encrypted: sql`private_key`,
    context: sql`'signing-key:' || id`,
    key: { id: 'uuid' },
    reencryptedColumn: 'private_key',
  },
  {
    name: 'codes of test identities',
    table: 'test_identities',
    where: sql`expires_at > (select db_now())`,
    encrypted: sql`encrypted_code`,
    context: sql`'test-identity:' || id`,
    key: { id: 'uuid' },
    reencryptedColumn: 'encrypted_code',
  },
  {
    name: 'responses stored for an Idempotency-Key',
    table: 'idempotency_keys',
    where: sql`sealed_body is not null and created_at > (select db_now() - interval '24 hours')`,
    encrypted: sql`sealed_body`,
    context: sql`'idempotency ' || caller || ' ' || encode(key_digest, 'hex')`,
    key: { caller: 'text', key_digest: 'bytea' },
  },
  {
    name: 'PINs',
    table: 'users',
    where: sql`pin_hash is not null`,
    encrypted: sql`convert_to(left(pin_hash, 9), 'UTF8')`,
    context: sql`''`,
    key: { id: 'uuid' },
    keyNames: pinKeyNames,
    maxRows: 100_000,
  },
];

/** The values of one kind that no configured key can decrypt. */
export interface Unreadable {
  readonly kind: string;
  readonly count: number;
  /** Ids of the missing keys. Empty if the values were encrypted before keys had ids. */
  readonly missing: readonly string[];
}

/**
 * Counts the stored values that no configured key can decrypt. Reads them by keyset iteration.
 * @param maxRows the maximum number of rows of each kind; by default, all
 */
export async function countUnreadable(
  handle: Queryable,
  keys: SecretKeys,
  maxRows = Number.POSITIVE_INFINITY,
): Promise<Unreadable[]> {
  const unreadableValues: Unreadable[] = [];
  for (const kind of await storedKinds(handle)) {
    let count = 0;
    const missing = new Set<string>();
    for await (const { encrypted, context } of iterate(handle, kind, Math.min(maxRows, kind.maxRows ?? maxRows))) {
      if (isReadable(keys, kind, encrypted, context)) continue;
      count += 1;
      const id = keys.missingKeyOf(encrypted);
      if (id !== undefined) missing.add(id);
    }
    if (count > 0) unreadableValues.push({ kind: kind.name, count, missing: [...missing] });
  }
  return unreadableValues;
}

/** The kinds that have values, by one query, because most databases have few kinds. */
async function storedKinds(handle: Queryable): Promise<EncryptedKind[]> {
  const exists = encryptedKinds.map(
    ({ table, where }) => sql`exists (select from ${identifier(table)} where ${where})`,
  );
  const [row] = await handle.query(compose<{ stored: boolean[] }>(sql`select array[${join(exists, ', ')}] as stored`));
  return encryptedKinds.filter((_kind, index) => row?.stored[index] === true);
}

/** A sentence for the operator: each kind with its number, and the ids of the missing keys. */
export function describeUnreadableValues(unreadableValues: readonly Unreadable[]): string {
  const missingKeys = describeMissingKeys(unreadableValues);
  return `${describeCounts(unreadableValues)} cannot be decrypted. ${missingKeys} is missing from SECRET_KEY: add it after the current key`;
}

/** Each kind with its number, for messages. */
export function describeCounts(unreadableValues: readonly Unreadable[]): string {
  return unreadableValues.map(({ kind, count }) => `${count} ${kind}`).join(', ');
}

/** The missing keys by their ids, for messages. */
export function describeMissingKeys(unreadableValues: readonly Unreadable[]): string {
  const ids = [...new Set(unreadableValues.flatMap(({ missing }) => missing))];
  return ids.length === 0 ? 'The key that encrypted them' : `The key with the id ${ids.join(' or ')}`;
}

/** The first bytes of a value, its head, name its key. Older values have no head, so each key has to be tried. */
function isReadable(keys: SecretKeys, { keyNames }: EncryptedKind, encrypted: Buffer, context: string): boolean {
  if (keyNames !== undefined) return keyNames(keys).includes(encrypted.toString());
  if (encrypted.length === encryptedHeadBytes) return keys.missingKeyOf(encrypted) === undefined;
  return keys.decrypt(encrypted, context) !== undefined;
}

interface EncryptedRow {
  /** The head of the value, or the whole value if it has no head. */
  readonly encrypted: Buffer;
  readonly context: string;
  readonly position: readonly string[];
}

/** The rows of one kind, by keyset iteration. */
export async function* iterate(handle: Queryable, kind: EncryptedKind, maxRows: number): AsyncGenerator<EncryptedRow> {
  let rows = await handle.query(batchAfter(kind, undefined));
  for (let rowCount = 0; rows.length > 0; ) {
    yield* rows;
    rowCount += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize || rowCount >= maxRows) return;
    rows = await handle.query(batchAfter(kind, last.position));
  }
}

function batchAfter({ table, where, encrypted, context, key }: EncryptedKind, position: readonly string[] | undefined) {
  const types = Object.entries(key);
  const columns = join(
    types.map(([column]) => identifier(column)),
    ', ',
  );
  const texts = types.map(([column, type]) => castToText(type, identifier(column)));
  const values = types.map(([, type], index) => castFromText(type, bound(position?.[index])));
  const after = position === undefined ? sql`` : sql`and (${columns}) > (${join(values, ', ')})`;
  return compose<EncryptedRow>(
    sql`select case when substr(${encrypted}, 1, ${bound(encryptedPrefix.length)}) = ${bound(encryptedPrefix)}::bytea
                    then substr(${encrypted}, 1, ${bound(encryptedHeadBytes)}) else ${encrypted} end as encrypted,
               ${context} as context, array[${join(texts, ', ')}] as position
        from ${identifier(table)} where ${where} ${after} order by ${columns} limit ${bound(batchSize)}`,
  );
}

/** SQL: a column of a key from its text. */
export const castFromText = (type: KeyType, text: SqlPart) =>
  type === 'bytea' ? sql`decode(${text}, 'hex')` : sql`${text}::${identifier(type)}`;
const castToText = (type: KeyType, column: Sql) =>
  type === 'bytea' ? sql`encode(${column}, 'hex')` : sql`${column}::text`;
