import { coreOf } from '../core.js';
import { isProblem } from '../errors.js';
import { issueOf } from '../login/issues.js';
import type { LoginIssue } from '../login/states.js';
import { type CreateStep, createMachine, type MachineState, type RunInput, type StepMembers } from '../machine.js';
import type { Store } from '../store.js';
import type { Postern } from '../types.js';
import type { Identity } from '../wire.js';
import { type PendingCode, type StoredCode, sendCode } from './sent-code.js';

/** A step of a registration or a recovery. */
export interface FlowStep<S extends string> {
  readonly step: S;
  /**
   * Whether the client waits for an answer. Until it arrives, a call with the same input returns the same promise. A call
   * with another input fails with a UsageError.
   */
  readonly busy: boolean;
  readonly issue: LoginIssue | null;
}

/** A code was sent. */
export interface FlowCode<State, Start> extends FlowStep<'code'> {
  readonly channel: 'sms' | 'email';
  readonly identity: Identity;
  /** Where the code was sent, in part, such as `+15…67`. */
  readonly destination: string;
  /** When the code expires, by the clock of the device. */
  readonly expiresAt: Date;
  /** When another code may be requested, by the clock of the device. */
  readonly resendAt: Date;
  /** Checks the code, which stays valid for the next step. It counts as a guess. */
  readonly submit: (input: { readonly code: string }) => Promise<State>;
  /** Sends another code. The former one is no longer valid. */
  readonly resend: () => Promise<State>;
  /** Gives up and returns to `start`. */
  readonly cancel: () => Start;
}

export interface FlowOptions {
  /**
   * Whether it survives a reload while it waits for the code. It stores no secret. With `storage: 'backend'`, it is in `localStorage`, else
   * in the storage of the client. False by default.
   */
  readonly resume?: boolean | undefined;
}

/** A state machine that begins with a code. */
export interface Flow<State, Start> extends Store<State> {
  /** Cancels the flow in progress, and returns to the first state. */
  readonly start: () => Start;
}

/** The methods of the step after the code. */
export interface AfterCode<State> {
  /** Returns to the step of the code. */
  readonly back: () => State;
  /**
   * Runs a request that uses the code up. If the code has expired, the step is `code` again.
   *
   * @param work calls `finish` with the last state, which is then the current one
   */
  readonly complete: (
    input: unknown,
    work: (signal: AbortSignal, finish: (members: StepMembers<State>) => State) => Promise<State>,
  ) => Promise<State>;
}

/** A flow: `start`, `code`, and the step after the code. */
export function createFlow<State extends MachineState, Start extends State, Pending extends PendingCode>({
  postern,
  path,
  resumeKey,
  startStep,
  pendingOf,
  afterCode,
}: {
  readonly postern: Postern;
  /** Of the request that sends the code. */
  readonly path: string;
  /** Where an open flow is stored; undefined if it is not. */
  readonly resumeKey: string | undefined;
  readonly startStep: (
    begin: (input: unknown, send: (signal: AbortSignal) => Promise<StoredCode>) => Promise<State>,
  ) => StepMembers<Start>;
  readonly pendingOf: (stored: StoredCode) => Pending;
  readonly afterCode: (pending: Pending, stored: StoredCode, code: string, tools: AfterCode<State>) => object;
}): Flow<State, Start> {
  const core = coreOf(postern);
  const { store, enter, reopen } = createMachine<State>(
    firstStep,
    async (error, reenter) => () => reenter(issueOf(error)),
  );
  if (resumeKey !== undefined) {
    const load = async () => {
      const stored: StoredCode | null = JSON.parse((await core.marks.get(resumeKey)) ?? 'null');
      return stored !== null && stored.expiresAt > Date.now() ? codeStep(stored) : undefined;
    };
    void reopen(load).catch(core.onError);
  }

  function firstStep(runInput: RunInput<State>): StepMembers<State> {
    return startStep((input, send) =>
      runInput(input, async (signal) => openCode(await send(signal))),
    ) as StepMembers<State>;
  }

  async function openCode(stored: StoredCode): Promise<() => State> {
    if (resumeKey !== undefined) await core.marks.set(resumeKey, JSON.stringify(stored));
    return () => enter(codeStep(stored));
  }

  function show(createStep: CreateStep<State>): State {
    const state = enter(createStep);
    store.set(state);
    return state;
  }
  /** Leaves the flow: nothing is left to continue. */
  function leave(createStep: CreateStep<State>): State {
    if (resumeKey !== undefined) void core.marks.delete(resumeKey);
    return show(createStep);
  }
  const restart = () => leave(firstStep) as Start;

  function codeStep(stored: StoredCode): CreateStep<State> {
    const pending = pendingOf(stored);
    const { destination, expiresAt, resendAt } = pending;
    const { request } = stored;
    const { identity } = request as { readonly identity: Identity };
    const nextStep =
      (code: string): CreateStep<State> =>
      (runInput) =>
        afterCode(pending, stored, code, {
          back: () => show(codeStep(stored)),
          complete: (input, work) =>
            runInput(input, async (signal) => {
              try {
                return await work(signal, (members) => leave(() => members));
              } catch (error) {
                if (!isProblem(error, 'code_rejected')) throw error;
                return () => enter(codeStep(stored), issueOf(error));
              }
            }),
        }) as StepMembers<State>;
    return (runInput) => {
      const step: Omit<FlowCode<State, Start>, 'busy' | 'issue'> = {
        step: 'code',
        channel: identity.type === 'email' ? 'email' : 'sms',
        identity,
        destination,
        expiresAt,
        resendAt,
        submit: ({ code }) =>
          runInput(code, async (signal) => {
            await pending.check(code, { signal });
            return () => enter(nextStep(code));
          }),
        resend: () =>
          runInput('resend', async (signal) => openCode(await sendCode(postern, path, request, { signal }))),
        cancel: restart,
      };
      return step as unknown as StepMembers<State>;
    };
  }

  return Object.assign(store, { start: restart });
}
