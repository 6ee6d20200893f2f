import type { Challenge } from '../credentials/challenge.js';
import type { AccountUser } from '../identities/accounts.js';
import type { NewAuthentication } from './authentications.js';
import { addressTypeOf } from './authenticators/code.js';
import type { AdmittedMessage, CodeMessages } from './code-messages.js';
import type { LoginStep, LoginSteps, ProvenLogin } from './login-steps.js';

/** A step that begins: its challenge, and the message that it sends. */
export interface StartedStep {
  readonly challenge: Challenge;
  readonly message: AdmittedMessage | undefined;
}

interface StepStartOptions {
  readonly steps: LoginSteps;
  readonly messages: CodeMessages;
}

export type BeginStep = ReturnType<typeof createStepStart>;

/** Creates the start of a step after the first secret. A code is counted as every other code. */
export function createStepStart({ steps, messages }: StepStartOptions) {
  return async (
    step: LoginStep,
    user: AccountUser,
    login: ProvenLogin & Pick<NewAuthentication, 'knownDevice' | 'origin'>,
  ): Promise<StartedStep> => {
    const challenge = await steps.begin(step, user, login);
    // The default values are for a step without a message. `admit` does not use them.
    const { channel = 'email', recipient = '' } = challenge.message ?? {};
    const { userId } = user;
    const address = { type: addressTypeOf(channel), canonical: recipient };
    return { challenge, message: await messages.admit(challenge.message, { ...login, userId }, address) };
  };
}
