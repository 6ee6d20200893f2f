import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';

let first: TestApp;
beforeAll(async () => {
  first = await startTestApp();
});
afterAll(() => first.close());

test('a start logs a warning for each former name of a setting', async () => {
  const second = await first.another({ SMS_LIMIT_PER_ADDRESS: '9' });
  const warnings = second.logged.map((entry) => JSON.parse(entry)).filter(({ level }) => level === 'warn');
  // The server of the tests confirms commits early, which a start reports too.
  const messages = warnings.map(({ msg }) => msg).filter((message) => !message.startsWith('PostgreSQL: '));
  expect(messages).toEqual([
    'SMS_LIMIT_PER_ADDRESS is now called CODE_LIMIT_PER_ADDRESS. The next version does not read the former name',
  ]);
  await second.close();
});

test('a process with the current key is not counted as one that needs an old key', async () => {
  const { database } = first;
  const isCurrent = testSql<{ is_current: boolean }>(
    'select started_at >= (select max(current_since) from secret_keys) as is_current from instances order by started_at',
  );
  const row = await eventually('the process', async () => (await database.query(isCurrent)).at(0));
  expect(row).toEqual({ is_current: true });
});

test('a start that cannot check the encrypted values logs a warning and continues', async () => {
  // The check decodes the secret of an enrolment from base64.
  await first.database.query(
    testSql(
      `insert into challenges (user_id, id, purpose, kept, created_at, expires_at)
         values ($1, $1, 'totp', '{ "secret": "not base64!" }', db_now(), db_now() + interval '5 minutes')`,
      [randomUUID()],
    ),
  );
  const second = await first.another();
  const line = second.logged.find((entry) => entry.includes('the encrypted values could not be checked'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'warn', err: { code: '22023' } });
  expect((await second.api('GET', '/readyz')).status).toBe(200);
  await second.close();
});
