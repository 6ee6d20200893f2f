import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openClient } from '../../../src/database/connections/open-client.js';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';
import type { PostgresServer, ServerFolder } from './postgres.js';

/** A PgBouncer in front of the database `postern` of one server. */
export interface PgBouncer {
  readonly url: string;
  /** Sends new connections to another server. */
  switchTo(server: PostgresServer): Promise<void>;
}

/** @param extra a further line of the configuration */
export async function startPgBouncer(
  folder: ServerFolder,
  server: PostgresServer,
  mode: 'session' | 'transaction' | 'statement',
  extra = '',
): Promise<PgBouncer> {
  const port = await freePort();
  const file = join(folder.path, `pgbouncer-${port}.ini`);
  const write = (target: PostgresServer) => {
    const settings = [
      '[databases]',
      `postern = host=127.0.0.1 port=${target.port} user=postgres`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir =', 'auth_type = any'],
      ...[`pool_mode = ${mode}`, 'default_pool_size = 90', 'server_login_retry = 1', extra],
    ];
    return writeFile(file, settings.join('\n'));
  };
  await write(server);
  const child = folder.start('/usr/sbin/pgbouncer', file);
  const url = `postgres://postgres@127.0.0.1:${port}/postern`;
  await eventually('PgBouncer', async () => {
    const client = await openClient(url, { application_name: 'test', connectionTimeoutMillis: 1000 }).catch(
      () => undefined,
    );
    await client?.end();
    return client;
  });
  return {
    url,
    async switchTo(target) {
      await write(target);
      child.kill('SIGHUP');
    },
  };
}
