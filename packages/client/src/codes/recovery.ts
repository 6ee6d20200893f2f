import type { Identity, IdentityInput } from '../login/identity.js';
import type { Postern } from '../types.js';
import type { RecoverableSecret, Recovered } from '../wire.js';
import { type PendingRecovery, recoveryOf, sendRecoveryCode } from '../without-session.js';
import { createFlow, type Flow, type FlowCode, type FlowOptions, type FlowStep } from './flow.js';

type Next = Promise<RecoveryState>;

/** No recovery is in progress. */
export interface RecoveryStart extends FlowStep<'start'> {
  /** Sends a code to an address. The answer is the same if no account has it. */
  readonly begin: (input: { readonly identity: IdentityInput; readonly purpose: RecoverableSecret }) => Next;
}

interface NewSecret<S extends 'new_password' | 'new_pin'> extends FlowStep<S> {
  /** The address that got the code. */
  readonly identity: Identity;
  /** Returns to the step of the code. */
  readonly back: () => RecoveryState;
}

/** The code is right. The new password ends all logins of the account, so the user then signs in as usual. */
export interface RecoveryNewPassword extends NewSecret<'new_password'> {
  readonly submit: (input: { readonly password: string }) => Next;
}

/** The code is right. */
export interface RecoveryNewPin extends NewSecret<'new_pin'> {
  readonly submit: (input: { readonly pin: string }) => Next;
}

/** The secret is set, or a new PIN takes effect at `effective_at`. */
export interface RecoveryDone extends FlowStep<'done'> {
  readonly recovered: RecoverableSecret;
  readonly effective_at?: string | undefined;
}

/** Narrow it by `step`. */
export type RecoveryState =
  | RecoveryStart
  | FlowCode<RecoveryState, RecoveryStart>
  | RecoveryNewPassword
  | RecoveryNewPin
  | RecoveryDone;
export type Recovery = Flow<RecoveryState, RecoveryStart>;

/**
 * Creates a recovery: a state machine that asks for an address, its code and the new password or PIN. As in a login, the
 * promises reject only with a UsageError, and `issue` says what the user can correct.
 *
 * @example
 * ```ts
 * import { createRecovery, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * const recovery = createRecovery(postern, { resume: true });
 * let state = await recovery.start().begin({ identity: 'ada@example.com', purpose: 'password' });
 * if (state.step === 'code') state = await state.submit({ code: '271828' });
 * if (state.step === 'new_password') state = await state.submit({ password: 'the moon and back again' });
 * console.log(state.step === 'done' ? 'Sign in with it now.' : state.issue?.message);
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createRecovery(postern: Postern, { resume = false }: FlowOptions = {}): Recovery {
  return createFlow<RecoveryState, RecoveryStart, PendingRecovery<RecoverableSecret>>({
    postern,
    path: '/v1/recoveries',
    resumeKey: resume ? 'postern.recovery' : undefined,
    pendingOf: (stored) => recoveryOf<RecoverableSecret>(postern, stored),
    startStep: (begin) => ({
      step: 'start',
      begin: (input) => begin(input, (signal) => sendRecoveryCode(postern, input, { signal })),
    }),
    afterCode(pending, { request }, code, { back, complete }) {
      const { identity, purpose } = request as { readonly identity: Identity; readonly purpose: RecoverableSecret };
      return {
        step: `new_${purpose}`,
        identity,
        back,
        submit: (input: object) =>
          complete(input, async (signal, finish) => {
            const secret = input as { readonly password: string; readonly pin: string };
            const { recovered, effective_at }: Recovered = await pending.complete({ ...secret, code }, { signal });
            return finish({ step: 'done', recovered, ...(effective_at && { effective_at }) });
          }),
      };
    },
  });
}
