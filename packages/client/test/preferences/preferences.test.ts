import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { password } from '../../../../test/support/users.js';
import {
  createLogin,
  createPreferences,
  memoryStorage,
  type Postern,
  type PosternOptions,
  type Preferences,
  type PreferencesSnapshot,
  type PreferencesStore,
} from '../../src/index.js';
import { clientOf, createNetwork, lost, problem, signedIn } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
  await define('billing', { title: { en: 'Bills', es: 'Facturas' } });
  await define('alarm', { is_critical: true });
});
afterAll(() => app.close());

const define = (name: string, body: object) =>
  app.api('PUT', `/admin/v1/categories/${name}`, { bearer: app.adminKey, body });
const stored = async (userId: string) =>
  (await app.api<Preferences>('GET', `/admin/v1/users/${userId}/preferences`, { bearer: app.adminKey })).body;

/** A store that is subscribed to until the end of the test, with all that it has shown. */
function storeOf(postern: Postern) {
  const store = createPreferences(postern);
  const shown: PreferencesSnapshot[] = [];
  const unsubscribe = store.subscribe((snapshot) => shown.push(snapshot));
  onTestFinished(() => {
    unsubscribe();
    postern.close();
  });
  return { store, shown, unsubscribe };
}
const emailOf = ({ current }: Pick<PreferencesStore, 'current'>) =>
  current.preferences?.categories.billing?.cells.email.value;
const ready = (store: PreferencesStore) => expect.poll(() => emailOf(store)).toBeDefined();

/** A signed-in user whose requests a test can see and answer. */
async function person(options: Partial<PosternOptions> = {}) {
  const network = createNetwork();
  return { ...(await signedIn(app, { fetch: network.fetch, ...options })), network };
}

test('reads the preferences in the language of the client', async () => {
  const { postern } = await signedIn(app, { locale: 'es-MX' });
  const { store, shown } = storeOf(postern);
  expect(shown[0]).toEqual({ preferences: null, loading: true, error: null, changeError: null });
  await ready(store);
  expect(store.current).toMatchObject({
    ...{ loading: false, error: null },
    preferences: { categories: { billing: { title: 'Facturas' }, alarm: { is_locked: true } } },
  });
});

test('sends the time zone of the device while none is set, and no other', async () => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const { postern, user, network } = await person();
  const { store } = storeOf(postern);
  await expect.poll(() => store.current.preferences?.time_zone).toBe(zone);
  expect((await stored(user.id)).time_zone).toBe(zone);
  expect(await store.change({ time_zone: 'Pacific/Auckland' })).toBe(true);
  await store.reload();
  expect(store.current.preferences?.time_zone).toBe('Pacific/Auckland');
  expect(network.count('PATCH /v1/preferences')).toBe(2);
});

test('asks no second time for a time zone that Postern does not know', async () => {
  const { postern, network } = await person();
  network.answer = (request) => (request === 'PATCH /v1/preferences' ? problem(422, 'validation_failed') : undefined);
  const { store } = storeOf(postern);
  await store.reload();
  await store.reload();
  expect(network.count('GET /v1/preferences')).toBeGreaterThan(1);
  expect(network.count('PATCH /v1/preferences')).toBe(1);
  expect(store.current).toMatchObject({ error: null, changeError: null, preferences: { time_zone: null } });
});

test('shows a change before Postern has answered', async () => {
  const { postern, user, network } = await person();
  const { store } = storeOf(postern);
  await ready(store);
  await store.reload();
  const answers: (() => void)[] = [];
  network.answer = () => new Promise((resolve) => answers.push(() => resolve(undefined)));
  const saved = store.change({ channels: { sms: 'off' }, categories: { billing: { email: 'off' } } });
  expect([emailOf(store), store.current.preferences?.channels.sms]).toEqual(['off', 'off']);
  expect((await stored(user.id)).categories.billing?.cells.email.value).toBe('on');
  await expect.poll(() => answers.length).toBe(1);
  answers[0]?.();
  expect(await saved).toBe(true);
  expect((await stored(user.id)).categories.billing?.cells.email).toMatchObject({ value: 'off', is_chosen: true });
});

test('undoes a change that Postern refuses, and keeps those after it', async () => {
  const { postern } = await signedIn(app);
  const { store, shown } = storeOf(postern);
  await ready(store);
  const results = await Promise.all([
    store.change({ categories: { biling: { email: 'off' }, billing: { email: 'off' } } }),
    store.change({ channels: { sms: 'off' } }),
  ]);
  expect(results).toEqual([false, true]);
  expect(shown.some((snapshot) => emailOf({ current: snapshot }) === 'off')).toBe(true);
  expect([emailOf(store), store.current.preferences?.channels.sms]).toEqual(['on', 'off']);
  expect(store.current.changeError).toMatchObject({ code: 'validation_failed' });
  await store.change({ channels: { sms: 'on' } });
  expect(store.current.changeError).toBeNull();
});

test('reads again after a change whose answer was lost, because it may have had an effect', async () => {
  const { postern, network } = await person();
  const { store } = storeOf(postern);
  await ready(store);
  await store.reload();
  network.answer = async (request) => {
    if (request !== 'PATCH /v1/preferences') return undefined;
    network.answer = undefined;
    await app.api('PATCH', '/v1/preferences', {
      bearer: (await postern.getSession())?.token ?? '',
      body: { categories: { billing: { email: 'off' } } },
    });
    return lost();
  };
  expect(await store.change({ categories: { billing: { email: 'off' } } })).toBe(false);
  expect(store.current.changeError).toMatchObject({ kind: 'network' });
  await expect.poll(() => emailOf(store)).toBe('off');
});

test('sends fast changes of one cell in their order', async () => {
  const { postern, user } = await signedIn(app);
  const { store, shown } = storeOf(postern);
  await ready(store);
  const before = shown.length;
  const values = ['off', 'on', 'off', 'on', 'off'] as const;
  await Promise.all(values.map((value) => store.change({ categories: { billing: { email: value } } })));
  expect((await stored(user.id)).categories.billing?.cells.email.value).toBe('off');
  // The last one is shown from its beginning, whatever the answers before it say.
  expect(shown.slice(before + values.length).map((current) => emailOf({ current }))).not.toContain('on');
});

test('follows changes in other tabs', async () => {
  const storage = memoryStorage();
  const { postern } = await signedIn(app, { storage });
  const other = clientOf(app, { storage });
  const { store } = storeOf(postern);
  const { store: otherStore } = storeOf(other);
  await Promise.all([ready(store), ready(otherStore)]);
  await otherStore.change({ categories: { billing: { email: 'off' } } });
  await expect.poll(() => emailOf(store)).toBe('off');
  // A store that nobody watches tells them too.
  await createPreferences(other).change({ categories: { billing: { email: 'on' } } });
  await expect.poll(() => [emailOf(store), emailOf(otherStore)]).toEqual(['on', 'on']);
});

test('reads again when the app comes to the foreground, and nothing after the last subscription', async () => {
  let wake = () => {};
  const { postern, network } = await person({
    onResume(listener) {
      wake = listener;
      return () => {
        wake = () => {};
      };
    },
  });
  const { store, unsubscribe } = storeOf(postern);
  await store.reload();
  const before = network.count('GET /v1/preferences');
  wake();
  await store.reload();
  expect(network.count('GET /v1/preferences')).toBe(before + 1);
  unsubscribe();
  wake();
  await postern.fetch(new URL('v1/devices', postern.url));
  expect(network.count('GET /v1/preferences')).toBe(before + 1);
});

test('keeps what was read when a later read fails', async () => {
  const { postern, network } = await person();
  const { store } = storeOf(postern);
  await ready(store);
  network.answer = lost;
  await store.reload();
  expect(store.current).toMatchObject({ loading: false, error: { kind: 'network' } });
  expect(emailOf(store)).toBe('on');
  network.answer = undefined;
  await store.reload();
  expect(store.current.error).toBeNull();
});

test('shows nothing of a user who has signed out, and sends no change of theirs', async () => {
  const { postern, user, network } = await person();
  const { store } = storeOf(postern);
  await ready(store);
  await store.reload();
  const changes = [store.change({ channels: { push: 'off' } }), store.change({ channels: { email: 'off' } })];
  network.answer = (request) => (request === 'PATCH /v1/preferences' ? problem(503, 'overloaded') : undefined);
  await postern.logOut();
  expect(store.current).toEqual({ preferences: null, loading: false, error: null, changeError: null });
  expect(await Promise.all(changes)).toEqual([false, false]);
  network.answer = undefined;
  const other = await signedIn(app);
  other.postern.close();
  const state = await createLogin(postern)
    .start()
    .password({ identity: other.user.username ?? '', password });
  expect(state.step).toBe('done');
  await ready(store);
  expect(store.current.preferences?.channels).toEqual({ push: 'on', email: 'on', sms: 'on' });
  expect((await stored(user.id)).channels.email).toBe('on');
});

test('a change of nobody is refused without a request', async () => {
  const network = createNetwork();
  const postern = clientOf(app, { fetch: network.fetch });
  const { store } = storeOf(postern);
  expect(await store.change({ channels: { push: 'off' } })).toBe(false);
  expect(store.current).toMatchObject({ preferences: null, loading: false, changeError: { kind: 'signed_out' } });
  expect(network.sent.filter((request) => request.endsWith('/v1/preferences'))).toEqual([]);
});

test('a change before the first read is kept', async () => {
  const { postern, user } = await signedIn(app);
  const store = createPreferences(postern);
  onTestFinished(() => postern.close());
  expect(await store.change({ categories: { billing: { sms: 'off' } } })).toBe(true);
  expect((await stored(user.id)).categories.billing?.cells.sms.value).toBe('off');
});
