import { describe, expect, onTestFinished, test } from 'vitest';
import { startTestApp } from '../../support/app.js';
import { createConsole } from '../../support/console.js';
import { createUser } from '../../support/users.js';

const origin = 'https://example.com';

/** A Postern at `https://example.com/auth/`. A proxy in front of it keeps this path, or removes it. */
async function startBehindProxy(publicUrl = `${origin}/auth/`) {
  const postern = await startTestApp({ PUBLIC_URL: publicUrl, LOGIN_LIMIT_PER_ADDRESS: '0' });
  onTestFinished(() => postern.close());
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${postern.url}${path}`, { headers, redirect: 'manual' });
  return { postern, get };
}

const ways = [
  ['keeps the path', '/auth'],
  ['removes the path', ''],
] as const;

describe.each(ways)('behind a proxy that %s', (_, prefix) => {
  test('the API answers, and its links have the path', async () => {
    const { postern, get } = await startBehindProxy();
    await createUser(postern);
    await createUser(postern);
    const authorization = `Bearer ${postern.adminKey}`;
    const list = await get(`${prefix}/admin/v1/users?limit=1`, { authorization });
    expect(list.status).toBe(200);
    const links = (list.headers.get('link') ?? '').split(',').map((entry) => /<([^>]*)>/.exec(entry)?.[1] ?? '');
    expect(links.length).toBeGreaterThan(1);
    for (const link of links) {
      expect(link).toMatch(/^\/auth\/admin\/v1\/users\?/);
      const path = prefix === '' ? link.slice('/auth'.length) : link;
      expect((await get(path, { authorization })).status).toBe(200);
    }
    expect((await get(`${prefix}/livez`)).status).toBe(200);
    expect((await get(`${prefix}/v1/sessions/verify`)).status).toBe(401);
  });

  test('the root leads to the console, whose files have the path and exist', async () => {
    const { get } = await startBehindProxy();
    for (const root of [`${prefix}/`, `${prefix}/?a=1`, ...(prefix === '' ? [] : [prefix, `${prefix}?a=1`])]) {
      const answer = await get(root, { accept: 'text/html' });
      expect([root, answer.status, answer.headers.get('location')]).toEqual([root, 303, '/auth/console']);
    }
    const page = await (await get(`${prefix}/console/users/17`)).text();
    const urls = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
    expect(urls.length).toBeGreaterThan(2);
    for (const url of urls) {
      expect(url).toMatch(/^\/auth\/console\/assets\//);
      const file = await get(prefix === '' ? url.slice('/auth'.length) : url);
      expect([url, file.status]).toEqual([url, 200]);
    }
  });

  test('the documentation finds its files', async () => {
    const { get } = await startBehindProxy();
    for (const path of ['/docs', '/docs/']) {
      const page = await (await get(`${prefix}${path}`)).text();
      const urls = [...page.matchAll(/(?:src|href)="([^"#]+)"/g)].map(
        ([, url = '']) => new URL(url, `${origin}/auth${path}`),
      );
      expect(urls.length).toBeGreaterThan(2);
      for (const { pathname } of urls) {
        expect(pathname).toMatch(/^\/auth\/(?:docs\/|openapi\.json$)/);
        const file = await get(prefix === '' ? pathname.slice('/auth'.length) : pathname);
        expect([pathname, file.status]).toEqual([pathname, 200]);
      }
    }
  });
});

test('the path is removed once, and only as a whole', async () => {
  const { get } = await startBehindProxy();
  for (const path of ['/auth/auth/livez', '/authx/livez', '/Auth/livez', '/au/th/livez']) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
});

test('the cookie of the console belongs to the host, as its name requires', async () => {
  const { postern } = await startBehindProxy();
  const { browser } = await createConsole(() => postern).operator();
  expect([...browser.cookies.keys()]).toContain('__Host-postern_console');
});

test('without a path, links and pages are as before', async () => {
  const { get } = await startBehindProxy(origin);
  expect((await get('/', { accept: 'text/html' })).headers.get('location')).toBe('console');
  expect(await (await get('/console')).text()).toContain('src="/console/assets/');
});
