import type * as Machine from '../machine.js';
import type { Identity } from '../wire.js';
import type { IdentityInput } from './identity.js';
import type { LoginState } from './states.js';

/** The request of step 1. */
export interface StartRequest {
  readonly authenticator: string;
  readonly identity?: Identity | undefined;
  readonly secret?: string | undefined;
  readonly pin?: string | undefined;
}

export type { StepMembers } from '../machine.js';
export type Outcome = Machine.Outcome<LoginState>;
export type RunInput = Machine.RunInput<LoginState>;
export type CreateStep = Machine.CreateStep<LoginState>;
/** The input of step 1. */
export type StartInput = Omit<StartRequest, 'identity'> & { readonly identity?: IdentityInput | undefined };
