import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { sessionChangesChore } from '../../src/authentication/session-changes.js';
import { finishChores } from '../../src/database/chores.js';
import { sql } from '../../src/database/database.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, signIn } from '../support/people.js';
import { queriesOf } from '../support/queries.js';

vi.setConfig({ testTimeout: 90_000 });

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
  one.database.query<Row>(sql(text), values);

const runOf = async () => (await run<{ run: string }>('select run::text from session_changes_floor'))[0]?.run;

/** Of both instances, asked twice each, so that the second answer rests on what they remember. */
async function statuses(token: string): Promise<number[]> {
  const answers: number[] = [];
  for (const on of [one, other, one, other]) {
    answers.push((await on.api('POST', '/v1/sessions/verify', { bearer: token })).status);
  }
  return [...new Set(answers)];
}

/** A session that both instances remember. */
async function rememberedSession() {
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

/** Writes the rows of the floor back with every column, as a dump does. */
async function restoreFloor(empty: string): Promise<void> {
  const all = await columns();
  await run('drop table if exists dumped_floor');
  await run(`create table dumped_floor as select ${all} from session_changes_floor`);
  await one.database.transaction(async (tx) => {
    await tx.query(sql(empty));
    await tx.query(sql(`insert into session_changes_floor (${all}) select ${all} from dumped_floor`));
  });
}

describe('a session whose row is gone is refused after the floor of the notes is restored', () => {
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
    for (const chores of [0, 1, 2]) {
      const session = await rememberedSession();
      const former = await runOf();
      // The note of the deletion is not part of what is restored.
      await run('delete from sessions where id = $1', [session.id]);
      await run('truncate session_changes');
      if (before !== '') await run(before);
      await restoreFloor(empty);
      if (after !== '') await run(after);
      for (let count = 0; count < chores; count += 1) await finishChores(one.database, [sessionChangesChore]);
      expect(await statuses(session.token)).toEqual([401]);
      await finishChores(one.database, [sessionChangesChore]);
      expect(await runOf()).not.toBe(former);
    }
  });
});

test('sessions are remembered again once the chore has run after a restore', async () => {
  await restoreFloor('truncate session_changes_floor');
  await finishChores(one.database, [sessionChangesChore]);
  const session = await rememberedSession();
  const queries = await queriesOf(() => one.api('POST', '/v1/sessions/verify', { bearer: session.token }));
  expect(queries.map(({ name }) => name)).toEqual(['session_changes']);
});

test('an insert of the floor starts a new run, whatever run it names', async () => {
  const former = await runOf();
  await restoreFloor('delete from session_changes_floor');
  expect(await runOf()).not.toBe(former);
});

test('the chore moves the floor without a new run', async () => {
  const former = await runOf();
  for (let count = 0; count < 3; count += 1) await finishChores(one.database, [sessionChangesChore]);
  expect(await runOf()).toBe(former);
  await run('truncate sessions');
  const next = await runOf();
  expect(next).not.toBe(former);
  await finishChores(one.database, [sessionChangesChore]);
  expect(await runOf()).toBe(next);
});
