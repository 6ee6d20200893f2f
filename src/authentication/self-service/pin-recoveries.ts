import type { ProofType } from '../../contract/account.js';
import type { Database, Queryable, Transaction } from '../../database/database.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import type { SecretKeys } from '../../lib/secret-keys.js';
import { recordEvent } from '../events/events.js';
import { identityDigest } from '../identities/identity-digest.js';
import { describeTime } from '../messages/notice-values.js';
import type { Notices } from '../messages/notices.js';
import type { RequestLimits } from '../request-limits.js';
import { canonicalLongCode, newLongCode } from '../secrets/codes.js';
import {
  endNextPin,
  findByCancelCode,
  guardPin,
  type NextPins,
  putNextPin,
  queueNextPin,
} from '../secrets/next-pin.js';
import { finishPinRecovery } from '../users/change-ends.js';
import { holdUserEpoch } from '../users/queries.js';
import type { Users } from '../users/users.js';
import { type AddressType, addressTypes, type CodeSending } from './code-sending.js';
import type { GivenAddress, SessionlessCodes } from './sessionless-codes.js';

/**
 * The wait of a PIN that a code has recovered. Login codes go wherever the code went, so that it may come from who took
 * over all that the PIN stands beside: until the wait is over the old PIN counts, and the user can cancel (decision 59).
 */
export interface PinRecoveries extends NextPins {
  /** Whether there is a wait at all. */
  readonly isOn: boolean;
  /**
   * Has a new PIN wait, in place of one that waited already. The user's devices and other addresses are told. The user's
   * row must be held.
   * @returns when it takes effect
   */
  start(tx: Transaction, recovered: RecoveredPin): Promise<string>;
  /**
   * For what a proof has set that changes a PIN itself, a password or a factor: if the proof was a code, only the PIN
   * changes the PIN until as long a wait is over. What is set by these meanwhile is guarded by the same wait.
   */
  guard(tx: Queryable, userId: string, proof: ProofType): Promise<void>;
  /** Drops the PIN that waits. @throws Problem `not_found` */
  cancel(tx: Queryable, userId: string, origin: Origin): Promise<void>;
  /**
   * The same without a session, by the code of the message that told of it.
   * @throws Problem `code_rejected`, the same for a wrong code, nobody, and where none waits; `validation_failed`,
   * `too_many_requests`
   */
  cancelByCode(identity: GivenAddress, code: string, origin: Origin): Promise<void>;
}

export interface RecoveredPin {
  readonly userId: string;
  readonly pinHash: string;
  /** Where the code went that recovered it; undefined: unknown. */
  readonly by: AddressType | undefined;
  readonly origin: Origin;
}

export interface PinRecoveriesOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Pick<Users, 'logout'>;
  readonly codes: CodeSending;
  readonly limits: Pick<RequestLimits, 'loginFrom'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly sessionless: Pick<SessionlessCodes, 'readAddress'>;
  /** Milliseconds; 0: none. */
  readonly delay: number;
}

const system: Origin = { actor: 'system' };
const bound = (code: string) => `pin recovery:${canonicalLongCode(code)}`;
/** Seconds for which the message is worth sending, at least. */
const shortestLifetime = 300;

export function createPinRecoveries(options: PinRecoveriesOptions): PinRecoveries {
  const { database, keys, users, codes, limits, notices, sessionless, delay } = options;

  /** What recovering a secret does beside, once the new one counts. */
  async function follow(tx: Queryable, userId: string): Promise<void> {
    await users.logout(tx, userId, system);
    await finishPinRecovery(tx, userId);
    await notices.notify(tx, { userId, kind: 'account_recovered', origin: system });
  }

  async function start(tx: Transaction, { userId, pinHash, by, origin }: RecoveredPin): Promise<string> {
    if ((await endNextPin(tx, userId)) === 'applied') await follow(tx, userId);
    const code = newLongCode();
    const waiting = await putNextPin(tx, userId, { pinHash, cancel: keys.digest('code', bound(code)), delay });
    await queueNextPin(tx, userId);
    for (const type of addressTypes) {
      const recipient = waiting[type];
      if (type === by || recipient === null || !codes.reaches(type)) continue;
      const lifetime = Math.max(delay / 1000, shortestLifetime);
      const values = { time: describeTime(waiting.effectiveAt) };
      await codes.send(tx, { userId, type, kind: 'pin_recovery', recipient, code, lifetime, values });
    }
    const data = { effective_at: waiting.effectiveAt };
    await recordEvent(tx, { userId, type: 'pin_recovery.started', origin, data });
    await notices.notify(tx, { userId, kind: 'pin_recovery', origin });
    return waiting.effectiveAt;
  }

  async function cancel(tx: Queryable, userId: string, origin: Origin): Promise<void> {
    await holdUserEpoch(tx, userId);
    if ((await endNextPin(tx, userId, 'cancelled')) === undefined) throw new Problem('not_found');
    await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data: { reason: 'asked' } });
  }

  async function cancelByCode(given: GivenAddress, code: string, origin: Origin): Promise<void> {
    const address = sessionless.readAddress(given);
    await limits.loginFrom(origin.address);
    const digests = keys.digests('code', bound(code));
    // The code alone is beyond guessing: no limit of the account, by which a stranger could keep the owner from it.
    await database.transaction(async (tx) => {
      const userId = await findByCancelCode(tx, identityDigest(address), digests);
      if (userId === undefined) throw new Problem('code_rejected');
      await holdUserEpoch(tx, userId);
      // Under the lock once more: another recovery may have replaced it, with a code of its own.
      if ((await findByCancelCode(tx, identityDigest(address), digests)) === undefined)
        throw new Problem('code_rejected');
      if ((await endNextPin(tx, userId, 'cancelled')) === undefined) throw new Problem('code_rejected');
      await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data: { reason: 'code' } });
    });
  }

  async function apply(userId: string): Promise<void> {
    await database.lane(userId).transaction(async (tx) => {
      await holdUserEpoch(tx, userId);
      if ((await endNextPin(tx, userId, 'applied')) === 'applied') await follow(tx, userId);
      // The queue may come early by the clock that decides.
      else await queueNextPin(tx, userId);
    });
  }

  async function guard(tx: Queryable, userId: string, proof: ProofType): Promise<void> {
    if (proof === 'code' && delay > 0) await guardPin(tx, userId, delay);
  }

  return { isOn: delay > 0, start, guard, cancel, cancelByCode, apply };
}
