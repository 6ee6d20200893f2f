import { anySignal } from '../any-signal.js';
import type { Core } from '../core.js';
import { ForeignAnswerError } from '../errors.js';
import type { Abortable } from '../platform.js';
import type { Authentication } from '../wire.js';
import type { CreateStep, StartRequest } from './inputs.js';
import { browserPasskeys } from './passkeys.js';
import type { StepActions } from './second-steps.js';
import type { LoginLink } from './states.js';

/** The state that asks the user of a mail address to prove the account, so that an account at a provider can be linked to it. */
export function linkStep(
  answer: Authentication,
  begin: StartRequest,
  expiresAt: number,
  core: Core,
  { cancel, sendSecret }: Pick<StepActions, 'cancel' | 'sendSecret'>,
): CreateStep {
  const { authenticators = [], recovery = false } = answer.challenge as Partial<
    Pick<LoginLink, 'authenticators' | 'recovery'>
  >;
  const { authenticator, asked } = begin;
  const sent = asked === undefined ? null : { authenticator: asked, destination: answer.destination ?? null };
  return (runInput) => {
    const send = (text: string, signal: AbortSignal, next: StartRequest) =>
      sendSecret(answer, next, text, undefined, signal);

    async function provePasskey({ signal: callerSignal }: Abortable, signal: AbortSignal) {
      const combinedSignal = anySignal(signal, callerSignal);
      const { challenge } = await core.send<Authentication>({
        method: 'POST',
        path: `/v1/tokens/${answer.id}/secret`,
        signal: combinedSignal,
        expects: 'status',
        body: { secret: JSON.stringify({ authenticator: 'passkey' }) },
      });
      const options = challenge?.passkey;
      if (typeof options !== 'object' || options === null) throw new ForeignAnswerError(201);
      const passkeys = core.passkeys ?? browserPasskeys;
      const assertion = await passkeys.get(options, { conditional: false, signal: combinedSignal });
      return send(JSON.stringify({ authenticator: 'passkey', secret: JSON.stringify(assertion) }), signal, begin);
    }

    return {
      step: 'link',
      authenticator,
      authenticators,
      recovery,
      sent,
      expiresAt: new Date(expiresAt),
      cancel,
      send: (authenticator) =>
        runInput(['send', authenticator], (signal) =>
          send(JSON.stringify({ authenticator }), signal, { ...begin, asked: authenticator }),
        ),
      submit: ({ authenticator, secret }) =>
        runInput([authenticator, secret], (signal) => send(JSON.stringify({ authenticator, secret }), signal, begin)),
      passkey: authenticators.includes('passkey')
        ? (input = {}) => runInput('passkey', (signal) => provePasskey(input, signal))
        : null,
    };
  };
}
