import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createUser, password } from '../../../../test/support/users.js';
import { createPosternHandle, type PosternLocals } from '../../src/sveltekit/index.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

/** An event of SvelteKit for a browser with these cookies. */
function eventOf(cookies: Map<string, string>, path: string, init: RequestInit = {}) {
  const url = new URL(path, 'https://app.example.com');
  const headers = new Headers(init.headers);
  headers.set('cookie', [...cookies].map((pair) => pair.join('=')).join('; '));
  return {
    ...{ url, request: new Request(url, { ...init, headers }), locals: {} as { postern: PosternLocals } },
    cookies: {
      get: (name: string) => cookies.get(name),
      getAll: () => [...cookies].map(([name, value]) => ({ name, value })),
      set: (name: string, value: string, { maxAge }: { readonly maxAge: number }) =>
        void (maxAge === 0 ? cookies.delete(name) : cookies.set(name, value)),
    },
    getClientAddress: () => '203.0.113.9',
  };
}

test('the hook gives pages the user, actions a login and a logout, and the page its routes', async () => {
  const handle = createPosternHandle({ url: app.url, apiKey: app.adminKey, timeout: 60_000 });
  const cookies = new Map<string, string>();
  const user = await createUser(app, {});
  const visit = async <T>(run: (locals: PosternLocals) => Promise<T>) => {
    let result: T | undefined;
    const event = eventOf(cookies, '/');
    const resolve = async ({ locals }: typeof event) => {
      result = await run(locals.postern);
      return new Response('page');
    };
    expect(await (await handle({ event, resolve })).text()).toBe('page');
    return result;
  };
  expect(await visit(({ auth }) => auth())).toBeNull();
  const done = await visit(({ signIn }) => signIn({ identity: user.username ?? '', password }));
  expect(done).toEqual({ step: 'done', user_id: user.id });
  expect([...cookies.keys()]).toEqual(['__Host-postern', '__Host-postern-device']);

  const rows = async () => {
    const read = async ({ server }: PosternLocals) =>
      (await server.users.sessions(user.id, { limit: 100 }).page()).data;
    return (await visit(read))?.length ?? 0;
  };
  const before = await rows();
  const page = await visit(async ({ auth, snapshot }) => [
    await auth(),
    await snapshot({ account: true }),
    await auth(),
  ]);
  expect(page).toMatchObject([{ user_id: user.id }, { account: { id: user.id } }, { user_id: user.id }]);
  expect(await rows()).toBe(before + 1);

  const own = { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } };
  const never = () => Promise.reject(new Error('This route belongs to Postern.'));
  const created = await handle({ event: eventOf(cookies, '/auth/v1/sessions', own), resolve: never });
  expect([created.status, await created.json()]).toMatchObject([201, { user_id: user.id }]);
  const foreign = await handle({ event: eventOf(cookies, '/auth/v1/sessions', { method: 'POST' }), resolve: never });
  expect(foreign.status).toBe(403);

  await visit(({ signOut }) => signOut());
  expect(cookies.has('__Host-postern')).toBe(false);
  expect(await visit(({ auth }) => auth())).toBeNull();
});
