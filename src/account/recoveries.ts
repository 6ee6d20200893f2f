import { recordEvent } from '../audit/events.js';
import type { SentCode } from '../contract/account/code.js';
import type { RecoveryAnswer, RecoveryRequest, RecoveryResult } from '../contract/account/recovery.js';
import { endChallenge, startChallenge } from '../credentials/challenges.js';
import { codeDigest, codeLifetime, newCode } from '../credentials/codes.js';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { findKnownDevice } from '../devices/queries.js';
import { findAccount } from '../identities/accounts.js';
import { identityDigest } from '../identities/identity.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { type FieldError, Problem, throwIfErrors } from '../lib/problem.js';
import { forgiveGuesses } from '../limits/guess-budget.js';
import { findEpochForUpdate, hadAddressLogin } from '../users/queries.js';
import type { PreparedChange } from '../users/users.js';
import { type UserRules, userErrors } from '../users/validation.js';
import { addressTypes, sentCode } from './code-sender.js';
import type { PinRecoveries } from './pin-recoveries.js';
import type { SessionlessDependencies, VerifiedCode } from './sessionless-codes.js';
import { isUnproven, recoverUnproven } from './unproven-recovery.js';

/**
 * Recovery of a forgotten password or PIN by a code that is sent to an address of the account. A recovery is not a
 * login: the user logs in afterwards, with the second factor if there is one (OWASP Forgot Password Cheat Sheet).
 */
export interface Recoveries {
  /**
   * Sends a code. The response, the stored rows and the work do not depend on whether an account has the address, or on
   * whether that account has the secret to recover. So they reveal neither.
   * @throws Problem `validation_failed`, `too_many_requests`
   */
  begin(request: RecoveryRequest, origin: Origin): Promise<SentCode>;
  /**
   * Sets the new secret and ends every login of the user. Also ends the locks after wrong guesses that `forgiveGuesses`
   * may end. An operator's lock stays. For a PIN, all of this happens after PIN_RECOVERY_DELAY.
   * If no address of the account was ever proven, it removes everything of the account instead, and proves the address: then the new
   * password is optional. With `check`, it only says that the code is correct.
   * @throws Problem `code_rejected`, `validation_failed`, `account_temporarily_locked`, `too_many_requests`
   */
  complete(id: string, answer: RecoveryAnswer, origin: Origin): Promise<RecoveryResult>;
}

const findIdentity = statement<{ digest: Buffer; userId: string }, { user_id: string }>(
  'recovery_identity',
  (p) => sql`select user_id from identities where digest = ${p.digest} and user_id = ${p.userId}`,
);

export interface RecoveriesOptions extends SessionlessDependencies {
  readonly pinRecoveries: Pick<PinRecoveries, 'isOn' | 'start'>;
  /** Removes everything from a user's inbox. */
  readonly emptyInbox: (tx: Queryable, userId: string) => Promise<void>;
}

/** Creates the recovery of passwords and PINs. */
export function createRecoveries(options: RecoveriesOptions): Recoveries {
  const { database, keys, users, limits, codes, sessionless, rules } = options;

  async function begin(request: RecoveryRequest, origin: Origin): Promise<SentCode> {
    const { identity, purpose, device, human_check: token } = request;
    const address = sessionless.readAddress(identity);
    const deviceId = device?.id ?? newId();
    await options.humanCheck?.pass({
      ...({ purpose: 'recovery', token, deviceId, clientAddress: origin.clientAddress } as const),
      identity: { ...address, digest: identityDigest(address) },
      sendsSms: address.type === 'phone',
    });
    await limits.countLoginByAddress(origin.clientAddress);
    const { userId, user } = await findAccount(database, keys, address);
    const knownDevice = await findKnownDevice(database.user(userId), userId, deviceId);
    await limits.countLoginByAccount(userId, knownDevice);
    // A login by a code to an address had proven it, even if the address was removed since.
    const hadLogin = await hadAddressLogin(database.user(userId), userId);
    const unproven = purpose === 'password' && isUnproven(user, address) && !hadLogin;
    // Only an existing secret can be recovered. A code alone must not add a way to log in.
    const existingHash = purpose === 'password' ? user?.passwordHash : user?.pinHash;
    const mayRecover = unproven || (existingHash !== undefined && user?.[address.type] === address.canonical);
    const recipient = mayRecover ? address.canonical : undefined;
    const counted = await codes.countRequest({
      userId,
      address,
      recipient,
      knownDevice,
      clientAddress: origin.clientAddress,
    });
    const id = newId();
    const code = newCode();
    const { type } = address;
    return database.user(userId).transaction(async (tx) => {
      const challenge = await startChallenge(tx, {
        userId,
        id,
        purpose: 'recovery',
        deviceId: knownDevice,
        lifetime: codeLifetime,
        state: {
          code: codeDigest(keys, id, code),
          recovers: purpose,
          epoch: String(user?.epoch ?? 0),
          identity: identityDigest(address).toString('hex'),
          type,
          unproven: String(unproven),
        },
      });
      const { recipient: to, recentCodes } = counted;
      await codes.send(tx, { userId, type, kind: 'recovery_code', recipient: to, recentCodes, code });
      await recordEvent(tx, { userId, type: 'recovery.started', origin, data: { recovers: purpose } });
      return sentCode(challenge, address, counted);
    });
  }

  async function complete(id: string, answer: RecoveryAnswer, origin: Origin): Promise<RecoveryResult> {
    const { recovers, change } = await readAnswer(answer, rules);
    const { secret } = answer;
    const result = await sessionless.check({
      purpose: 'recovery',
      id,
      secret,
      origin,
      rejectedEvent: 'recovery.rejected',
    });
    if (answer.check === true) return { expires_at: result.expiresAt };
    const unproven = result.state.unproven === 'true';
    if (recovers === undefined && !unproven) {
      throw new Problem('validation_failed', { errors: [{ code: 'one_required', params: secretFields }] });
    }
    // A code recovers only the secret that it was requested for.
    if (result.state.recovers !== (recovers ?? 'password')) throw new Problem('code_rejected');
    const { userId } = result;
    const prepared = await users.prepareChange(userId, change, { client: origin });
    if (unproven) {
      await database.user(userId).transaction(async (tx) => {
        await lockAndCheckCode(tx, result);
        const { state } = result;
        await recoverUnproven(tx, { userId, state, values: prepared.values, origin, emptyInbox: options.emptyInbox });
        await recordEvent(tx, { userId, type: 'recovery.completed', origin, data: { recovers: 'password' } });
      });
      return { id: result.id, recovered: 'password' };
    }
    if (recovers === undefined) throw new Error('unreachable: the error was thrown above');
    const effectiveAt = await recoverSecret(options, result, { recovers, prepared }, origin);
    const pending = effectiveAt !== undefined && ({ status: 'pending', effective_at: effectiveAt } as const);
    return { id: result.id, recovered: recovers, ...pending };
  }

  return { begin, complete };
}

/** Sets the recovered secret. @returns when it takes effect; undefined: now */
function recoverSecret(
  { database, users, pinRecoveries }: Pick<RecoveriesOptions, 'database' | 'users' | 'pinRecoveries'>,
  result: VerifiedCode,
  { recovers, prepared }: { readonly recovers: 'password' | 'pin'; readonly prepared: PreparedChange },
  origin: Origin,
): Promise<string | undefined> {
  const { userId, state } = result;
  return database.user(userId).transaction(async (tx) => {
    await lockAndCheckCode(tx, result);
    const { pin_hash: pinHash } = prepared.values;
    if (typeof pinHash === 'string' && pinRecoveries.isOn) {
      const codeSentTo = addressTypes.find((type) => type === state.type);
      return pinRecoveries.start(tx, { userId, pinHash, codeSentTo, origin });
    }
    await users.change(tx, userId, prepared, origin, 'account_recovered');
    // `users.change` ends every login if the password changes, but not if the PIN changes.
    if (recovers === 'pin') await users.logout(tx, userId, origin);
    await forgiveGuesses(tx, userId, recovers);
    await recordEvent(tx, { userId, type: 'recovery.completed', origin, data: { recovers } });
    return undefined;
  });
}

/**
 * Locks the user's row, checks that the code is still valid, and ends its challenge, so that the code cannot be used
 * again. The code is valid if the address still belongs to the user, if the password has not changed since the request
 * (not even by another recovery), and if the code was not used.
 */
async function lockAndCheckCode(tx: Queryable, { userId, id, state }: VerifiedCode): Promise<void> {
  const epoch = await findEpochForUpdate(tx, userId);
  const digest = Buffer.from(state.identity ?? '', 'hex');
  const rows = await tx.query(findIdentity({ digest, userId }));
  if (epoch === undefined || String(epoch) !== state.epoch || rows.length === 0) throw new Problem('code_rejected');
  if (!(await endChallenge(tx, { userId, id }))) throw new Problem('code_rejected');
}

const secretFields = { fields: 'password, pin' };

/**
 * Reads the new secret, if there is one: whether one is needed depends on the recovery.
 * @throws Problem `validation_failed` for two secrets, or an invalid one
 */
async function readAnswer({ password, pin }: RecoveryAnswer, rules: UserRules) {
  const errors: FieldError[] = [];
  const params = secretFields;
  if (password !== undefined && pin !== undefined) errors.push({ field: 'pin', code: 'conflicting_fields', params });
  const given = pin === undefined ? undefined : ('pin' as const);
  const recovers = password === undefined ? given : ('password' as const);
  const change = password === undefined ? { ...(pin !== undefined && { pin }) } : { password };
  errors.push(...(await userErrors(change, rules)));
  throwIfErrors(errors);
  return { recovers, change };
}
