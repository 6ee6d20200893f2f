import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { type Guard, OutboundError } from '../outbound.js';

export interface ApnsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** Milliseconds. */
export interface ApnsTimeouts {
  /** For the name's resolution, TCP and TLS together. */
  readonly connect: number;
  /** From the call to the answer's last byte. */
  readonly total: number;
  /** Between two pings. */
  readonly ping: number;
  /** Until a connection without an answer to its ping is given up. */
  readonly pong: number;
}

/** One HTTP/2 connection, opened when it is first needed and anew when it has ended. */
export interface ApnsConnection {
  /** @throws OutboundError */
  post(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<ApnsAnswer>;
  close(): Promise<void>;
}

const defaults: ApnsTimeouts = { connect: 3000, total: 10_000, ping: 60_000, pong: 5000 };
const maxAnswer = 65_536;

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

  async function open(): Promise<ClientHttp2Session> {
    // The address is checked at each connection, and it is the checked one that is connected to.
    const { lookup } = options.guard(options.url);
    const session = connect(origin, { lookup, rejectUnauthorized: true });
    sessions.add(session);
    let failure: Error | undefined;
    session.on('error', (error) => {
      failure = error;
    });
    session.once('close', () => sessions.delete(session));
    // What has begun may end; what is new goes elsewhere.
    session.once('goaway', () => session.close());
    const tooLong = setTimeout(() => session.destroy(), timeouts.connect);
    try {
      await Promise.race([once(session, 'connect'), once(session, 'close').then(() => Promise.reject(failure))]);
    } catch (error) {
      session.destroy();
      throw failed(failure ?? error);
    } finally {
      clearTimeout(tooLong);
    }
    if (session.destroyed) throw failed(failure);
    keepAlive(session, timeouts);
    return session;
  }

  function failed(error: unknown): OutboundError {
    if (error instanceof OutboundError) return error;
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    return new OutboundError('unreachable', `${hostname} cannot be reached${code}`);
  }

  /** The kept connection, unless it has ended or is about to: then a new one, for whoever asks meanwhile. */
  async function session(): Promise<ClientHttp2Session> {
    if (closed) throw new OutboundError('unreachable', 'the connection was closed');
    const kept = current;
    // What has failed to open is tried anew; a connection may be dead before it says so.
    const opened = await kept?.catch(() => undefined);
    if (opened !== undefined && !opened.closed && !opened.destroyed) return opened;
    if (current === kept) current = open();
    return current ?? session();
  }

  return {
    async post(path, headers, body) {
      const end = performance.now() + timeouts.total;
      const opened = await session();
      let request: ClientHttp2Stream | undefined;
      let timer: NodeJS.Timeout | undefined;
      try {
        const stream = opened.request({ ':method': 'POST', ':path': path, ...headers });
        request = stream;
        const late = () => stream.destroy(new OutboundError('timeout', `${hostname} did not answer in time`));
        timer = setTimeout(late, Math.max(1, end - performance.now()));
        stream.end(body);
        return await Promise.race([readAnswer(stream, hostname), endOf(stream)]);
      } catch (error) {
        throw failed(error);
      } finally {
        clearTimeout(timer);
        if (request?.closed === false) request.close(constants.NGHTTP2_CANCEL);
      }
    },
    async close() {
      closed = true;
      for (const each of sessions) each.destroy();
    },
  };
}

/** A connection that is dead without saying so is found by a ping, not by the next push. */
function keepAlive(session: ClientHttp2Session, { ping, pong }: ApnsTimeouts): void {
  let silent: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    // It may be dead before it says so with `close`.
    if (session.destroyed) return;
    silent = setTimeout(() => session.destroy(), pong).unref();
    const wait = silent;
    session.ping((error) => {
      clearTimeout(wait);
      if (error !== null) session.destroy();
    });
  }, ping).unref();
  session.once('close', () => {
    clearInterval(timer);
    clearTimeout(silent);
  });
}

/** A stream may end without an answer and without an error, when its connection is left. */
async function endOf(request: ClientHttp2Stream): Promise<never> {
  await once(request, 'close');
  // It was read to its end: `readAnswer` is about to say what.
  if (request.readableEnded) await new Promise(() => undefined);
  throw new Error('the stream was closed');
}

async function readAnswer(request: ClientHttp2Stream, hostname: string): Promise<ApnsAnswer> {
  const [headers] = (await once(request, 'response')) as [Record<string, string | number | undefined>];
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxAnswer) throw new OutboundError('too_large', `${hostname} answered with too much`);
  }
  const texts = Object.entries(headers).map(([name, value]) => [name, value === undefined ? value : String(value)]);
  return {
    status: Number(headers[':status']),
    headers: Object.fromEntries(texts),
    body: Buffer.concat(chunks).toString(),
  };
}
