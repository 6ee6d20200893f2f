import { isLoopback, parseUrl } from './urls.js';

/**
 * The URLs of the single hosts of a connection string with several hosts, as in libpq:
 * `postgres://user@a:5432,b/name` names `a` and `b`. All other parts of the URL belong to each host.
 */
export function urlsOfHosts(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => `${start}${host}${rest}`) : [url];
}

/**
 * Moves the user of a URL without a host into its parameters, because `URL` refuses `postgres://user@/name`. PostgreSQL's own
 * programs accept it: the parameter `host` then names the folder of the socket.
 */
export function withoutEmptyHost(url: string): string {
  const [, start = '', userinfo = '', port, path = '', query] =
    /^([a-z]+:\/\/)([^/?#]*)@(?::(\d+))?(\/[^?#]*)?(?:\?(.*))?$/is.exec(url) ?? [];
  if (start === '') return url;
  const [user = '', password] = userinfo.split(/:(.*)/s);
  const parameters = [
    ...(user === '' ? [] : [['user', user]]),
    ...(password === undefined ? [] : [['password', password]]),
    ...(port === undefined ? [] : [['port', port]]),
  ].map(([name, value = '']) => `${name}=${encodeURIComponent(decodeOnce(value))}`);
  return `${start}${path || '/'}?${[...parameters, ...(query ? [query] : [])].join('&')}`;
}

/** A text that is not percent-encoded stays as it is. */
function decodeOnce(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether connections to a host stay on this machine, so they need no TLS: the folder of a socket, or a loopback host. */
export const isPlainHost = (host: string): boolean => host.startsWith('/') || isLoopback(host);

/** The hosts of a connection string to which Postern connects over a network without TLS, because the string says so. */
export function hostsWithoutTls(url: string): string[] {
  return urlsOfHosts(url).flatMap((hostUrl) => {
    const read = parseUrl(hostUrl);
    const host = (read?.searchParams.get('host') ?? read?.hostname ?? '').replace(/^\[|\]$/g, '');
    const isOpen = read?.searchParams.get('sslmode') === 'disable' && host !== '' && !isPlainHost(decodeOnce(host));
    return isOpen ? [host] : [];
  });
}

/** What is wrong with the hosts of a connection string, for "DATABASE_URL …". */
export function hostsError(url: string): string | undefined {
  for (const hostUrl of urlsOfHosts(url)) {
    const read = parseUrl(hostUrl);
    if (read === undefined || !['postgres:', 'postgresql:'].includes(read.protocol)) {
      return 'must be a URL that starts with postgres:// or postgresql://';
    }
    const parameters = read.searchParams;
    const ssl = parameters.get('ssl');
    if (ssl !== null && !['true', '1', 'no-verify'].includes(ssl)) {
      return `must say sslmode=disable instead of ssl=${ssl}`;
    }
    const sessionAttrs = parameters.get('target_session_attrs') ?? 'read-write';
    if (!['read-write', 'primary'].includes(sessionAttrs)) {
      return `must have target_session_attrs=read-write, not ${sessionAttrs}: Postern writes`;
    }
    if (parameters.get('host')?.includes(',') === true) {
      return 'must name several hosts before the database: postgres://postern@a.example.com,b.example.com/postern';
    }
  }
  return undefined;
}
