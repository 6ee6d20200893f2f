import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { createUser, password } from '../../../../test/support/users.js';
import {
  createInbox,
  createInboxCopy,
  createLogin,
  memoryCopyStore,
  memoryStorage,
  type Postern,
} from '../../src/index.js';
import { clientOf, createNetwork, lost, signedIn, withFastTime } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

const anyStep = fc.oneof(
  fc.record({
    act: fc.constant('publish' as const),
    text: fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' }),
  }),
  fc.record({ act: fc.constantFrom('change' as const, 'delete' as const), which: fc.nat(30) }),
  fc.record({
    act: fc.constant('sync' as const),
    /** The number of requests after which the network is lost. */ requests: fc.nat(4),
  }),
);

test('after any interleaving of changes and cut synchronisations, the copy equals the list of the service', async () => {
  withFastTime();
  const network = createNetwork();
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 3, maxLength: 25 }), async (steps) => {
      network.answer = undefined;
      const { postern, user } = await signedIn(app, { fetch: network.fetch });
      const inbox = createInbox(postern);
      const copy = createInboxCopy(postern, { storeOf: memoryCopyStore, limit: 3 });
      const ids: string[] = [];
      const admin = { bearer: app.adminKey };
      for (const step of steps) {
        if (step.act === 'publish') {
          const body = { user_id: user.id, notification_type: 'payment', description: step.text };
          const answer = await app.api<{ id: string }>('POST', '/admin/v1/notifications', {
            ...admin,
            body,
            headers: { 'idempotency-key': randomUUID() },
          });
          ids.push(answer.body.id);
        } else if (step.act === 'sync') {
          const before = network.sent.length;
          network.answer = () => (network.sent.length - before > step.requests ? lost() : undefined);
          await copy.sync({ signal: AbortSignal.timeout(60_000) }).catch(() => undefined);
          network.answer = undefined;
        } else {
          const path = `/admin/v1/notifications/${ids[step.which % Math.max(1, ids.length)] ?? randomUUID()}`;
          if (step.act === 'delete') await app.api('DELETE', path, admin);
          else await app.api('PATCH', path, { ...admin, body: { description: `changed ${step.which}` } });
        }
      }
      await copy.sync();
      const listed = [];
      for await (const item of inbox.list({ limit: 100, sort: 'created_at:desc' })) listed.push(item);
      expect(await copy.items()).toEqual(listed.toSorted((a, b) => b.sequence - a.sequence));
      postern.close();
    }),
    { numRuns: 12 },
  );
});

test('the copy is available without a network, each user has a separate one, and it is erased on request and at the sign-out', async () => {
  const stores = new Map<string, ReturnType<typeof memoryCopyStore>>();
  const storeOf = (userId: string) => {
    const store = stores.get(userId) ?? memoryCopyStore();
    stores.set(userId, store);
    return store;
  };
  const network = createNetwork();
  const { postern, user } = await signedIn(app, { fetch: network.fetch });
  const body = { user_id: user.id, notification_type: 'payment', description: 'hello' };
  await app.api('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body,
    headers: { 'idempotency-key': randomUUID() },
  });
  await createInboxCopy(postern, { storeOf }).sync();
  network.answer = lost;
  const copy = createInboxCopy(postern, { storeOf });
  expect(await copy.items()).toMatchObject([{ description: 'hello' }]);
  network.answer = undefined;
  const { postern: other } = await signedIn(app);
  expect(await createInboxCopy(other, { storeOf }).items()).toEqual([]);
  await copy.erase();
  expect(await copy.items()).toEqual([]);
  await copy.sync();
  expect(await copy.items()).toHaveLength(1);
  await postern.logOut();
  await eventually('the copy to be erased', async () =>
    (await storeOf(user.id).load()).items.length === 0 ? true : undefined,
  );
  await expect(copy.items()).rejects.toMatchObject({ kind: 'signed_out' });
});

describe('the copy of a user', () => {
  /** Copies in the memory of one browser, which stay after a reload of the page. */
  function createBrowser() {
    const stores = new Map<string, ReturnType<typeof memoryCopyStore>>();
    const storeOf = (userId: string) => {
      const store = stores.get(userId) ?? memoryCopyStore();
      stores.set(userId, store);
      return store;
    };
    const isEmpty = (userId: string) =>
      eventually('the copy to be erased', async () => {
        const { items, after } = await storeOf(userId).load();
        return items.length === 0 && after === null ? true : undefined;
      });
    return { storage: memoryStorage(), storeOf, isEmpty };
  }
  async function withCopy({ storage, storeOf }: ReturnType<typeof createBrowser>) {
    const { postern, user } = await signedIn(app, { storage });
    await app.api('POST', '/admin/v1/notifications', {
      bearer: app.adminKey,
      body: { user_id: user.id, notification_type: 'payment', description: 'secret' },
      headers: { 'idempotency-key': randomUUID() },
    });
    const copy = createInboxCopy(postern, { storeOf });
    await copy.sync();
    expect(await copy.items()).toHaveLength(1);
    return { postern, user, copy };
  }
  const endLogins = (userId: string) => app.api('POST', `/admin/v1/users/${userId}/logout`, { bearer: app.adminKey });

  test.each<[string, (postern: Postern, userId: string) => Promise<unknown>]>([
    ['signs out', (postern) => postern.logOut()],
    ['is signed out by the service', (postern, id) => endLogins(id).then(() => postern.getSession({ fresh: true }))],
  ])('who %s on a page that did not read it is erased', async (_name, end) => {
    const browser = createBrowser();
    const { postern, user } = await withCopy(browser);
    postern.close();
    const reloaded = clientOf(app, { storage: browser.storage });
    createInboxCopy(reloaded, browser);
    await reloaded.ready();
    await end(reloaded, user.id);
    await browser.isEmpty(user.id);
    reloaded.close();
  });

  test('whose login ended on a page without the copy is erased at the next start, and the next user never sees it', async () => {
    const browser = createBrowser();
    const { postern, user } = await withCopy(browser);
    postern.close();
    const elsewhere = clientOf(app, { storage: browser.storage });
    await elsewhere.logOut();
    elsewhere.close();
    const { postern: next, user: nextUser } = await signedIn(app, { storage: browser.storage });
    const oneStoreForAll = { storeOf: () => browser.storeOf(user.id) };
    expect(await createInboxCopy(next, oneStoreForAll).items()).toEqual([]);
    await browser.isEmpty(user.id);
    expect(nextUser.id).not.toBe(user.id);
    next.close();
  });

  test('stays for the same user after a reload', async () => {
    const browser = createBrowser();
    const { postern } = await withCopy(browser);
    postern.close();
    const reloaded = clientOf(app, { storage: browser.storage });
    expect(await createInboxCopy(reloaded, browser).items()).toHaveLength(1);
    reloaded.close();
  });

  test('is erased if another user signs in without a logout in between', async () => {
    const browser = createBrowser();
    const { postern, user, copy } = await withCopy(browser);
    const next = await createUser(app);
    await createLogin(postern)
      .start()
      .password({ identity: next.username ?? '', password });
    expect(await copy.items()).toEqual([]);
    await browser.isEmpty(user.id);
    await copy.sync();
    postern.close();
  });

  test('is read for a caller that aborts and calls again, as in the strict mode of React', async () => {
    const browser = createBrowser();
    const { postern, copy } = await withCopy(browser);
    const first = new AbortController();
    const firstSync = copy.sync({ signal: first.signal });
    first.abort(new Error('unmounted'));
    const secondSync = copy.sync({ signal: new AbortController().signal });
    await expect(firstSync).rejects.toThrow('unmounted');
    await secondSync;
    postern.close();
  });
});
