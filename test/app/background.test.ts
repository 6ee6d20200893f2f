import { afterAll, beforeAll, expect, it } from 'vitest';
import { sealTask } from '../../src/audit/integrity/seal.js';
import { unusedSchemesTask } from '../../src/credentials/password-schemes.js';
import { expiryTasks } from '../../src/database/maintenance/expiry.js';
import { topicsTask } from '../../src/notifications/retention/topics.js';
import { statisticsTask } from '../../src/statistics/retention.js';
import { guestExpiryTask } from '../../src/users/guest-expiry.js';
import { maintained, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({}, maintained);
});
afterAll(() => postern.close());

it('a service runs each maintenance task at its start', async () => {
  const { EVENT_RETENTION: retention } = postern.config;
  const tasks = [
    ...expiryTasks(retention),
    ...[sealTask(retention, () => undefined), unusedSchemesTask, topicsTask, statisticsTask, guestExpiryTask],
  ];
  const done = await eventually('every task to have run', async () => {
    const rows = await postern.database.query<{ name: string }>(
      testSql('select name from maintenance_tasks where due_at > db_now()'),
    );
    const names = new Set(rows.map(({ name }) => name));
    return tasks.every(({ name }) => names.has(name)) ? names : undefined;
  });
  expect(done.size).toBeGreaterThanOrEqual(tasks.length);
});
