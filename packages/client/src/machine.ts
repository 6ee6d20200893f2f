import { isPosternError, type PosternError, UsageError } from './errors.js';
import type { LoginIssue } from './login/states.js';
import type { Unsubscribe } from './platform.js';
import { createStore, type MutableStore } from './store.js';

/** The members of every state. */
export interface MachineState {
  readonly step: string;
  readonly busy: boolean;
  readonly issue: LoginIssue | null;
}

export type StepMembers<S> = S extends unknown ? Omit<S, 'busy' | 'issue'> : never;
/**
 * The result of an input: the state that the machine has entered, or a function that enters a state. The function is
 * not called if the user has continued meanwhile.
 */
export type Outcome<S> = S | (() => S);
/** Runs the work of an input, unless its step has ended or another input is in progress. */
export type RunInput<S> = (input: unknown, work: (signal: AbortSignal) => Promise<Outcome<S>>) => Promise<S>;
export type CreateStep<S> = (runInput: RunInput<S>) => StepMembers<S>;

/** A state machine whose states have only the methods that can be called next. */
export interface Machine<S> {
  readonly store: MutableStore<S>;
  /** Makes the state of a step. The methods of all former states stop working. */
  readonly enter: (createStep: CreateStep<S>, issue?: LoginIssue | null) => S;
  /** Continues with a step that was open before a reload, unless the user has done something since. */
  readonly reopen: (load: () => Promise<CreateStep<S> | undefined>) => Promise<void>;
}

/**
 * Creates a state machine.
 *
 * @param afterError returns the state after an error. `reenter` makes the state of the same step
 * @param onUse called for the first subscriber
 */
export function createMachine<S extends MachineState>(
  first: CreateStep<S>,
  afterError: (error: PosternError, reenter: (issue?: LoginIssue) => S) => Promise<Outcome<S>>,
  onUse?: () => Unsubscribe,
): Machine<S> {
  /** The number of the current step. The methods of a state work only while its step is the current one. */
  let currentStep = 0;
  let pending: { readonly key: string; readonly next: Promise<S>; readonly abort: AbortController } | undefined;
  const store = createStore<S>(enter(first), onUse);

  function enter(createStep: CreateStep<S>, issue: LoginIssue | null = null): S {
    pending?.abort.abort();
    pending = undefined;
    currentStep += 1;
    const step = currentStep;
    const reenter = (issue?: LoginIssue) => enter(createStep, issue);
    const runInput: RunInput<S> = (input, work) => {
      const key = JSON.stringify(input);
      if (step !== currentStep) return refuse('This state has ended. Use `current`.');
      // The same input again, such as a second click, gets the same promise.
      if (pending !== undefined) {
        return pending.key === key ? pending.next : refuse('This is busy. Wait for the promise of the earlier call.');
      }
      const abort = new AbortController();
      const next = work(abort.signal)
        .catch((error: unknown): Outcome<S> | Promise<Outcome<S>> => {
          // The user has left this step in the meantime.
          if (step !== currentStep) return store.current;
          if (isPosternError(error) && error.kind !== 'usage') return afterError(error, reenter);
          store.set(reenter());
          throw error;
        })
        .then((outcome) => {
          if (typeof outcome === 'object') return outcome;
          if (step !== currentStep) return store.current;
          const state = outcome();
          store.set(state);
          return state;
        });
      pending = { key, next, abort };
      store.set({ ...store.current, busy: true, issue: null });
      return next;
    };
    return { ...createStep(runInput), busy: false, issue } as unknown as S;
  }

  return {
    store,
    enter,
    async reopen(load) {
      const firstStep = currentStep;
      const createStep = await load();
      // The user may have begun something already.
      if (createStep !== undefined && currentStep === firstStep && pending === undefined) store.set(enter(createStep));
    },
  };
}

const refuse = (message: string) => Promise.reject(new UsageError(message));
