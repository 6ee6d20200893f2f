import type { Queryable } from '../database/database.js';
import type { MaintenanceTask, Position } from '../database/maintenance/tasks.js';
import { bound, compose, identifier, sql, statement } from '../database/sql.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { castFromText, type EncryptedKind, encryptedKinds, iterate } from './unreadable.js';

const recordKey = statement<{ id: string }>(
  'secret_keys_record',
  (p) => sql`
    insert into secret_keys (id, current_since) values (${p.id}, db_now())
    on conflict (id) do update set current_since = excluded.current_since
      where exists (select from secret_keys other where other.current_since > secret_keys.current_since)`,
);

/**
 * Stores since when the current key is used. If another key was used in between, the time starts again, because values of that key must
 * count as older.
 */
export async function recordCurrentKey(handle: Queryable, keys: SecretKeys): Promise<void> {
  await handle.query(recordKey({ id: keys.ids[0] ?? '' }));
}

const countOlderCodes = statement<{ id: string }, { count: number }>(
  'recovery_codes_older_than_key',
  (p) => sql`
    select count(*)::int as count from recovery_codes
    where created_at < coalesce((select current_since from secret_keys where id = ${p.id}), 'infinity')`,
);

/** The digest of an address is computed again when somebody names the address. */
const countOlderSuppressions = statement<{ id: string }, { count: number }>(
  'suppressions_of_other_keys',
  (p) => sql`select count(*)::int as count from suppressions where key_id <> ${p.id}`,
);

/** A process that was not seen for this time has ended without removing its row. */
const lostAfter = sql`interval '90 seconds'`;

/**
 * A process records its key before it writes its row. So a process whose row is older than the record of the current
 * key may use an older key.
 */
const countOlderProcesses = statement<{ id: string }, { count: number }>(
  'processes_older_than_key',
  (p) => sql`
    select count(*)::int as count from instances
    where seen_at > db_now() - ${lostAfter}
      and started_at < coalesce((select current_since from secret_keys where id = ${p.id}), 'infinity')`,
);

/** Values that need another key than the current one, and processes that still write such values. */
export interface OldKeyUse {
  readonly kind: string;
  readonly count: number;
}

/** Counts the values and processes that need an old key. Reads all values by keyset iteration. */
export async function countOldKeyUses(handle: Queryable, keys: SecretKeys): Promise<OldKeyUse[]> {
  const uses: OldKeyUse[] = [];
  for (const kind of encryptedKinds) {
    let count = 0;
    for await (const { encrypted } of iterate(handle, kind, Number.POSITIVE_INFINITY)) {
      if (!isCurrent(keys, kind, encrypted)) count += 1;
    }
    uses.push({ kind: kind.name, count });
  }
  const [codes] = await handle.query(countOlderCodes({ id: keys.ids[0] ?? '' }));
  uses.push({ kind: 'recovery codes', count: codes?.count ?? 0 });
  const [suppressions] = await handle.query(countOlderSuppressions({ id: keys.ids[0] ?? '' }));
  uses.push({ kind: 'suppressed addresses', count: suppressions?.count ?? 0 });
  const [processes] = await handle.query(countOlderProcesses({ id: keys.ids[0] ?? '' }));
  uses.push({ kind: 'running processes, which you must restart', count: processes?.count ?? 0 });
  return uses.filter(({ count }) => count > 0);
}

function isCurrent(keys: SecretKeys, { keyNames }: EncryptedKind, encrypted: Buffer): boolean {
  return keyNames === undefined ? keys.isCurrent(encrypted) : keyNames(keys)[0] === encrypted.toString();
}

/** The number of rows that one step reads. */
const stepRows = 200;

/**
 * Encrypts stored secrets with the current key, in small steps. Each step stores its position, so the next start continues
 * there. It skips values that expire, and values that no key decrypts.
 */
export function reencryptionTask(keys: SecretKeys): MaintenanceTask {
  const kinds = encryptedKinds.filter(({ reencryptedColumn }) => reencryptedColumn !== undefined);
  return {
    // The name contains the key: the position of an earlier rotation does not count.
    name: `reencryption:${keys.ids[0] ?? ''}`,
    pauseMs: 600_000,
    async step(tx, position) {
      const index = Number(position?.kind ?? 0);
      const kind = kinds[index];
      if (kind === undefined) return { removed: 0 };
      const last = await reencryptBatch(tx, keys, kind, position);
      const isLastKind = index === kinds.length - 1;
      if (last !== undefined) return { removed: 0, next: { ...last, kind: String(index) } };
      return isLastKind ? { removed: 0 } : { removed: 0, next: { kind: String(index + 1) } };
    },
  };
}

/** @returns the key of the last row; undefined at the end of the table */
async function reencryptBatch(
  tx: Queryable,
  keys: SecretKeys,
  kind: EncryptedKind,
  position: Position | undefined,
): Promise<Position | undefined> {
  const rows = await tx.query(batchAfter(kind, position));
  for (const row of rows) {
    const plain = keys.isCurrent(row.encrypted) ? undefined : keys.decrypt(row.encrypted, row.context);
    if (plain !== undefined) await tx.query(replaceValue(kind, row, keys.encrypt(plain, row.context)));
  }
  const last = rows.at(-1);
  return last === undefined || rows.length < stepRows ? undefined : { id: last.id };
}

interface EncryptedValue {
  readonly id: string;
  readonly encrypted: Buffer;
  readonly context: string;
}

/** The column that identifies a row of a kind that is encrypted again after a rotation. */
function keyOf({ key }: EncryptedKind) {
  const [[column, type] = ['', 'text' as const]] = Object.entries(key);
  return { column: identifier(column), type };
}

function batchAfter(kind: EncryptedKind, position: Position | undefined) {
  const { column, type } = keyOf(kind);
  const after = position?.id === undefined ? sql`` : sql`and ${column} > ${castFromText(type, bound(position.id))}`;
  return compose<EncryptedValue>(
    sql`select ${column}::text as id, ${kind.encrypted} as encrypted, ${kind.context} as context
        from ${identifier(kind.table)} where ${kind.where} ${after} order by ${column} limit ${bound(stepRows)}`,
  );
}

/** Replaces the value only if it is still the same, because the user may have a new secret by now. */
function replaceValue(kind: EncryptedKind, { id, encrypted }: EncryptedValue, replacement: Buffer) {
  const { column, type } = keyOf(kind);
  const value = identifier(kind.reencryptedColumn ?? '');
  return compose<object>(
    sql`update ${identifier(kind.table)} set ${value} = ${bound(replacement)}
        where ${column} = ${castFromText(type, bound(id))} and ${value} = ${bound(encrypted)}`,
  );
}
