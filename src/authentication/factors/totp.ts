import { type Database, prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { type SecretKeys, unreadable } from '../../lib/secret-keys.js';
import { stepOfCode, totpPeriod } from '../../lib/totp.js';

/** The rows of `totp`: authenticator apps, and their codes, each of which counts once (RFC 6238, NIST SP 800-63B 3.1.4). */

/** SQL: the time step of now, by the clock that decides rights. */
const currentStep = `floor(extract(epoch from db_now()) / ${totpPeriod})::int8`;

const context = (userId: string) => `totp:${userId}`;

/** @param secret as bytes */
export function sealTotpSecret(keys: SecretKeys, userId: string, secret: Buffer): Buffer {
  return keys.seal(secret.toString('base64'), context(userId));
}

function openSecret(keys: SecretKeys, userId: string, sealed: Buffer): Buffer {
  const secret = keys.open(sealed, context(userId));
  if (secret === undefined) throw unreadable(keys, sealed, `the secret of the authenticator app of user ${userId}`);
  return Buffer.from(secret, 'base64');
}

const readTotp = prepared('totp_read', `select id, secret, ${currentStep} as step from totp where user_id = $1`);

/** Also puts the secret under the current key, so that an old one can go once everybody has used their app. */
const useStep = prepared(
  'totp_use',
  `update totp set last_step = $3, secret = $4, last_used_at = db_now()
   where user_id = $1 and id = $2 and last_step < $3 returning id`,
);

/**
 * Uses a code up: it was never accepted before, nor was a later one. Of parallel uses one wins.
 * False: it is wrong, or was used, or the user has no app.
 */
export async function useTotpCode(
  database: Database,
  keys: SecretKeys,
  userId: string,
  code: string,
): Promise<boolean> {
  const lane = database.lane(userId);
  const [row] = await lane.query<{ id: string; secret: Buffer; step: number }>(readTotp, [userId]);
  if (row === undefined) return false;
  const secret = openSecret(keys, userId, row.secret);
  const step = stepOfCode(secret, code, row.step);
  if (step === undefined) return false;
  const used = await lane.query(useStep, [userId, row.id, step, sealTotpSecret(keys, userId, secret)]);
  return used.length > 0;
}

const readStep = prepared('totp_step', `select ${currentStep} as step`);

/** The step of a code by a secret that is not the user's yet. */
export async function stepOfNewSecret(
  handle: Queryable,
  keys: SecretKeys,
  userId: string,
  { sealed, code }: { readonly sealed: Buffer; readonly code: string },
): Promise<number | undefined> {
  const [row] = await handle.query<{ step: number }>(readStep);
  return row === undefined ? undefined : stepOfCode(openSecret(keys, userId, sealed), code, row.step);
}

const insertTotp = prepared(
  'totp_insert',
  `insert into totp (user_id, id, secret, last_step, created_at, last_used_at)
   select $1, $2, $3, $4, now, now
   from (select db_now() as now) clock
   on conflict (user_id) do update set id = excluded.id, secret = excluded.secret, last_step = excluded.last_step,
     created_at = excluded.created_at, last_used_at = excluded.last_used_at`,
);

/** Makes an app the user's, in place of one that there was. The code of `step` has confirmed it, and is used up by that. */
export async function putTotp(tx: Queryable, userId: string, sealed: Buffer, step: number): Promise<void> {
  await tx.query(insertTotp, [userId, newId(), sealed, step]);
}

const deleteTotp = prepared('totp_delete', 'delete from totp where user_id = $1 returning id');

/** False: there was none. */
export async function removeTotp(tx: Queryable, userId: string): Promise<boolean> {
  return (await tx.query(deleteTotp, [userId])).length > 0;
}
