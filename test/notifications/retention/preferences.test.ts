import { afterAll, beforeAll, expect, test } from 'vitest';
import { preferencesTask } from '../../../src/notifications/retention/preferences.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => app.close());

const put = (name: string) => app.api('PUT', `/admin/v1/categories/${name}`, { bearer: app.adminKey, body: {} });
const remove = (name: string) => app.api('DELETE', `/admin/v1/categories/${name}`, { bearer: app.adminKey });
/** Moves the deletions back in time. */
const age = (days: number) =>
  app.database.query(
    testSql(
      `update notification_categories set deleted = (
         select coalesce(jsonb_object_agg(name, to_char(time::timestamptz - make_interval(days => $1) , 'YYYY-MM-DD"T"HH24:MI:SS.USOF')), '{}')
         from jsonb_each_text(deleted) each (name, time))`,
      [days],
    ),
  );
async function run(): Promise<number> {
  let removed = 0;
  let position: Readonly<Record<string, string>> | undefined;
  do {
    const step = await app.database.transaction((tx) => preferencesTask.step(tx, position));
    removed += step.removed;
    position = step.next;
  } while (position !== undefined);
  return removed;
}
async function chosenBy(id: string): Promise<string[]> {
  const rows = await app.database.query<{ names: string[] }>(
    testSql(
      'select array(select jsonb_object_keys(categories) order by 1) as names from preferences where user_id = $1',
      [id],
    ),
  );
  return rows[0]?.names ?? [];
}
async function newPerson(...names: string[]): Promise<string> {
  const user = await createUser(app);
  const { session } = await signIn(app, user);
  const categories = Object.fromEntries(names.map((name) => [name, { email: 'off', inbox: 'off' }]));
  await app.api('PATCH', '/v1/preferences', { bearer: session.token, body: { categories } });
  return user.id;
}

test('choices stay for 30 days after their category, and those for other categories for ever', async () => {
  for (const name of ['one', 'two', 'three']) await put(name);
  const people = [await newPerson('one', 'two'), await newPerson('one'), await newPerson('two')];
  const chosen = () => Promise.all(people.map(chosenBy));
  await remove('one');
  await age(29);
  expect(await run()).toBe(0);
  expect(await chosen()).toEqual([['one', 'two'], ['one'], ['two']]);
  await remove('three');
  await age(2);
  expect(await run()).toBe(2);
  expect(await chosen()).toEqual([['two'], [], ['two']]);
  const [row] = await app.database.query<{ deleted: object; inbox_choices: string[] }>(
    testSql('select deleted, inbox_choices from notification_categories'),
  );
  expect(Object.keys(row?.deleted ?? {})).toEqual(['three']);
  expect(row?.inbox_choices).toEqual(['two']);
  expect(await run()).toBe(0);
});

test('a category that is created again keeps the choices, also during a run', async () => {
  await put('again');
  await put('late');
  const person = await newPerson('again', 'late');
  await remove('again');
  await remove('late');
  await age(40);
  await put('again');
  const first = await app.database.transaction((tx) => preferencesTask.step(tx, undefined));
  expect(first.next?.names).toContain('"late"');
  expect(first.next?.names).not.toContain('"again"');
  expect(await chosenBy(person)).toEqual(['again']);

  await remove('again');
  await age(40);
  await put('again');
  const position = { after: '00000000-0000-0000-0000-000000000000', names: '["again"]' };
  await app.database.transaction((tx) => preferencesTask.step(tx, position));
  expect(await chosenBy(person)).toEqual(['again']);
});
