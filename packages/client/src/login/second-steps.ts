import type { Abortable } from '../platform.js';
import type { Authentication, Challenge } from '../wire.js';
import type { CreateStep, Outcome, StartRequest } from './inputs.js';
import type { createSecretRequests } from './secret-requests.js';
import type { LoginStart, PinInput } from './states.js';

/** What the states of the second step do. */
export interface StepActions
  extends Pick<ReturnType<typeof createSecretRequests>, 'sendSecret' | 'sendAssertion' | 'sendNewPasskey'> {
  readonly cancel: () => LoginStart;
  /** Sends step 1 again, so that the service sends another code. */
  readonly sendAgain: (begin: StartRequest, signal: AbortSignal) => Promise<Outcome>;
}

/** An open login, as the storage keeps it. Times are by the clock of the device. */
export interface OpenLogin {
  readonly id: string;
  readonly begin: StartRequest;
  readonly destination: string | null;
  readonly expiresAt: number;
  readonly resendAt: number;
}

/** The members of the challenge of a provider or of a second factor. */
interface ChallengeMembers {
  readonly alternatives?: readonly string[];
  readonly passkey?: object;
  readonly issuer?: string;
  readonly client_ids?: readonly string[];
  readonly nonce?: string;
  readonly options?: readonly EnrolmentOption[];
}

interface EnrolmentOption {
  readonly type?: string;
  readonly secret?: string;
  readonly uri?: string;
}

const optionOf = (options: readonly EnrolmentOption[], wanted: string): EnrolmentOption =>
  options.find(({ type }) => type === wanted) ?? {};

/** The state that asks for the answer to a challenge. */
export function challengeStep(
  answer: Authentication,
  begin: StartRequest,
  expiresAt: number,
  { cancel, sendSecret, sendAssertion, sendNewPasskey }: StepActions,
): CreateStep {
  return (runInput) => {
    const common = { expiresAt: new Date(expiresAt), cancel };
    const send = (secret: string, pin?: string) =>
      runInput([secret, pin], (signal) => sendSecret(answer, begin, secret, pin, signal));
    const askPasskey =
      (options: object) =>
      (input: Abortable = {}) =>
        runInput('passkey', (signal) => sendAssertion(answer, begin, options, input, signal));
    const challenge = answer.challenge as Challenge & ChallengeMembers;
    const { type, alternatives = [], passkey, issuer = '', client_ids = [], nonce = '', options = [] } = challenge;
    const recoveryCode = alternatives.includes('recovery_code') ? (code: string) => send(code) : null;
    const submitCode = ({ code }: { readonly code: string }) => send(code);
    if (type === 'totp') {
      const byPasskey = passkey ? askPasskey(passkey) : null;
      return { step: 'totp', ...common, submit: submitCode, passkey: byPasskey, recoveryCode };
    }
    if (type === 'passkey') return { step: 'passkey', ...common, submit: askPasskey(challenge), recoveryCode };
    if (type === 'new_password') {
      return { step: 'new_password', ...common, submit: ({ password }) => send(password) };
    }
    if (type === 'enrol') {
      const { secret = '', uri = '' } = optionOf(options, 'totp');
      return {
        step: 'enrol',
        ...common,
        totp: { secret, uri },
        submit: submitCode,
        passkey: (input = {}) =>
          runInput('passkey', (signal) => sendNewPasskey(answer, begin, optionOf(options, 'passkey'), input, signal)),
      };
    }
    const { authenticator } = begin;
    if (type === 'oidc') {
      const provider = authenticator.slice('oidc:'.length);
      return { step: 'oidc', ...common, provider, issuer, client_ids, nonce, submit: ({ idToken }) => send(idToken) };
    }
    const submit = ({ secret, pin }: PinInput & { readonly secret: string }) => send(secret, pin);
    return { step: 'secret', ...common, authenticator, challenge, submit };
  };
}

/** The state that asks for the code of a message. @param isLater whether it comes after the first secret */
export const codeStep =
  (
    { id, begin, destination, expiresAt, resendAt }: OpenLogin,
    { cancel, sendSecret, sendAgain }: StepActions,
    isLater = false,
  ): CreateStep =>
  (runInput) => ({
    step: 'code',
    id,
    signUp: begin.sign_up === true,
    channel: (isLater ? destination?.includes('@') : begin.authenticator === 'email') ? 'email' : 'sms',
    takesPin: !isLater,
    // A provider has named the account.
    identity: begin.identity ?? { type: 'email', value: destination ?? '' },
    destination,
    expiresAt: new Date(expiresAt),
    resendAt: new Date(resendAt),
    cancel,
    submit: ({ code, pin = begin.pin }) =>
      runInput([code, pin], (signal) => sendSecret({ id }, begin, code, pin, signal)),
    resend: () => runInput('resend', (signal) => sendAgain(begin, signal)),
  });
