import { prepared, type Queryable } from '../../database/database.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { canonicalLongCode, newLongCode } from '../secrets/codes.js';

/** The rows of `recovery_codes`: what stands in for a second factor that was lost. Never for a first one. */

const count = 10;
const bound = (userId: string, code: string) => `${userId}:${canonicalLongCode(code)}`;

const forgetCodes = prepared('recovery_forget', 'delete from recovery_codes where user_id = $1');
const insertCodes = prepared(
  'recovery_insert',
  `insert into recovery_codes (user_id, digest, created_at) select $1, digest, db_now() from unnest($2::bytea[]) digest`,
);

/** Makes new codes in place of all that there were. What is returned is not kept anywhere. */
export async function replaceRecoveryCodes(tx: Queryable, keys: SecretKeys, userId: string): Promise<string[]> {
  const codes = Array.from({ length: count }, newLongCode);
  await tx.query(forgetCodes, [userId]);
  await tx.query(insertCodes, [userId, codes.map((code) => keys.digest('recovery', bound(userId, code)))]);
  return codes;
}

const useCode = prepared(
  'recovery_use',
  `with used as (delete from recovery_codes where user_id = $1 and digest = any($2) returning digest)
   select (select count(*) from used)::int as used,
          (select count(*) from recovery_codes where user_id = $1)::int as before`,
);

/**
 * Uses a code up, once.
 * @returns how many are left; undefined when there is no such code.
 */
export async function useRecoveryCode(
  handle: Queryable,
  keys: SecretKeys,
  userId: string,
  code: string,
): Promise<number | undefined> {
  const digests = keys.digests('recovery', bound(userId, code));
  const [row] = await handle.query<{ used: number; before: number }>(useCode, [userId, digests]);
  return row === undefined || row.used === 0 ? undefined : row.before - row.used;
}

const anyCode = prepared('recovery_any', 'select 1 as one from recovery_codes where user_id = $1 limit 1');

export async function hasRecoveryCodes(handle: Queryable, userId: string): Promise<boolean> {
  return (await handle.query(anyCode, [userId])).length > 0;
}
