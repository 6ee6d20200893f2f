import {
  createLogin,
  createRecovery,
  createRegistration,
  type FlowOptions,
  type Login,
  type LoginOptions,
  type LoginState,
  type Postern,
  type Recovery,
  type RecoveryState,
  type Registration,
  type RegistrationState,
  type Store,
} from '@postern/client';
import { stopwatch } from '@postern/client/internal';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useScope } from './context.js';

export interface UseLogin {
  /** Narrow it by `step`. It has only the methods that can be called next. */
  readonly state: LoginState;
  /** Gives up what is in progress, and returns to the first step. */
  readonly start: Login['start'];
  /** Sends the browser to a provider, such as `oidc:google`. The hook completes the login when the page loads again. */
  readonly redirect: Login['redirect'];
}

/**
 * A login. It is cancelled when the component unmounts, with its prompt for a passkey (with `resume`, the user can continue later). If
 * `redirect` sent the browser to a provider and the browser has come back, the hook completes that login.
 *
 * @example
 * ```tsx
 * import { useLogin } from '@postern/react';
 *
 * export function SignIn() {
 *   const { state } = useLogin();
 *   const submit = async (form: FormData) => {
 *     const [name, secret] = [`${form.get('name')}`, `${form.get('secret')}`];
 *     if (state.step === 'start') await state.password({ identity: name, password: secret });
 *     if (state.step === 'totp') await state.submit({ code: secret });
 *   };
 *   return (
 *     <form action={submit}>
 *       {state.step === 'start' && <input name="name" autoComplete="username" />}
 *       <input name="secret" type={state.step === 'start' ? 'password' : 'text'} />
 *       <button disabled={state.busy}>Go on</button>
 *       <p role="alert">{state.issue?.message}</p>
 *     </form>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useLogin(options: LoginOptions = {}): UseLogin {
  const { state, machine: login, isReady } = useMachine<LoginState, Login>(createLogin, options);
  useEffect(() => {
    // It rejects only after a mistake in the program. Nothing catches the error, so that the browser's console shows it.
    if (isReady) void login.resumeRedirect();
  }, [login, isReady]);
  return useMemo(() => ({ state, start: login.start, redirect: login.redirect }), [state, login]);
}

export interface UseRegistration {
  /** Narrow it by `step`. It has only the methods that can be called next. */
  readonly state: RegistrationState;
  /** Gives up what is in progress, and returns to the first step. */
  readonly start: Registration['start'];
}

/**
 * A registration. It is cancelled when the component unmounts; with `resume`, the user can continue later.
 *
 * @example
 * ```tsx
 * import { useRegistration } from '@postern/react';
 *
 * export function SignUp() {
 *   const { state } = useRegistration({ resume: true });
 *   const submit = async (form: FormData) => {
 *     const text = `${form.get('text')}`;
 *     if (state.step === 'start') await state.begin({ identity: text });
 *     if (state.step === 'code') await state.submit({ code: text });
 *     if (state.step === 'details') await state.submit({ password: text });
 *   };
 *   return (
 *     <form action={submit}>
 *       <input name="text" type={state.step === 'details' ? 'password' : 'text'} />
 *       <button disabled={state.busy}>Go on</button>
 *       <p role="alert">{state.issue?.message}</p>
 *     </form>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useRegistration(options: FlowOptions = {}): UseRegistration {
  const { state, machine } = useMachine<RegistrationState, Registration>(createRegistration, options);
  return useMemo(() => ({ state, start: machine.start }), [state, machine]);
}

export interface UseRecovery {
  /** Narrow it by `step`. It has only the methods that can be called next. */
  readonly state: RecoveryState;
  /** Gives up what is in progress, and returns to the first step. */
  readonly start: Recovery['start'];
}

/**
 * A recovery of a password or PIN. It is cancelled when the component unmounts; with `resume`, the user can continue later.
 *
 * @example
 * ```tsx
 * import { useRecovery } from '@postern/react';
 *
 * export function Forgotten() {
 *   const { state } = useRecovery();
 *   const submit = async (form: FormData) => {
 *     const text = `${form.get('text')}`;
 *     if (state.step === 'start') await state.begin({ identity: text, purpose: 'password' });
 *     if (state.step === 'code') await state.submit({ code: text });
 *     if (state.step === 'new_password') await state.submit({ password: text });
 *   };
 *   return (
 *     <form action={submit}>
 *       <input name="text" />
 *       <button disabled={state.busy}>Go on</button>
 *     </form>
 *   );
 * }
 * ```
 * @throws UsageError without a provider
 */
export function useRecovery(options: FlowOptions = {}): UseRecovery {
  const { state, machine } = useMachine<RecoveryState, Recovery>(createRecovery, options);
  return useMemo(() => ({ state, start: machine.start }), [state, machine]);
}

interface Machine<State> extends Store<State> {
  readonly start: () => unknown;
}

/**
 * A state machine of a component: a login, a registration or a recovery.
 * @returns `isReady`: with `resume`, false until the state was read from the storage
 */
function useMachine<State extends { readonly step: string }, M extends Machine<State>>(
  create: (postern: Postern, options?: FlowOptions) => M,
  { resume = false }: FlowOptions,
): { readonly state: State; readonly machine: M; readonly isReady: boolean } {
  const { postern } = useScope();
  // This machine does nothing before it is used. One that resumes reads the storage, which must not happen in a rendering.
  const plain = useMemo(() => create(postern), [create, postern]);
  const [resumed, setResumed] = useState<{ readonly machine: M; readonly client: Postern }>();
  const resumedRef = useRef(resumed);
  const machine = resume && resumed?.client === postern ? resumed.machine : plain;
  const mounted = useRef<object>(undefined);
  useEffect(() => {
    // StrictMode runs effects twice.
    if (!resume || resumedRef.current?.client === postern) return;
    resumedRef.current = { machine: create(postern, { resume }), client: postern };
    setResumed(resumedRef.current);
  }, [create, postern, resume]);
  useEffect(() => {
    const mount = {};
    mounted.current = mount;
    return () =>
      queueMicrotask(() => {
        // StrictMode mounts twice. A successful login may unmount its form before the login is complete: do not cancel it.
        if (mounted.current !== mount || postern.current.status === 'signed_in') return;
        // A flow that waits for a code can be resumed later.
        if (!resume || machine.current.step === 'start') machine.start();
      });
  }, [machine, postern, resume]);
  const current = () => machine.current;
  const state = useSyncExternalStore(machine.onChange, current, current);
  return { state, machine, isReady: !resume || resumed?.client === postern };
}

const secondsOf = (milliseconds: number) => Math.ceil(milliseconds / 1000);

/** The time until `end`. The clock of the device is read once, because it may be set later. */
function countTo(end: number) {
  const [wholeMs, elapsed] = [end - Date.now(), stopwatch()];
  const leftMs = () => Math.max(0, wholeMs - elapsed());
  return { end, leftMs, left: secondsOf(leftMs()) };
}

/**
 * Counts down the whole seconds until a time, such as `until` of a lock. 0 without a time.
 *
 * @example
 * ```tsx
 * import type { LoginCode } from '@postern/client';
 * import { useCountdown } from '@postern/react';
 *
 * export function SendAgain({ resend, resendAt }: LoginCode) {
 *   const seconds = useCountdown(resendAt);
 *   return (
 *     <button disabled={seconds > 0} onClick={resend}>
 *       Send another code {seconds > 0 && `in ${seconds} s`}
 *     </button>
 *   );
 * }
 * ```
 */
export function useCountdown(until: Date | null | undefined): number {
  const end = until?.getTime() ?? 0;
  const [shown, setShown] = useState(() => countTo(end));
  const next = shown.end === end ? shown : countTo(end);
  if (next !== shown) setShown(next);
  useEffect(() => {
    if (shown.left === 0) return undefined;
    const delay = shown.leftMs() - (shown.left - 1) * 1000;
    const timer = setTimeout(() => setShown({ ...shown, left: secondsOf(shown.leftMs()) }), delay);
    return () => clearTimeout(timer);
  }, [shown]);
  return next.left;
}
