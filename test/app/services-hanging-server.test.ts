import { expect, test } from 'vitest';
import { startAppWithProxy } from '../support/hanging-proxy.js';
import { scrape } from '../support/metrics.js';
import { testSql } from '../support/sql.js';

test('an instance is ready while a server of users hangs, and says so without waiting for that server', async () => {
  const { app, proxy } = await startAppWithProxy();
  const readiness = async () => (await app.api('GET', '/readyz')).body;
  await expect.poll(readiness).toEqual({ status: 'ok' });
  proxy.hang();
  // Statements of a server that hangs fail after at least 3 seconds.
  const [main] = app.database.shards;
  const slow = main?.everyone.query(testSql('select from pg_sleep(2.5)')).then(() => 'the service waits');
  expect(await Promise.race([readiness(), slow])).toEqual({ status: 'ok', missing_shards: ['east'] });
  await slow;
});

test('the metrics do not wait long for a server of users that hangs, and say that it is missing', async () => {
  const { app, proxy } = await startAppWithProxy({ METRICS_PORT: '0' });
  const read = () => scrape(app.metricsUrl ?? '');
  const servers = async () => {
    const metrics = await read();
    return [metrics.value('postern_database_up'), metrics.value('postern_database_up', { shard: 'east' })];
  };
  expect(await servers()).toEqual([2, 1]);
  proxy.hang();
  // Two statements, one after the other, would wait for at least 6 seconds.
  const [main] = app.database.shards;
  const slow = main?.everyone.query(testSql('select from pg_sleep(3.8)')).then(() => 'the metrics wait');
  expect(await Promise.race([servers(), slow])).toEqual([1, 0]);
  await slow;
});
