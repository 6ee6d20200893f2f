import type { Agent, Dispatcher } from 'undici';
import type { Tracing } from '../lib/tracing.js';
import { endsWithConnection, reportResets } from './connection-resets.js';
import { createGuard, type GuardOptions, OutboundError } from './outbound-guard.js';
import { traceCall } from './traced-call.js';

export interface OutboundOptions extends GuardOptions {
  /** Milliseconds for name resolution, TCP and TLS together. The default is 3000. */
  readonly connectTimeoutMs?: number;
  /** The default value of `OutboundRequest.totalTimeoutMs`. If it is absent, 10,000. */
  readonly totalTimeoutMs?: number | undefined;
  /** Undefined: calls are not traced. */
  readonly tracing?: Tracing | undefined;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** The default is 65,536. */
  readonly maxResponseBytes?: number;
  /** Milliseconds from the call to the last byte of the body. */
  readonly totalTimeoutMs?: number;
}

export interface OutboundResponse {
  /** Any status. Redirects are never followed. */
  readonly status: number;
  /** The headers by lower-case name. Repeated headers are joined by `, ` (RFC 9110, 5.3). */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/**
 * The HTTP client of every outgoing call. It protects against server-side request forgery (OWASP SSRF Prevention Cheat
 * Sheet): only public addresses, no redirects, and limits of time and size.
 */
export interface Outbound {
  /** @throws OutboundError */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Resolves when the running requests have ended. Later requests fail. */
  close(): Promise<void>;
}

const defaultMaxResponseBytes = 65_536;
const defaultConnectTimeoutMs = 3_000;
const defaultTotalTimeoutMs = 10_000;
/** The maximum time of an idle connection, even if the server offers more, so that host names are checked again soon. */
const keepAliveMs = 4_000;

/** Creates the HTTP client. It does not use a proxy from the environment. Close it when the process stops. */
export function createOutbound(options: OutboundOptions): Outbound {
  const guard = createGuard(options);
  let agent: Promise<Agent> | undefined;
  let isClosed = false;
  const calls = new Set<Call>();
  /** Loads the library with the first call: it takes several megabytes, and many installations make no calls. */
  const makeAgent = async () => {
    const { Agent, buildConnector } = await import('undici');
    const timeout = options.connectTimeoutMs ?? defaultConnectTimeoutMs;
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
    const connect = buildConnector({ lookup: guard.lookup, timeout, rejectUnauthorized: true });
    return new Agent({
      connect: reportResets(connect, (origin) => {
        for (const call of calls) call.isReset ||= call.target.origin === origin;
      }),
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
    });
  };
  return {
    async request(request) {
      const target = guard.check(request.url);
      if (isClosed) throw new OutboundError('unreachable', 'the HTTP client is closed', undefined, { isUnsent: true });
      const timeout = request.totalTimeoutMs ?? options.totalTimeoutMs ?? defaultTotalTimeoutMs;
      const signal = AbortSignal.timeout(timeout);
      agent ??= makeAgent();
      const call: Call = { target, isReset: false };
      calls.add(call);
      try {
        const openAgent = await agent;
        return await traceCall(options.tracing, request, (headers) =>
          exchange(openAgent, call, { ...request, headers: { ...request.headers, ...headers } }, signal),
        );
      } finally {
        calls.delete(call);
      }
    },
    async close() {
      isClosed = true;
      await (await agent)?.close();
    },
  };
}

/** A running request. */
interface Call {
  readonly target: URL;
  /** Whether a connection to its origin was reset since the request started. */
  isReset: boolean;
}

async function exchange(
  agent: Agent,
  call: Call,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { target } = call;
  let status: number | undefined;
  try {
    const answer = agent.request({
      origin: target.origin,
      path: target.pathname + target.search,
      method: request.method,
      headers: request.headers ?? {},
      body: request.body ?? null,
      signal,
    });
    // undici observes the signal only after it has connected, which may take longer than the timeout.
    const response = await Promise.race([answer, rejectedBy(signal)]);
    status = response.statusCode;
    const body = await readBody(response.body, request.maxResponseBytes ?? defaultMaxResponseBytes);
    if (body === undefined)
      throw new OutboundError('too_large', `${target.hostname} sent a response that is too large`, status);
    // Without a length, the end of the body is the end of the connection, and a reset looks the same.
    if (call.isReset && endsWithConnection(response)) {
      throw new OutboundError('unreachable', `${target.hostname} cannot be reached (ECONNRESET)`, status);
    }
    return { status, headers: flatHeaders(response.headers), body };
  } catch (error) {
    throw outboundError(error, target, signal, status);
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** @returns undefined if the body exceeds `limit` bytes. Leaving the loop destroys the stream and its connection. */
async function readBody(stream: AsyncIterable<Buffer>, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function flatHeaders(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  const flat = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]);
  return Object.fromEntries(flat);
}

/** The codes of failures to resolve a name, to connect, and to check a certificate. */
const connectFailures = /^(?:ENOTFOUND|EAI_\w+|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UNABLE_TO_\w+|\w*CERT\w*)$/;

function outboundError(error: unknown, target: URL, signal: AbortSignal, status: number | undefined): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (signal.aborted || code === 'UND_ERR_CONNECT_TIMEOUT') {
    const isUnsent = code === 'UND_ERR_CONNECT_TIMEOUT';
    return new OutboundError('timeout', `${target.hostname} did not answer in time`, status, { isUnsent });
  }
  const isUnsent = connectFailures.test(code);
  return new OutboundError('unreachable', `${target.hostname} cannot be reached (${code})`, status, { isUnsent });
}
