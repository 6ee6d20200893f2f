import { expect, inject, onTestFinished, test } from 'vitest';
import { connectionString, createTestDatabase } from '../../support/database.js';
import { type FaultyProxy, startFaultyProxy } from '../../support/fault-injection/proxy.js';
import { runCommand } from '../command.js';

async function startProxy(): Promise<FaultyProxy> {
  const { host, port } = inject('server');
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  onTestFinished(() => proxy.close());
  return proxy;
}

test('commands find the primary if the first host of DATABASE_URL is down', async () => {
  const { target, drop } = await createTestDatabase();
  onTestFinished(drop);
  const [down, up] = await Promise.all([startProxy(), startProxy()]);
  down.down();
  const first = connectionString({ ...target, host: '127.0.0.1', port: down.port });
  const url = first.replace(`127.0.0.1:${down.port}`, (host) => `${host},127.0.0.1:${up.port}`);
  const env = { DATABASE_URL: url, SECRET_KEY: 's'.repeat(32) };
  expect(await runCommand(['users', 'list'], env)).toMatchObject({ code: 0, stderr: '' });
  expect(await runCommand(['upgrade', '--check'], env)).toMatchObject({ code: 0, stderr: '' });
});

test('without a primary, a command names each host with its reason', async () => {
  const [one, other] = await Promise.all([startProxy(), startProxy()]);
  one.down();
  other.down();
  const DATABASE_URL = `postgres://postern@127.0.0.1:${one.port},127.0.0.1:${other.port}/postern`;
  expect(await runCommand(['users', 'list'], { DATABASE_URL, SECRET_KEY: 's'.repeat(32) })).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      new RegExp(`^no server of the database accepts writes: .*:${one.port}: .*:${other.port}: `),
    ),
  });
});
