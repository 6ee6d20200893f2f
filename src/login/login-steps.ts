import type { Challenge, ChallengeAnswer, ChallengeState } from '../credentials/challenge.js';
import type { SecondFactors } from '../credentials/factors/second-factor.js';
import type { AccountUser } from '../identities/accounts.js';
import { type CodeAuthenticator, recipientBy } from './authenticators/code.js';
import { createEnrolmentStep, type EnrolmentStepOptions } from './enrolment-step.js';
import { createNewPasswordCheck, type NewPasswordStepOptions } from './new-password-step.js';
import type { StepCheck } from './step-check.js';

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

export interface LoginStepsOptions extends EnrolmentStepOptions, NewPasswordStepOptions {
  readonly secondFactors: SecondFactors;
  /** The authenticators of the channels that can send codes, by preference, whether or not logins with them are open. */
  readonly codes: readonly CodeAuthenticator[];
}

/** Seconds: as long as a login waits for a secret. */
const lifetime = 600;

/** The step that an open login waits for, by the state of its challenge. */
export function awaitedStep(state: ChallengeState): LoginStep {
  return loginSteps.find((step) => step === state.awaits) ?? 'second_factor';
}

/** Creates the steps of a login after its first secret. */
export function createLoginSteps(options: LoginStepsOptions): LoginSteps {
  const { secondFactors, hasher, codes } = options;

  const mustEnrol = (user: AccountUser) =>
    secondFactors.policyOf(user) === 'required' && !secondFactors.hasSecondFactor(user);
  const enrolment = createEnrolmentStep(options, mustEnrol);
  const checkNewPassword = createNewPasswordCheck(options);
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

  return {
    next: (user, login, done) =>
      loginSteps.slice(done === 'first' ? 0 : loginSteps.indexOf(done) + 1).find((step) => isNeeded[step](user, login)),
    async begin(step, user, login) {
      if (step === 'code') return beginCode(user, login);
      if (step === 'enrolment') return enrolment.begin(user, lifetime);
      if (step === 'new_password') {
        return { state: { awaits: step }, lifetime, clientChallenge: { type: step } };
      }
      return secondFactors.createChallenge(user, login);
    },
    async check(step, user, answer) {
      if (step === 'new_password') return checkNewPassword(user, answer);
      if (step === 'enrolment') return enrolment.check(user, answer);
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
    repeatEffect: (step, userId) => (step === 'enrolment' ? enrolment.repeatEffect(userId) : undefined),
  };
}
