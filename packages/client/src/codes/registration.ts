import type { Identity, IdentityInput } from '../login/identity.js';
import type { PinInput } from '../login/states.js';
import type { Abortable } from '../platform.js';
import type { Postern } from '../types.js';
import type { Account } from '../wire.js';
import { type PendingRegistration, registrationOf, sendRegistrationCode } from '../without-session.js';
import { createFlow, type Flow, type FlowCode, type FlowOptions, type FlowStep } from './flow.js';

type Next = Promise<RegistrationState>;

/** No registration is in progress. */
export interface RegistrationStart extends FlowStep<'start'> {
  /** Sends a code to an address. */
  readonly begin: (input: { readonly identity: IdentityInput; readonly locale?: string | undefined }) => Next;
}

/** The members of the new account besides its address and its secrets. */
export interface NewAccount {
  readonly name?: string | undefined;
  readonly username?: string | undefined;
  readonly locale?: string | undefined;
}

/** The code is right. The account can be created. */
export interface RegistrationDetails extends FlowStep<'details'> {
  /** The address of the account. */
  readonly identity: Identity;
  /** Creates the account, and signs in. */
  readonly submit: (input: NewAccount & PinInput & { readonly password?: string | undefined }) => Next;
  /** Creates the account with a passkey and without a password, and signs in. Call it from a click: browsers demand it. */
  readonly passkey: (input?: NewAccount & Abortable) => Next;
  /** Returns to the step of the code. */
  readonly back: () => RegistrationState;
}

/** The account exists. */
export interface RegistrationDone extends FlowStep<'done'> {
  readonly account: Account;
  readonly user_id: string;
  /** Null if the service asks for a second factor first: then the user signs in as usual. */
  readonly device_id: string | null;
}

/** Narrow it by `step`. */
export type RegistrationState =
  | RegistrationStart
  | FlowCode<RegistrationState, RegistrationStart>
  | RegistrationDetails
  | RegistrationDone;
export type Registration = Flow<RegistrationState, RegistrationStart>;

/**
 * Creates a registration: a state machine that asks for an address, its code and the details of the account, and then signs in.
 * As in a login, the promises reject only with a UsageError, and `issue` says what the user can correct.
 *
 * @example
 * ```ts
 * import { createRegistration, type Postern } from '@postern/client';
 * declare const postern: Postern;
 *
 * let state = await createRegistration(postern, { resume: true }).start().begin({ identity: 'ada@example.com' });
 * if (state.step === 'code') state = await state.submit({ code: '271828' });
 * if (state.step === 'details') state = await state.submit({ name: 'Ada', password: 'the moon and back again' });
 * console.log(state.step === 'done' ? `Hello ${state.account.name}` : state.issue?.message);
 * ```
 * @throws UsageError if the argument is not a client
 */
export function createRegistration(postern: Postern, { resume = false }: FlowOptions = {}): Registration {
  return createFlow<RegistrationState, RegistrationStart, PendingRegistration>({
    postern,
    path: '/v1/registrations',
    resumeKey: resume ? 'postern.registration' : undefined,
    pendingOf: (stored) => registrationOf(postern, stored),
    startStep: (begin) => ({
      step: 'start',
      begin: (input) => begin(input, (signal) => sendRegistrationCode(postern, input, { signal })),
    }),
    afterCode(pending, { request }, code, { back, complete }) {
      const { identity } = request as { readonly identity: Identity };
      const create = (key: unknown, input: object) =>
        complete(key, async (signal, finish) => {
          let done: RegistrationState | undefined;
          const finishAs = (account: Account, device_id: string | null) => {
            done = finish({ step: 'done', account, user_id: account.id, device_id });
            return done;
          };
          const onSignIn = (account: Account) => {
            const { current } = postern;
            finishAs(account, 'device_id' in current ? current.device_id : null);
          };
          const account = await pending.complete({ code, ...input, signIn: true }, { signal, onSignIn });
          return done ?? finishAs(account, null);
        });
      return {
        step: 'details',
        identity,
        back,
        submit: (input) => create(input, input),
        passkey: ({ signal: _, ...input } = {}) => create(['passkey', input], { ...input, passkey: true }),
      } satisfies Omit<RegistrationDetails, 'busy' | 'issue'>;
    },
  });
}
