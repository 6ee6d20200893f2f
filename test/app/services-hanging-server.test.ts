import { expect, onTestFinished, test } from 'vitest';
import { startShardedApp } from '../support/app.js';
import { startHangingProxy } from '../support/hanging-proxy.js';
import { createTestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';

test('an instance is ready while a server of users hangs, and says so without waiting for that server', async () => {
  const shards = await createTestShards(2);
  const east = shards.databases.get('east');
  if (east === undefined) throw new Error('there is no server east');
  const proxy = await startHangingProxy(east.target);
  const app = await startShardedApp(shards, { SHARDS: `east=${proxy.url}` });
  onTestFinished(async () => {
    proxy.stop();
    await app.close();
  });
  const readiness = async () => (await app.api('GET', '/readyz')).body;
  expect(await readiness()).toEqual({ status: 'ok' });
  proxy.hang();
  // Statements of a server that hangs fail after at least 3 seconds.
  const [main] = app.database.shards;
  const slow = main?.everyone.query(testSql('select from pg_sleep(2.5)')).then(() => 'the service waits');
  expect(await Promise.race([readiness(), slow])).toEqual({ status: 'ok', missing_shards: ['east'] });
  await slow;
});
