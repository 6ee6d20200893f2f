import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { type Guard, OutboundError } from '../outbound-guard.js';

export interface ApnsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Time limits in milliseconds. */
export interface ApnsTimeouts {
  /** The limit for name resolution, TCP and TLS together. */
  readonly connect: number;
  /** The limit from the call of `post` to the last byte of the response. */
  readonly total: number;
  /** The time between two pings. */
  readonly ping: number;
  /** The limit for the answer to a ping. Without an answer, the connection is closed. */
  readonly pong: number;
}

/**
 * An HTTP/2 client (RFC 9113) with one connection. The first request opens the connection. After the connection has
 * ended, the next request opens a new one.
 */
export interface ApnsConnection {
  /** @throws OutboundError */
  post(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<ApnsResponse>;
  close(): Promise<void>;
}

const defaults: ApnsTimeouts = { connect: 3000, total: 10_000, ping: 60_000, pong: 5000 };
const maxResponseBytes = 65_536;

/** Creates a client for one server. Its `post` throws an OutboundError if the guard refuses the URL. */
export function createApnsConnection(options: {
  readonly url: string;
  readonly guard: Guard;
  readonly timeouts?: Partial<ApnsTimeouts> | undefined;
}): ApnsConnection {
  const timeouts = { ...defaults, ...options.timeouts };
  const { hostname, origin } = new URL(options.url);
  let current: Promise<ClientHttp2Session> | undefined;
  const sessions = new Set<ClientHttp2Session>();
  let closed = false;

  async function connectSession(): Promise<ClientHttp2Session> {
    const { guard } = options;
    guard.check(options.url);
    const session = connect(origin, { lookup: guard.lookup, rejectUnauthorized: true });
    sessions.add(session);
    let failure: Error | undefined;
    session.on('error', (error) => {
      failure = error;
    });
    session.once('close', () => sessions.delete(session));
    // RFC 9113, 6.8: after GOAWAY, open streams may finish, and new streams need a new connection.
    session.once('goaway', () => session.close());
    const timer = setTimeout(() => session.destroy(), timeouts.connect);
    try {
      await Promise.race([once(session, 'connect'), once(session, 'close').then(() => Promise.reject(failure))]);
    } catch (error) {
      session.destroy();
      throw toOutboundError(failure ?? error);
    } finally {
      clearTimeout(timer);
    }
    if (session.destroyed) throw toOutboundError(failure);
    keepAlive(session, timeouts);
    return session;
  }

  function toOutboundError(error: unknown): OutboundError {
    if (error instanceof OutboundError) return error;
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return new OutboundError('unreachable', `${hostname} cannot be reached${code}`);
  }

  /** Returns the open connection. If there is none, or it is closing, it opens a new one, which all callers share. */
  async function openSession(): Promise<ClientHttp2Session> {
    if (closed) throw new OutboundError('unreachable', 'the connection was closed');
    const previous = current;
    // If the previous attempt to connect failed, try again.
    const previousSession = await previous?.catch(() => undefined);
    // Both are checked, because a session can be destroyed before it emits `close`.
    if (previousSession !== undefined && !previousSession.closed && !previousSession.destroyed) return previousSession;
    // Another caller may have opened a new connection while this one waited.
    if (current === previous) current = connectSession();
    return current ?? openSession();
  }

  return {
    async post(path, headers, body) {
      const end = performance.now() + timeouts.total;
      const session = await openSession();
      let request: ClientHttp2Stream | undefined;
      let timer: NodeJS.Timeout | undefined;
      try {
        const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
        request = stream;
        const abort = () => stream.destroy(new OutboundError('timeout', `${hostname} did not answer in time`));
        timer = setTimeout(abort, Math.max(1, end - performance.now()));
        stream.end(body);
        return await Promise.race([readResponse(stream, hostname), rejectWhenClosed(stream)]);
      } catch (error) {
        throw toOutboundError(error);
      } finally {
        clearTimeout(timer);
        if (request?.closed === false) request.close(constants.NGHTTP2_CANCEL);
      }
    },
    async close() {
      closed = true;
      for (const session of sessions) session.destroy();
    },
  };
}

/** Sends pings (RFC 9113, 6.7), so that a broken connection is closed before the next push needs it. */
function keepAlive(session: ClientHttp2Session, { ping, pong }: ApnsTimeouts): void {
  let pongTimer: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    // A session can be destroyed before it emits `close`.
    if (session.destroyed) return;
    pongTimer = setTimeout(() => session.destroy(), pong).unref();
    const timeout = pongTimer;
    session.ping((error) => {
      clearTimeout(timeout);
      if (error !== null) session.destroy();
    });
  }, ping).unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(pongTimer);
  });
}

/**
 * Rejects when the stream closes before its response was read to the end. If the connection closes, the stream can close
 * without a response and without an error.
 */
async function rejectWhenClosed(request: ClientHttp2Stream): Promise<never> {
  await once(request, 'close');
  // The response was read to its end: `readResponse` returns it, so this promise must stay pending.
  if (request.readableEnded) await new Promise(() => undefined);
  throw new Error('the stream was closed');
}

async function readResponse(request: ClientHttp2Stream, hostname: string): Promise<ApnsResponse> {
  const [headers] = (await once(request, 'response')) as [Record<string, string | number | undefined>];
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxResponseBytes)
      throw new OutboundError('too_large', `${hostname} sent a response that is too large`);
  }
  const headerTexts = Object.entries(headers).map(([name, value]) => [
    name,
    value === undefined ? value : String(value),
  ]);
  return {
    status: Number(headers[':status']),
    headers: Object.fromEntries(headerTexts),
    body: Buffer.concat(chunks).toString(),
  };
}
