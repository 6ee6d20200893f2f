import { type Relay, startRelay } from '../database/relay.js';
import { startWorker, type Worker, type WorkerOptions } from './endpoint-worker.js';
import { relayEvents } from './relay.js';
import { createPace, type Pace } from './schedule.js';
import { selectDueEndpoints } from './sending-queries.js';

/**
 * Starts to turn recorded events into deliveries, and to send these. Every instance does both. Each endpoint has its own
 * worker: it takes queues of users that are due, and sends the events of each user in order.
 */
export function startWebhooks(options: WorkerOptions): { stop(): Promise<void> } {
  const { database, log } = options;
  const workers = new Map<string, Worker>();
  const paces = new Map<string, Pace>();
  const stopping = new AbortController();

  const sending: Relay = startRelay(
    async () => {
      for (const { id } of await database.query(selectDueEndpoints({}))) {
        const known = workers.get(id);
        known?.notify();
        if (known !== undefined || stopping.signal.aborted) continue;
        const pace = paces.get(id) ?? createPace(() => performance.now());
        paces.set(id, pace);
        const worker = startWorker(options, id, pace, stopping.signal);
        workers.set(id, worker);
        void worker.ended.finally(() => workers.delete(id));
      }
      return false;
    },
    (error) => log.warn({ err: error }, 'due deliveries of webhooks could not be read'),
  );
  const relay: Relay = startRelay(
    async () => {
      const hasMore = await relayEvents(database);
      if (hasMore) sending.notify();
      return hasMore;
    },
    (error) => log.warn({ err: error }, 'events for webhooks could not be read'),
  );
  return {
    async stop() {
      stopping.abort();
      await Promise.all([relay.stop(), sending.stop()]);
      await Promise.all([...workers.values()].map(({ ended }) => ended));
    },
  };
}
