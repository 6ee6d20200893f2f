import type { NoticeChannel } from '../contract/administration.js';
import { codeDigest } from '../credentials/codes.js';
import type { Database, Queryable } from '../database/database.js';
import type { AccountUser } from '../identities/accounts.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { newToken } from '../lib/crypto/token-strings.js';
import { newId } from '../lib/ids.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { Guess } from '../limits/guess-budget.js';
import type { LoginPolicies } from '../limits/login-policies.js';
import type { Counters } from '../statistics/counters.js';
import type { ApprovedRecord } from './authentications.js';
import { type LoginResult, withChallenge } from './completion.js';
import { countApproval } from './login-counters.js';
import {
  approveAuthentication,
  awaitNextStep,
  type OpenAuthentication,
  rejectAuthentication,
} from './open-authentications.js';
import type { Evaluated, SecretChecks } from './second-step-secret.js';
import type { StepEffect } from './step-check.js';
import type { StartedStep } from './step-start.js';

export interface SecondStepWritesOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly counters: Counters;
  /** How long logins last. */
  readonly policies: LoginPolicies;
  /** The channels of the notice about a login on a new device. */
  readonly noticeChannels: readonly NoticeChannel[];
  /**
   * Links an account at a provider to the user who has just proven to own both.
   * @param link the account, encrypted
   * @throws Problem `external_identity_taken`
   */
  readonly linkAccount: (userId: string, login: { readonly id: string }, link: string, origin: Origin) => Promise<void>;
  /** Called after a message is written and committed. */
  readonly onMessageWritten: () => void;
}

/** Creates what stores the result of a right answer: the next step of the login, or its approval. */
export function createSecondStepWrites(
  options: SecondStepWritesOptions,
  { countAndReject }: Pick<SecretChecks, 'countAndReject'>,
) {
  const { database, keys, counters } = options;

  /** Writes the effect of an answer, such as a new password, and the next state of the login in one transaction: all or nothing. */
  async function withEffect<T>(
    { open, effect }: Evaluated,
    { userId }: AccountUser,
    write: (handle: Queryable, effect: StepEffect) => Promise<T | undefined>,
  ): Promise<{ readonly written: T; readonly recoveryCodes: StepEffect['recoveryCodes'] }> {
    const inTransaction = async (handle: Queryable) => {
      // Undefined: the effect, or the write after it, refuses the answer.
      const done = effect === undefined ? {} : await effect(handle);
      const written = done && (await write(handle, done));
      if (done === undefined || written === undefined) throw countAndReject(open.id);
      return { written, recoveryCodes: done.recoveryCodes };
    };
    const handle = database.user(userId);
    return effect === undefined ? inTransaction(handle) : handle.transaction(inTransaction);
  }

  async function continueWith(
    user: AccountUser,
    evaluated: Evaluated,
    { challenge, message }: StartedStep,
  ): Promise<LoginResult> {
    const link = evaluated.link ?? evaluated.open.challenge.link;
    const next = link === undefined ? challenge : { ...challenge, state: { ...challenge.state, link } };
    const { written } = await withEffect(evaluated, user, (handle, { hasNewEpoch = false }) =>
      awaitNextStep(handle, evaluated.open, { ...next, message, factor: 2, guesses: 0, hasNewEpoch }),
    );
    if (message !== undefined) options.onMessageWritten();
    return withChallenge(written, challenge, message);
  }

  /** Ends the login if the account at the provider was linked to another user since the login began. */
  async function linkOrReject({ userId }: AccountUser, open: OpenAuthentication, link: string, origin: Origin) {
    try {
      await options.linkAccount(userId, open, link, origin);
    } catch (error) {
      if (error instanceof Problem && error.code === 'external_identity_taken') {
        await rejectAuthentication(database.user(userId), open, origin, 'not_linked');
      }
      throw error;
    }
  }

  async function approve(
    user: AccountUser,
    evaluated: Evaluated,
    guess: Guess,
    { secret, key, origin }: { readonly secret: string; readonly key: Buffer | undefined; readonly origin: Origin },
  ): Promise<{ readonly record: ApprovedRecord; readonly result: LoginResult }> {
    const { open, secondFactor } = evaluated;
    const { token, digest } = newToken('authentication', [user.userId, open.id]);
    const { policies, noticeChannels } = options;
    const issued = { digest, policies, noticeChannels };
    // The user has proven everything that this account asks for.
    const link = evaluated.link ?? open.challenge.link;
    // The digest recognises a repeated request (`LoginSteps.checkRepeat`). A new password gets none, because a digest is fast to guess at.
    const repeated = open.challenge.awaits === 'new_password' ? newId() : secret;
    const approvalSecret = Buffer.from(codeDigest(keys, open.id, repeated), 'base64');
    const { written: approved, recoveryCodes } = await guess.approve(async (takenGuess) => {
      if (link !== undefined) await linkOrReject(user, open, link, origin);
      return withEffect(evaluated, user, (handle, { hasNewEpoch = false }) => {
        const approval = { key, secret: approvalSecret, secondFactor, hasNewEpoch };
        return approveAuthentication(handle, open, { issued, approval, origin, guess: takenGuess });
      });
    });
    // A repeated request finds the login approved.
    if (open.status !== 'approved') countApproval(counters, open.authenticator, approved);
    const shown = recoveryCodes && { recovery_codes: recoveryCodes };
    return { record: approved, result: { ...approved, token, user_id: user.userId, ...shown } };
  }

  return { continueWith, approve };
}
