import { setTimeout as pause } from 'node:timers/promises';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { createHealth, type HealthOptions } from './endpoint-health.js';
import { createQueueLease } from './queue-lease.js';
import { type AttemptOptions, sendQueue, targetOf } from './queue-sending.js';
import type { Pace } from './schedule.js';
import { selectEndpoint } from './sending-queries.js';

/**
 * Users of one endpoint whose events this process delivers at a time. An endpoint that hangs delays only its own
 * deliveries.
 */
const concurrency = 64;

/** The dependencies of the workers. */
export interface WorkerOptions extends AttemptOptions, HealthOptions {
  readonly keys: SecretKeys;
}

/** Sends the due deliveries of an endpoint, until none is left. */
export interface Worker {
  /** Call it when a queue is due: the worker may be waiting for the answer to another user's event. */
  notify(): void;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

/** Starts a worker. @param pace of the endpoint. It outlives the worker */
export function startWorker(options: WorkerOptions, endpointId: string, pace: Pace, stopping: AbortSignal): Worker {
  let notify: () => void = () => undefined;
  const nextNotification = () =>
    new Promise<void>((resolve) => {
      notify = resolve;
    });
  const ended = workOn(options, endpointId, { pace, stopping, nextNotification }).catch((error) =>
    options.log.warn({ err: error, webhook_id: endpointId }, 'the deliveries of a webhook were interrupted'),
  );
  return { notify: () => notify(), ended };
}

interface WorkOptions {
  readonly pace: Pace;
  readonly stopping: AbortSignal;
  nextNotification(): Promise<void>;
}

async function workOn(
  options: WorkerOptions,
  endpointId: string,
  { pace, stopping, nextNotification }: WorkOptions,
): Promise<void> {
  const { database, keys, log } = options;
  const lease = createQueueLease(database, endpointId, stopping);
  const recordHealth = createHealth(options, endpointId);
  const running = new Set<Promise<void>>();
  let isComplete = false;
  try {
    while (!isComplete) {
      // The pause ends early when the process stops.
      if (pace.waitMs() > 0) await pause(pace.waitMs(), undefined, { signal: stopping }).catch(() => undefined);
      const [endpoint] = await database.query(selectEndpoint({ id: endpointId }));
      if (endpoint?.enabled !== true || stopping.aborted) return;
      const target = await targetOf(database, keys, endpoint);
      const { queues, hadEmpty } = await lease.take(pace.beginStep(concurrency - running.size));
      for (const [userId, deliveries] of queues) {
        const run = sendQueue(options, target, deliveries, { pace, stopping })
          .then(async (result) => {
            await lease.settle(userId, result);
            await recordHealth(result);
          })
          // The lease ends by itself, and the queue is taken again.
          .catch((error) => log.warn({ err: error, webhook_id: endpointId }, 'a delivery was interrupted'))
          .finally(() => running.delete(run));
        running.add(run);
      }
      if (running.size === 0) isComplete = !hadEmpty;
      else if (!pace.isFailing()) {
        // If many runs go on, it waits until half of them have ended, so that one statement takes several queues.
        do await Promise.race([...running, nextNotification()]);
        while (running.size > concurrency / 2);
      }
    }
  } finally {
    await Promise.allSettled(running);
    // If it is complete, the worker holds no queue.
    if (!isComplete) await lease.end();
  }
}
