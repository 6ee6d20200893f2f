import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { waitAtMost } from '../lib/patience.js';
import { connectionFields, type DatabaseTarget, type Queryable, sql } from './database.js';

/**
 * Tells all instances on this database that something about a user is new (LISTEN and NOTIFY). A signal only saves
 * time: it may get lost with a connection, so whoever hears signals must also look by itself from time to time.
 */
export interface Signals {
  /** Never fails and never waits. Those of a moment go out together. */
  send(userIds: Iterable<string>): void;
  /** Hears what any instance has sent, this one included. */
  onSignal(listener: (userIds: readonly string[]) => void): void;
  stop(): Promise<void>;
}

export interface SignalsOptions {
  /** For a connection of its own that only listens. */
  readonly target: DatabaseTarget;
  /** What sends. */
  readonly database: Queryable;
  readonly channel: string;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Milliseconds. A notifying transaction takes a lock of the whole server when it commits, hence the pause between two.
 * `ping`: how often a connection that hears nothing is asked whether it is still there.
 */
const times = { pause: 10, ping: 15_000, connect: 3000, answer: 5500, stop: 2000, longestRetry: 5000 };
/** Bytes: PostgreSQL takes less than 8000. */
const longestPayload = 7900;

const notify = sql('select pg_notify($1, payload) from unnest($2::text[]) payload');

export function startSignals(options: SignalsOptions): Signals {
  const sender = createSender(options);
  const listeners: ((userIds: readonly string[]) => void)[] = [];
  const stopping = new AbortController();
  const listening = keepListening(options, stopping.signal, (payload) => {
    const userIds = payload.split(',');
    for (const listener of listeners) listener(userIds);
  });
  return {
    send: sender.send,
    onSignal: (listener) => void listeners.push(listener),
    async stop() {
      stopping.abort();
      await waitAtMost(times.stop, Promise.all([sender.flush(), listening]));
    },
  };
}

function createSender({ database, channel }: SignalsOptions): Pick<Signals, 'send'> & { flush(): Promise<void> } {
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending = Promise.resolve();

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    await sending;
    if (pending.size === 0) return;
    const payloads = payloadsOf(pending);
    pending.clear();
    // What is lost here is found by who looks.
    sending = database.query(notify, [channel, payloads]).then(
      () => undefined,
      () => undefined,
    );
    await sending;
  }

  return {
    flush,
    send(userIds) {
      for (const id of userIds) pending.add(id);
      timer ??= setTimeout(() => void flush(), times.pause);
    },
  };
}

/** Ids joined by commas, as many as fit into one notification. */
function payloadsOf(userIds: Iterable<string>): string[] {
  const payloads: string[] = [];
  let payload = '';
  for (const id of userIds) {
    if (payload.length + id.length >= longestPayload) {
      payloads.push(payload);
      payload = '';
    }
    payload += payload === '' ? id : `,${id}`;
  }
  if (payload !== '') payloads.push(payload);
  return payloads;
}

/** Listens until it is told to stop, on another connection when one breaks. */
async function keepListening(
  { target, channel, log }: SignalsOptions,
  stopping: AbortSignal,
  hear: (payload: string) => void,
): Promise<void> {
  for (let failures = 0; !stopping.aborted; failures += 1) {
    const client = new pg.Client({
      ...connectionFields(target),
      application_name: 'postern signals',
      connectionTimeoutMillis: times.connect,
      query_timeout: times.answer,
      keepAlive: true,
    });
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    // Unheard it would end the process. What matters is the end that follows.
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => hear(payload));
    const giveUp = () => void client.end().catch(() => undefined);
    stopping.addEventListener('abort', giveUp, { once: true });
    const ping = setInterval(() => void client.query('select 1').catch(giveUp), times.ping).unref();
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      failures = 0;
      await ended;
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'the connection that listens for signals is down');
      giveUp();
    } finally {
      clearInterval(ping);
      stopping.removeEventListener('abort', giveUp);
    }
    const pause = Math.min(times.longestRetry, 100 * 2 ** Math.min(failures, 10));
    await wait(pause, undefined, { signal: stopping, ref: false }).catch(() => undefined);
  }
}
