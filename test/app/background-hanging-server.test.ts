import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startAppWithProxy } from '../support/hanging-proxy.js';
import { hexToken } from '../support/push.js';
import { testSql } from '../support/sql.js';
import { createUser, newPhone, signIn } from '../support/users.js';

test('claims of push tokens that wait for a server that hangs delay no notice, and hold few connections', async () => {
  const { app, proxy } = await startAppWithProxy({ NOTICES: 'sms' });
  let user = await createUser(app, { phone: newPhone() });
  while (app.database.shardOf(user.id).name !== 'main') user = await createUser(app, { phone: newPhone() });
  const { session } = await signIn(app, user);
  proxy.hang();
  for (let count = 0; count < 10; count += 1) {
    const body = { type: 'ios', token: hexToken() };
    expect((await app.api('POST', '/v1/devices/tokens', { bearer: session.token, body })).status).toBe(201);
  }
  const change = { bearer: app.adminKey, body: { password: 'another battery of horses' } };
  expect((await app.api('PATCH', `/admin/v1/users/${user.id}`, change)).status).toBe(200);
  const onMain = async (text: string, values: readonly unknown[] = []) =>
    app.database.shards[0]?.everyone.query(testSql(text, [...values]));
  await eventually('the notice', async () => {
    const sent = `select from outbox where user_id = $1 and kind = 'sms.password_changed' and state = 'sent'`;
    return (await onMain(sent, [user.id]))?.at(0);
  });
  // Without a limit, no worker is free before all claims have failed once.
  const [{ untried } = { untried: 0 }] =
    (await app.database.shards[0]?.everyone.query<{ untried: number }>(
      testSql(`select count(*)::int as untried from graphile_worker.jobs
               where task_identifier = 'push.claim' and attempts = 0`),
    )) ?? [];
  expect(untried).toBeGreaterThan(0);
  const held = `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
                and query like '%push_token_claims%'`;
  expect((await onMain(held))?.length).toBeLessThanOrEqual(2);
});
