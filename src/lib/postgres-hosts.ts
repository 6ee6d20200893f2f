import { parseUrl } from './urls.js';

/**
 * The URLs of the single hosts of a connection string with several hosts, as in libpq:
 * `postgres://user@a:5432,b/name` names `a` and `b`. All other parts of the URL belong to each host.
 */
export function urlsOfHosts(url: string): string[] {
  const [, start = '', hosts = '', rest = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is.exec(url) ?? [];
  return hosts.includes(',') ? hosts.split(',').map((host) => `${start}${host}${rest}`) : [url];
}

/** What is wrong with the hosts of a connection string, for "DATABASE_URL …". */
export function hostsError(url: string): string | undefined {
  for (const hostUrl of urlsOfHosts(url)) {
    const read = parseUrl(hostUrl);
    if (read === undefined || !['postgres:', 'postgresql:'].includes(read.protocol)) {
      return 'must be a URL that starts with postgres:// or postgresql://';
    }
    const parameters = read.searchParams;
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
