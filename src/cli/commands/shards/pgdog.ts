import type { Config } from '../../../config/config.js';
import { mainShard } from '../../../database/database.js';
import { urlsOfHosts } from '../../../lib/postgres/hosts.js';

/** The text of `pgdog.toml`: one database with a shard for each server. Passwords belong in `users.toml`. */
export function pgdogConfig({ DATABASE_URL, SHARDS = [] }: Config): string {
  const servers = [...(DATABASE_URL === undefined ? [] : [{ name: mainShard, url: DATABASE_URL }]), ...SHARDS];
  const databases = servers.flatMap(({ name, url }, shard) =>
    urlsOfHosts(url).map((hostUrl) => {
      const { hostname, port, pathname } = new URL(hostUrl);
      return [
        `# ${name}: its URL for Postern is that of PgDog, with pgdog_shard=${shard}`,
        '[[databases]]',
        'name = "postern"',
        `host = ${JSON.stringify(hostname)}`,
        `port = ${port === '' ? 5432 : Number(port)}`,
        `database_name = ${JSON.stringify(decodeURIComponent(pathname.slice(1)))}`,
        `shard = ${shard}`,
        'role = "auto"',
      ].join('\n');
    }),
  );
  const general = ['[general]', 'host = "127.0.0.1"', 'port = 6432', 'pooler_mode = "session"'].join('\n');
  return `${[general, ...databases].join('\n\n')}\n`;
}
