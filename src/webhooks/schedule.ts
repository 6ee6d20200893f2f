/** Seconds from a failed attempt to the next one: the first retries, and then one each hour. */
const delays = [5, 30, 120, 600, 1800, 3600];
/** The share of a pause by which it is made longer at most. */
const randomShare = 0.1;
/** Seconds instead of a longer pause, while the endpoint accepts other events. */
export const soonSeconds = 50;
/** The longest planned pauses, in seconds, after 1, 2, … attempts. One second more, for the time between the plan and its storage. */
export const longestPauses: readonly number[] = delays.map((delay) => delay * (1 + randomShare) + 1);
/** Seconds after the first attempt until later events of the user no longer wait for a failed event. */
export const holdSeconds = 3600;
/** Seconds after the first attempt until an event is given up. */
const giveUpSeconds = 86_400;

/** The result of an attempt. */
export interface AttemptResult {
  readonly ok: boolean;
  /** HTTP status, if the endpoint answered. */
  readonly status: number | undefined;
  /** The start of the answer. */
  readonly answer: string | undefined;
  readonly error: string | undefined;
  /** Seconds, from `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly durationMs: number;
}

/** A pending delivery, as a sender finds it. Times are seconds from now. */
export interface PendingDelivery {
  readonly attempts: number;
  /** Whether later events of the user no longer wait for it. */
  readonly isLate: boolean;
  /** Since the first attempt; 0 before it. */
  readonly age: number;
}

/** The state of a delivery after a run. */
export interface Outcome {
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly isLate: boolean;
  /** Seconds until the next attempt, if it is pending. */
  readonly delay: number;
}

/**
 * The outcome of an attempt. An event that holds later events is retried within a minute if the endpoint accepts others.
 * @param random from 0 to 1, spreads the retries of many deliveries
 * @param isAccepting whether the endpoint accepts other events
 */
export function outcomeOf(
  delivery: PendingDelivery,
  result: AttemptResult,
  random: number,
  isAccepting: boolean,
): Outcome {
  if (result.ok) return { state: 'delivered', isLate: delivery.isLate, delay: 0 };
  const delayOfAttempt = delays[Math.min(delivery.attempts, delays.length - 1)] ?? 0;
  const base = isAccepting && !delivery.isLate ? Math.min(delayOfAttempt, soonSeconds) : delayOfAttempt;
  const planned = base * (1 + random * randomShare);
  const remaining = giveUpSeconds - delivery.age;
  if (planned > remaining) return { state: 'failed', isLate: delivery.isLate, delay: 0 };
  // A Retry-After beyond the end is cut, so that one more attempt happens at the end.
  const delay = Math.min(remaining, Math.max(planned, result.retryAfter ?? 0));
  return { state: 'pending', isLate: delivery.isLate || delivery.age >= holdSeconds, delay };
}

/** Seconds after which a pending delivery needs a sender again: for its next attempt, or to let later events pass. */
export function wakeIn({ isLate, delay }: Outcome, age: number): number {
  return isLate ? delay : Math.max(0, Math.min(delay, holdSeconds - age));
}

/** Failed attempts in a row, of any user, after which an endpoint is failing. */
const failingAfter = 20;
/** Milliseconds between two steps of a failing endpoint. In a step, a sender takes some queues (one for each user) and sends their events. */
const stepMs = 1000;
/** The maximum number of queues in each step of a failing endpoint. */
const queuesPerStep = 10;

/** Milliseconds after a success in which an endpoint counts as accepting events. */
const acceptingMs = 60_000;

/** How fast a process may try an endpoint. */
export interface Pace {
  /** Records an attempt. */
  record(ok: boolean): void;
  isFailing(): boolean;
  /** Whether it accepted an event in the last minute. */
  isAccepting(): boolean;
  /** Milliseconds until the next step. 0 if the endpoint is not failing. */
  waitMs(): number;
  /** Begins a step of a sender that can take `capacity` queues. @returns how many of them it may take */
  beginStep(capacity: number): number;
}

/**
 * A circuit breaker: an endpoint that fails every attempt is tried slowly, until one attempt succeeds. Thousands of
 * failing attempts would otherwise take the time of other endpoints.
 * @param now milliseconds
 */
export function createPace(now: () => number): Pace {
  let failures = 0;
  let lastStep = Number.NEGATIVE_INFINITY;
  let lastSuccess = Number.NEGATIVE_INFINITY;
  const isFailing = () => failures >= failingAfter;
  return {
    record(ok) {
      if (ok) lastSuccess = now();
      failures = ok ? 0 : failures + 1;
    },
    isFailing,
    isAccepting: () => now() - lastSuccess <= acceptingMs,
    waitMs: () => (isFailing() ? Math.max(0, lastStep + stepMs - now()) : 0),
    beginStep(capacity) {
      lastStep = now();
      return isFailing() ? Math.min(capacity, queuesPerStep) : capacity;
    },
  };
}
