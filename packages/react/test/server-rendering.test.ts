import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createElement, type FunctionComponent, type ReactNode, Suspense, version } from 'react';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.js';
import { createUser, login } from '../../../test/support/users.js';
import { createPostern, type Postern, type Snapshot } from '../../client/src/index.js';
import {
  useAccount,
  useDevices,
  useInbox,
  useInboxCounts,
  useItems,
  useLogin,
  usePasskeys,
  usePreferences,
  useSession,
  useTopics,
  useUnreadCount,
} from '../src/index.js';
import { backendOf, pageOf, publish, showing } from './support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

// React reports warnings there. The service's queue reports there that its database is slow.
const warn = vi.spyOn(console, 'error');
beforeEach(() => void warn.mockClear());
afterEach(() => expect(warn.mock.calls.filter(([text]) => !`${text}`.startsWith('Trace: '))).toEqual([]));

/** The client of a module, which all requests to the server share. It must send nothing. */
const postern: Postern = createPostern({
  url: '/auth',
  storage: 'backend',
  fetch: () => Promise.reject(new Error('A server rendering sent a request.')),
});

/** What the backend of an app knows of a user who opens a page. */
async function snapshotOf(descriptions: readonly string[]) {
  const user = await createUser(app, { name: 'Ada' });
  for (const description of descriptions) await publish(app, user.id, description);
  const { body } = await login(app, user);
  const request = { headers: { cookie: `postern=${body.token}` } };
  const snapshot = await backendOf(app).snapshot(request, { account: true, inbox: { limit: 2 }, devices: true });
  // As the backend sends it to the page.
  return { user, snapshot: JSON.parse(JSON.stringify(snapshot)) as Snapshot };
}

const render = (use: () => unknown, snapshot?: Snapshot) =>
  JSON.parse(
    /<output>(.*)<\/output>/
      .exec(renderToString(pageOf(postern, snapshot, createElement(showing(use)))))?.[1]
      ?.replaceAll('&quot;', '"') ?? 'null',
  );

test('the tests run with React 18 if REACT_18 is set, and with React 19 otherwise', () => {
  expect(version.split('.')[0]).toBe(process.env.REACT_18 === undefined ? '19' : '18');
});

describe('the first HTML', () => {
  test('shows the data of the snapshot, for each hook', async () => {
    const { user, snapshot } = await snapshotOf(['one', 'two', 'three']);
    expect(render(useSession, snapshot)).toMatchObject({ status: 'signed_in', user_id: user.id });
    expect(render(() => useInbox({ limit: 2 }), snapshot)).toMatchObject({
      ...{ status: 'ready', hasMore: true, unread: { unread_count: 3 } },
      items: [{ description: 'three', isUnread: true }, { description: 'two' }],
    });
    expect(render(useUnreadCount, snapshot)).toEqual({ count: 3, capped: false });
    expect(render(useAccount, snapshot)).toMatchObject({ status: 'ready', data: { id: user.id, name: 'Ada' } });
    expect(render(useDevices, snapshot)).toMatchObject({ status: 'ready', data: [{ current: true }] });
    expect(render(usePasskeys, snapshot)).toMatchObject({ status: 'pending', data: null });
  });

  test('contains no token', async () => {
    const { snapshot } = await snapshotOf(['one']);
    expect(JSON.stringify(snapshot)).not.toMatch(/ps[as]_/);
  });

  test('shows no list of another query', async () => {
    const { snapshot } = await snapshotOf(['one']);
    for (const query of [{}, { limit: 3 }, { limit: 2, filter: 'notification_type:eq:pool' }]) {
      expect(render(() => useInbox(query), snapshot)).toMatchObject({ status: 'pending', items: [] });
    }
  });

  test('without a snapshot, everything is pending, and nothing is sent', () => {
    expect(render(useSession)).toMatchObject({ status: 'starting' });
    expect(render(() => useInbox())).toMatchObject({ status: 'pending', items: [] });
    expect(render(useUnreadCount)).toEqual({ count: 0, capped: false });
    expect(render(() => useItems({ view: 'archived' }))).toMatchObject({
      status: 'pending',
      view: 'archived',
      items: [],
    });
    expect(render(useInboxCounts)).toEqual({ unseen: 0, unread: 0, is_capped: false, by: {} });
    expect(render(useDevices)).toMatchObject({ status: 'pending' });
    expect(render(usePreferences)).toMatchObject({ status: 'pending', preferences: null });
    expect(render(() => useTopics())).toMatchObject({ status: 'pending', data: null, hasMore: false });
    expect(render(() => useLogin({ resume: true }))).toMatchObject({ state: { step: 'start', busy: false } });
  });

  test('knows that nobody is signed in', async () => {
    const snapshot = await backendOf(app).snapshot({ headers: {} }, { inbox: true });
    expect(snapshot).toEqual({ session: null });
    expect(render(useSession, snapshot)).toMatchObject({ status: 'signed_out' });
    expect(render(() => useInbox(), snapshot)).toMatchObject({ status: 'ready', items: [] });
    expect(render(() => useItems(), snapshot)).toMatchObject({ status: 'ready', items: [] });
    expect(render(usePreferences, snapshot)).toMatchObject({ status: 'ready', preferences: null });
  });

  test('keeps the users of requests at the same time apart', async () => {
    const [ada, bob] = await Promise.all([snapshotOf(['for Ada']), snapshotOf(['for Bob'])]);
    const shown = (snapshot: Snapshot) => render(() => useInbox({ limit: 2 }), snapshot).items[0].description;
    expect([shown(ada.snapshot), shown(bob.snapshot), shown(ada.snapshot)]).toEqual(['for Ada', 'for Bob', 'for Ada']);
    expect(render(() => useInbox({ limit: 2 }))).toMatchObject({ status: 'pending', items: [] });
  });
});

describe('a stream of HTML with Suspense', () => {
  function stream(node: ReactNode): Promise<{ html: string; errors: string[]; digests: unknown[] }> {
    const errors: string[] = [];
    const digests: unknown[] = [];
    return new Promise((resolve, reject) => {
      const output = new PassThrough();
      const { pipe } = renderToPipeableStream(node, {
        onAllReady: () => {
          text(output).then((html) => resolve({ html, errors, digests }), reject);
          pipe(output);
        },
        onError(error) {
          errors.push(error instanceof Error ? error.message : `${error}`);
          digests.push((error as { digest?: unknown }).digest);
        },
        onShellError: reject,
      });
    });
  }
  const suspending: Record<string, () => unknown> = {
    useSession: () => useSession({ suspense: true }),
    useInbox: () => useInbox({ limit: 2, suspense: true }),
    useDevices: () => useDevices({ suspense: true }),
    useAccount: () => useAccount({ suspense: true }),
  };
  const page = (Component: FunctionComponent, snapshot?: Snapshot) =>
    pageOf(postern, snapshot, createElement(Suspense, { fallback: 'Loading' }, createElement(Component)));

  test.each(Object.entries(suspending))('%s shows the snapshot and does not wait', async (_, use) => {
    const { snapshot } = await snapshotOf(['one']);
    const { html, errors } = await stream(page(showing(use), snapshot));
    expect(errors).toEqual([]);
    expect(html).toContain('<output>');
    expect(html).not.toContain('Loading');
  });

  test.each(Object.entries(suspending))(
    '%s leaves the rest to the browser, and says what is missing',
    async (_, use) => {
      const { html, errors, digests } = await stream(page(showing(use)));
      // Next.js writes errors with this digest neither to its log nor to the console of the browser.
      expect(digests).toEqual(['BAILOUT_TO_CLIENT_SIDE_RENDERING']);
      expect(html).toContain('Loading');
      expect(errors).toEqual([expect.stringMatching(/Pass it in `snapshot` of <PosternProvider>/)]);
    },
  );
});

describe('misuse fails at once with a sentence that says what to do', () => {
  const inBoundary = (node: ReactNode) => () => renderToString(node);

  test('a hook without a provider', () => {
    expect(inBoundary(createElement(showing(useSession)))).toThrow(/needs a <PosternProvider> above/);
  });
  test('something that is no client', () => {
    expect(inBoundary(pageOf({} as Postern, undefined))).toThrow(/a client that createPostern made/);
  });
  test('a hook that would wait on a server', () => {
    const node = pageOf(postern, undefined, createElement(showing(() => useAccount({ suspense: true }))));
    expect(inBoundary(node)).toThrow(/waits for account/);
  });
});

test('a browser whose snapshot says that nobody is signed in asks for no session', async () => {
  const sent: string[] = [];
  const inBrowser = createPostern({
    url: 'https://app.example.com/auth',
    storage: 'backend',
    fetch: async (input) => {
      sent.push(`${input}`);
      throw new TypeError('no network');
    },
  });
  const page = pageOf(inBrowser, { session: null }, createElement(showing(useSession)));
  // A server has one client for all users, so it must not learn from one of them.
  renderToString(page);
  expect(inBrowser.current).toEqual({ status: 'starting' });
  vi.stubGlobal('document', {});
  // What remembers a logout without a network has done its work: the server found no login.
  const kept = new Map([['postern.revoke https://app.example.com/auth', '{"token":""}']]);
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    removeItem: (key: string) => void kept.delete(key),
  });
  try {
    renderToString(page);
    inBrowser.subscribe(() => undefined);
    expect(await inBrowser.ready()).toEqual({ status: 'signed_out', reason: 'never_signed_in' });
    expect(await inBrowser.getSession()).toBeNull();
    expect(sent).toEqual([]);
    expect(kept.size).toBe(0);
    // Only the app can know that somebody has logged in without the client.
    await expect(inBrowser.getSession({ fresh: true })).rejects.toMatchObject({ kind: 'network' });
    expect(sent.length).toBeGreaterThan(0);
  } finally {
    vi.unstubAllGlobals();
    inBrowser.close();
  }
});
