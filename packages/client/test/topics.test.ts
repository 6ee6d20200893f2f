import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { createPreferences, createTopics, isProblem } from '../src/index.js';
import { signedIn } from './support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  await define('club.chess', { title: 'Chess', is_open: true });
  await define('club.go', { title: 'Go', is_open: true });
  await define('staff', { title: 'Staff' });
});
afterAll(() => app.close());

const define = (key: string, body: object) => app.api('PUT', `/admin/v1/topics/${key}`, { bearer: app.adminKey, body });

async function person() {
  const { postern, user } = await signedIn(app);
  onTestFinished(() => postern.close());
  const topics = createTopics(postern);
  const shown = async () => {
    const all: Record<string, boolean> = {};
    for await (const { key, is_subscribed: isIn } of topics.list({ limit: 1 })) all[key] = isIn;
    return all;
  };
  return { postern, user, topics, shown };
}

test('lists the topics of the user page by page, and joins and leaves them', async () => {
  const { user, topics, shown } = await person();
  await app.api('PUT', `/admin/v1/topics/staff/subscriptions/${user.id}`, { bearer: app.adminKey });
  expect(await shown()).toEqual({ 'club.chess': false, 'club.go': false, staff: true });
  await topics.join('club.chess');
  await topics.join('club.chess');
  expect(await shown()).toEqual({ 'club.chess': true, 'club.go': false, staff: true });
  await topics.leave('club.chess');
  await topics.leave('staff');
  expect(await shown()).toEqual({ 'club.chess': false, 'club.go': false });
});

test('a topic that is not open, or that does not exist, rejects with unknown_topic', async () => {
  const { topics } = await person();
  for (const key of ['staff', 'nothing', 'a/b']) {
    const error = await topics.join(key).catch((cause: unknown) => cause);
    expect([key, isProblem(error, 'unknown_topic')]).toEqual([key, true]);
  }
});

test('a topic is muted through the preferences, and null takes it back', async () => {
  const { postern, user, topics } = await person();
  await topics.join('club.go');
  const preferences = createPreferences(postern);
  onTestFinished(preferences.subscribe(() => undefined));
  await preferences.reload();
  const saved = preferences.change({ topics: { 'club.go': { push: 'off' } } });
  expect(preferences.current.preferences?.topics).toEqual({ 'club.go': { push: 'off' } });
  expect(await saved).toBe(true);
  const stored = async () => {
    const path = `/admin/v1/users/${user.id}/preferences`;
    return (await app.api<{ topics: object }>('GET', path, { bearer: app.adminKey })).body.topics;
  };
  expect(await stored()).toEqual({ 'club.go': { push: 'off' } });
  await preferences.change({ topics: { 'club.go': { push: null } } });
  expect([preferences.current.preferences?.topics, await stored()]).toEqual([{}, {}]);
  // Postern refuses it, and it is undone.
  expect(await preferences.change({ topics: { staff: { push: 'off' } } })).toBe(false);
  expect(preferences.current.preferences?.topics).toEqual({});
});
