import { randomBytes } from 'node:crypto';
import type { EnrollmentLink } from '../../contract/user.js';
import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { Problem, refuseFaults } from '../../lib/problem.js';
import { sha256 } from '../../lib/sha256.js';
import { recordEvent } from '../events/events.js';
import { holdUser } from './queries.js';

/**
 * Links by which the holder of a role enrols a second factor, or shows the one that there is: the role takes effect then.
 * So a role is of no use to a thief of the password who enrols a factor first.
 */
export interface EnrollmentLinks {
  /**
   * Makes a link, in place of an earlier one.
   * @throws Problem `not_found`; `validation_failed` (`no_role`) for a user without a role
   */
  create(tx: Queryable, userId: string, origin: Origin): Promise<EnrollmentLink>;
}

const lifetime = `interval '30 minutes'`;
/** Bytes: nobody guesses 256 bits, so a fast digest is enough and guesses need no count. */
const secretBytes = 32;

const putLink = prepared(
  'role_link_put',
  `update users set role_link_digest = $2, role_link_expires_at = db_now() + ${lifetime} where id = $1
   returning role_link_expires_at as expires_at`,
);

/** @param publicUrl where the service is reached */
export function createEnrollmentLinks(publicUrl: () => string): EnrollmentLinks {
  return {
    async create(tx, userId, origin) {
      const user = await holdUser(tx, userId);
      if (user === undefined) throw new Problem('not_found');
      if (user.role === 'user') refuseFaults([{ code: 'no_role' }]);
      const secret = `psl_${randomBytes(secretBytes).toString('base64url')}`;
      const [link] = await tx.query<{ expires_at: string }>(putLink, [userId, sha256(secret)]);
      if (link === undefined) throw new Error('the user of a held row is gone');
      const id = newId();
      await recordEvent(tx, { userId, type: 'role.link_made', origin, data: { role: user.role, link_id: id } });
      // In the fragment, which browsers send to no server.
      const url = `${publicUrl().replace(/\/+$/, '')}/console/setup#${secret}`;
      return { id, url, secret, expires_at: link.expires_at };
    },
  };
}

const isGood = `id = $1 and role_link_digest = $2 and role_link_expires_at > db_now() and role <> 'user'`;
const findLink = prepared('role_link_find', `select 1 as good from users where ${isGood}`);
const useLink = prepared(
  'role_link_use',
  `update users set role_active_since = coalesce(role_active_since, db_now()), role_link_digest = null,
     role_link_expires_at = null, updated_at = db_now()
   where ${isGood} and (exists (select 1 from totp where user_id = $1) or exists (select 1 from passkeys where user_id = $1))
   returning role`,
);

/**
 * Reads the secret of a link, which stays good.
 * @returns what `activateRole` uses it by: a digest, in hexadecimal digits
 * @throws Problem `enrollment_link_rejected`
 */
export async function readEnrollmentLink(handle: Queryable, userId: string, secret: string): Promise<string> {
  const digest = sha256(secret);
  if ((await handle.query(findLink, [userId, digest])).length === 0) throw new Problem('enrollment_link_rejected');
  return digest.toString('hex');
}

/** What an enrolment that is begun with a link keeps of it; nothing without one. @throws Problem `enrollment_link_rejected` */
export async function linkKept(
  handle: Queryable,
  userId: string,
  secret: string | undefined,
): Promise<{ readonly link?: string }> {
  return secret === undefined ? {} : { link: await readEnrollmentLink(handle, userId, secret) };
}

/**
 * Uses a link up: its user's role takes effect. In the transaction of the enrolment or the proof that brings it about.
 * @throws Problem `enrollment_link_rejected`: used, replaced or lapsed meanwhile, or the last factor was removed
 */
export async function activateRole(tx: Queryable, userId: string, link: string, origin: Origin): Promise<void> {
  const [used] = await tx.query<{ role: string }>(useLink, [userId, Buffer.from(link, 'hex')]);
  if (used === undefined) throw new Problem('enrollment_link_rejected');
  await recordEvent(tx, { userId, type: 'role.activated', origin, data: { role: used.role } });
}
