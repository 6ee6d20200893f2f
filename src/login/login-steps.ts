import { changeOf } from '../audit/changes.js';
import { type NewEvent, recordEvent } from '../audit/events.js';
import type { Challenge, ChallengeAnswer, ChallengeState } from '../credentials/challenge.js';
import { endChallenges } from '../credentials/challenges.js';
import { normalizeCode } from '../credentials/codes.js';
import { addPasskey } from '../credentials/factors/passkeys.js';
import { replaceRecoveryCodes } from '../credentials/factors/recovery-codes.js';
import { newPasskeyChallenge, type RelyingParty } from '../credentials/factors/relying-party.js';
import type { SecondFactors } from '../credentials/factors/second-factor.js';
import { findStepOfNewSecret, newTotpSecret, saveTotp } from '../credentials/factors/totp.js';
import type { HashClient, PasswordHasher } from '../credentials/passwords.js';
import type { Database, Queryable } from '../database/database.js';
import { type AccountUser, getAccount } from '../identities/accounts.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { Problem, throwIfErrors } from '../lib/problem.js';
import type { Notices } from '../messages/notices.js';
import { findEpochForUpdate } from '../users/queries.js';
import type { PreparedChange, Users } from '../users/users.js';
import { type CodeAuthenticator, recipientBy } from './authenticators/code.js';

/**
 * What a login can need after its first secret, in this order: the second factor that the user has; a code to an address
 * of a user who must enrol a factor, so that a stolen password alone cannot; another password; the enrolment.
 */
export const loginSteps = ['second_factor', 'code', 'new_password', 'enrolment'] as const;
export type LoginStep = (typeof loginSteps)[number];

/** A login whose last secret was correct. */
export interface ProvenLogin {
  readonly id: string;
  /** The authenticator of the first secret. */
  readonly authenticator: string;
}

/** The result of a step's check. */
export interface StepCheck {
  readonly isRight: boolean;
  /** The type of the second factor, if this answer was one. */
  readonly secondFactor?: string | undefined;
  readonly isUsedCode?: boolean;
  /**
   * Writes what the answer sets, in the transaction that continues or approves the login.
   * @returns undefined if it can no longer be written: then the answer is refused
   */
  readonly effect?: (tx: Queryable) => Promise<StepEffect | undefined>;
}

export interface StepEffect {
  /** Whether it has ended every login of the user by a new epoch, except this one. */
  readonly hasNewEpoch?: boolean;
  /** Shown once, with the approval. */
  readonly recoveryCodes?: readonly string[];
}

/** The steps of a login after its first secret. */
export interface LoginSteps {
  /** The step that follows `done`; `first` is the first secret. Undefined: the login can be approved. */
  next(user: AccountUser, login: ProvenLogin, done: LoginStep | 'first'): LoginStep | undefined;
  begin(step: LoginStep, user: AccountUser, login: ProvenLogin): Promise<Challenge>;
  /** @throws Problem `validation_failed` for a new password that is refused: then the answer counts as none */
  check(step: LoginStep, user: AccountUser, answer: ChallengeAnswer): Promise<StepCheck>;
  /** Checks a repeat of the request that approved the login by this step. Undefined: compare the digest of its secret. */
  checkRepeat(
    step: LoginStep | undefined,
    user: AccountUser | undefined,
    answer: Pick<ChallengeAnswer, 'secret' | 'origin'>,
  ): Promise<boolean> | undefined;
  /** The effect of a repeat: the codes of the first answer cannot be shown again, so new ones replace them. */
  repeatEffect(step: LoginStep | undefined, userId: string): StepCheck['effect'];
}

export interface LoginStepsOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly secondFactors: SecondFactors;
  readonly relyingParty: Pick<RelyingParty, 'creationOptions' | 'readRegistration'>;
  readonly hasher: PasswordHasher;
  readonly users: Pick<Users, 'prepareChange' | 'change'>;
  readonly notices: Pick<Notices, 'notify'>;
  /** The authenticators of the channels that can send codes, by preference, whether or not logins with them are open. */
  readonly codes: readonly CodeAuthenticator[];
  /** The issuer that an app shows with its codes. */
  readonly issuer: string;
}

/** What the audit event of an enrolment contains in addition. */
type EnrolmentEvent = Pick<NewEvent, 'data' | 'changes'>;

/** Seconds: as long as a login waits for a secret. */
const lifetime = 600;
const passkeyName = 'Passkey';

/** The step that an open login waits for, by the state of its challenge. */
export function awaitedStep(state: ChallengeState): LoginStep {
  return loginSteps.find((step) => step === state.awaits) ?? 'second_factor';
}

/** Creates the steps of a login after its first secret. */
export function createLoginSteps(options: LoginStepsOptions): LoginSteps {
  const { database, keys, secondFactors, relyingParty, hasher, users, notices, codes, issuer } = options;

  const mustEnrol = (user: AccountUser) =>
    secondFactors.policyOf(user) === 'required' && !secondFactors.hasSecondFactor(user);
  const senderTo = (user: AccountUser) => codes.find(({ name }) => recipientBy(name, user) !== undefined);
  const isCode = (authenticator: string) => authenticator === 'sms' || authenticator === 'email';

  const isNeeded: Readonly<Record<LoginStep, (user: AccountUser, login: ProvenLogin) => boolean>> = {
    second_factor: (user) => secondFactors.isRequired(user),
    // A login by a code has proven the address already.
    code: (user, { authenticator }) => mustEnrol(user) && !isCode(authenticator) && senderTo(user) !== undefined,
    new_password: (user, { authenticator }) => authenticator === 'password' && user.mustChangePassword,
    enrolment: mustEnrol,
  };

  async function beginCode(user: AccountUser, { id }: ProvenLogin): Promise<Challenge> {
    const sender = senderTo(user);
    if (sender === undefined) throw new Error('the user has no address for a code');
    const { state, ...challenge } = await sender.begin(user, id);
    return {
      ...challenge,
      state: { ...state, awaits: 'code', channel: sender.name },
      clientChallenge: { type: 'code' },
    };
  }

  async function beginEnrolment(user: AccountUser): Promise<Challenge> {
    const { userId, username, email, phone } = user;
    const name = username ?? email ?? phone ?? userId;
    const { encrypted, secret, uri } = newTotpSecret(keys, userId, { issuer, account: name });
    const challenge = newPasskeyChallenge();
    const passkey = await relyingParty.creationOptions(challenge, { userId, name, displayName: name }, []);
    return {
      state: { awaits: 'enrolment', secret: encrypted.toString('base64'), challenge },
      lifetime,
      clientChallenge: {
        type: 'enrol',
        options: [
          { type: 'totp', secret, uri },
          { type: 'passkey', ...passkey },
        ],
      },
    };
  }

  async function checkNewPassword(user: AccountUser, { secret, origin }: ChallengeAnswer): Promise<StepCheck> {
    if (await hasher.verify(user.passwordHash, secret, origin)) {
      throwIfErrors([{ field: 'secret', code: 'password_unchanged' }]);
    }
    const prepared = await prepareNewPassword(user.userId, secret, origin);
    return {
      isRight: true,
      async effect(tx) {
        if (!(await lockUnchanged(tx, user, ({ mustChangePassword }) => mustChangePassword))) return undefined;
        await users.change(tx, user.userId, prepared, origin);
        return { hasNewEpoch: true };
      },
    };
  }

  /** The field of the answer is `secret`, not `password`. */
  async function prepareNewPassword(userId: string, password: string, client: HashClient): Promise<PreparedChange> {
    try {
      return await users.prepareChange(userId, { password }, { client });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'validation_failed') throw error;
      const errors = error.options.errors?.map((one) => ({ ...one, field: 'secret' })) ?? [];
      throw new Problem('validation_failed', { ...error.options, errors });
    }
  }

  /** Recognises the factor by its format, as the second factor does: six digits, or a credential as JSON. */
  async function checkEnrolment(user: AccountUser, { state, secret, origin }: ChallengeAnswer): Promise<StepCheck> {
    const { userId } = user;
    const enrol = (
      type: 'totp' | 'passkey',
      save: (tx: Queryable) => Promise<EnrolmentEvent | undefined>,
    ): StepCheck => ({
      isRight: true,
      secondFactor: type,
      async effect(tx) {
        if (!(await lockUnchanged(tx, user, mustEnrol))) return undefined;
        const event = await save(tx);
        if (event === undefined) return undefined;
        await endChallenges(tx, userId);
        await recordEvent(tx, { userId, type: `${type}.enrolled`, origin, ...event });
        await notices.notify(tx, { userId, kind: `${type}_added`, origin });
        return { recoveryCodes: await replaceRecoveryCodes(tx, keys, userId) };
      },
    });
    if (/^\d{6}$/.test(normalizeCode(secret))) {
      const encrypted = Buffer.from(state.secret ?? '', 'base64');
      const step = await findStepOfNewSecret(database.user(userId), keys, userId, { encrypted, code: secret });
      if (step === undefined) return { isRight: false };
      return enrol('totp', async (tx) => {
        await saveTotp(tx, userId, encrypted, step);
        return {};
      });
    }
    const response = secret.startsWith('{') ? parseJson(secret) : undefined;
    const credential = await relyingParty.readRegistration(response, state.challenge ?? newPasskeyChallenge());
    if (credential === undefined) return { isRight: false };
    return enrol('passkey', async (tx) => {
      const passkey = await addPasskey(tx, userId, passkeyName, credential);
      return passkey && { data: { passkey_id: passkey.id }, changes: changeOf('passkey', null, passkey.name) };
    });
  }

  return {
    next: (user, login, done) =>
      loginSteps.slice(done === 'first' ? 0 : loginSteps.indexOf(done) + 1).find((step) => isNeeded[step](user, login)),
    async begin(step, user, login) {
      if (step === 'code') return beginCode(user, login);
      if (step === 'enrolment') return beginEnrolment(user);
      if (step === 'new_password') {
        return { state: { awaits: step }, lifetime, clientChallenge: { type: step } };
      }
      return secondFactors.createChallenge(user, login);
    },
    async check(step, user, answer) {
      if (step === 'new_password') return checkNewPassword(user, answer);
      if (step === 'enrolment') return checkEnrolment(user, answer);
      if (step === 'code') {
        const sender = codes.find(({ name }) => name === answer.state.channel);
        return { isRight: sender !== undefined && (await sender.verify(answer, user)) };
      }
      const result = await secondFactors.verify(user, answer);
      const isUsedCode = result === 'used_code';
      return {
        isRight: result !== undefined && !isUsedCode,
        secondFactor: isUsedCode ? undefined : result,
        isUsedCode,
      };
    },
    // A fast digest of a password must not be stored, so the stored hash is compared.
    checkRepeat: (step, user, { secret, origin }) =>
      step === 'new_password' ? hasher.verify(user?.passwordHash, secret, origin) : undefined,
    repeatEffect: (step, userId) =>
      step === 'enrolment'
        ? async (tx) => {
            await findEpochForUpdate(tx, userId);
            return { recoveryCodes: await replaceRecoveryCodes(tx, keys, userId) };
          }
        : undefined,
  };
}

/** Locks the row of the user, and checks that the answer was checked against its present state. */
async function lockUnchanged(
  tx: Queryable,
  { userId, epoch }: AccountUser,
  isStillNeeded: (user: AccountUser) => boolean,
): Promise<boolean> {
  if ((await findEpochForUpdate(tx, userId)) !== epoch) return false;
  // A separate statement, so that it sees what was committed while the first one waited for the lock.
  const { user } = await getAccount(tx, userId);
  return user !== undefined && isStillNeeded(user);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
