// What an app with Postern must do, asked as its browser would.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

/** @typedef {import('../../packages/server/src/testing/index.js').TestPostern} TestPostern */

/**
 * A browser: it keeps cookies and says where its requests come from.
 * @param {string} origin @param {Readonly<Record<string, string>>} extra headers that a proxy of the app adds
 */
export function browserAt(origin, extra = {}) {
  /** @type {Map<string, string>} */
  const cookies = new Map();
  /** @type {typeof fetch} */
  const send = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set('cookie', [...cookies].map((pair) => pair.join('=')).join('; '));
    headers.set('origin', origin);
    headers.set('sec-fetch-site', 'same-origin');
    for (const [name, value] of Object.entries(extra)) headers.set(name, value);
    const answer = await fetch(input, { ...init, headers });
    for (const text of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (text.split(';', 1)[0] ?? '').split('=');
      if (/Max-Age=0\b/i.test(text) || value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  const read = async (path = '/') => (await send(origin + path, { redirect: 'manual' })).text();
  return { cookies, send, read };
}

/**
 * A page signs in through the backend, reads, follows its inbox, calls the API and signs out. The backend shows the user.
 * @param {{ client: typeof import('../../packages/client/src/index.js'), postern: TestPostern, origin: string, api?: boolean, headers?: Readonly<Record<string, string>> }} options
 */
export async function checkWeb({ client, postern, origin, api = false, headers = {} }) {
  const user = await postern.createUser();
  const browser = browserAt(origin, headers);
  const page = client.createPostern({
    url: `${origin}/auth`,
    storage: 'backend',
    fetch: browser.send,
    timeout: 30_000,
    tabs: false,
  });
  assert.equal((await page.ready()).status, 'signed_out');
  assert.ok(!(await browser.read()).includes(user.id), 'The page shows a user before the login.');
  const done = await client
    .createLogin(page)
    .start()
    .password({ identity: `${user.username}`, password: user.password });
  assert.equal(done.step, 'done', `The login ended with ${JSON.stringify(done)}.`);

  const rows = async () => (await postern.server.users.sessions(user.id, { limit: 100 }).page()).data.length;
  await page.getSession();
  const before = await rows();
  assert.ok((await browser.read()).includes(user.id), 'The page does not show the user.');
  assert.equal((await rows()) - before, 1, 'A page created another number of sessions than one.');

  const inbox = client.createInbox(page, { stream: 'tab' });
  const stop = new AbortController();
  const arrived = (async () => {
    for await (const event of inbox.live({ signal: stop.signal })) {
      if (event.type === 'connection' && event.connection === 'live') {
        const news = { user_id: user.id, notification_type: 'payment', description: 'through the stream' };
        await postern.server.publish(news, { idempotencyKey: user.id });
      }
      if (event.type === 'put') return event.notification.description;
    }
    return undefined;
  })();
  assert.equal(await arrived, 'through the stream');
  stop.abort();
  assert.equal((await inbox.list().page()).data.length, 1);
  if (api) {
    const open = await browser.send(`${origin}/api/me`);
    assert.equal(open.status, 401);
    await open.text();
    // The origin of the page is not known to Node.js.
    const session = await page.getSession();
    const answer = await browser.send(`${origin}/api/me`, { headers: { authorization: `Bearer ${session?.token}` } });
    assert.equal((await answer.text()).replaceAll('"', ''), user.id);
  }
  assert.deepEqual(await page.logOut(), { revoked: true });
  assert.ok(!(await browser.read()).includes(user.id), 'The page shows the user after the logout.');
  assert.equal(await rows(), 0);
  page.close();
}

/**
 * A form without scripts signs in and out, by actions of the server.
 * @param {{ postern: TestPostern, origin: string, page: string, action: (path: string) => string, signOut: { page: string } }} options
 */
export async function checkForms({ postern, origin, page, action, signOut }) {
  const user = await postern.createUser();
  const browser = browserAt(origin);
  /** @param {string} path @param {string} target @param {Readonly<Record<string, string>>} values */
  const submit = async (path, target, values) => {
    const html = await browser.read(path);
    const body = new FormData();
    const forms = html.match(/<form[\s\S]*?<\/form>/g) ?? [];
    const form = forms.find((text) => text.includes('name="identity"') === 'identity' in values) ?? '';
    for (const [input] of form.matchAll(/<input [^>]*type="hidden"[^>]*>/g)) {
      const attribute = (/** @type {string} */ name) => new RegExp(`${name}="([^"]*)"`).exec(input)?.[1] ?? '';
      body.set(attribute('name').replaceAll('&quot;', '"'), attribute('value').replaceAll('&quot;', '"'));
    }
    for (const [name, value] of Object.entries(values)) body.set(name, value);
    const answer = await browser.send(origin + target, { method: 'POST', body, redirect: 'manual' });
    assert.ok(answer.status < 400, `The form answered ${answer.status}: ${await answer.text()}`);
  };
  await submit(page, action('signIn'), { identity: `${user.username}`, password: 'a wrong password' });
  assert.equal(
    [...browser.cookies.keys()].some((name) => name.endsWith('postern')),
    false,
  );
  await submit(page, action('signIn'), { identity: `${user.username}`, password: user.password });
  assert.ok((await browser.read()).includes(user.id), 'The page does not show the user of the form.');
  await submit(signOut.page, action('signOut'), {});
  assert.ok(!(await browser.read()).includes(user.id), 'The page shows the user after the logout.');
  assert.deepEqual((await postern.server.users.sessions(user.id).page()).data, []);
}

/**
 * A page in Chromium signs in, and shows a notification.
 * @param {{ postern: TestPostern, origin: string, name?: string, password?: string, next?: string, open?: (page: import('playwright-core').Page) => Promise<void> }} options
 *   `name` and `password` are the labels of the fields, whose names are `identity` and `password` otherwise. `next`: the button that leads
 *   from the one to the other
 */
export async function checkPage({ postern, origin, name, password, next, open }) {
  const user = await postern.createUser();
  const news = { user_id: user.id, notification_type: 'payment', description: 'Grace paid you 12.50' };
  await postern.server.publish(news, { idempotencyKey: user.id });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage();
    /** @type {string[]} */
    const errors = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    /** @type {string[]} what explains a page that does not work */
    const notes = [];
    page.on('console', (message) => notes.push(message.text()));
    page.on('requestfailed', (request) => notes.push(`${request.url()} ${request.failure()?.errorText}`));
    await page.goto(origin);
    const field = (/** @type {string | undefined} */ label, /** @type {string} */ other) =>
      label === undefined ? page.locator(`[name=${other}]`) : page.getByLabel(label, { exact: true });
    await field(name, 'identity').fill(`${user.username}`);
    if (next !== undefined) await page.getByRole('button', { name: next, exact: true }).click();
    await field(password, 'password').fill(user.password);
    // A page that opens its inbox returns to its address after the login.
    const returned = open && page.waitForEvent('load');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await returned;
    if (open) await open(page);
    const shown = page.getByText('Grace paid you 12.50').waitFor();
    await shown.catch(async () =>
      assert.fail(`The page shows: ${await page.innerText('body')}\n${[...errors, ...notes].join('\n')}`),
    );
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
}
