import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { newPhone } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('a message of a kind that this release does not know is put back for a newer instance, without an attempt', async () => {
  const [id, phone] = [randomUUID(), newPhone()];
  const run = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    postern.database.query(testSql<Row>(text, values));
  await run(
    `insert into outbox (user_id, id, channel, kind, recipient, state, expires_at, created_at, updated_at)
     values ($1, $1, 'sms', 'sms.of_the_next_release', $2, 'queued', db_now() + interval '1 day', db_now(), db_now())`,
    [id, phone],
  );
  const [first] = await run<{ id: string }>(
    `select id::text from graphile_worker.add_job('message.send', json_build_object('user_id', $1::text, 'id', $1::text))`,
    [id],
  );
  const jobs = () =>
    run<{ id: string; attempts: number; last_error: string | null }>(
      "select id::text, attempts, last_error from graphile_worker.jobs where task_identifier = 'message.send'",
    );
  const again = await eventually('a job that replaces the first one', async () => {
    const all = await jobs();
    return all.length === 1 && all[0]?.id !== first?.id ? all[0] : undefined;
  });
  expect(again).toMatchObject({ attempts: 0, last_error: null });
  expect(await run('select state, attempts, last_error from outbox where id = $1', [id])).toEqual([
    { state: 'queued', attempts: 0, last_error: null },
  ]);

  // Now the message gets a kind that this release knows, as a newer release would know it.
  await run("update outbox set kind = 'sms.password_changed' where id = $1", [id]);
  await run('update graphile_worker._private_jobs set run_at = now() where id = $1', [again.id]);
  await eventually('the message', async () => postern.printed.find((line) => line.includes(phone)));
});
