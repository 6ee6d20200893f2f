import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { Agent, Dispatcher } from 'undici';
import { endsWithConnection, watchingResets } from './connection-resets.js';

export interface OutboundOptions {
  /** Opens loopback and private addresses, any port and plain http: for tests and closed networks. */
  readonly allowPrivateNetworkTargets: boolean;
  /** Milliseconds for the name's resolution, TCP and TLS together; 3000. */
  readonly connectTimeoutMs?: number;
  /** Milliseconds for a whole request where the request names none; 10,000. */
  readonly totalTimeoutMs?: number;
  /** All addresses of a name; the system's resolver, hosts file included. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** 65,536. */
  readonly maxResponseBytes?: number;
  /** Milliseconds from the call to the body's last byte. */
  readonly totalTimeoutMs?: number;
}

export interface OutboundResponse {
  /** Any status: a redirect is an answer too, and is never followed. */
  readonly status: number;
  /** By lower-case name; repeated ones joined by `, `. */
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** The one guarded way out: every outgoing call to a URL goes through it. */
export interface Outbound {
  /** @throws OutboundError */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Resolves when the requests under way have ended. */
  close(): Promise<void>;
}

/** `redirect` is for callers that turn a 3xx answer into a failure. */
export type OutboundErrorCode = 'blocked_target' | 'timeout' | 'too_large' | 'unreachable' | 'invalid_url' | 'redirect';

/** Its message names the host at most, since the path or query of a webhook's URL may be a secret: it may be logged. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundErrorCode;
  /** The status, where the answer's head had arrived before its body failed. */
  readonly status: number | undefined;

  constructor(code: OutboundErrorCode, message: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const MAX_URL_LENGTH = 2048;
const MAX_RESPONSE_BYTES = 65_536;
const CONNECT_TIMEOUT_MS = 3_000;
const TOTAL_TIMEOUT_MS = 10_000;
/** Idle connections are kept this long at most, whatever the server asks for, so that a name is checked again soon. */
const KEEP_ALIVE_MS = 4_000;

/** Global unicast is allotted from 2000::/3 only (RFC 4291, 2.4). Outside it lie, among others, IPv4 addresses in disguise. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * What can be said of a URL without resolving its name, for checking configured and stored URLs.
 *
 * @returns why it may not be called, for people; undefined when it may, provided that its name resolves to public addresses
 */
export function checkTargetUrl(
  url: string,
  options: Pick<OutboundOptions, 'allowPrivateNetworkTargets'>,
): string | undefined {
  const target = parseTarget(url, options.allowPrivateNetworkTargets);
  return target instanceof URL ? undefined : target.message;
}

function parseTarget(url: string, open: boolean): URL | OutboundError {
  // The parser drops tabs, newlines and surrounding spaces: what is stored would not be what is called.
  if (url.length > MAX_URL_LENGTH || /[\p{Cc}\s]/u.test(url) || !URL.canParse(url)) {
    return new OutboundError('invalid_url', 'not a valid URL');
  }
  const target = new URL(url);
  const schemes = open ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(target.protocol)) return new OutboundError('invalid_url', 'the scheme must be https');
  if (target.username !== '' || target.password !== '') {
    return new OutboundError('invalid_url', 'a URL must not hold a user name or password');
  }
  if (target.port === '0') return new OutboundError('invalid_url', 'port 0 cannot be called');
  // Well-known ports belong to services that are not HTTP.
  if (!open && target.port !== '' && Number(target.port) < 1024) {
    return new OutboundError('blocked_target', 'the port must be 443 or at least 1024');
  }
  // The parser has turned every odd spelling of an IPv4 address (0x7f.1, 2130706433) into the usual one.
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  if (!open && ipaddr.isValid(literal) && !isPublicAddress(literal)) {
    return new OutboundError('blocked_target', 'the address is not public');
  }
  return target;
}

/** Ranges by the IANA special-purpose registries; also refuses IPv4 inside IPv6 (mapped, compatible, NAT64, 6to4, Teredo). */
function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST);
}

/** Checks a target that is not called by `Outbound`. @throws OutboundError */
export type Guard = (url: string) => {
  /** For the connection: resolves the target's name, and gives the addresses that were checked. */
  readonly lookup: LookupFunction;
};

/** The same guard for a protocol of its own, such as HTTP/2. */
export function createGuard(options: Pick<OutboundOptions, 'allowPrivateNetworkTargets' | 'resolve'>): Guard {
  const open = options.allowPrivateNetworkTargets;
  const lookup = guardedLookup(fewAtATime(options.resolve ?? resolveBySystem), open);
  return (url) => {
    // An address is never looked up, so it is checked here; a name is checked when it is resolved.
    const target = parseTarget(url, open);
    if (target instanceof OutboundError) throw target;
    return { lookup };
  };
}

/** Uses no proxy from the environment. Close it when the process stops. */
export function createOutbound(options: OutboundOptions): Outbound {
  const open = options.allowPrivateNetworkTargets;
  const lookup = guardedLookup(fewAtATime(options.resolve ?? resolveBySystem), open);
  let agent: Promise<Agent> | undefined;
  let isClosed = false;
  const calls = new Set<Call>();
  /** Loaded with the first call: most installations make none for long, and the library is several megabytes. */
  const makeAgent = async () => {
    const { Agent, buildConnector } = await import('undici');
    const timeout = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
    // Also under NODE_TLS_REJECT_UNAUTHORIZED=0.
    const connect = buildConnector({ lookup, timeout, rejectUnauthorized: true });
    return new Agent({
      connect: watchingResets(connect, (origin) => {
        for (const call of calls) call.isReset ||= call.target.origin === origin;
      }),
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    });
  };
  return {
    async request(request) {
      // An address in the URL is never looked up, so it is checked here; a name is checked when it is resolved.
      const target = parseTarget(request.url, open);
      if (target instanceof OutboundError) throw target;
      if (isClosed) throw new OutboundError('unreachable', 'no calls are made any more');
      const timeout = request.totalTimeoutMs ?? options.totalTimeoutMs ?? TOTAL_TIMEOUT_MS;
      const signal = AbortSignal.timeout(timeout);
      agent ??= makeAgent();
      const call: Call = { target, isReset: false };
      calls.add(call);
      try {
        return await exchange(await agent, call, request, signal);
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

/** A request under way. */
interface Call {
  readonly target: URL;
  /** Whether a connection to its origin was reset meanwhile. */
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
    // undici heeds the signal only once it is connected, which may take longer than the request has.
    const response = await Promise.race([answer, rejectedBy(signal)]);
    status = response.statusCode;
    const body = await readBody(response.body, request.maxResponseBytes ?? MAX_RESPONSE_BYTES);
    if (body === undefined) throw new OutboundError('too_large', `${target.hostname} answered with too much`, status);
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

/** Undefined when there is more than `limit`: leaving the loop destroys the stream and its connection. */
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

function outboundError(error: unknown, target: URL, signal: AbortSignal, status: number | undefined): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (signal.aborted || code === 'UND_ERR_CONNECT_TIMEOUT') {
    return new OutboundError('timeout', `${target.hostname} did not answer in time`, status);
  }
  return new OutboundError('unreachable', `${target.hostname} cannot be reached (${code})`, status);
}

/**
 * The only resolution of a connection: it connects to the very addresses that were checked, so a name cannot resolve
 * to a public address for the check and to a private one for the call (DNS rebinding). One private address among
 * several is enough to refuse, because which of them is tried is up to timing.
 */
function guardedLookup(resolve: Resolve, open: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) {
          callback(new OutboundError('unreachable', `${hostname} has no address`), '');
        } else if (!open && !addresses.every(isPublicAddress)) {
          callback(new OutboundError('blocked_target', `${hostname} has an address that is not public`), '');
        } else if (options.all) {
          callback(null, addresses.map(withFamily));
        } else {
          callback(null, first, withFamily(first).family);
        }
      },
      (error) => callback(error, ''),
    );
  };
}

function withFamily(address: string) {
  return { address, family: ipaddr.IPv4.isValid(address) ? 4 : 6 };
}

type Resolve = NonNullable<OutboundOptions['resolve']>;

const resolveBySystem: Resolve = async (hostname) => {
  const all = await systemLookup(hostname, { all: true });
  return all.map(({ address }) => address);
};

/** Leaves half of libuv's four threads to files, images and hashes while name servers are silent. */
const MAX_LOOKUPS = 2;

/** The system's resolver holds a thread of the process until it knows: few at a time, and one look-up for each name. */
function fewAtATime(resolve: Resolve): Resolve {
  const underWay = new Map<string, Promise<readonly string[]>>();
  const waiting: (() => void)[] = [];
  let free = MAX_LOOKUPS;

  async function inTurn(hostname: string): Promise<readonly string[]> {
    if (free > 0) free -= 1;
    else await new Promise<void>((start) => waiting.push(start));
    try {
      return await resolve(hostname);
    } finally {
      underWay.delete(hostname);
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  }

  return (hostname) => {
    const addresses = underWay.get(hostname) ?? inTurn(hostname);
    underWay.set(hostname, addresses);
    return addresses;
  };
}
