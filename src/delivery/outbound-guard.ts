import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { parseUrl } from '../lib/urls.js';

export interface GuardOptions {
  /** Allows loopback and private addresses, any port and plain http: for tests and closed networks. */
  readonly allowPrivateNetworkTargets: boolean;
  /** Returns all addresses of a name. The default is the system's resolver, including the hosts file. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/** The checks of a target against server-side request forgery (OWASP SSRF Prevention Cheat Sheet). */
export interface Guard {
  /**
   * Parses a URL and checks everything except the addresses of its host name: `lookup` checks these.
   * @throws OutboundError
   */
  check(url: string): URL;
  /** For the connection: resolves a name to addresses that were checked. */
  readonly lookup: LookupFunction;
}

/** `redirect` is for callers that treat a 3xx response as a failure. */
export type OutboundErrorCode = 'blocked_target' | 'timeout' | 'too_large' | 'unreachable' | 'invalid_url' | 'redirect';

/** Safe to log: its message contains at most the host, because the path or query of a webhook's URL may be a secret. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundErrorCode;
  /** The status, if the head of the response had arrived before its body failed. */
  readonly status: number | undefined;
  /** Whether no byte of the request was sent. */
  readonly isUnsent: boolean;

  constructor(code: OutboundErrorCode, message: string, status?: number, { isUnsent = false } = {}) {
    super(message);
    this.code = code;
    this.status = status;
    this.isUnsent = isUnsent || code === 'blocked_target' || code === 'invalid_url';
  }
}

const maxUrlLength = 2048;

/** Global unicast addresses are assigned from 2000::/3 only (RFC 4291, 2.4). Embedded IPv4 addresses are outside of it. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Checks a URL without resolving its name: for URLs that are configured or stored.
 *
 * @returns why it may not be called, as text for people; undefined if it may, provided that its name resolves to public
 *   addresses
 */
export function checkTargetUrl(
  url: string,
  options: Pick<GuardOptions, 'allowPrivateNetworkTargets'>,
): string | undefined {
  const target = parseTarget(url, options.allowPrivateNetworkTargets);
  return target instanceof URL ? undefined : target.message;
}

function parseTarget(url: string, allowPrivate: boolean): URL | OutboundError {
  // The parser drops tabs, newlines and surrounding spaces (WHATWG URL): the called URL would differ from the stored one.
  const target = url.length > maxUrlLength || /[\p{Cc}\s]/u.test(url) ? undefined : parseUrl(url);
  if (target === undefined) return new OutboundError('invalid_url', 'not a valid URL');
  const schemes = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (!schemes.includes(target.protocol)) return new OutboundError('invalid_url', 'the scheme must be https');
  if (target.username !== '' || target.password !== '') {
    return new OutboundError('invalid_url', 'a URL must not hold a user name or password');
  }
  if (target.port === '0') return new OutboundError('invalid_url', 'port 0 cannot be called');
  // Other well-known ports belong to services that are not HTTP.
  if (!allowPrivate && target.port !== '' && Number(target.port) < 1024) {
    return new OutboundError('blocked_target', 'the port must be 443 or at least 1024');
  }
  // The parser has normalized unusual forms of IPv4 addresses, such as 0x7f.1 and 2130706433.
  const literal = target.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && ipaddr.isValid(literal) && !isPublicAddress(literal)) {
    return new OutboundError('blocked_target', 'the address is not public');
  }
  return target;
}

/**
 * Uses the IANA special-purpose address registries (RFC 6890). Also refuses IPv4 inside IPv6: mapped, compatible, NAT64,
 * 6to4 and Teredo addresses.
 */
function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast);
}

/** Creates the checks of targets. Name look-ups are limited: see `limitLookups`. */
export function createGuard(options: GuardOptions): Guard {
  const allowPrivate = options.allowPrivateNetworkTargets;
  return {
    check(url) {
      const target = parseTarget(url, allowPrivate);
      if (target instanceof OutboundError) throw target;
      return target;
    },
    lookup: guardedLookup(limitLookups(options.resolve ?? resolveBySystem), allowPrivate),
  };
}

/**
 * Resolves a name once for each connection, which then uses the checked addresses. So a name cannot resolve to a public
 * address for the check and to a private one for the call (DNS rebinding). A name with several addresses is refused
 * even if only one of them is private, because timing decides which address is tried.
 */
function guardedLookup(resolve: Resolve, allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (first === undefined) {
          callback(new OutboundError('unreachable', `${hostname} has no address`, undefined, { isUnsent: true }), '');
        } else if (!allowPrivate && !addresses.every(isPublicAddress)) {
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

type Resolve = NonNullable<GuardOptions['resolve']>;

const resolveBySystem: Resolve = async (hostname) => {
  const all = await systemLookup(hostname, { all: true });
  return all.map(({ address }) => address);
};

/** Leaves half of libuv's four threads to files, images and hashes while name servers do not respond. */
const maxLookups = 2;
/** The maximum number of names whose last look-up is remembered as failed. */
const maxFailing = 1000;

/**
 * The system's resolver blocks a thread (getaddrinfo(3)): few look-ups run at a time, and one for each name. Names whose last
 * look-up failed take all places but one, so that names with a server that does not respond do not delay all others.
 */
function limitLookups(resolve: Resolve): Resolve {
  const running = new Map<string, Promise<readonly string[]>>();
  const failing = new Set<string>();
  const waiting: { readonly isFailing: boolean; readonly start: () => void }[] = [];
  let [all, ofFailing] = [0, 0];

  /** Takes a place if there is one. */
  function mayStart(isFailing: boolean): boolean {
    if (all >= maxLookups || (isFailing && ofFailing >= maxLookups - 1)) return false;
    all += 1;
    ofFailing += Number(isFailing);
    return true;
  }
  function end(hostname: string, isFailing: boolean): void {
    running.delete(hostname);
    all -= 1;
    ofFailing -= Number(isFailing);
    const next = waiting.findIndex((lookup) => mayStart(lookup.isFailing));
    if (next >= 0) for (const { start } of waiting.splice(next, 1)) start();
  }
  async function resolveWhenFree(hostname: string): Promise<readonly string[]> {
    const isFailing = failing.has(hostname);
    if (!mayStart(isFailing)) await new Promise<void>((start) => waiting.push({ isFailing, start }));
    try {
      const addresses = await resolve(hostname);
      failing.delete(hostname);
      return addresses;
    } catch (error) {
      if (failing.size >= maxFailing) failing.clear();
      failing.add(hostname);
      throw error;
    } finally {
      end(hostname, isFailing);
    }
  }

  return (hostname) => {
    const addresses = running.get(hostname) ?? resolveWhenFree(hostname);
    running.set(hostname, addresses);
    return addresses;
  };
}
