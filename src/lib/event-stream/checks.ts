export interface ChecksOptions {
  readonly check: () => Promise<void>;
  /** Whether there is nothing to check. */
  readonly isIdle: () => boolean;
  /** Milliseconds between two checks. */
  readonly intervalMs: number;
  /** Called at the first of several failures in a row. */
  readonly onFailure: (error: unknown) => void;
}

/** Checks that never run twice at a time. */
export interface Checks {
  /** Checks now. During a check: again after it, so that the result is never older than the call. */
  request(): void;
  /** Starts no further check. @returns a promise that resolves at the end of the present one */
  stop(): Promise<void>;
}

/** Checks at intervals and on request. */
export function createChecks({ check, isIdle, intervalMs, onFailure }: ChecksOptions): Checks {
  let current: Promise<void> | undefined;
  let isRequested = false;
  let isStopped = false;
  let hasFailed = false;

  function request(): void {
    if (isStopped || isIdle()) return;
    isRequested = current !== undefined;
    current ??= check()
      .then(
        () => {
          hasFailed = false;
        },
        (error: unknown) => {
          if (!hasFailed) onFailure(error);
          hasFailed = true;
        },
      )
      .finally(() => {
        current = undefined;
        if (isRequested) request();
      });
  }

  // Not during a check: a check that takes longer than the interval must not be followed by the next one without a pause.
  const timer = setInterval(() => {
    if (current === undefined) request();
  }, intervalMs).unref();
  return {
    request,
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await current;
    },
  };
}
