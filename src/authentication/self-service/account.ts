import type {
  Account,
  AccountChange,
  ChangedPassword,
  PasswordChange,
  PinChange,
  Proof,
  ProofType,
} from '../../contract/account.js';
import type { RoleActivation } from '../../contract/factors.js';
import type { User, UserChange } from '../../contract/user.js';
import { type Database, prepared, type Queryable, type Transaction } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import { choiceFault, Problem, refuseFaults } from '../../lib/problem.js';
import { newToken } from '../../lib/token-strings.js';
import { recordEvent } from '../events/events.js';
import { type RecordedProof, recordSessionProof } from '../operators.js';
import { activateRole, readEnrollmentLink } from '../users/enrollment-links.js';
import type { PreparedChange, Users } from '../users/users.js';
import { type UserRules, userFaults } from '../users/validation.js';
import type { PinRecoveries } from './pin-recoveries.js';
import { type AllowedProofs, type Proofs, type Proven, type Prover, usualProofs } from './proofs.js';

/** What people do with their own accounts, with a session, and with a fresh proof wherever more than a name changes. */
export interface OwnAccount {
  get(userId: string): Promise<Account>;
  /**
   * Name and language as they are; a username with a proof.
   * @throws Problem `validation_failed`, `identity_taken`; those of proofs
   */
  change(prover: Prover, change: AccountChange): Promise<Account>;
  /**
   * Ends every other login of the user, with its sessions and streams. The login that asks gets another id and another
   * token; of its sessions the one that asks goes on.
   * @throws Problem `validation_failed`; those of proofs
   */
  setPassword(prover: Prover, change: PasswordChange): Promise<ChangedPassword>;
  /** @throws Problem those of proofs. A code alone sets a first PIN, and replaces none. */
  setPin(prover: Prover, change: PinChange): Promise<Account>;
  /** @throws Problem those of proofs. A code alone does not do it: it may be all that the PIN stands beside. */
  removePin(prover: Prover, proof: Proof): Promise<Account>;
  /**
   * Records a proof for the session that makes it: as good as a fresh login, for administering.
   * @throws Problem those of proofs
   */
  prove(prover: Prover, proof: Proof): Promise<RecordedProof>;
  /**
   * Makes a role take effect by the second factor that there is and the secret of a link.
   * @throws Problem `enrollment_link_rejected`, `role_not_active` without a second factor; those of proofs
   */
  activateRole(prover: Prover, activation: RoleActivation): Promise<Account>;
  /** Deletes the account, as an operator does. @throws Problem those of proofs */
  remove(prover: Prover, proof: Proof): Promise<void>;
}

/** A user as the user sees it. */
export function toAccount(user: User): Account {
  const { id, username, email, phone, name, locale, has_password, has_pin, pin_recovery } = user;
  const { role, role_active, second_factors, created_at, updated_at } = user;
  return {
    ...{ id, username, email, phone, name, locale, has_password, has_pin, pin_recovery },
    ...{ role, role_active, second_factors, created_at, updated_at },
  };
}

/** What shows the second factor itself. */
const factorProofs: readonly ProofType[] = ['totp', 'passkey'];

export interface OwnAccountOptions {
  /** Milliseconds: ADMIN_PROOF_MAX_AGE. */
  readonly adminProofMaxAge: number;
  readonly database: Database;
  readonly users: Users;
  readonly proofs: Proofs;
  readonly pinRecoveries: Pick<PinRecoveries, 'guard'>;
  readonly rules: UserRules;
}

/**
 * What changes a PIN. A code to an address does not: login codes go there too, and the PIN stands beside those. While the
 * PIN is guarded only the PIN does, also where there is a second factor.
 */
const changedPinProofs: AllowedProofs = ({ pinIsGuarded }) => (pinIsGuarded ? ['pin'] : ['password', 'passkey', 'pin']);
const pinProofs: AllowedProofs = (user) =>
  user.pinHash === undefined ? [...usualProofs(user), 'pin'] : changedPinProofs(user);

/**
 * A change of the password has raised the user's epoch, and so ended every login. The one that asked goes on, under another
 * id and with another token: it is this one row, found by its session and held by nobody else, that follows into the new
 * epoch, and of its sessions the one that asked. What the old token gets meanwhile names the old id, and holds nowhere.
 * What is approved meanwhile was begun in the old epoch, and stays there.
 */
const renewLogin = prepared(
  'authentication_renew',
  `with renewed as (
     update authentications a set id = $3, token_digest = $4, epoch = u.epoch, approval_key = null,
       approved_at = db_now(), updated_at = db_now()
     from sessions s join users u on u.id = s.user_id
     where s.user_id = $1 and s.id = $2 and a.user_id = s.user_id and a.id = s.authentication_id
       and a.ended_at is null and a.epoch = u.epoch - 1
     returning 1),
   moved as (
     update sessions set authentication_id = $3 where user_id = $1 and id = $2 and exists (select 1 from renewed))
   select 1 as renewed from renewed`,
);

export function createOwnAccount(options: OwnAccountOptions): OwnAccount {
  const { database, users, proofs, pinRecoveries, rules } = options;

  /** Proves first and hashes then, so that a session alone cannot keep the machine busy with hashing. */
  async function changeProven(
    prover: Prover,
    change: UserChange,
    proof: Proof | undefined,
    allowed: AllowedProofs,
    afterwards: (tx: Queryable, proven: Proven) => Promise<unknown> = async () => undefined,
  ): Promise<Account> {
    const { userId } = prover;
    refuseFaults(await userFaults(change, rules));
    const proven = await proofs.check(prover, proof, allowed);
    const ready = await users.prepareChange(userId, change);
    return inTransaction(userId, async (tx) => {
      await proven.use(tx);
      const user = await apply(tx, prover, ready);
      await afterwards(tx, proven);
      return user;
    });
  }

  const inTransaction = async (userId: string, work: (tx: Transaction) => Promise<User>) =>
    toAccount(await database.lane(userId).transaction(work));
  const apply = (tx: Queryable, { userId, origin }: Prover, ready: PreparedChange) =>
    users.change(tx, userId, ready, origin);

  return {
    get: async (userId) => toAccount(await users.get(userId)),
    async change(prover, { name, locale, username, proof }) {
      const plain = { ...(name !== undefined && { name }), ...(locale !== undefined && { locale }) };
      if (username !== undefined) {
        const ready = { ...plain, username };
        // Names its faults before the proof, which may be good for one time only.
        await users.prepareChange(prover.userId, ready);
        return changeProven(prover, ready, proof, usualProofs);
      }
      const ready = await users.prepareChange(prover.userId, plain);
      return inTransaction(prover.userId, (tx) => apply(tx, prover, ready));
    },
    async setPassword(prover, { password, proof }) {
      const { userId, sessionId } = prover;
      const id = newId();
      const { token, digest } = newToken('authentication', [userId, id]);
      const account = await changeProven(prover, { password }, proof, usualProofs, async (tx, { type }) => {
        const renewed = await tx.query(renewLogin, [userId, sessionId, id, digest]);
        // Logged out in this moment.
        if (renewed.length === 0) throw new Problem('invalid_session_token');
        await pinRecoveries.guard(tx, userId, type);
      });
      return { ...account, token, authentication_id: id };
    },
    setPin: (prover, { pin, proof }) => changeProven(prover, { pin }, proof, pinProofs),
    removePin: (prover, proof) => changeProven(prover, { pin: null }, proof, changedPinProofs),
    async prove(prover, proof) {
      const proven = await proofs.check(prover, proof, usualProofs);
      const { userId, origin } = prover;
      return database.lane(userId).transaction(async (tx) => {
        await proven.use(tx);
        await recordEvent(tx, { userId, type: 'session.proven', origin, data: { proof: proven.type } });
        return recordSessionProof(tx, prover, options.adminProofMaxAge);
      });
    },
    async activateRole(prover, { proof, enrollment_secret: secret }) {
      const { userId, origin } = prover;
      if (!factorProofs.includes(proof.type)) {
        refuseFaults([choiceFault('proof.type', factorProofs)]);
      }
      const { second_factors } = await users.get(userId);
      if (second_factors.length === 0) throw new Problem('role_not_active');
      const link = await readEnrollmentLink(database.lane(userId), userId, secret);
      const proven = await proofs.check(prover, proof, () => factorProofs);
      return inTransaction(userId, async (tx) => {
        await proven.use(tx);
        await activateRole(tx, userId, link, origin);
        return users.hold(tx, userId);
      });
    },
    async remove(prover, proof) {
      const proven = await proofs.check(prover, proof, usualProofs);
      await database.lane(prover.userId).transaction(async (tx) => {
        await proven.use(tx);
        await users.remove(tx, prover.userId, prover.origin);
      });
    },
  };
}
