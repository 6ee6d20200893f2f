import { randomBytes } from 'node:crypto';
import { recordEvent } from '../audit/events.js';
import type { EnrollmentLink } from '../contract/user.js';
import type { Queryable } from '../database/database.js';
import { type Parameters, sql, statement } from '../database/sql.js';
import { sha256 } from '../lib/crypto/digests.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem, throwIfErrors } from '../lib/problem.js';
import { findUserForUpdate } from './queries.js';

/**
 * Links that activate a role. The user opens the link and enrols a second factor, or proves an existing one; then the role
 * takes effect. So a stolen password does not give the role to a thief who enrols a factor of their own (decision 17).
 */
export interface EnrollmentLinks {
  /**
   * Creates a link and replaces an earlier one.
   * @throws Problem `not_found`; `validation_failed` (`no_role`) for a user without a role
   */
  create(tx: Queryable, userId: string, origin: Origin): Promise<EnrollmentLink>;
}

/** 256 random bits cannot be guessed, so a fast digest is enough and guesses are not counted. */
const secretBytes = 32;

/** A user, and the digest of the secret of a link. */
interface LinkKey {
  readonly userId: string;
  readonly digest: Buffer;
}

const saveLink = statement<LinkKey, { expires_at: string }>(
  'role_link_put',
  (p) => sql`
    update users set role_link_digest = ${p.digest}, role_link_expires_at = db_now() + interval '30 minutes'
    where id = ${p.userId}
    returning role_link_expires_at as expires_at`,
);

/** @param consoleUrl returns the URL of the console */
export function createEnrollmentLinks(consoleUrl: () => string): EnrollmentLinks {
  return {
    async create(tx, userId, origin) {
      const user = await findUserForUpdate(tx, userId);
      if (user === undefined) throw new Problem('not_found');
      if (user.role === 'user') throwIfErrors([{ code: 'no_role' }]);
      const secret = `psl_${randomBytes(secretBytes).toString('base64url')}`;
      const [link] = await tx.query(saveLink({ userId, digest: sha256(secret) }));
      if (link === undefined) throw new Error('the row of a locked user is gone');
      const id = newId();
      await recordEvent(tx, { userId, type: 'role.link_made', origin, data: { role: user.role, link_id: id } });
      // The secret is in the fragment of the URL, which browsers do not send to a server.
      const url = `${consoleUrl()}/setup#${secret}`;
      return { id, url, secret, expires_at: link.expires_at };
    },
  };
}

const isValidLink = (p: Parameters<LinkKey>) =>
  sql`id = ${p.userId} and role_link_digest = ${p.digest} and role_link_expires_at > db_now() and role <> 'user'`;

const findLink = statement<LinkKey, { good: number }>(
  'role_link_find',
  (p) => sql`select 1 as good from users where ${isValidLink(p)}`,
);

/** Updates the row only while the link is valid, so that only one of several parallel uses succeeds. */
const useLink = statement<LinkKey, { role: string }>(
  'role_link_use',
  (p) => sql`
    update users set role_active_since = coalesce(role_active_since, db_now()), role_link_digest = null,
      role_link_expires_at = null, updated_at = db_now()
    where ${isValidLink(p)} and (exists (select 1 from totp where user_id = ${p.userId})
                                 or exists (select 1 from passkeys where user_id = ${p.userId}))
    returning role`,
);

/**
 * Checks the secret of a link. The link stays valid.
 * @returns the link's digest in hexadecimal, for `activateRole`
 * @throws Problem `enrollment_link_rejected`
 */
export async function readEnrollmentLink(handle: Queryable, userId: string, secret: string): Promise<string> {
  const digest = sha256(secret);
  const rows = await handle.query(findLink({ userId, digest }));
  if (rows.length === 0) throw new Problem('enrollment_link_rejected');
  return digest.toString('hex');
}

/**
 * Checks the secret of a link that started an enrolment. Returns what the enrolment stores: `link` for `activateRole`,
 * or nothing if there is no secret.
 * @throws Problem `enrollment_link_rejected`
 */
export async function storedLink(
  handle: Queryable,
  userId: string,
  secret: string | undefined,
): Promise<{ readonly link?: string }> {
  return secret === undefined ? {} : { link: await readEnrollmentLink(handle, userId, secret) };
}

const activateNew = statement<{ userId: string }, { role: string }>(
  'role_activate_new',
  (p) => sql`
    update users set role_active_since = db_now(), second_factor = 'required' where id = ${p.userId} returning role`,
);

/**
 * Activates the role of a user who was created with a second factor, in the transaction that creates both. All logins
 * of the user then need the factor, even if SECOND_FACTOR is off: a session whose login did not use the factor may not
 * administer.
 * @param linkId the set-up link, for the audit event
 */
export async function activateNewRole(tx: Queryable, userId: string, linkId: string, origin: Origin): Promise<void> {
  const [user] = await tx.query(activateNew({ userId }));
  if (user === undefined) throw new Error('a new user is gone');
  await recordEvent(tx, { userId, type: 'role.activated', origin, data: { role: user.role, link_id: linkId } });
}

/**
 * Uses a link: the user's role takes effect. Call it in the transaction of the enrolment or the proof.
 * @throws Problem `enrollment_link_rejected` when the link was used, replaced or has expired, or the user has no factor
 */
export async function activateRole(tx: Queryable, userId: string, link: string, origin: Origin): Promise<void> {
  const [usedLink] = await tx.query(useLink({ userId, digest: Buffer.from(link, 'hex') }));
  if (usedLink === undefined) throw new Problem('enrollment_link_rejected');
  await recordEvent(tx, { userId, type: 'role.activated', origin, data: { role: usedLink.role } });
}
