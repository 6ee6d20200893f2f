import type { PushOutcome, PushSender } from '../../notifications/push/sender.js';

/** Whether a provider works. */
export interface ProviderHealth {
  readonly provider: string;
  /** Why it fails; undefined while it works. */
  readonly error: string | undefined;
}

/** Called when a provider begins to fail or still fails, and when it works for the first time or again. */
export type OnHealth = (health: ProviderHealth) => void;

/** The number of failures in a row after which a provider counts as failing. A single failure may be a short fault. */
export const failureThreshold = 3;
/** Milliseconds between two reports of a provider that still fails. */
const reportInterval = 30_000;

interface HealthOptions {
  readonly onHealth: OnHealth;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Sends pushes through `sender`, and reports whether it works. A token that is gone shows that it works. */
export function withPushHealth(sender: PushSender, options: HealthOptions): PushSender {
  const health = createHealth(sender.channel, options);
  return {
    ...sender,
    async send(token, message) {
      const outcome: PushOutcome = await sender.send(token, message);
      if (outcome.outcome === 'sent' || outcome.outcome === 'gone') health.succeed();
      else health.fail(outcome.reason);
      return outcome;
    },
  };
}

/** Counts the results of a provider. */
export interface Health {
  succeed(): void;
  /**
   * @param error why, in words
   * @param isFailing whether it counts as failing now. By default, it does after some failures in a row.
   */
  fail(error: string, isFailing?: boolean): void;
}

/** Reports each change. Repeats the report from time to time while a provider fails, but not while it works. */
export function createHealth(provider: string, { onHealth, now = () => performance.now() }: HealthOptions): Health {
  let failures = 0;
  let isKnownToWork = false;
  let reportedAt = Number.NEGATIVE_INFINITY;
  return {
    succeed() {
      failures = 0;
      reportedAt = Number.NEGATIVE_INFINITY;
      if (isKnownToWork) return;
      isKnownToWork = true;
      onHealth({ provider, error: undefined });
    },
    fail(error, isFailing) {
      failures += 1;
      if (!(isFailing ?? failures >= failureThreshold) || now() - reportedAt < reportInterval) return;
      isKnownToWork = false;
      reportedAt = now();
      onHealth({ provider, error });
    },
  };
}
