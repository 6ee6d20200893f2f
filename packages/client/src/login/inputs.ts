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

export type StepMembers<S> = S extends unknown ? Omit<S, 'busy' | 'issue'> : never;
/** What an input leads to: a state to enter, or the state that the login has entered already. */
export type Outcome = LoginState | (() => LoginState);
/** Runs the work of an input, unless its step has ended or another input is in progress. */
export type RunInput = (input: unknown, work: (signal: AbortSignal) => Promise<Outcome>) => Promise<LoginState>;
export type CreateStep = (runInput: RunInput) => StepMembers<LoginState>;
/** The input of step 1. */
export type StartInput = Omit<StartRequest, 'identity'> & { readonly identity?: IdentityInput | undefined };
