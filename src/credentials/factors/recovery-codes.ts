import type { Queryable } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { SecretKeys } from '../../lib/crypto/secret-keys.js';
import { newLongCode, normalizeLongCode } from '../codes.js';

/** The rows of `recovery_codes`. A recovery code replaces a lost second factor, never the first one. */

/** The number of recovery codes of a user. */
const codeCount = 10;
const digestInput = (userId: string, code: string) => `${userId}:${normalizeLongCode(code)}`;

const deleteCodes = statement<{ userId: string }>(
  'recovery_delete',
  (p) => sql`delete from recovery_codes where user_id = ${p.userId}`,
);
const insertCodes = statement<{ userId: string; digests: readonly Buffer[] }>(
  'recovery_insert',
  (p) => sql`
    insert into recovery_codes (user_id, digest, created_at)
    select ${p.userId}, digest, db_now() from unnest(${p.digests}::bytea[]) digest`,
);

/** Replaces all recovery codes of a user. Only digests are stored, so the returned codes cannot be shown again. */
export async function replaceRecoveryCodes(tx: Queryable, keys: SecretKeys, userId: string): Promise<string[]> {
  const codes = Array.from({ length: codeCount }, newLongCode);
  const digests = codes.map((code) => keys.digest('recovery', digestInput(userId, code)));
  await tx.query(deleteCodes({ userId }));
  await tx.query(insertCodes({ userId, digests }));
  return codes;
}

/**
 * The delete locks the code's row, so only one of several parallel requests finds it. `before` counts the rows before
 * the delete.
 */
const useCode = statement<{ userId: string; digests: readonly Buffer[] }, { used: number; before: number }>(
  'recovery_use',
  (p) => sql`
    with used as (delete from recovery_codes where user_id = ${p.userId} and digest = any(${p.digests}) returning digest)
    select (select count(*) from used)::int as used,
           (select count(*) from recovery_codes where user_id = ${p.userId})::int as before`,
);

/**
 * Deletes a code that was used.
 * @returns how many codes are left; undefined if the user does not have this code
 */
export async function deleteRecoveryCode(
  handle: Queryable,
  keys: SecretKeys,
  userId: string,
  code: string,
): Promise<number | undefined> {
  const digests = keys.digests('recovery', digestInput(userId, code));
  const [row] = await handle.query(useCode({ userId, digests }));
  return row === undefined || row.used === 0 ? undefined : row.before - row.used;
}

const anyCode = statement<{ userId: string }>(
  'recovery_any',
  (p) => sql`select 1 as one from recovery_codes where user_id = ${p.userId} limit 1`,
);

/** Whether the user has at least one recovery code that was not used. */
export async function hasRecoveryCodes(handle: Queryable, userId: string): Promise<boolean> {
  return (await handle.query(anyCode({ userId }))).length > 0;
}
