import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Reads a URL as `new URL` does. Use it instead of `URL.canParse`: after some thousand calls, Node.js 20 and 22 compile that
 * function, and from then on it refuses every host with letters that are not ASCII.
 * @returns undefined if the text is not a URL
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The path of a URL without a slash at its end, such as `/auth`. Empty for the root, and without a URL. */
export function pathOf(url: string | undefined): string {
  return url === undefined ? '' : new URL(url).pathname.replace(/\/+$/, '');
}

/** A mail server, and how to connect to it. */
export interface SmtpTarget {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /**
   * from_start: implicit TLS (RFC 8314). starttls: no mail without a successful upgrade (RFC 3207). none: without TLS, only
   * for a relay on the same machine or behind a tunnel.
   */
  readonly tls: 'from_start' | 'starttls' | 'none';
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/**
 * Reads `smtp://` or `smtps://[user:password@]host[:port][?tls=required|none]`. By default `smtp:` to another machine
 * requires STARTTLS.
 * @returns undefined for any other text
 */
export function parseSmtpUrl(text: string): SmtpTarget | undefined {
  const url = parseUrl(text);
  if (url === undefined) return undefined;
  const isSecure = url.protocol === 'smtps:';
  const host = decode(url.hostname)?.replace(/^\[|\]$/g, '');
  const [user, password] = [decode(url.username), decode(url.password)];
  const tls = readTls(url.searchParams, isSecure, host ?? '');
  if (!isSecure && url.protocol !== 'smtp:') return undefined;
  if (!host || user === undefined || password === undefined || tls === undefined) return undefined;
  if (!/^\/?$/.test(url.pathname) || url.hash !== '' || (user === '') !== (password === '')) return undefined;
  const port = url.port === '' ? (isSecure ? 465 : 587) : Number(url.port);
  return { host, port, tls, user: user || undefined, password: password || undefined };
}

function readTls(query: URLSearchParams, isSecure: boolean, host: string): SmtpTarget['tls'] | undefined {
  const [tlsValue, ...more] = query.getAll('tls');
  if (more.length > 0 || [...query.keys()].some((name) => name !== 'tls')) return undefined;
  if (isSecure) return tlsValue === undefined || tlsValue === 'required' ? 'from_start' : undefined;
  if (tlsValue === undefined) return isLoopback(host) ? 'none' : 'starttls';
  if (tlsValue === 'none') return 'none';
  return tlsValue === 'required' ? 'starttls' : undefined;
}

/** Whether a host is a loopback name or address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && ipaddr.process(host).range() === 'loopback');
}

/** Refuses control characters in a name, a password or a host: they could inject SMTP commands. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /\p{Cc}/u.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}
