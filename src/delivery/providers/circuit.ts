export interface CircuitOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  /** The number of failures in a row that open the circuit. */
  readonly threshold: number;
  /** Milliseconds of the first pause. Each further one is twice as long. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** Remembers whether a provider fails, so that messages do not wait for it (a circuit breaker). */
export interface Circuit {
  /**
   * Returns whether a message may go to the provider. While the provider works, this is always true. While it fails, it is
   * true for one message after each pause, as a trial. After `true`, call `succeed` or `fail`.
   */
  admit(): boolean;
  succeed(): void;
  /** @param retryAfterMs how long the provider wants no further messages. It opens the circuit at once. */
  fail(retryAfterMs?: number): void;
  isOpen(): boolean;
}

/** Creates a closed circuit. */
export function createCircuit({ now, threshold, firstPauseMs, longestPauseMs }: CircuitOptions): Circuit {
  let failures = 0;
  let pauseMs = firstPauseMs;
  /** Undefined while the circuit is closed: the provider counts as working. */
  let pausedUntil: number | undefined;
  let isTrying = false;
  return {
    admit() {
      if (pausedUntil === undefined) return true;
      if (isTrying || now() < pausedUntil) return false;
      isTrying = true;
      return true;
    },
    succeed() {
      failures = 0;
      pauseMs = firstPauseMs;
      pausedUntil = undefined;
      isTrying = false;
    },
    fail(retryAfterMs) {
      failures += 1;
      isTrying = false;
      // If no other provider works, a message goes to this provider during its pause. Its failure does not prolong the
      // pause.
      if (pausedUntil !== undefined && now() < pausedUntil) return;
      if (pausedUntil === undefined && failures < threshold && retryAfterMs === undefined) return;
      pausedUntil = now() + Math.min(longestPauseMs, Math.max(pauseMs, retryAfterMs ?? 0));
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    },
    isOpen: () => pausedUntil !== undefined,
  };
}
