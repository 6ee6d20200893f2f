import { hostsError } from '../lib/postgres/hosts.js';
import { invalid, ok, type Parsed } from './parsers.js';

/** A further PostgreSQL with rows of users. */
export interface ShardSetting {
  readonly name: string;
  /** A connection string, like DATABASE_URL. It may contain a password. */
  readonly url: string;
}

/** The server of DATABASE_URL has this name. */
const mainName = 'main';
const example = 'such as east=postgres://postern@a/postern;west=postgres://postern@b/postern';

/** Servers as `name=url`, joined by semicolons: commas join the hosts of one URL. */
export function shards(text: string): Parsed<readonly ShardSetting[]> {
  const servers: ShardSetting[] = [];
  const entries = text.split(';').filter((entry) => entry.trim() !== '');
  for (const entry of entries) {
    const [, name, url = ''] = /^([^=:/]*)=(.*)$/s.exec(entry.trim()) ?? [];
    if (name === undefined || /[,\s][^,]*=postgres(?:ql)?:/.test(url))
      return invalid(`must be names with URLs, joined by semicolons, ${example}`);
    if (!/^[a-z](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(name)) {
      return invalid(`must have names of 1 to 32 lower-case letters, digits and hyphens, not "${name}"`);
    }
    if (name === mainName) return invalid('must not use the name main, which is the server of DATABASE_URL');
    if (servers.some((server) => server.name === name))
      return invalid(`must have each name once, and has ${name} twice`);
    if (servers.some((server) => server.url === url))
      return invalid(`must have each URL once, and ${name} has another name too`);
    const error = hostsError(url);
    if (error !== undefined) return invalid(`of ${name} ${error}`);
    servers.push({ name, url });
  }
  return servers.length === 0 ? invalid(`must name a server, ${example}`) : ok(servers);
}
