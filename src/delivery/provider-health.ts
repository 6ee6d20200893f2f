import type { MailSender } from '../messages/mail-sender.js';
import type { PushOutcome, PushSender } from '../notifications/push/sender.js';

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

/** Sends mails through `sender`, and reports whether it works. A mail that the server refuses for ever shows that it works. */
export function withMailHealth(sender: MailSender, options: HealthOptions): MailSender {
  const health = createHealth(sender.name, options);
  return {
    name: sender.name,
    async send(message) {
      try {
        await sender.send(message);
        health.succeed();
      } catch (error) {
        const isAboutMail = error instanceof Error && 'permanent' in error && error.permanent === true;
        if (isAboutMail) health.succeed();
        else health.fail((error as Error).message);
        throw error;
      }
    },
  };
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

/** Reports each change. Repeats the report from time to time while a provider fails, but not while it works. */
function createHealth(provider: string, { onHealth, now = () => performance.now() }: HealthOptions) {
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
    fail(error: string) {
      failures += 1;
      if (failures < failureThreshold || now() - reportedAt < reportInterval) return;
      isKnownToWork = false;
      reportedAt = now();
      onHealth({ provider, error });
    },
  };
}
