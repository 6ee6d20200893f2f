import type { Core } from '../core.js';
import type * as Machine from '../machine.js';
import type { MutableStore } from '../store.js';
import type { Identity } from '../wire.js';
import type { IdentityInput } from './identity.js';
import type { LoginIssue, LoginStart, LoginState, RedirectInput } from './states.js';

/** The request of step 1. */
export interface StartRequest {
  readonly authenticator: string;
  readonly identity?: Identity | undefined;
  readonly secret?: string | undefined;
  readonly pin?: string | undefined;
  readonly sign_up?: boolean | undefined;
  readonly link_to?: string | undefined;
  /** Of a login that goes to a provider and comes back. It stays here. */
  readonly redirect?: RedirectInput | undefined;
  /** The authenticator of a `link` step whose code was sent. It stays here. */
  readonly asked?: string | undefined;
}

export type StepMembers<S> = Machine.StepMembers<S>;
export type Outcome = Machine.Outcome<LoginState>;
export type RunInput = Machine.RunInput<LoginState>;
export type CreateStep = Machine.CreateStep<LoginState>;
/** The input of step 1. */
export type StartInput = Omit<StartRequest, 'identity'> & { readonly identity?: IdentityInput | undefined };

/** The parts of a login that its steps use. */
export interface LoginTools {
  readonly core: Core;
  readonly store: MutableStore<LoginState>;
  readonly enter: (createStep: CreateStep, issue?: LoginIssue) => LoginState;
  readonly start: (issue?: LoginIssue) => LoginStart;
  readonly restart: () => LoginStart;
  /** Where an open login is stored; undefined if it is not. */
  readonly resumeKey: string | undefined;
}
