import { recordEvent } from '../audit/events.js';
import type {
  Account,
  AccountChange,
  ChangedPassword,
  PasswordChange,
  PinChange,
} from '../contract/account/account.js';
import type { RoleActivation } from '../contract/account/factors.js';
import type { Proof, ProofType } from '../contract/account/proof.js';
import type { User, UserChange } from '../contract/user.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import { choiceError, Problem, throwIfErrors } from '../lib/problem.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { capabilitiesOf, type RecordedProof, recordSessionProof } from '../sessions/operators.js';
import { activateRole, readEnrollmentLink } from '../users/enrollment-links.js';
import type { Users } from '../users/users.js';
import { type UserRules, userErrors } from '../users/validation.js';
import type { PinRecoveries } from './pin-recoveries.js';
import {
  type AllowedProofs,
  type CallingSession,
  type CurrentPassword,
  defaultProofs,
  type Proofs,
  type VerifiedProof,
} from './proofs.js';

/**
 * Self-service for users. Every method needs a session. Every change needs a proof (a re-authentication), except a
 * change of the name or the language.
 */
export interface OwnAccount {
  get(userId: string): Promise<Account>;
  /**
   * Changes name and language without a proof, and the username with one.
   * @throws Problem `validation_failed`, `identity_taken`, `too_many_requests`; those of `Proofs.check`
   */
  change(callingSession: CallingSession, change: AccountChange): Promise<Account>;
  /**
   * Ends every other login of the user with its sessions and streams. The calling login gets a new id and a new token. Of
   * its sessions only the calling one stays valid. An account with a password needs that password too (ASVS 5.0, 6.2.3).
   * @throws Problem `validation_failed`; those of `Proofs.check`
   */
  setPassword(callingSession: CallingSession, change: PasswordChange): Promise<ChangedPassword>;
  /**
   * Sets the PIN. A code can authorize a first PIN, but not a change of the PIN.
   * @throws Problem those of `Proofs.check`
   */
  setPin(callingSession: CallingSession, change: PinChange): Promise<Account>;
  /**
   * Removes the PIN. A code cannot authorize this: login codes go to the same address.
   * @throws Problem those of `Proofs.check`
   */
  removePin(callingSession: CallingSession, proof: Proof): Promise<Account>;
  /**
   * Re-authenticates the session for admin requests: the proof counts like a new login.
   * @throws Problem those of `Proofs.check`
   */
  prove(callingSession: CallingSession, proof: Proof): Promise<RecordedProof>;
  /**
   * Activates a role with an existing second factor and the secret of an enrollment link.
   * @throws Problem `enrollment_link_rejected`; `role_not_active` without a second factor; those of `Proofs.check`
   */
  activateRole(callingSession: CallingSession, activation: RoleActivation): Promise<Account>;
  /** Deletes the account, as an operator does. @throws Problem those of `Proofs.check` */
  remove(callingSession: CallingSession, proof: Proof): Promise<void>;
}

/** The members of a user that the user itself can see. */
export function toAccount(user: User): Account {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    email_verified: user.email_verified,
    phone: user.phone,
    phone_verified: user.phone_verified,
    name: user.name,
    locale: user.locale,
    has_password: user.has_password,
    has_pin: user.has_pin,
    pin_recovery: user.pin_recovery,
    role: user.role,
    is_guest: user.is_guest,
    role_active: user.role_active,
    capabilities: capabilitiesOf(user),
    second_factors: user.second_factors,
    created_at: user.created_at,
    updated_at: user.updated_at,
  };
}

/** Proofs that use the second factor itself. */
const factorProofs: readonly ProofType[] = ['totp', 'passkey'];

export interface OwnAccountOptions {
  /** Milliseconds: ADMIN_PROOF_MAX_AGE. */
  readonly adminProofMaxAge: number;
  readonly database: Database;
  readonly users: Users;
  readonly proofs: Proofs;
  readonly limits: Pick<RequestLimits, 'countOwnChange' | 'countOwnUsername'>;
  readonly pinRecoveries: Pick<PinRecoveries, 'requirePinAfterCode'>;
  readonly rules: UserRules;
}

/**
 * The proofs for a change of the PIN. A code is not accepted: login codes go to the same address, and the PIN must
 * protect against someone who controls it. After a proof with a code, only the PIN counts for a time (decision 16).
 */
const changedPinProofs: AllowedProofs = ({ onlyPinChangesPin }) =>
  onlyPinChangesPin ? ['pin'] : ['password', 'passkey', 'pin'];
const pinProofs: AllowedProofs = (user) =>
  user.pinHash === undefined ? [...defaultProofs(user), 'pin'] : changedPinProofs(user);

interface RenewedLogin {
  readonly userId: string;
  readonly sessionId: string;
  /** The new id of the authentication. */
  readonly id: string;
  readonly digest: Buffer;
}

/**
 * A change of the password increments the user's epoch, which ends every login. This statement moves the calling login
 * and its session to the new epoch, under a new id and a new token. The transaction holds the lock on the user's row,
 * so no other transaction changes the login at the same time. Sessions that were created with the old token have the
 * old id and stay invalid. A login that is approved at the same time started in the old epoch, so it is invalid too.
 */
const renewLogin = statement<RenewedLogin>(
  'authentication_renew',
  (p) => sql`
    with renewed as (
      update authentications a set id = ${p.id}, token_digest = ${p.digest}, epoch = u.epoch, approval_key = null,
        approved_at = db_now(), updated_at = db_now()
      from sessions s join users u on u.id = s.user_id
      where s.user_id = ${p.userId} and s.id = ${p.sessionId} and a.user_id = s.user_id and a.id = s.authentication_id
        and a.ended_at is null and a.epoch = u.epoch - 1
      returning 1),
    moved as (
      update sessions set authentication_id = ${p.id}
      where user_id = ${p.userId} and id = ${p.sessionId} and exists (select 1 from renewed))
    select 1 as renewed from renewed`,
);

/** Creates self-service for the account itself: profile, password, PIN, role and deletion. */
export function createOwnAccount(options: OwnAccountOptions): OwnAccount {
  const { database, users, proofs, limits, pinRecoveries, rules } = options;

  /** Checks the proof before it hashes, so that a session alone cannot keep the CPU busy with hashing. */
  async function changeWithProof(
    callingSession: CallingSession,
    change: UserChange,
    proof: Proof | undefined,
    allowed: AllowedProofs,
    {
      current,
      afterwards = async () => undefined,
    }: {
      readonly current?: CurrentPassword;
      readonly afterwards?: (tx: Queryable, proven: VerifiedProof) => Promise<unknown>;
    } = {},
  ): Promise<Account> {
    const { userId, origin } = callingSession;
    throwIfErrors(await userErrors(change, rules));
    const proven = await proofs.check(callingSession, proof, allowed, current);
    const prepared = await users.prepareChange(userId, change, { client: origin });
    return inTransaction(userId, async (tx) => {
      await proven.consume(tx);
      const user = await users.change(tx, userId, prepared, origin);
      await afterwards(tx, proven);
      return user;
    });
  }

  const inTransaction = async (userId: string, work: (tx: Transaction) => Promise<User>) =>
    toAccount(await database.user(userId).transaction(work));

  return {
    get: async (userId) => toAccount(await users.get(userId)),
    async change(callingSession, { name, locale, username, proof }) {
      const { userId, origin } = callingSession;
      const unproven = { ...(name !== undefined && { name }), ...(locale !== undefined && { locale }) };
      if (username !== undefined) {
        const change = { ...unproven, username };
        // Reports validation errors before the proof is used, since a proof can often be used only once.
        await users.prepareChange(userId, change, { client: origin });
        await limits.countOwnUsername(userId);
        return changeWithProof(callingSession, change, proof, defaultProofs);
      }
      const prepared = await users.prepareChange(userId, unproven, { client: origin });
      await limits.countOwnChange(userId);
      return inTransaction(userId, (tx) => users.change(tx, userId, prepared, origin));
    },
    async setPassword(callingSession, { password, current_password: current, proof }) {
      const { userId, sessionId } = callingSession;
      const id = newId();
      const { token, digest } = newToken('authentication', [userId, id]);
      const account = await changeWithProof(callingSession, { password }, proof, defaultProofs, {
        current: { password: current },
        async afterwards(tx, { type }) {
          const renewed = await tx.query(renewLogin({ userId, sessionId, id, digest }));
          // The calling login was ended at the same time.
          if (renewed.length === 0) throw new Problem('invalid_session_token');
          await pinRecoveries.requirePinAfterCode(tx, userId, type);
        },
      });
      return { ...account, token, authentication_id: id };
    },
    setPin: (callingSession, { pin, proof }) => changeWithProof(callingSession, { pin }, proof, pinProofs),
    removePin: (callingSession, proof) => changeWithProof(callingSession, { pin: null }, proof, changedPinProofs),
    async prove(callingSession, proof) {
      const proven = await proofs.check(callingSession, proof, defaultProofs);
      const { userId, origin } = callingSession;
      return database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        await recordEvent(tx, { userId, type: 'session.proven', origin, data: { proof: proven.type } });
        if (proven.method === undefined) throw new Error('a guest or a login has recorded a proof');
        return recordSessionProof(tx, callingSession, options.adminProofMaxAge, proven.method);
      });
    },
    async activateRole(callingSession, { proof, enrollment_secret: secret }) {
      const { userId, origin } = callingSession;
      if (!factorProofs.includes(proof.type)) {
        throwIfErrors([choiceError('proof.type', factorProofs)]);
      }
      const { second_factors } = await users.get(userId);
      if (second_factors.length === 0) throw new Problem('role_not_active');
      const link = await readEnrollmentLink(database.user(userId), userId, secret);
      const proven = await proofs.check(callingSession, proof, () => factorProofs);
      return inTransaction(userId, async (tx) => {
        await proven.consume(tx);
        await activateRole(tx, userId, link, origin);
        return users.getForUpdate(tx, userId);
      });
    },
    async remove(callingSession, proof) {
      const proven = await proofs.check(callingSession, proof, defaultProofs);
      const { userId, origin } = callingSession;
      await database.user(userId).transaction(async (tx) => {
        await proven.consume(tx);
        await users.remove(tx, userId, origin);
      });
    },
  };
}
