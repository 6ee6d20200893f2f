import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { Device } from '../../src/contract/device.js';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { stepClock } from '../support/clock.js';
import { eventSourceOn } from '../support/event-source.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, newPhone, password } from '../support/users.js';
import { codeOfPage, startWebApp, type WebApp } from '../support/web-app.js';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
const loginLimit = 20;

let postern: TestApp;
let webApp: WebApp;
beforeAll(async () => {
  postern = await startTestApp({ TRUST_PROXY: '127.0.0.1,::1', LOGIN_LIMIT_PER_ADDRESS: String(loginLimit) });
  webApp = await startWebApp(postern.url);
});
afterAll(async () => {
  await webApp?.stop();
  await postern?.close();
});

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | null;
}

/** A browser behind a proxy, on a page of the web app. It sends its cookies, its address and Fetch Metadata headers. */
function openBrowser(app: WebApp = webApp, address = newAddress()) {
  const cookies = new Map<string, string>();
  const visit = async (path: string, sent: Sent = {}) => {
    const headers: Record<string, string> = {
      'user-agent': firefox,
      'x-forwarded-for': address,
      'sec-fetch-site': 'same-origin',
      cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
      ...sent.headers,
    };
    const { method = 'GET', body, signal = null } = sent;
    const content = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(app.url + path, {
      method,
      headers,
      signal,
      ...(content !== undefined && { body: content }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = '', rest = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
      if (rest.includes('Max-Age=0')) cookies.delete(name);
      else cookies.set(name, value);
    }
    return answer;
  };
  const logIn = (user: User, secret = password) =>
    visit('/login', { method: 'POST', body: { identity: identityOf(user), authenticator: 'password', secret } });
  return { address, cookies, visit, logIn };
}

const identityOf = ({ username }: User) => ({ type: 'username', value: username });
let addresses = 0;
const newAddress = () => {
  addresses += 1;
  return `203.0.113.${addresses}`;
};

/** A separate web app on another instance, until the test ends. */
async function startAnother() {
  const other = await postern.another();
  onTestFinished(() => other.close());
  const app = await startWebApp(other.url);
  onTestFinished(() => app.stop());
  return { other, app };
}

async function loggedIn(app?: WebApp) {
  const user = await createUser(postern);
  const browser = openBrowser(app);
  const answer = await browser.logIn(user);
  expect(await answer.json()).toMatchObject({ status: 'approved' });
  return { user, browser };
}

/** Lets all sessions expire, and no login. */
async function endSessions(): Promise<void> {
  await stepClock(postern.database, '1 hour');
  onTestFinished(() => stepClock(postern.database, '0 hours'));
}

async function publish(user: User, description: string): Promise<Notification> {
  const body = { user_id: user.id, notification_type: 'payment', description };
  const answer = await postern.api<Notification>('POST', '/admin/v1/notifications', { bearer: postern.adminKey, body });
  return answer.body;
}

describe('the backend of the page', () => {
  test('keeps the authentication token in a cookie that scripts cannot read', async () => {
    const user = await createUser(postern);
    const browser = openBrowser();
    const answer = await browser.logIn(user);
    expect(await answer.text()).not.toContain('psa_');
    const [login = '', device = ''] = answer.headers.getSetCookie();
    expect(login).toMatch(/^__Host-login=psa_[\w-]+; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=31536000$/);
    expect(device).toMatch(/^__Host-device=[0-9a-f-]{36}; Path=\/; HttpOnly; Secure; SameSite=Strict; /);
    await publish(user, 'first');
    const list = await browser.visit('/api/notifications');
    expect(await list.json()).toMatchObject([{ description: 'first' }]);
    expect((await openBrowser().visit('/api/notifications')).status).toBe(401);
  });

  test('sets no login cookie after a wrong password', async () => {
    const browser = openBrowser();
    const answer = await browser.logIn(await createUser(postern), 'a battery of cats');
    expect(await answer.json()).toMatchObject({ status: 'rejected' });
    expect([...browser.cookies.keys()]).toEqual(['__Host-device']);
  });

  test('completes a login in two steps', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const browser = openBrowser();
    const identity = { type: 'phone', value: user.phone };
    const started = await browser.visit('/login', { method: 'POST', body: { identity, authenticator: 'sms' } });
    const { id } = (await started.json()) as Authentication;
    expect([...browser.cookies.keys()]).toEqual(['__Host-device']);
    const body = { secret: await codeOf(postern, id), pin: '2468' };
    const answer = await browser.visit(`/login/${id}`, { method: 'POST', body });
    expect(await answer.json()).toMatchObject({ id, status: 'approved' });
    expect((await browser.visit('/api/notifications')).status).toBe(200);
  });

  test('forwards links, ETags and errors', async () => {
    const { user, browser } = await loggedIn();
    for (const description of ['one', 'two', 'three']) await publish(user, description);
    const first = await browser.visit('/api/notifications?limit=2');
    const [, next = ''] = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    expect(await (await browser.visit(next)).json()).toMatchObject([{ description: 'one' }]);
    const ifNoneMatch = { 'if-none-match': first.headers.get('etag') ?? '' };
    expect((await browser.visit('/api/notifications?limit=2', { headers: ifNoneMatch })).status).toBe(304);
    const wrong = await browser.visit('/api/notifications?limit=0');
    expect(await wrong.json()).toMatchObject({ status: 422, errors: [{ code: 'invalid_limit' }] });
    expect((await browser.visit('/login', { method: 'POST', body: '{' })).status).toBe(400);
  });

  test('replaces an expired session without the page noticing', async () => {
    const { user, browser } = await loggedIn();
    const visitWithSession = async () => {
      expect((await browser.visit('/api/notifications')).status).toBe(200);
      const path = `/admin/v1/users/${user.id}/sessions`;
      const { body } = await postern.api<{ id: string }[]>('GET', path, { bearer: postern.adminKey });
      return body.map(({ id }) => id);
    };
    const first = await visitWithSession();
    expect(first).toHaveLength(1);
    await endSessions();
    const second = await visitWithSession();
    expect(second.filter((id) => !first.includes(id))).toHaveLength(1);
  });

  test('ends the login in Postern when the user logs out', async () => {
    const { browser } = await loggedIn();
    const before = new Map(browser.cookies);
    expect((await browser.visit('/logout', { method: 'POST' })).status).toBe(204);
    expect([...browser.cookies.keys()]).toEqual(['__Host-device']);
    for (const [name, value] of before) browser.cookies.set(name, value);
    expect((await browser.visit('/api/notifications')).status).toBe(401);
    expect([...browser.cookies.keys()]).toEqual(['__Host-device']);
  });

  test.each([{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'none' }])(
    'refuses state-changing requests with %o',
    async (headers) => {
      const { browser } = await loggedIn();
      expect((await browser.visit('/logout', { method: 'POST', headers })).status).toBe(403);
      expect((await browser.visit('/api/devices/current', { method: 'PUT', body: {}, headers })).status).toBe(403);
      expect((await browser.visit('/api/notifications')).status).toBe(200);
    },
  );

  test('checks Origin if the browser sends no Sec-Fetch-Site', async () => {
    const { browser } = await loggedIn();
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const logOut = (headers: object) => sendRaw('/logout', { method: 'POST', headers: { cookie, ...headers } });
    expect(await logOut({})).toBe(403);
    expect(await logOut({ origin: 'https://evil.example' })).toBe(403);
    expect(await logOut({ origin: webApp.url })).toBe(204);
  });

  test.each([
    '/api/account',
    '/api/notificationsx',
    '/api/notifications/../account',
    '/api/notifications/%2e%2e/account',
    '/api/devices/../../admin/v1/users',
    '//localhost/api/notifications/../account',
  ])('does not forward %s', async (path) => {
    const { browser } = await loggedIn();
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    expect(await sendRaw(path, { headers: { cookie } })).toBe(404);
  });

  test("counts limits by the client's address, and records it in the activity", async () => {
    const [user, other] = [await createUser(postern), await createUser(postern)];
    const attacker = openBrowser();
    const attempts = Array.from({ length: loginLimit + 3 }, (_, attempt) => {
      const identity = { type: 'username', value: `nobody${attempt}` };
      return attacker.visit('/login', { method: 'POST', body: { identity, authenticator: 'password', secret: 'x' } });
    });
    const statuses = new Set((await Promise.all(attempts)).map(({ status }) => status));
    expect([...statuses].toSorted()).toEqual([201, 429]);
    // The limit grows back by one login in a few seconds: on a slow machine this uses it up again.
    const useUp = testSql(`update request_limits set refilled_at = db_now() + interval '1 minute'`);
    await eventually('a refused login', async () => {
      await postern.database.query(useUp);
      return (await attacker.logIn(other)).status === 429 || undefined;
    });

    const browser = openBrowser();
    expect((await browser.logIn(user)).status).toBe(201);
    const path = `/admin/v1/users/${user.id}/activity?filter=type:login.approved`;
    const { body } = await postern.api<{ address: string }[]>('GET', path, { bearer: postern.adminKey });
    expect(body.map(({ address }) => address)).toEqual([browser.address]);
  });

  test('keeps the device across logins, and lets the user rename it', async () => {
    const { user, browser } = await loggedIn();
    await browser.visit('/logout', { method: 'POST' });
    await browser.logIn(user);
    const devices = async () => (await (await browser.visit('/api/devices')).json()) as Device[];
    expect(await devices()).toMatchObject([{ make: 'Firefox', os_name: 'Windows', current: true }]);

    const sendFromPage = (path: string, init: Sent) => browser.visit(path, init);
    const { renameDevice } = await load<{ renameDevice(name: string): Promise<Response> }>('renameDevice', {
      fetch: sendFromPage,
    });
    expect((await renameDevice('Work laptop')).status).toBe(200);
    expect(await devices()).toMatchObject([{ make: 'Work laptop', os_name: null }]);
  });
});

/** Sends the path unchanged. fetch would resolve `..` and add headers. */
async function sendRaw(path: string, options: { method?: string; headers: object }): Promise<number | undefined> {
  const sent = request({
    host: 'localhost',
    port: webApp.port,
    path,
    ...options,
    headers: { ...options.headers },
  }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

/** Loads code for the page with replaced globals. */
async function load<Defined>(
  name: Parameters<typeof codeOfPage>[0],
  globals: Readonly<Record<string, unknown>>,
): Promise<Defined> {
  const source = `export const load = ({ ${Object.keys(globals).join(', ')} }) => {\n${codeOfPage(name)}\nreturn { ${name} };\n};`;
  const module = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    load(globals: object): Defined;
  };
  return module.load(globals);
}

interface InboxCode {
  openInbox(onChange: (list: readonly Notification[]) => void, onLoggedOut: () => void): () => void;
}

/** Runs the inbox code of the page in a browser. */
async function openInbox(browser: ReturnType<typeof openBrowser>, fetchOfPage = browser.visit) {
  const state = { shown: [] as string[], changes: 0, isLoggedOut: false, openAtRead: [] as boolean[] };
  let isOpen = false;
  const page = await load<InboxCode>('openInbox', {
    fetch: (path: string, init: Sent) => {
      state.openAtRead.push(isOpen);
      return fetchOfPage(path, init);
    },
    EventSource: eventSourceOn(async (path, init) => {
      const answer = await browser.visit(path, init as Sent);
      isOpen = answer.status === 200;
      return answer;
    }),
  });
  const close = page.openInbox(
    (list) => {
      state.shown = list.map(({ description }) => description);
      state.changes += 1;
    },
    () => {
      state.isLoggedOut = true;
    },
  );
  onTestFinished(close);
  return state;
}

const untilShown = (state: { shown: string[] }, ...expected: string[]) =>
  eventually(`the page to show ${expected}`, async () => state.shown.join() === expected.join() || undefined);

describe('the inbox of the page', () => {
  test('misses no change between the stream and the list, or later', async () => {
    const { user, browser } = await loggedIn();
    const old = await publish(user, 'old');
    await publish(user, 'kept');
    const state = await openInbox(browser, async (path, init) => {
      await publish(user, 'before the list');
      const answer = await browser.visit(path, init);
      // The list was read before these changes, so only the stream has them.
      await publish(user, 'after the list');
      await postern.api('DELETE', `/admin/v1/notifications/${old.id}`, { bearer: postern.adminKey });
      return answer;
    });
    await untilShown(state, 'after the list', 'before the list', 'kept');
    expect(state.openAtRead).toEqual([true]);
    await publish(user, 'later');
    await untilShown(state, 'later', 'after the list', 'before the list', 'kept');
  });

  test('continues after a lost connection', async () => {
    const { other, app } = await startAnother();
    const { user, browser } = await loggedIn(app);
    const state = await openInbox(browser);
    await eventually('the list', async () => state.changes > 0 || undefined);
    other.app.server.closeAllConnections();
    await publish(user, 'meanwhile');
    await untilShown(state, 'meanwhile');
    await publish(user, 'later');
    await untilShown(state, 'later', 'meanwhile');
  });

  test('reports the end of the login', async () => {
    const { user, browser } = await loggedIn();
    const state = await openInbox(browser);
    await eventually('the list', async () => state.changes > 0 || undefined);
    await postern.api('POST', `/admin/v1/users/${user.id}/logout`, { bearer: postern.adminKey });
    await eventually('the end of the login', async () => state.isLoggedOut || undefined);
  });
});
