import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { sessionChangesTask } from '../../../src/sessions/fast-path/session-invalidation.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

let one: TestApp;
let other: TestApp;
beforeAll(async () => {
  one = await startTestApp();
  other = await one.another();
});
afterAll(async () => {
  await other.close();
  await one.close();
});

const run = <Row extends object>(text: string, values: readonly unknown[] = []) =>
  one.database.query<Row>(testSql(text, values));
const maintain = () => runMaintenanceOnce(one.database, [sessionChangesTask]);

/** The run id of session_changes_floor. */
const currentRunId = async () => (await run<{ run: string }>('select run::text from session_changes_floor'))[0]?.run;

/** The statuses of both instances, twice each: the second time from their caches. */
async function statuses(token: string): Promise<number[]> {
  const answers: number[] = [];
  for (const on of [one, other, one, other]) {
    answers.push((await on.api('POST', '/v1/sessions/verify', { bearer: token })).status);
  }
  return [...new Set(answers)];
}

/** Creates a session that is in the caches of both instances. */
async function createCachedSession() {
  const { session } = await signIn(one, await createUser(one));
  expect(await statuses(session.token)).toEqual([200]);
  return session;
}

const columns = async () =>
  (
    await run<{ columns: string }>(
      `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
       where attrelid = 'session_changes_floor'::regclass and attnum > 0 and not attisdropped`,
    )
  )[0]?.columns;

/** Restores the rows of session_changes_floor with all columns, as a dump does. */
async function restoreFloor(empty: string): Promise<void> {
  const all = await columns();
  await run('drop table if exists dumped_floor');
  await run(`create table dumped_floor as select ${all} from session_changes_floor`);
  await one.database.transaction(async (tx) => {
    await tx.query(testSql(empty));
    await tx.query(testSql(`insert into session_changes_floor (${all}) select ${all} from dumped_floor`));
  });
}

describe('a deleted session is refused after session_changes_floor is restored', () => {
  const ways: Record<string, readonly [before: string, empty: string, after: string]> = {
    'over a table that was truncated': ['', 'truncate session_changes_floor', ''],
    'over a table whose row was deleted': ['', 'delete from session_changes_floor', ''],
    'with triggers disabled, over a table that was truncated': [
      'alter table session_changes_floor disable trigger all',
      'truncate session_changes_floor',
      'alter table session_changes_floor enable trigger all',
    ],
    'with triggers disabled, over a table whose row was deleted': [
      'alter table session_changes_floor disable trigger all',
      'delete from session_changes_floor',
      'alter table session_changes_floor enable trigger all',
    ],
  };

  test.each(Object.entries(ways))('%s', async (_, [before, empty, after]) => {
    for (const maintenanceRuns of [0, 1, 2]) {
      const session = await createCachedSession();
      const former = await currentRunId();
      // The restored backup does not contain the record of this deletion.
      await run('delete from sessions where id = $1', [session.id]);
      await run('truncate session_changes');
      if (before !== '') await run(before);
      await restoreFloor(empty);
      if (after !== '') await run(after);
      for (let count = 0; count < maintenanceRuns; count += 1) await maintain();
      expect(await statuses(session.token)).toEqual([401]);
      await maintain();
      expect(await currentRunId()).not.toBe(former);
    }
  });
});

test('the cache is used again when the maintenance task has run after a restore', async () => {
  await restoreFloor('truncate session_changes_floor');
  await maintain();
  const session = await createCachedSession();
  const queries = await queriesOf(() => one.api('POST', '/v1/sessions/verify', { bearer: session.token }));
  expect(queries.map(({ name }) => name)).toEqual(['session_changes']);
});

test('an insert into session_changes_floor makes a new run id, whatever run id the inserted row has', async () => {
  const former = await currentRunId();
  await restoreFloor('delete from session_changes_floor');
  expect(await currentRunId()).not.toBe(former);
});

test('the maintenance task raises the floor and keeps the run id', async () => {
  const former = await currentRunId();
  for (let count = 0; count < 3; count += 1) await maintain();
  expect(await currentRunId()).toBe(former);
  await run('truncate sessions');
  const next = await currentRunId();
  expect(next).not.toBe(former);
  await maintain();
  expect(await currentRunId()).toBe(next);
});
