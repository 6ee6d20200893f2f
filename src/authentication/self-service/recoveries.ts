import type { Recovered, RecoveryAnswer, RecoveryRequest } from '../../contract/account.js';
import { prepared, type Queryable } from '../../database/database.js';
import { newId } from '../../lib/ids.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem, refuseFaults } from '../../lib/problem.js';
import { findAccount } from '../accounts.js';
import { findKnownDevice } from '../devices/queries.js';
import { recordEvent } from '../events/events.js';
import { forgiveGuesses } from '../guess-budget.js';
import { identityDigest } from '../identities/identity-digest.js';
import { codeDigest, codeLifetime, newCode } from '../secrets/codes.js';
import { holdUserEpoch } from '../users/queries.js';
import { type UserRules, userFaults } from '../users/validation.js';
import { type BegunChallenge, beginChallenge, endChallenge } from './challenges.js';
import { addressTypes } from './code-sending.js';
import type { PinRecoveries } from './pin-recoveries.js';
import type { CheckedCode, SessionlessOptions } from './sessionless-codes.js';

/**
 * A forgotten password or PIN is made anew by a code to an address of the account. It lets nobody in: whoever has done it
 * logs in as usual, with every second factor there is.
 */
export interface Recoveries {
  /**
   * The same answer, rows and work whether or not somebody has the address, and something to recover.
   * @throws Problem `validation_failed`, `too_many_requests`
   */
  begin(request: RecoveryRequest, origin: Origin): Promise<BegunChallenge>;
  /**
   * Makes the new secret count, ends every login of the user, and forgives what was guessed wrong until now; never an
   * operator's lock. A new PIN does all that once its wait is over.
   * @throws Problem `code_rejected`, `validation_failed`, `account_temporarily_locked`, `too_many_requests`
   */
  complete(id: string, answer: RecoveryAnswer, origin: Origin): Promise<Recovered>;
}

const findNamed = prepared('recovery_identity', 'select user_id from identities where digest = $1 and user_id = $2');

export interface RecoveriesOptions extends SessionlessOptions {
  readonly pinRecoveries: Pick<PinRecoveries, 'isOn' | 'start'>;
}

export function createRecoveries(options: RecoveriesOptions): Recoveries {
  const { database, keys, users, limits, codes, sessionless, rules, pinRecoveries } = options;

  async function begin({ identity, purpose, device }: RecoveryRequest, origin: Origin): Promise<BegunChallenge> {
    const address = sessionless.readAddress(identity);
    await limits.loginFrom(origin.address);
    const { userId, user } = await findAccount(database, keys, address);
    const knownDevice = await findKnownDevice(database, userId, device?.id ?? newId());
    await limits.loginTo(userId, knownDevice);
    // What there never was cannot have been forgotten: a code alone adds no way in.
    const forgotten = purpose === 'password' ? user?.passwordHash : user?.pinHash;
    const recipient = forgotten === undefined ? undefined : address.canonical;
    const admitted = await codes.admit({ userId, address, recipient, knownDevice, from: origin.address });
    const id = newId();
    const code = newCode();
    return database.lane(userId).transaction(async (tx) => {
      const begun = await beginChallenge(tx, {
        ...{ userId, id, purpose: 'recovery', deviceId: knownDevice, lifetime: codeLifetime },
        kept: {
          ...{ code: codeDigest(keys, id, code), recovers: purpose, epoch: String(user?.epoch ?? 0) },
          identity: identityDigest(address).toString('hex'),
          type: address.type,
        },
      });
      const { type } = address;
      const to = { recipient: admitted && recipient, turn: admitted?.turn };
      await codes.send(tx, { userId, type, kind: 'recovery_code', ...to, code });
      await recordEvent(tx, { userId, type: 'recovery.started', origin, data: { recovers: purpose } });
      return begun;
    });
  }

  async function complete(id: string, answer: RecoveryAnswer, origin: Origin): Promise<Recovered> {
    const { recovers, change } = await readAnswer(answer, rules);
    const checked = await sessionless.check({
      ...{ purpose: 'recovery', id, secret: answer.secret, origin, rejected: 'recovery.rejected' },
    });
    // One code recovers one thing, the one that it was asked for.
    if (checked.kept.recovers !== recovers) throw new Problem('code_rejected');
    const { userId } = checked;
    const ready = await users.prepareChange(userId, change);
    const effectiveAt = await database.lane(userId).transaction(async (tx) => {
      await holdRecovered(tx, checked);
      const { pin_hash: pinHash } = ready.values;
      if (typeof pinHash === 'string' && pinRecoveries.isOn) {
        const by = addressTypes.find((type) => type === checked.kept.type);
        return pinRecoveries.start(tx, { userId, pinHash, by, origin });
      }
      await users.change(tx, userId, ready, origin, 'account_recovered');
      // A new password has ended every login; a new PIN does here.
      if (recovers === 'pin') await users.logout(tx, userId, origin);
      await forgiveGuesses(tx, userId, recovers);
      await recordEvent(tx, { userId, type: 'recovery.completed', origin, data: { recovers } });
      return undefined;
    });
    const waits = effectiveAt !== undefined && ({ status: 'pending', effective_at: effectiveAt } as const);
    return { id: checked.id, recovered: recovers, ...waits };
  }

  return { begin, complete };
}

/**
 * Locks the user, and makes sure that nothing has overtaken the code: the address still is the user's, no password was
 * changed meanwhile (by another recovery, too), and the code was not used.
 */
async function holdRecovered(tx: Queryable, { userId, id, kept }: CheckedCode): Promise<void> {
  const epoch = await holdUserEpoch(tx, userId);
  const named = await tx.query(findNamed, [Buffer.from(kept.identity ?? '', 'hex'), userId]);
  if (epoch === undefined || String(epoch) !== kept.epoch || named.length === 0) throw new Problem('code_rejected');
  if (!(await endChallenge(tx, { userId, id }))) throw new Problem('code_rejected');
}

/** @throws Problem `validation_failed` unless there is exactly one new secret, of a form that can be one. */
async function readAnswer({ password, pin }: RecoveryAnswer, rules: UserRules) {
  const faults: FieldError[] = [];
  const params = { fields: 'password, pin' };
  if (password === undefined && pin === undefined) faults.push({ code: 'one_required', params });
  if (password !== undefined && pin !== undefined) faults.push({ field: 'pin', code: 'conflicting_fields', params });
  const recovers = password === undefined ? ('pin' as const) : ('password' as const);
  const change = password === undefined ? { ...(pin !== undefined && { pin }) } : { password };
  faults.push(...(await userFaults(change, rules)));
  refuseFaults(faults);
  return { recovers, change };
}
