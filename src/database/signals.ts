import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { waitAtMost } from '../lib/time-limit.js';
import { connectionFields, type DatabaseTarget, type Queryable } from './database.js';
import { bound, compose, sql } from './sql.js';

/**
 * Notifies all instances on this database that something of a user has changed (LISTEN and NOTIFY). A signal only saves
 * time. It may get lost with a connection, so each receiver must also poll from time to time.
 */
export interface Signals {
  /** Never fails and never waits. The ids of a few milliseconds are sent together. */
  send(userIds: Iterable<string>): void;
  /** `listener` is called with the ids that any instance has sent, including this one. */
  onSignal(listener: (userIds: readonly string[]) => void): void;
  stop(): Promise<void>;
}

export interface SignalsOptions {
  /** For a connection of its own that only listens. */
  readonly target: DatabaseTarget;
  /** Sends the signals. */
  readonly database: Queryable<'everyone'>;
  readonly channel: string;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Milliseconds. A transaction with NOTIFY takes a lock of the whole server when it commits, hence `pause` between two.
 * `ping`: how often the listening connection is checked while it receives nothing.
 */
const times = { pause: 10, ping: 15_000, connect: 3000, answer: 5500, stop: 2000, maxRetry: 5000 };
/** Bytes. PostgreSQL accepts less than 8000. */
const maxPayload = 7900;

/** Not prepared: it runs rarely, and not on the path of a request. */
const notify = (channel: string, payloads: readonly string[]) =>
  compose(
    'everyone',
    sql`select pg_notify(${bound(channel)}, payload) from unnest(${bound(payloads)}::text[]) payload`,
  );

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
    // A failure loses these signals. The receivers' polling finds the changes.
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

/** Ids joined by commas, as many as fit into one notification. */
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

/** Listens until `stopping` aborts. Opens a new connection when one breaks. */
async function keepListening(
  { target, channel, log }: SignalsOptions,
  stopping: AbortSignal,
  onPayload: (payload: string) => void,
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
    // Without a listener an error would end the process. The loop reacts to the `end` event that follows.
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => onPayload(payload));
    const close = () => void client.end().catch(() => undefined);
    stopping.addEventListener('abort', close, { once: true });
    const ping = setInterval(() => void client.query('select 1').catch(close), times.ping).unref();
    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      failures = 0;
      await ended;
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, 'the connection that listens for signals is down');
      close();
    } finally {
      clearInterval(ping);
      stopping.removeEventListener('abort', close);
    }
    const pause = Math.min(times.maxRetry, 100 * 2 ** Math.min(failures, 10));
    await wait(pause, undefined, { signal: stopping, ref: false }).catch(() => undefined);
  }
}
