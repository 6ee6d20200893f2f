import { randomBytes } from 'node:crypto';
import type { Database, Queryable } from '../../database/database.js';
import { type SqlPart, sql, statement } from '../../database/sql.js';
import { type SecretKeys, unreadableProblem } from '../../lib/crypto/secret-keys.js';
import { base32, stepOfCode, totpPeriod } from '../../lib/crypto/totp.js';
import { newId } from '../../lib/ids.js';
import { normalizeCode } from '../codes.js';

/**
 * The rows of `totp`: authenticator apps (RFC 6238). Each code is accepted once (RFC 6238, 5.2; NIST SP 800-63B-4,
 * 3.1.4).
 */

/** SQL: the number of the current time step, by the database's clock. @param period seconds of one step */
const currentStep = (period: SqlPart) => sql`floor(extract(epoch from db_now()) / ${period}::int)::int8`;

const context = (userId: string) => `totp:${userId}`;

/** Bytes: 160 bits, as RFC 4226, section 4, recommends. */
const secretLength = 20;

/** A secret that no code has confirmed yet. */
export interface NewTotpSecret {
  /** Encrypted, to store. */
  readonly encrypted: Buffer;
  /** Base32, to type into the app. */
  readonly secret: string;
  /** The URI for a QR code, in the key URI format of Google Authenticator (its wiki page "Key Uri Format"). */
  readonly uri: string;
}

/** Creates the secret of an app. The app shows the issuer and the account beside its codes. */
export function newTotpSecret(
  keys: SecretKeys,
  userId: string,
  { issuer, account }: { readonly issuer: string; readonly account: string },
): NewTotpSecret {
  const bytes = randomBytes(secretLength);
  const secret = base32(bytes);
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const rules = `algorithm=SHA1&digits=6&period=${totpPeriod}`;
  const uri = `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}&${rules}`;
  return { encrypted: encryptTotpSecret(keys, userId, bytes), secret, uri };
}

/** Encrypts the secret of an app. @param secret as bytes */
function encryptTotpSecret(keys: SecretKeys, userId: string, secret: Buffer): Buffer {
  return keys.encrypt(secret.toString('base64'), context(userId));
}

function decryptSecret(keys: SecretKeys, userId: string, encrypted: Buffer): Buffer {
  const secret = keys.decrypt(encrypted, context(userId));
  if (secret === undefined)
    throw unreadableProblem(keys, encrypted, `the secret of the authenticator app of user ${userId}`);
  return Buffer.from(secret, 'base64');
}

const readTotp = statement<{ userId: string; period: number }, { id: string; secret: Buffer; step: number }>(
  'totp_read',
  (p) => sql`select id, secret, ${currentStep(p.period)} as step from totp where user_id = ${p.userId}`,
);

/** Whether a key of SECRET_KEY can decrypt the secret of a user's app. True if the user has no app. */
export async function isTotpReadable(handle: Queryable, keys: SecretKeys, userId: string): Promise<boolean> {
  const [row] = await handle.query(readTotp({ userId, period: totpPeriod }));
  return row === undefined || keys.decrypt(row.secret, context(userId)) !== undefined;
}

/** Also stores the secret encrypted with the current key, so an old key can be removed after all users have logged in. */
const useStep = statement<{ userId: string; id: string; step: number; secret: Buffer }>(
  'totp_use',
  (p) => sql`
    update totp set last_step = ${p.step}, secret = ${p.secret}, last_used_at = db_now()
    where user_id = ${p.userId} and id = ${p.id} and last_step < ${p.step} returning id`,
);

/**
 * Accepts a code once. Codes older than the last accepted one are refused. Of several parallel requests with one code,
 * only one succeeds.
 * @returns `wrong` also if the user has no app; `used` if the code is right, and was accepted before or is older
 */
export async function useTotpCode(
  database: Database,
  keys: SecretKeys,
  userId: string,
  code: string,
): Promise<'right' | 'used' | 'wrong'> {
  const handle = database.user(userId);
  const [row] = await handle.query(readTotp({ userId, period: totpPeriod }));
  if (row === undefined) return 'wrong';
  const secret = decryptSecret(keys, userId, row.secret);
  const step = stepOfCode(secret, normalizeCode(code), row.step);
  if (step === undefined) return 'wrong';
  const encrypted = encryptTotpSecret(keys, userId, secret);
  const rows = await handle.query(useStep({ userId, id: row.id, step, secret: encrypted }));
  return rows.length > 0 ? 'right' : 'used';
}

const readStep = statement<{ period: number }, { step: number }>(
  'totp_step',
  (p) => sql`select ${currentStep(p.period)} as step`,
);

/** The time step of a code by a secret that is not confirmed yet; undefined if the code is wrong. */
export async function findStepOfNewSecret(
  handle: Queryable,
  keys: SecretKeys,
  userId: string,
  { encrypted, code }: { readonly encrypted: Buffer; readonly code: string },
): Promise<number | undefined> {
  const [row] = await handle.query(readStep({ period: totpPeriod }));
  return row === undefined
    ? undefined
    : stepOfCode(decryptSecret(keys, userId, encrypted), normalizeCode(code), row.step);
}

const insertTotp = statement<{ userId: string; id: string; secret: Buffer; step: number }>(
  'totp_insert',
  (p) => sql`
    insert into totp (user_id, id, secret, last_step, created_at, last_used_at)
    select ${p.userId}, ${p.id}, ${p.secret}, ${p.step}, now, now
    from (select db_now() as now) clock
    on conflict (user_id) do update set id = excluded.id, secret = excluded.secret, last_step = excluded.last_step,
      created_at = excluded.created_at, last_used_at = excluded.last_used_at`,
);

/** Stores the user's app and replaces an earlier one. The code of `step` confirmed it, and is not accepted again. */
export async function saveTotp(tx: Queryable, userId: string, encrypted: Buffer, step: number): Promise<void> {
  await tx.query(insertTotp({ userId, id: newId(), secret: encrypted, step }));
}

const deleteTotp = statement<{ userId: string }>(
  'totp_delete',
  (p) => sql`delete from totp where user_id = ${p.userId} returning id`,
);

/** @returns false if the user had no app */
export async function removeTotp(tx: Queryable, userId: string): Promise<boolean> {
  return (await tx.query(deleteTotp({ userId }))).length > 0;
}
