import { type AttemptResult, holdSeconds, outcomeOf, wakeIn } from './schedule.js';
import type { SettledDelivery, TakenRow } from './sending-queries.js';

/** A pending delivery of a taken queue. */
export type TakenDelivery = TakenRow & { readonly id: string };

/** What a run over the queue of a user did. */
export interface QueueRun {
  /** The number of deliveries that were pending when the queue was taken. */
  readonly taken: number;
  readonly results: SettledDelivery[];
  /** The number of deliveries that are no longer pending. */
  readonly done: number;
  /** Seconds until the queue needs a sender again. */
  readonly dueIn: number;
  /** Whether the endpoint said that it is gone. */
  readonly isGone: boolean;
}

export interface RunOptions {
  /** Makes one attempt. Undefined: the event is too old and was removed. */
  attempt(delivery: TakenDelivery): Promise<AttemptResult | undefined>;
  /** Whether the run may make another attempt. If not, the queue is due again at once. */
  mayAttempt(): boolean;
  /** From 0 to 1. */
  random(): number;
  /** Whether the endpoint accepts other events. */
  isAccepting(): boolean;
}

/**
 * Delivers the events of one user to one endpoint, one after the other. A failed event delays later ones for at most an hour after its
 * first attempt. After that it is still retried, but later events no longer wait for it. Events that an operator has replayed never wait.
 */
export async function runQueue(deliveries: readonly TakenDelivery[], options: RunOptions): Promise<QueueRun> {
  const results: SettledDelivery[] = [];
  const taken = deliveries[0]?.pending ?? 0;
  let [done, dueIn, isHeld] = [0, Number.POSITIVE_INFINITY, false];
  const wake = (seconds: number) => {
    dueIn = Math.min(dueIn, seconds);
  };
  for (const delivery of deliveries) {
    const { id, user_id, age, attempts, due_in, is_due } = delivery;
    const isLate = delivery.is_late || age >= holdSeconds;
    if (isHeld && !isLate && !is_due) continue;
    if (due_in > 0) {
      if (isLate && !delivery.is_late) results.push({ ...untried, user_id, id, is_late: true });
      isHeld ||= !isLate;
      wake(wakeIn({ state: 'pending', isLate, delay: due_in }, age));
      continue;
    }
    if (!options.mayAttempt()) {
      wake(0);
      break;
    }
    const result = await options.attempt(delivery);
    if (result === undefined) {
      results.push({
        ...untried,
        user_id,
        id,
        is_late: isLate,
        state: 'failed',
        error: 'the event is no longer stored',
      });
      done += 1;
      continue;
    }
    const outcome = outcomeOf({ attempts, isLate, age }, result, options.random(), options.isAccepting());
    const isPending = outcome.state === 'pending';
    results.push({
      user_id,
      id,
      state: outcome.state,
      is_late: outcome.isLate,
      delay: isPending ? outcome.delay : null,
      attempted: true,
      status: result.status ?? null,
      answer: result.answer ?? null,
      error: result.error ?? null,
      duration_ms: result.durationMs,
    });
    if (isPending) {
      isHeld ||= !outcome.isLate;
      wake(wakeIn(outcome, age));
    } else done += 1;
    if (result.status === 410) return { taken, results, done, dueIn: Math.min(dueIn, 0), isGone: true };
  }
  // If none of the taken deliveries is pending, the queue may have more: it is due at once.
  return { taken, results, done, dueIn: Number.isFinite(dueIn) ? dueIn : 0, isGone: false };
}

const untried = {
  state: 'pending',
  delay: null,
  attempted: false,
  status: null,
  answer: null,
  error: null,
  duration_ms: null,
};
