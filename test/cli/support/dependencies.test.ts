import { expect, inject, onTestFinished, test } from 'vitest';
import { connectionString, type TestTarget } from '../../support/database.js';
import { type FaultyProxy, startFaultyProxy } from '../../support/fault-injection/proxy.js';
import { createTestShards } from '../../support/shards.js';
import { runCommand } from '../command.js';

async function startProxy(): Promise<FaultyProxy> {
  const { host, port } = inject('server');
  const proxy = await startFaultyProxy(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  onTestFinished(() => proxy.close());
  return proxy;
}

test('commands find the primary if the first host of DATABASE_URL and of SHARDS is down', async () => {
  const shards = await createTestShards(2);
  onTestFinished(() => shards.drop());
  const [down, up] = await Promise.all([startProxy(), startProxy()]);
  down.down();
  const urlOf = (target: TestTarget | undefined) => {
    if (target === undefined) throw new Error('there is no such server');
    const first = connectionString({ ...target, host: '127.0.0.1', port: down.port });
    return first.replace(`127.0.0.1:${down.port}`, (host) => `${host},127.0.0.1:${up.port}`);
  };
  const main = urlOf(shards.databases.get('main')?.target);
  const alone = { DATABASE_URL: main, SECRET_KEY: 's'.repeat(32) };
  expect(await runCommand(['users', 'list'], alone)).toMatchObject({ code: 0, stderr: '' });
  expect(await runCommand(['upgrade', '--check'], alone)).toMatchObject({ code: 0, stderr: '' });

  const spread = { ...alone, SHARDS: `east=${urlOf(shards.databases.get('east')?.target)}` };
  expect(await runCommand(['shards', 'add'], spread)).toMatchObject({ code: 0, stderr: '' });
  const status = await runCommand(['shards', 'status', '--json'], spread);
  expect(status).toMatchObject({ code: 0, stderr: '' });
  expect(status.stdout).not.toContain('"error"');
  expect(await runCommand(['users', 'list'], spread)).toMatchObject({ code: 0, stderr: '' });
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
