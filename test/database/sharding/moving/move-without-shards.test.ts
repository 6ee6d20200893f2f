import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServers } from '../../../../src/database/connections/servers.js';
import { migrateAll } from '../../../../src/database/sharding/open.js';
import { startShardedApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { moveUsers } from '../../../support/moves.js';
import { createTestShards, type TestShards } from '../../../support/shards.js';
import { createUser } from '../../../support/users.js';

let shards: TestShards;
beforeAll(async () => {
  shards = await createTestShards(2);
});
afterAll(() => shards.drop());

const urlOf = (server: string) => shards.databases.get(server)?.url ?? '';
const doNothing = async () => undefined;
const startWithoutShards = () =>
  startShardedApp(
    { ...shards, env: { DATABASE_URL: urlOf('main') }, drop: doNothing },
    { SECRET_KEY: 'ab'.repeat(32) },
  );
const startWithShards = () => startShardedApp({ ...shards, drop: doNothing }, { SECRET_KEY: 'ab'.repeat(32) });

/** Registers the servers, as `postern shards add` does. */
const register = () =>
  migrateAll(
    {
      target: createServers(urlOf('main')),
      shards: [{ name: 'east', target: createServers(urlOf('east')) }],
      close: doNothing,
    },
    { warn: doNothing },
  );

test('users do not move while an instance runs that does not know the servers', async () => {
  const old = await startWithoutShards();
  const user = await createUser(old);
  await register();
  await expect(moveUsers(shards, [user.id], 'east')).rejects.toThrow('A process without SHARDS uses the server main');
  expect((await old.api('GET', `/admin/v1/users/${user.id}`, { bearer: old.adminKey })).status).toBe(200);
  await old.close();
  const app = await startWithShards();
  expect(await moveUsers(shards, [user.id], 'east')).toHaveLength(1);
  await eventually('the user on the new server', async () => {
    const { status } = await app.api('GET', `/admin/v1/users/${user.id}`, { bearer: app.adminKey });
    return status === 200 || undefined;
  });
  await app.close();
});
