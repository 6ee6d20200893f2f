import { type SecretKeys, sealedHeadBytes, sealedMark } from '../lib/secret-keys.js';
import { type Queryable, sql } from './database.js';

/** One kind of stored value that is encrypted under SECRET_KEY. */
interface SealedKind {
  /** In the plural, for people. */
  readonly name: string;
  readonly table: string;
  /** SQL: which rows count. */
  readonly where: string;
  /** SQL: the sealed value, and what it is bound to. */
  readonly sealed: string;
  readonly context: string;
  /** Columns in the order of an index, which tell the rows apart, with their types. */
  readonly key: Readonly<Record<string, 'uuid' | 'timestamptz' | 'text' | 'bytea'>>;
}

/** Rows that one query reads. */
const batch = 1000;

const kinds: readonly SealedKind[] = [
  {
    name: 'secrets of authenticator apps',
    table: 'totp',
    where: 'true',
    sealed: 'secret',
    context: `'totp:' || user_id`,
    key: { user_id: 'uuid' },
  },
  {
    name: 'authenticator apps that are being enrolled',
    table: 'challenges',
    where: `purpose = 'totp' and ended_at is null and expires_at > (select db_now())`,
    sealed: `decode(kept->>'secret', 'base64')`,
    context: `'totp:' || user_id`,
    key: { expires_at: 'timestamptz', id: 'uuid' },
  },
  {
    name: 'queued codes',
    table: 'outbox',
    // The first condition is for the index: no code lives as long.
    where: `created_at > (select db_now() - interval '1 hour') and state = 'queued' and sealed_code is not null
            and expires_at > (select db_now())`,
    sealed: 'sealed_code',
    context: 'id::text',
    key: { created_at: 'timestamptz', id: 'uuid' },
  },
  {
    name: 'answers kept for an Idempotency-Key',
    table: 'idempotency_keys',
    where: `sealed_body is not null and created_at > (select db_now() - interval '24 hours')`,
    sealed: 'sealed_body',
    context: `'idempotency ' || caller || ' ' || encode(key_digest, 'hex')`,
    key: { caller: 'text', key_digest: 'bytea' },
  },
];

/** How many values of a kind no configured key can open. */
export interface Unreadable {
  readonly kind: string;
  readonly count: number;
  /** Ids of the keys that they need; empty where the values are older than ids. */
  readonly missing: readonly string[];
}

/**
 * Counts what no configured key can open, a page of an index at a time.
 * @param mostRows of each kind, the first ones; all without it
 */
export async function countUnreadable(
  handle: Queryable,
  keys: SecretKeys,
  mostRows = Number.POSITIVE_INFINITY,
): Promise<Unreadable[]> {
  const found: Unreadable[] = [];
  for (const kind of kinds) {
    let count = 0;
    const missing = new Set<string>();
    for await (const { sealed, context } of walk(handle, kind, mostRows)) {
      if (isReadable(keys, sealed, context)) continue;
      count += 1;
      const id = keys.missingKeyOf(sealed);
      if (id !== undefined) missing.add(id);
    }
    if (count > 0) found.push({ kind: kind.name, count, missing: [...missing] });
  }
  return found;
}

/** For people: each kind with its number, and the keys. */
export function describeAllUnreadable(found: readonly Unreadable[]): string {
  const counts = found.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  const ids = [...new Set(found.flatMap(({ missing }) => missing))];
  const which = ids.length === 0 ? 'The key that encrypted them' : `The key with the id ${ids.join(' or ')}`;
  return `${counts} cannot be decrypted. ${which} is missing from SECRET_KEY: add it behind the current key`;
}

/** The head of a value names its key. A value without one is older, and has to be tried. */
function isReadable(keys: SecretKeys, sealed: Buffer, context: string): boolean {
  if (sealed.length === sealedHeadBytes) return keys.missingKeyOf(sealed) === undefined;
  return keys.open(sealed, context) !== undefined;
}

interface SealedRow {
  readonly sealed: Buffer;
  readonly context: string;
  readonly at: readonly string[];
}

async function* walk(
  handle: Queryable,
  { table, where, sealed, context, key }: SealedKind,
  mostRows: number,
): AsyncGenerator<SealedRow> {
  const columns = Object.keys(key);
  const parameters = Object.values(key).map((type, index) => castOf(type, `$${index + 1}`));
  const value = `case when substr(${sealed}, 1, ${sealedMark.length}) = '\\x${sealedMark.toString('hex')}'
                      then substr(${sealed}, 1, ${sealedHeadBytes}) else ${sealed} end`;
  const page = (after: string) =>
    sql(
      `select ${value} as sealed, ${context} as context,
              array[${columns.map((name) => textOf(key[name], name)).join(', ')}] as at
       from ${table} where ${where} ${after} order by ${columns.join(', ')} limit ${batch}`,
    );
  let rows = await handle.query<SealedRow>(page(''), []);
  const goOn = page(`and (${columns.join(', ')}) > (${parameters.join(', ')})`);
  for (let read = 0; rows.length > 0; ) {
    yield* rows;
    read += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch || read >= mostRows) return;
    rows = await handle.query<SealedRow>(goOn, [...last.at]);
  }
}

const castOf = (type: string, parameter: string) =>
  type === 'bytea' ? `decode(${parameter}, 'hex')` : `${parameter}::${type}`;
const textOf = (type: string | undefined, column: string) =>
  type === 'bytea' ? `encode(${column}, 'hex')` : `${column}::text`;
