import { expect, test } from 'vitest';
import { startAppWithProxy } from '../support/hanging-proxy.js';
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
