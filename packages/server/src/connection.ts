import { isPosternError, isProblem } from '@postern/client';
import { type Call, createTransport, type Transport, UsageError, wait } from '@postern/client/internal';
import type { PosternServerOptions } from './options.js';

/** The part of a client that the functions of this package use. */
export interface Connection {
  /** The address of Postern, without a slash at its end. @throws UsageError if the app did not pass one */
  base(): string;
  readonly fetch: typeof globalThis.fetch;
  /** The time limit of each attempt in milliseconds. */
  readonly timeout: number;
  readonly retries: number;
  /** Sends the API key. Repeats failed requests if that is safe. */
  call<T>(call: Call): Promise<T>;
  /** As `call`. Null if Postern answers 404. */
  find<T>(call: Call): Promise<T | null>;
  /** As `call`, but returns the `Response`. */
  raw(call: Call): Promise<Response>;
}

// `Symbol.for`: all copies of this package use the same key.
export const connectionKey = Symbol.for('@postern/server.connection');

/** The connection of a client. @throws UsageError */
export function connectionOf(server: object | undefined): Connection {
  const connection = (server as { readonly [connectionKey]?: Connection } | undefined)?.[connectionKey];
  if (connection === undefined) {
    throw new UsageError('The first argument must be a client that createPosternServer made.');
  }
  return connection;
}

/** Reads the address of Postern at the first request, not before. */
export function createLazyTransport({
  base,
  fetch,
  timeout,
}: Pick<Connection, 'base' | 'timeout'> & Pick<PosternServerOptions, 'fetch'>): Transport {
  let created: Transport | undefined;
  const transport = () => {
    created ??= createTransport({ base: base(), fetch, locale: undefined, timeout, cookies: false });
    return created;
  };
  return { json: async (call) => transport().json(call), raw: async (call) => transport().raw(call) };
}

/** The longest wait for a repeat, in milliseconds. */
const maxPauseMs = 10_000;

/** @throws UsageError for options that make no sense */
export function createConnection(base: () => string, options: Omit<PosternServerOptions, 'url'>): Connection {
  const { apiKey, timeout = 10_000, retries = 2 } = options;
  if (!(timeout > 0)) throw new UsageError('`timeout` must be a number of milliseconds.');
  if (!(Number.isInteger(retries) && retries >= 0)) throw new UsageError('`retries` must be a whole number from 0.');
  const transport = createLazyTransport({ base, fetch: options.fetch, timeout });

  async function authorization(): Promise<string> {
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    if (typeof key !== 'string' || key === '') {
      throw new UsageError('This call needs an API key: createPosternServer({ url, apiKey }).');
    }
    return `Bearer ${key}`;
  }

  /** Sends a call with the current key, and again with the new key if the key was replaced in the meantime. */
  async function sendWithKey<T>(call: Call, send: (call: Call) => Promise<T>): Promise<T> {
    const firstKey = await authorization();
    try {
      return await send({ ...call, authorization: firstKey });
    } catch (error) {
      if (!isProblem(error) || error.status !== 401) throw error;
      const currentKey = await authorization();
      if (currentKey === firstKey) throw error;
      return send({ ...call, authorization: currentKey });
    }
  }

  async function sendWithRetries<T>(call: Call, send: (call: Call) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await sendWithKey(call, send);
      } catch (error) {
        const pause = attempt <= retries && isRepeatable(call) ? pauseBeforeRepeat(error, attempt) : undefined;
        if (pause === undefined) throw error;
        await wait(pause, call.signal);
        call.signal?.throwIfAborted();
      }
    }
  }

  return {
    base,
    fetch: (input, init) => (options.fetch ?? globalThis.fetch)(input, init),
    timeout,
    retries,
    call: <T>(call: Call) => sendWithRetries<T>(call, transport.json),
    find: <T>(call: Call) =>
      sendWithRetries<T | null>(call, transport.json).catch((error) => {
        if (isProblem(error, 'not_found')) return null;
        throw error;
      }),
    raw: (call) => sendWithRetries(call, transport.raw),
  };
}

/** Whether a repeated request has no further effect. */
function isRepeatable({ method, headers }: Call): boolean {
  return method !== 'POST' || headers?.['idempotency-key'] !== undefined;
}

/** The time in milliseconds to wait before a repeat; undefined if a repeat would fail as well. */
export function pauseBeforeRepeat(error: unknown, attempt: number): number | undefined {
  if (!isPosternError(error)) return undefined;
  // Half a second, then twice as long each time. The random part spreads the repeats of many processes.
  const delay = Math.min(maxPauseMs, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);
  if (error.kind === 'network') return delay;
  if (error.kind === 'foreign_answer') return error.status >= 502 && error.status <= 504 ? delay : undefined;
  const isTransient = isProblem(error, 'request_in_progress') || (isProblem(error) && error.status === 503);
  if (!isTransient && !isProblem(error, 'too_many_requests')) return undefined;
  const requestedDelay = isProblem(error) && error.retry !== null ? error.retry.until.getTime() - Date.now() : 0;
  return requestedDelay <= maxPauseMs ? Math.max(requestedDelay, 0) + delay : undefined;
}
