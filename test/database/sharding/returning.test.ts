import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { runCommand } from '../../cli/command.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { openStream } from '../../support/event-stream.js';
import { eventually } from '../../support/eventually.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { testSql } from '../../support/sql.js';
import { createUser, newPhone, signIn } from '../../support/users.js';

let shards: TestShards;
let app: TestApp;
const users = new Map<string, User>();

beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards, { LOGIN_LIMIT_PER_ADDRESS: '0' });
  while (users.size < 3) {
    const user = await createUser(app, { phone: newPhone() });
    users.set(app.database.shardOf(user.id).name, user);
  }
});
afterAll(() => app.close());

const userOn = (server: string) => users.get(server) as User;
const readiness = async (instance: TestApp) => (await instance.api('GET', '/readyz')).body;
const publish = (instance: TestApp, { id }: User) =>
  instance.api<{ id: string }>('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: id, notification_type: 'payment', description: 'You were paid' },
  });

test('an instance starts without a server, and uses it when it is back and has the right schema', async () => {
  const unknownMigration = '9999_of_a_later_version.sql';
  const onEast = (text: string) => app.database.shardOf(userOn('east').id).everyone.query(testSql(text, []));
  await onEast(`insert into schema_migrations (name, digest) values ('${unknownMigration}', 'none')`);
  await shards.stop('east');
  const instance = await app.another();
  try {
    expect(await readiness(instance)).toEqual({ status: 'ok', missing_shards: ['east'] });
    for (const server of ['main', 'west']) await signIn(instance, userOn(server));
    expect((await publish(instance, userOn('east'))).status).toBe(503);

    await shards.start('east');
    await eventually(
      'the refusal of the schema',
      async () => instance.logged.some((line) => line.includes(unknownMigration)) || undefined,
    );
    expect(await readiness(instance)).toEqual({ status: 'ok', missing_shards: ['east'] });
    expect((await publish(instance, userOn('east'))).status).toBe(503);

    await onEast(`delete from schema_migrations where name = '${unknownMigration}'`);
    await eventually(
      'the readiness of all servers',
      async () => JSON.stringify(await readiness(instance)) === '{"status":"ok"}' || undefined,
    );
    await eventually('the queues of both instances', async () => {
      const rows = await onEast(
        `select from pg_stat_activity where datname = current_database() and application_name = 'postern queue names'`,
      );
      return rows.length === 2 || undefined;
    });
    const { session } = await signIn(instance, userOn('east'));
    const stream = await openStream(instance.url, { bearer: session.token });
    const { body } = await publish(instance, userOn('east'));
    await eventually('the stream of a user of east', async () => stream.text.includes(body.id) || undefined);
    stream.destroy();
  } finally {
    await instance.close();
  }
});

test('commands that need only the directory work without a server, and others say which one is missing', async () => {
  const env = { ...shards.env, SECRET_KEY: app.config.SECRET_KEY?.map((key) => key.reveal()).join(',') ?? '' };
  await shards.stop('east');
  try {
    const created = await runCommand(['keys', 'create', '--name', 'probe', '--scopes', 'users:read', '--json'], env);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(await runCommand(['keys', 'list'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('probe'),
    });
    expect(await runCommand(['schemes', 'list'], env)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('the database server east does not answer'),
    });
    for (const args of [['migrate'], ['shards', 'move', '--to', 'west', '--buckets', '1']]) {
      expect(await runCommand(args, env)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('The server east of SHARDS cannot be used'),
      });
    }
  } finally {
    await shards.start('east');
  }
});

test('a backup of one of several servers is refused, with and without SHARDS', async () => {
  const { SHARDS = '', DATABASE_URL = '' } = shards.env;
  const refusal = 'Users are on several servers (main, east, west), and a backup of Postern contains only one server';
  const secret = { SECRET_KEY: app.config.SECRET_KEY?.map((key) => key.reveal()).join(',') ?? '' };
  for (const env of [{ DATABASE_URL, SHARDS }, { DATABASE_URL }]) {
    const to = join(tmpdir(), 'postern-refused.tar');
    expect(await runCommand(['backup', 'create', '--to', to], { ...env, ...secret })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(refusal),
    });
    expect(existsSync(to)).toBe(false);
  }
  await expect(app.another({ BACKUP_TO: tmpdir() })).rejects.toThrow('BACKUP_TO is for one database');
});

test('a new server of SHARDS must answer', async () => {
  const { DATABASE_URL, SHARDS } = shards.env;
  const wrong = `${SHARDS};north=${DATABASE_URL?.replace(/\/[^/]*$/, '/postern_missing')}`;
  await expect(app.another({ SHARDS: wrong })).rejects.toThrow(
    /^The server north of SHARDS is new, and cannot be used \(.+\): check its address/,
  );
});
