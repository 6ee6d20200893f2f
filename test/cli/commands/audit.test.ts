import { afterAll, beforeAll, expect, it } from 'vitest';
import { sealTask } from '../../../src/audit/integrity/seal.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { runCommand } from '../command.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const verify = (...args: string[]) =>
  runCommand(['audit', 'verify', ...args], { DATABASE_URL: test.url, SECRET_KEY: 's'.repeat(32) });
const run = (text: string) => test.database.query(testSql<{ id: string; day: string }>(text));

it('audit verify prints what was changed, and exits with 1', async () => {
  expect(await verify()).toMatchObject({ code: 0, stdout: expect.stringMatching(/^No day has a hash yet/) });

  const [event] = await run(`
    insert into events (user_id, id, type, actor, created_at)
    values (gen_random_uuid(), gen_random_uuid(), 'user.created', 'cli', db_now() - interval '3 days')
    returning id, (created_at at time zone 'UTC')::date::text as day`);
  if (event === undefined) throw new Error('the event was not written');
  const { id, day } = event;
  await eventually('the day to be sealed', async () => {
    await runMaintenanceOnce(test.database, [sealTask(1e10, () => undefined)]);
    return (await run('select day::text from audit_days where hash is not null'))[0];
  });
  const intact = await verify();
  expect(intact).toMatchObject({ code: 0, stderr: '' });
  expect(intact.stdout).toContain('Checked 1 days with 1 events: 0 findings.');
  const [anchor] = new RegExp(`^${day}=[0-9a-f]{64}$`, 'm').exec(intact.stdout) ?? [];
  expect((await verify('--anchor', anchor ?? '')).code).toBe(0);

  expect(await verify('--anchor', `${day}=${'0'.repeat(64)}`)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${day}: the hash differs from the one that you have stored`),
  });
  expect(await verify('--anchor', 'yesterday=1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Write a day and its hash'),
  });

  await run("update events set actor = 'user'");
  expect(await verify()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${day}: the event ${id} was changed`),
  });
  const { findings } = JSON.parse((await verify('--json')).stdout);
  expect(findings).toEqual([{ what: 'changed', day, id }]);
});
