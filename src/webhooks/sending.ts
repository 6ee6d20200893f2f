import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, isStorageFailure } from '../database/database.js';
import { type Relay, startRelay } from '../database/relay.js';
import type { SecretKeys } from '../lib/crypto/secret-keys.js';
import { inSpan, type Tracing } from '../lib/tracing.js';
import type { OperatorMails } from '../messages/operator-mails.js';
import { disableFailing } from './endpoints.js';
import { bodyOf, type ShownEvent, type WebhookResources } from './payload.js';
import { type QueueRun, runQueue, type TakenDelivery } from './queue-run.js';
import { relayEvents } from './relay.js';
import { type AttemptResult, createPace, longestPauses, type Pace } from './schedule.js';
import { decryptSecret, signingKey, type WebhookSigningKey } from './secrets.js';
import type { WebhookSender } from './sender.js';
import {
  type DueEndpoint,
  leaseSeconds,
  lockQueues,
  type ReturnedQueue,
  recordFailure,
  recordSuccess,
  recountQueues,
  retrySoon,
  returnLease,
  selectDueEndpoints,
  selectEndpoint,
  settleQueues,
  type TakenRow,
  takeQueues,
} from './sending-queries.js';

export interface SendingOptions {
  readonly database: Database;
  readonly keys: SecretKeys;
  readonly sender: WebhookSender;
  readonly resources: WebhookResources;
  /** Tells operators that an endpoint was disabled. */
  readonly mails: OperatorMails;
  readonly log: { warn(fields: object, message: string): void };
  /** Called after each attempt. */
  readonly onAttempt?: (outcome: 'delivered' | 'failed') => void;
  /** Undefined: deliveries are not traced. */
  readonly tracing?: Tracing | undefined;
}

/**
 * Users of one endpoint whose events this process delivers at a time. An endpoint that hangs delays only its own
 * deliveries.
 */
const concurrency = 64;
/** A run makes no further attempt after this time: the last one takes at most ten seconds. */
const maxRunMs = (leaseSeconds - 20) * 1000;
/** Milliseconds between two attempts to write while the database is away. */
const writePause = 500;
/** Milliseconds between two writes of the health of an endpoint that has not changed. */
const healthInterval = 5000;

/**
 * Starts to turn recorded events into deliveries, and to send these. Every instance does both. Each endpoint has its own
 * worker: it takes queues of users that are due, and sends the events of each user in order.
 */
export function startWebhooks(options: SendingOptions): { stop(): Promise<void> } {
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

/** The data with which an endpoint's worker sends. */
interface Target {
  readonly endpoint: DueEndpoint;
  readonly secrets: readonly string[];
  readonly key: WebhookSigningKey | undefined;
}

/** Sends the due deliveries of an endpoint, until none is left. */
interface Worker {
  /** Call it when a queue is due: the worker may be waiting for the answer to another user's event. */
  notify(): void;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

function startWorker(options: SendingOptions, endpointId: string, pace: Pace, stopping: AbortSignal): Worker {
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
  options: SendingOptions,
  endpointId: string,
  { pace, stopping, nextNotification }: WorkOptions,
): Promise<void> {
  const { database, keys } = options;
  const health = createHealth(options, endpointId);
  const running = new Set<Promise<void>>();
  const lease = randomUUID();
  let isComplete = false;
  const settle = createSettlement(options, endpointId, lease, stopping);
  try {
    for (;;) {
      // The pause ends early when the process stops.
      if (pace.waitMs() > 0) await pause(pace.waitMs(), undefined, { signal: stopping }).catch(() => undefined);
      const [endpoint] = await database.query(selectEndpoint({ id: endpointId }));
      if (endpoint?.enabled !== true || stopping.aborted) return;
      const target = await targetOf(database, keys, endpoint);
      const limit = pace.beginStep(concurrency - running.size);
      const taken = await database.query(takeQueues({ endpointId, lease, limit }));
      const empty = taken.filter(({ id }) => id === null).map(({ user_id }) => user_id);
      if (empty.length > 0) await returnEmpty(database, { endpointId, lease, userIds: empty });
      for (const [userId, rows] of byUser(taken.filter(({ id }) => id !== null))) {
        const run = runOne(options, target, rows, pace, stopping)
          .then(async (result) => {
            await settle(userId, result);
            await health(result);
          })
          // The lease ends by itself, and the queue is taken again.
          .catch((error) => options.log.warn({ err: error, webhook_id: endpointId }, 'a delivery was interrupted'))
          .finally(() => running.delete(run));
        running.add(run);
      }
      if (running.size === 0) {
        if (empty.length === 0) {
          isComplete = true;
          return;
        }
        continue;
      }
      // It waits until half of the concurrent runs have ended, so that one statement takes several queues.
      if (!pace.isFailing())
        do await Promise.race([...running, nextNotification()]);
        while (running.size > concurrency / 2);
    }
  } finally {
    await Promise.allSettled(running);
    // The server may have given it queues although it got no answer.
    if (!isComplete) await writeInTime(stopping, () => database.query(returnLease({ endpointId, lease })));
  }
}

/** Repeats a statement while the database is away, but not for longer than a lease. */
async function writeInTime(stopping: AbortSignal, write: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + leaseSeconds * 1000;
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isStorageFailure(error) || stopping.aborted || performance.now() > end) throw error;
    }
    await pause(writePause, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/** Returns queues in which the sender has found no delivery, although their counts say that there are some. */
async function returnEmpty(database: Database, queues: Parameters<typeof recountQueues>[0]): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.query(lockQueues(queues));
    await tx.query(recountQueues(queues));
  });
}

/** The rows of each user, in their order. */
function byUser(rows: readonly TakenRow[]): Map<string, TakenRow[]> {
  const users = new Map<string, TakenRow[]>();
  for (const row of rows) {
    const known = users.get(row.user_id);
    if (known === undefined) users.set(row.user_id, [row]);
    else known.push(row);
  }
  return users;
}

async function targetOf(database: Database, keys: SecretKeys, endpoint: DueEndpoint): Promise<Target> {
  const { id, secret, previous_secret } = endpoint;
  const secrets = [secret, ...(previous_secret === null ? [] : [previous_secret])];
  return {
    endpoint,
    secrets: secrets.map((encrypted) => decryptSecret(keys, id, encrypted)),
    key: await signingKey(database, keys),
  };
}

function runOne(
  { sender, resources, onAttempt, tracing }: SendingOptions,
  { endpoint, secrets, key }: Target,
  rows: readonly TakenRow[],
  pace: Pace,
  stopping: AbortSignal,
): Promise<QueueRun> {
  const startedAt = performance.now();
  let attempts = 0;
  const deliveries = rows.flatMap((row): TakenDelivery[] => (row.id === null ? [] : [{ ...row, id: row.id }]));
  async function send({ event_id, ...event }: Omit<ShownEvent, 'traceparent'>): Promise<AttemptResult> {
    const shown = { ...event, event_id };
    const more = endpoint.payload === 'full' ? await resources.read(shown) : {};
    const body = bodyOf(endpoint.id, shown, more);
    const result = await sender.send({ url: endpoint.url, id: event_id, body, secrets, key });
    attempts += 1;
    pace.record(result.ok);
    onAttempt?.(result.ok ? 'delivered' : 'failed');
    return result;
  }
  return runQueue(deliveries, {
    async attempt({ data, created_at, traceparent, ...event }) {
      if (data === null || created_at === null) return undefined;
      const shown = { ...event, data, created_at };
      if (tracing === undefined) return send(shown);
      const span = tracing.startJob('webhook.deliver', traceparent, { 'postern.event_type': event.type });
      return inSpan(tracing, span, () => send(shown));
    },
    mayAttempt: () =>
      !stopping.aborted && performance.now() - startedAt < maxRunMs && (attempts === 0 || !pace.isFailing()),
    random: Math.random,
    isAccepting: () => pace.isAccepting(),
  });
}

/** Returns the queues of runs. Runs that end while a statement runs share the next one. */
function createSettlement({ database }: SendingOptions, endpointId: string, lease: string, stopping: AbortSignal) {
  let waiting: { userId: string; run: QueueRun }[] = [];
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();

  async function flush(): Promise<void> {
    await last.catch(() => undefined);
    const runs = waiting;
    [waiting, next] = [[], undefined];
    last = write(runs);
    await last;
  }
  async function write(runs: typeof waiting): Promise<void> {
    const queues = runs.map(
      ({ userId, run: { taken, done, dueIn } }): ReturnedQueue => ({
        user_id: userId,
        lease,
        taken,
        done,
        due_in: dueIn,
      }),
    );
    const results = runs.flatMap(({ run }) => run.results);
    const values = { endpointId, queues: JSON.stringify(queues), results: JSON.stringify(results) };
    await writeInTime(stopping, () => database.query(settleQueues(values)));
  }
  return (userId: string, run: QueueRun): Promise<void> => {
    waiting.push({ userId, run });
    next ??= flush();
    return next;
  };
}

/**
 * Records successes and failures of an endpoint in one row, but not each of them, because all deliveries write this row.
 * Disables the endpoint if it is gone or has failed for five days.
 */
function createHealth({ database, log, mails }: SendingOptions, id: string): (run: QueueRun) => Promise<void> {
  let last: { readonly ok: boolean; readonly at: number } | undefined;

  async function disable(reason: 'gone' | 'failing') {
    const disabled = await database.transaction((tx) => disableFailing(tx, mails, { id, reason }));
    if (disabled) log.warn({ webhook_id: id, reason }, 'a webhook was disabled');
  }
  return async ({ results, isGone }) => {
    const attempted = results.filter((result) => result.attempted);
    const success = attempted.findLast(({ state }) => state === 'delivered');
    const failure = attempted.findLast(({ state }) => state !== 'delivered');
    const ok = success !== undefined;
    if (attempted.length > 0) {
      const now = performance.now();
      if (last?.ok !== ok || now - last.at >= healthInterval) {
        last = { ok, at: now };
        if (ok) {
          await database.query(recordSuccess({ id }));
          await database.query(retrySoon({ id, plannedSeconds: longestPauses }));
        } else {
          const [row] = await database.query(recordFailure({ id, error: failure?.error ?? 'unknown' }));
          if (row?.has_failed === true && !isGone) await disable('failing');
        }
      }
    }
    if (isGone) await disable('gone');
  };
}
