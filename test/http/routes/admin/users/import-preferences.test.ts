import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Preferences } from '../../../../../src/contract/preferences.js';
import type { ImportedLine } from '../../../../../src/contract/user-import.js';
import { userOf } from '../../../../../src/users/import-file/mapping.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';

/** What users have chosen about notifications, in the lines of an import. */

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
  for (const [name, body] of [
    ['billing', {}],
    ['alarm', { is_critical: true }],
  ] as const) {
    await postern.api('PUT', `/admin/v1/categories/${name}`, { bearer: postern.adminKey, body });
  }
});
afterAll(() => postern.close());

const newName = () => `import${randomInt(1e12)}`;
async function importLines(lines: readonly object[], query = ''): Promise<ImportedLine[]> {
  const { text } = await postern.api('POST', `/admin/v1/users/import${query}`, {
    bearer: postern.adminKey,
    body: lines.map((line) => JSON.stringify(line)).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ImportedLine);
}
const preferencesOf = async (id = '') =>
  (await postern.api<Preferences>('GET', `/admin/v1/users/${id}/preferences`, { bearer: postern.adminKey })).body;

test('a line has the preferences of its user, and a line without them stores nothing', async () => {
  const preferences = {
    time_zone: 'Europe/Madrid',
    channels: { sms: 'off' },
    categories: { billing: { email: 'off', inbox: 'off', push: null } },
  };
  const [chosen, plain, empty] = await importLines([
    { username: newName(), preferences },
    { username: newName() },
    { username: newName(), preferences: {} },
  ]);
  const view = await preferencesOf(chosen?.id);
  expect(view).toMatchObject({ time_zone: 'Europe/Madrid', channels: { sms: 'off', push: 'on' } });
  expect(view.categories.billing?.cells).toMatchObject({
    email: { value: 'off', is_chosen: true },
    inbox: { value: 'off', is_chosen: true },
    push: { is_chosen: false },
  });
  const [rows] = await postern.database.query<{ users: string[] }>({
    text: 'select array(select user_id::text from preferences) as users',
    values: [],
  });
  expect(rows?.users).toEqual([chosen?.id]);
  expect([plain?.result, empty?.result]).toEqual(['created', 'created']);
  expect(postern.services.categories.known.isHidden('billing')).toBe(false);
});

test('a line also has what its user has chosen for topics', async () => {
  for (const key of ['club.chess', 'club.go']) {
    await postern.api('PUT', `/admin/v1/topics/${key}`, { bearer: postern.adminKey, body: { title: key } });
  }
  const topics = { 'club.chess': { push: 'off', inbox: 'off' }, 'club.go': { email: null } };
  const [chosen, unknown] = await importLines([
    { username: newName(), preferences: { topics } },
    { username: newName(), preferences: { topics: { 'club.ches': { push: 'off' }, 'club.go': { fax: 'off' } } } },
  ]);
  expect((await preferencesOf(chosen?.id)).topics).toEqual({ 'club.chess': { push: 'off', inbox: 'off' } });
  expect(unknown?.errors?.map(({ field, code }) => [field, code])).toEqual([
    ['preferences.topics.club.ches', 'unknown_topic'],
    ['preferences.topics.club.go.fax', 'invalid_choice'],
  ]);
  // The choice for the inbox counts: it is looked up only for topics where somebody made one.
  const rows = await postern.database.query<{ key: string }>({
    text: 'select key from topics where has_inbox_choices',
    values: [],
  });
  expect(rows).toEqual([{ key: 'club.chess' }]);
});

test('all faults of a line are named, with the nearest name, and the user is not created', async () => {
  const line = {
    username: newName(),
    created_at: 'yesterday',
    preferences: {
      time_zone: 'Mars/Olympus',
      channels: { inbox: 'off' },
      categories: { biling: { email: 'off' }, alarm: { email: 'off' }, billing: { fax: 'off' } },
    },
  };
  const [result] = await importLines([line], '?dry_run=true');
  expect(result?.result).toBe('failed');
  expect(result?.errors?.map(({ field, code }) => [field, code])).toEqual([
    ['created_at', 'invalid_time'],
    ['preferences.time_zone', 'unknown_time_zone'],
    ['preferences.channels.inbox', 'invalid_choice'],
    ['preferences.categories.biling', 'unknown_category'],
    ['preferences.categories.alarm', 'category_is_critical'],
    ['preferences.categories.billing.fax', 'invalid_choice'],
  ]);
  expect(result?.errors?.[3]?.message).toContain('billing');
});

test('a repeated import does not change what the user has chosen since', async () => {
  const username = newName();
  const [first] = await importLines([{ username, preferences: { channels: { email: 'off' } } }]);
  await postern.api('PATCH', `/admin/v1/users/${first?.id}/preferences`, {
    bearer: postern.adminKey,
    body: { channels: { email: 'on' } },
  });
  const [again] = await importLines([{ username, preferences: { channels: { email: 'off' } } }]);
  expect(again?.result).toBe('exists');
  expect((await preferencesOf(first?.id)).channels.email).toBe('on');
});

test('a column of a CSV file has them as JSON', () => {
  const user = userOf(['ada', '{"channels":{"email":"off"}}'], ['username', 'preferences'], ['user', 'preferences']);
  expect(user).toEqual({ username: 'ada', preferences: { channels: { email: 'off' } } });
});
