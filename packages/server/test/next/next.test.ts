import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createUser, password } from '../../../../test/support/users.js';
import { lastCode } from '../../../client/test/support.js';
import { createNextPostern } from '../../src/next/index.js';
import { inRequest } from './headers.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ TRUST_PROXY: '127.0.0.1', PIN_POLICY: 'off' });
});
afterAll(() => app.close());

const postern = () =>
  createNextPostern({ url: app.url, apiKey: app.adminKey, clientAddress: 'proxy', timeout: 60_000 });

/** A browser at an app behind TLS. */
function browser() {
  const cookies = new Map<string, string>();
  const written: [string, object][] = [];
  const open = <T>(run: () => Promise<T>) => {
    const text = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers({
      ...{ cookie: text(), origin: 'https://app.example.com', 'x-forwarded-for': '203.0.113.9' },
      'sec-ch-ua-platform': '"macOS"',
    });
    const set = (name: string, value: string, options: { readonly maxAge: number }) => {
      written.push([name, options]);
      if (options.maxAge === 0) cookies.delete(name);
      else cookies.set(name, value);
    };
    return inRequest({ headers, cookies: { set, toString: text } as never }, run);
  };
  return { cookies, written, open };
}

function form(values: Readonly<Record<string, string>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.set(name, value);
  return data;
}

test('an action signs in, the same request knows the user, pages have one session each, and an action signs out', async () => {
  const { server, auth, snapshot, signIn, signOut } = postern();
  const { cookies, written, open } = browser();
  const user = await createUser(app, {});
  const rows = async () => (await server.users.sessions(user.id, { limit: 100 }).page()).data.length;
  expect(await open(auth)).toBeNull();
  await open(async () => {
    expect(await auth()).toBeNull();
    expect(await signIn(form({ identity: user.username ?? '', password }))).toEqual({ step: 'done', user_id: user.id });
    expect(await auth()).toMatchObject({ user_id: user.id });
  });
  const kept = { httpOnly: true, secure: true, sameSite: 'lax', path: '/', maxAge: expect.any(Number) };
  expect(written).toEqual([
    ['__Host-postern', kept],
    ['__Host-postern-device', kept],
  ]);
  expect(await rows()).toBe(1);
  await open(async () => {
    const [session, page] = await Promise.all([auth(), snapshot({ account: true }), auth()]);
    expect([session?.user_id, page.account?.id]).toEqual([user.id, user.id]);
  });
  expect(await rows()).toBe(2);
  expect((await server.users.devices(user.id).page()).data).toMatchObject([{ os_name: 'macOS' }]);
  await open(async () => {
    await signOut();
    expect(await auth()).toBeNull();
  });
  expect([...cookies.keys()]).toEqual(['__Host-postern-device']);
  expect(await rows()).toBe(0);
});

test('a login in two steps asks for a code, says that a wrong one is wrong, and accepts the right one', async () => {
  const { signIn } = postern();
  const { open } = browser();
  const user = await createUser(app, { email: `${crypto.randomUUID()}@example.com` });
  const sent = await open(() => signIn({ identity: user.email ?? '', authenticator: 'email' }));
  if (sent.step !== 'secret') throw new Error(JSON.stringify(sent));
  const code = await lastCode(app);
  const wrong = code === '000000' ? '111111' : '000000';
  const answer = await open(() => signIn(form({ id: sent.id, secret: wrong })));
  expect(answer).toMatchObject({ step: 'secret', id: sent.id, message: expect.any(String) });
  expect(await open(() => signIn({ id: sent.id, secret: code }))).toEqual({ step: 'done', user_id: user.id });
});

test('what the user can correct is a message, and what the program must correct is an error', async () => {
  const { signIn } = postern();
  const { open } = browser();
  const refused = await open(() => signIn({ identity: 'nobody', password: 'a wrong password' }));
  expect(refused).toEqual({ step: 'start', message: expect.any(String) });
  const invalid = await open(() => signIn({ identity: '', password: 'x' }));
  expect(invalid).toMatchObject({ step: 'start', message: expect.any(String) });
  await expect(open(() => signIn(form({ password: 'x' })))).rejects.toMatchObject({ kind: 'usage' });
  await expect(open(() => signIn({ identity: 'ada' }))).rejects.toMatchObject({ kind: 'usage' });
});

test('the proxy sends visitors without a cookie to the page for signing in, and never to another site', () => {
  const proxy = postern().proxy('/sign-in');
  const ask = (path: string, cookie = '') =>
    proxy(new Request(`https://app.example.com${path}`, { headers: { cookie } }))?.headers.get('location');
  expect(ask('/inbox?page=2')).toBe('https://app.example.com/sign-in?return_to=%2Finbox%3Fpage%3D2');
  expect(ask('//evil.example/x')).toBe('https://app.example.com/sign-in?return_to=%2Fevil.example%2Fx');
  for (const path of ['/sign-in', '/auth/v1/tokens']) expect(ask(path)).toBeUndefined();
  expect(ask('/inbox', '__Host-postern=psa_x')).toBeUndefined();
  expect(ask('/inbox', 'other=psa_x')).toContain('/sign-in');
});

test('a build without an address makes everything, and only a use fails', async () => {
  const { auth, proxy, GET } = createNextPostern({ url: undefined, clientAddress: 'none' });
  expect((await GET(new Request('https://app.example.com/other'))).status).toBe(404);
  expect(proxy('/sign-in')(new Request('https://app.example.com/'))?.status).toBe(307);
  const { cookies, open } = browser();
  expect(await open(auth)).toBeNull();
  cookies.set('__Host-postern', 'psa_x');
  await expect(open(auth)).rejects.toThrow('createPosternServer needs `url`');
});
