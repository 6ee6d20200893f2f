import { recordEvent } from '../audit/events.js';
import { newLongCode, normalizeLongCode } from '../credentials/codes.js';
import {
  endPendingPin,
  findByCancelCode,
  type PendingPins,
  queuePendingPin,
  requirePinForPinChange,
  savePendingPin,
} from '../credentials/pins/pending-pin.js';
import type { Database, Queryable, Transaction } from '../database/database.js';
import { identityDigest } from '../identities/identity.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { RequestLimits } from '../limits/request-limits.js';
import { describeTime } from '../messages/notice-values.js';
import type { Notices } from '../messages/notices.js';
import { finishPinRecovery } from '../users/change-effects.js';
import { findEpochForUpdate } from '../users/queries.js';
import type { Users } from '../users/users.js';
import { type AddressType, addressTypes, type CodeSender } from './code-sender.js';
import type { AcceptedProof } from './proofs.js';
import type { AddressInput, SessionlessCodes } from './sessionless-codes.js';

/**
 * Recoveries of a PIN by a code take effect after a delay. Login codes go to the same address, so the request may come
 * from an attacker who controls it. Until the delay is over, the old PIN counts, and the user can cancel (decision 16).
 */
export interface PinRecoveries extends PendingPins {
  /** Whether there is a delay at all. */
  readonly isOn: boolean;
  /**
   * Stores a pending PIN, replaces an earlier one, and notifies the user's devices and other addresses. The caller holds
   * a lock on the user's row.
   * @returns when the PIN takes effect
   */
  start(tx: Transaction, recovered: RecoveredPin): Promise<string>;
  /**
   * Call it after a proof has set a password or a factor, because these can authorize a change of the PIN. If the proof
   * was a code, then for as long as the delay of a recovery, only the PIN itself can authorize a change of the PIN.
   */
  requirePinAfterCode(tx: Queryable, userId: string, proof: AcceptedProof): Promise<void>;
  /** Cancels the pending PIN. @throws Problem `not_found` */
  cancel(tx: Queryable, userId: string, origin: Origin): Promise<void>;
  /**
   * Cancels without a session, by the code of the message about the recovery.
   * @throws Problem `code_rejected` for a wrong code, an address without an account, or no pending PIN;
   *   `validation_failed`, `too_many_requests`
   */
  cancelByCode(identity: AddressInput, code: string, origin: Origin): Promise<void>;
}

export interface RecoveredPin {
  readonly userId: string;
  readonly pinHash: string;
  /** The type of the address that received the recovery code; undefined if unknown. */
  readonly codeSentTo: AddressType | undefined;
  readonly origin: Origin;
}

export interface PinRecoveriesOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly users: Pick<Users, 'logout'>;
  readonly codes: CodeSender;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress'>;
  readonly notices: Pick<Notices, 'notify'>;
  readonly sessionless: Pick<SessionlessCodes, 'readAddress'>;
  /** Milliseconds; 0: no delay. */
  readonly delay: number;
}

const system: Origin = { actor: 'system' };
const digestInput = (code: string) => `pin recovery:${normalizeLongCode(code)}`;
/** Seconds: the minimum lifetime of the message. */
const minLifetimeSeconds = 300;

/** Creates recoveries of PINs. Without a delay, `isOn` is false and a recovered PIN takes effect at once. */
export function createPinRecoveries(options: PinRecoveriesOptions): PinRecoveries {
  const { database, keys, users, codes, limits, notices, sessionless, delay } = options;

  /** The other effects of a recovery, after the new PIN is in effect. */
  async function finish(tx: Queryable, userId: string): Promise<void> {
    await users.logout(tx, userId, system);
    await finishPinRecovery(tx, userId);
    await notices.notify(tx, { userId, kind: 'account_recovered', origin: system });
  }

  async function start(tx: Transaction, { userId, pinHash, codeSentTo, origin }: RecoveredPin): Promise<string> {
    if ((await endPendingPin(tx, userId)) === 'applied') await finish(tx, userId);
    const code = newLongCode();
    const pending = await savePendingPin(tx, userId, {
      pinHash,
      cancelDigest: keys.digest('code', digestInput(code)),
      delayMs: delay,
    });
    await queuePendingPin(tx, userId);
    for (const type of addressTypes) {
      const recipient = pending[type];
      if (type === codeSentTo || recipient === null || !codes.supports(type)) continue;
      const lifetime = Math.max(delay / 1000, minLifetimeSeconds);
      const values = { time: describeTime(pending.effectiveAt) };
      await codes.send(tx, { userId, type, kind: 'pin_recovery', recipient, code, lifetime, values });
    }
    const data = { effective_at: pending.effectiveAt };
    await recordEvent(tx, { userId, type: 'pin_recovery.started', origin, data });
    await notices.notify(tx, { userId, kind: 'pin_recovery', origin });
    return pending.effectiveAt;
  }

  async function cancel(tx: Queryable, userId: string, origin: Origin): Promise<void> {
    await findEpochForUpdate(tx, userId);
    if ((await endPendingPin(tx, userId, 'cancelled')) === undefined) throw new Problem('not_found');
    await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data: { reason: 'asked' } });
  }

  async function cancelByCode(input: AddressInput, code: string, origin: Origin): Promise<void> {
    const address = sessionless.readAddress(input);
    await limits.countLoginByAddress(origin.clientAddress);
    const digests = keys.digests('code', digestInput(code));
    // The code cannot be guessed, so the account needs no limit here. With a limit, a stranger could lock out the
    // owner.
    await database.transaction(async (tx) => {
      const userId = await findByCancelCode(tx, identityDigest(address), digests);
      if (userId === undefined) throw new Problem('code_rejected');
      await findEpochForUpdate(tx, userId);
      // Looks again under the lock, because another recovery may have replaced the pending PIN and its code.
      const foundAgain = await findByCancelCode(tx, identityDigest(address), digests);
      if (foundAgain === undefined) throw new Problem('code_rejected');
      if ((await endPendingPin(tx, userId, 'cancelled')) === undefined) throw new Problem('code_rejected');
      await recordEvent(tx, { userId, type: 'pin_recovery.cancelled', origin, data: { reason: 'code' } });
    });
  }

  async function apply(userId: string): Promise<void> {
    await database.user(userId).transaction(async (tx) => {
      await findEpochForUpdate(tx, userId);
      if ((await endPendingPin(tx, userId, 'applied')) === 'applied') await finish(tx, userId);
      // The queue's clock may be ahead of the database's clock: run the job again later.
      else await queuePendingPin(tx, userId);
    });
  }

  async function requirePinAfterCode(tx: Queryable, userId: string, proof: AcceptedProof): Promise<void> {
    if (proof === 'code' && delay > 0) await requirePinForPinChange(tx, userId, delay);
  }

  return { isOn: delay > 0, start, requirePinAfterCode, cancel, cancelByCode, apply };
}
