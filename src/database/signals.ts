import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { waitAtMost } from '../lib/time-limit.js';
import { openClient } from './connections/open-client.js';
import type { DatabaseTarget } from './connections/target.js';
import type { Queryable } from './database.js';
import { bound, compose, sql } from './sql.js';

/**
 * Signals notify all instances on this database that the inbox of a user has changed (LISTEN and NOTIFY). A signal only
 * makes an instance notice the change sooner. It can get lost when a connection breaks, so each receiver must also poll
 * from time to time.
 */
export interface Signals {
  /** Collects ids for a few milliseconds, and then sends them together. Never fails and never waits. */
  send(userIds: Iterable<string>): void;
  /** `listener` is called with the ids that any instance has sent, including this one. */
  onSignal(listener: (userIds: readonly string[]) => void): void;
  stop(): Promise<void>;
}

export interface SignalsOptions {
  /** The database to which the listening connection connects. This connection does nothing else. */
  readonly target: DatabaseTarget;
  /** The handle that sends the signals. */
  readonly database: Queryable;
  readonly channel: string;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Milliseconds. `pause`: between two statements with NOTIFY, because each commit takes a lock of the whole server.
 * `ping`: how often the listening connection is checked. `connect`, `answer`: the time limits of a connection attempt
 * and of a statement. `stop`: how long `stop` waits. `maxRetry`: the longest pause before another connection attempt.
 */
const times = { pause: 10, ping: 15_000, connect: 3000, answer: 5500, stop: 2000, maxRetry: 5000 };
/** Bytes of one payload. PostgreSQL accepts fewer than 8000. */
const maxPayload = 7900;

/** The statement that sends signals. It is not prepared, because it is rare and no request waits for it. */
const notify = (channel: string, payloads: readonly string[]) =>
  compose(sql`select pg_notify(${bound(channel)}, payload) from unnest(${bound(payloads)}::text[]) payload`);

/** Starts to listen on the channel. It reconnects when its connection breaks. */
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
    // After a failure, these signals are lost. The receivers find the changes when they poll.
    sending = database.query(notify(channel, payloads)).then(
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

/** Payloads of ids joined by commas. Each payload has as many ids as fit into one NOTIFY. */
function payloadsOf(userIds: Iterable<string>): string[] {
  const payloads: string[] = [];
  let payload = '';
  for (const id of userIds) {
    if (payload.length + id.length >= maxPayload) {
      payloads.push(payload);
      payload = '';
    }
    payload += payload === '' ? id : `,${id}`;
  }
  if (payload !== '') payloads.push(payload);
  return payloads;
}

/** Listens until `stopping` aborts. When the connection breaks, it opens a new one. */
async function keepListening(
  { target, channel, log }: SignalsOptions,
  stopping: AbortSignal,
  onPayload: (payload: string) => void,
): Promise<void> {
  for (let failures = 0; !stopping.aborted; failures += 1) {
    let client: pg.Client | undefined;
    let connectionEnd: Promise<void> | undefined;
    const close = () => void client?.end().catch(() => undefined);
    stopping.addEventListener('abort', close, { once: true });
    const ping = setInterval(() => void client?.query('select 1').catch(close), times.ping).unref();
    try {
      client = await openClient(target, {
        application_name: 'postern signals',
        connectionTimeoutMillis: times.connect,
        query_timeout: times.answer,
        keepAlive: true,
        prepare(newClient) {
          // Not `once` of `node:events`: its promise would reject at the error that comes before the end. If no code
          // waited for the promise yet, the rejection would end the process.
          connectionEnd = new Promise<void>((resolve) => newClient.once('end', () => resolve()));
          newClient.on('notification', ({ payload = '' }) => onPayload(payload));
        },
      });
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      failures = 0;
      if (stopping.aborted) close();
      await connectionEnd;
    } catch (error) {
      if (!stopping.aborted)
        log.warn({ err: error, outage: 'database' }, 'the connection that listens for signals is down');
      close();
    } finally {
      clearInterval(ping);
      stopping.removeEventListener('abort', close);
    }
    const pause = Math.min(times.maxRetry, 100 * 2 ** Math.min(failures, 10));
    await wait(pause, undefined, { signal: stopping, ref: false }).catch(() => undefined);
  }
}
