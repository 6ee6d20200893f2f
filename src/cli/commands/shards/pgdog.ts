import type { Config } from '../../../config/config.js';
import { mainShard } from '../../../database/database.js';
import { urlsOfHosts } from '../../../lib/postgres/hosts.js';
import { CommandError } from '../../support/failure.js';

/**
 * The text of `pgdog.toml`: a database for each server, because PgDog then passes all statements on as they are. For a
 * database with several shards or replicas, PgDog parses the statements: it then refuses LISTEN, and does not send
 * BEGIN in session mode. Passwords belong in `users.toml`.
 */
export function pgdogConfig({ DATABASE_URL, SHARDS = [] }: Config): string {
  const servers = [...(DATABASE_URL === undefined ? [] : [{ name: mainShard, url: DATABASE_URL }]), ...SHARDS];
  const general = [
    '[general]',
    'host = "127.0.0.1"',
    'port = 6432',
    'pooler_mode = "session"',
    '# At least the connections of all processes to one server: see docs/operations/scale.md',
    'default_pool_size = 100',
  ].join('\n');
  return `${[general, ...servers.map(databaseOf)].join('\n\n')}\n`;
}

function databaseOf({ name, url }: { readonly name: string; readonly url: string }): string {
  const [hostUrl = url, ...others] = urlsOfHosts(url);
  if (others.length > 0) {
    throw new CommandError(
      `The URL of ${name} has several hosts. PgDog cannot replace them: it would not begin transactions. Name one address that leads to the primary.`,
    );
  }
  const { hostname, port, pathname } = new URL(hostUrl);
  return [
    '[[databases]]',
    `name = "postern_${name}"`,
    `host = ${JSON.stringify(hostname)}`,
    `port = ${port === '' ? 5432 : Number(port)}`,
    `database_name = ${JSON.stringify(decodeURIComponent(pathname.slice(1)))}`,
  ].join('\n');
}
