import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pgdogConfig } from '../../src/cli/commands/shards/pgdog.js';
import { readConfig } from '../../src/config/config.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** A PgDog between services and their servers. */
export interface PgDog {
  /** The environment of a service that connects through it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/**
 * Starts PgDog with the file that `postern shards pgdog-config` prints.
 * @param program the path of PgDog
 * @param urls of the servers by their names, with `main` first. PgDog uses no sockets of a file system
 */
export async function startPgDog(program: string, urls: ReadonlyMap<string, string>): Promise<PgDog> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'postern-pgdog-'));
  const files = { config: join(folder, 'pgdog.toml'), users: join(folder, 'users.toml') };
  const direct = environment(urls);
  const config = pgdogConfig(readConfig({ ...direct, SECRET_KEY: 's'.repeat(32) }));
  await writeFile(files.config, config.replace('port = 6432', `port = ${port}`));
  const through = new Map([...urls].map(([name, url]) => [name, throughPort(url, name, port)]));
  await writeFile(files.users, [...through].map(([name, url]) => userOf(name, url)).join('\n\n'));
  const child = spawn(program, ['--config', files.config, '--users', files.users], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const [, minPoolSize] = /^min_pool_size = (\d+)$/m.exec(config) ?? [];
  await Promise.all([...through.values()].map((url) => fillPool(url, Number(minPoolSize))));
  return {
    env: environment(through),
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Waits until PgDog has all connections that it keeps open. It opens three per second by itself, and one at once for a
 * single client that waits.
 */
async function fillPool(url: string, size: number): Promise<void> {
  const open = () => openClient(url, { application_name: 'test', connectionTimeoutMillis: 5000 });
  const clients = [await eventually('PgDog', () => open().catch(() => undefined))];
  while (clients.length < size) clients.push(await open());
  await Promise.all(clients.map((client) => client.end()));
}

/** The environment of a service whose users are on these servers. */
export function environment(urls: ReadonlyMap<string, string>): Record<string, string> {
  const [main, ...others] = urls;
  return { DATABASE_URL: main?.[1] ?? '', SHARDS: others.map(([name, url]) => `${name}=${url}`).join(';') };
}

function throughPort(url: string, name: string, port: number): string {
  const through = new URL(url);
  if (through.searchParams.has('host')) throw new Error('TEST_PGDOG needs TEST_DATABASE_URL, with a TCP port');
  through.host = `127.0.0.1:${port}`;
  through.pathname = `postern_${name}`;
  // PgDog asks each client for a password, also if its server does not.
  through.password ||= 'unused';
  return through.href;
}

function userOf(name: string, url: string): string {
  const { username, password } = new URL(url);
  return [
    '[[users]]',
    `name = ${JSON.stringify(decodeURIComponent(username))}`,
    `database = "postern_${name}"`,
    `password = ${JSON.stringify(decodeURIComponent(password))}`,
  ].join('\n');
}
