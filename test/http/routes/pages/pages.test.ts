import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../../../src/config/config.js';
import type { NewSession, Session } from '../../../../src/contract/session.js';
import type { User } from '../../../../src/contract/user.js';
import { brandColors, contrast } from '../../../../src/http/routes/pages/colors.js';
import { byPassword } from '../../../support/account.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { stepClock } from '../../../support/clock.js';
import { createFactors } from '../../../support/factors.js';
import { createPageBrowser, pageSettings } from '../../../support/page-browser.js';
import { createRedirectSteps, returnTo } from '../../../support/redirects.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, signIn } from '../../../support/users.js';

const second = 'https://second.example.com/in';
let postern: TestApp;
let ada: User;
beforeAll(async () => {
  postern = await startTestApp(
    await pageSettings([returnTo, second, 'com.example.app:/done', 'http://127.0.0.1/done'], {
      ...{ APP_NAME: 'Acme & Söhne', APP_TERMS_URL: 'https://acme.example/terms?a=1&b=2' },
      ...{ APP_PRIVACY_URL: 'https://acme.example/privacy' },
    }),
  );
  ada = await createUser(postern, { username: 'ada.pages', name: 'Ada' });
});
afterAll(() => postern.close());

const browser = () => createPageBrowser(() => postern);
const { begin, end } = createRedirectSteps(() => ({ postern, vendor: { authorize: () => Promise.reject() } }));
const factors = createFactors(() => postern);
const html = { headers: { accept: 'text/html' } };

/** An app whose user has a login of the pages. @returns what the app gets */
async function goThrough(page: ReturnType<typeof browser>, given?: string, more: object = {}) {
  const login = await begin('page', more);
  const state = await page.visit(login.url);
  const { url = '' } = await page.answer(state, given);
  const code = URL.canParse(url) ? (new URL(url).searchParams.get('code') ?? '') : '';
  return { login, state, url, code, approved: await end(login.body.id, code, login.codeVerifier) };
}
const devicesOf = (user: User) =>
  postern.database.query<{ id: string; is_page: boolean }>(
    testSql('select id, is_page from devices where user_id = $1', [user.id]),
  );
const isValid = async (token: string) => (await postern.api('POST', '/v1/sessions', { basic: token })).status === 201;

describe('the pages', () => {
  test.each(['/sign-in', '/account'])(
    '%s has the policy of the console, the brand, the links and one script',
    async (path) => {
      const answer = await browser().send(path, html);
      const text = await answer.text();
      expect(answer.status).toBe(200);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
      expect(policy).toMatch(
        /frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'/,
      );
      expect(answer.headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(text).toContain('<h1>Acme &amp; Söhne</h1>');
      expect(text).toContain(
        '<a href="https://acme.example/terms?a=1&amp;b=2">Terms</a><a href="https://acme.example/privacy">',
      );
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).not.toMatch(/<style|style=|onload/);
    },
  );

  test.each([
    ['es-MX, en;q=0.5', 'es', 'Iniciar sesión'],
    ['es;q=0.4, en;q=0.9', 'en', 'Sign in'],
    ['de', 'en', 'Sign in'],
  ])('speak the language that %s prefers', async (header, language, title) => {
    const text = await (await browser().send('/sign-in', { headers: { 'accept-language': header } })).text();
    expect(text).toContain(`<html lang="${language}">`);
    expect(text).toContain(`<title>${title} – `);
  });

  test('a browser loads less than 40 kB for the sign-in page', async () => {
    const page = browser();
    const text = await (await page.send('/sign-in', html)).text();
    const files = [...text.matchAll(/(?:href|src)="(\/pages\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(2);
    let bytes = gzipSync(text).length;
    for (const path of files) {
      const answer = await page.send(path, { headers: { 'accept-encoding': 'identity' } });
      expect(answer.headers.get('cache-control')).toContain('immutable');
      bytes += gzipSync(Buffer.from(await answer.arrayBuffer())).length;
    }
    expect(bytes).toBeLessThan(40_960);
  });

  test('a page that was opened under another host sends the browser to PUBLIC_URL once, with its query', async () => {
    const page = browser();
    const other = postern.url.replace('127.0.0.1', 'localhost');
    const first = await page.send(`${other}/sign-in?state=x`, html);
    expect([first.status, first.headers.get('location')]).toEqual([303, `${postern.url}/sign-in?state=x`]);
    // A proxy that changes the header Host leads back here.
    expect((await page.send(`${other}/account`, html)).status).toBe(200);
  });

  test('the logo is a PNG that the service has written, with the name as its text', async () => {
    const file = join(tmpdir(), `logo-${randomUUID()}.webp`);
    await sharp({ create: { width: 800, height: 200, channels: 4, background: '#0f766e' } })
      .webp()
      .toFile(file);
    const app = await postern.another({ APP_LOGO: file, PORT: '0' });
    try {
      const page = createPageBrowser(() => app);
      page.jar.set('postern-page-host', '1');
      const text = await (await page.send('/account', html)).text();
      const [, path = ''] = /<h1><img src="([^"]+)" alt="Acme &amp; Söhne" width="192" height="48">/.exec(text) ?? [];
      const answer = await page.send(path);
      expect(answer.headers.get('content-type')).toBe('image/png');
      expect(
        Buffer.from(await answer.arrayBuffer())
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
    } finally {
      await app.close();
      await rm(file);
    }
  });

  test('/link is one of them', async () => {
    const text = await (await browser().send('/link', html)).text();
    expect(text).toContain('Acme &amp; Söhne');
    expect(text).toContain('<output class="code" aria-live="polite">');
  });

  test('a name of a file that is none is 404', async () => {
    expect((await browser().send('/pages/assets/nothing.js')).status).toBe(404);
    expect((await browser().send('/pages/assets/..%2f..%2fpackage.json')).status).toBe(404);
  });

  test.each(['#3730a3', '#ffa500', '#808080', '#0f766e', '#000000'])('text of the colour %s can be read', (color) => {
    const { light, dark } = brandColors(color);
    expect(contrast(light.accent, '#ffffff')).toBeGreaterThanOrEqual(4.5);
    expect(contrast(light.accent, light.onAccent)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark.accent, '#181816')).toBeGreaterThanOrEqual(4.5);
    expect(contrast(dark.accent, dark.onAccent)).toBeGreaterThanOrEqual(4.5);
  });

  test('without PAGES there are none, and `page` is an unknown authenticator', async () => {
    const app = await postern.another({ PAGES: 'off', PORT: '0' });
    try {
      for (const path of ['/sign-in', '/account', '/pages/assets/x.js', '/v1/account/apps'])
        expect((await fetch(app.url + path)).status, path).toBe(404);
      for (const path of ['/pages/session', '/pages/flow', '/pages/answer'])
        expect((await fetch(app.url + path, { method: 'POST' })).status, path).toBe(404);
      const { status } = await app.api('POST', '/v1/tokens', {
        body: { authenticator: 'page', redirect_to: returnTo, code_challenge: 'a'.repeat(43), device: {} },
      });
      expect(status).toBe(422);
    } finally {
      await app.close();
    }
  });

  test.each([
    [{}, 'PUBLIC_URL is required with PAGES=on'],
    [{ PUBLIC_URL: 'http://auth.example.com' }, 'PUBLIC_URL must be https with PAGES=on'],
  ])('PAGES=on with %j fails at the start', (env, message) => {
    const needed = { SECRET_KEY: 'x'.repeat(32), ADMIN_API_KEY: 'y'.repeat(40) };
    expect(() => readConfig({ ...needed, PAGES: 'on', ...env })).toThrow(message);
  });
});

describe('the login of the pages', () => {
  test('is in a cookie that no script can read, and a page that loads gets a session', async () => {
    const page = browser();
    const { setCookie } = await page.signIn(ada);
    expect(setCookie).toMatch(/^postern-page=psa_[\w-]+; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Lax$/m);
    const answer = await page.post('/pages/session', null);
    expect([answer.status, ((await answer.json()) as { user_id: string }).user_id]).toEqual([201, ada.id]);
    await page.send('/pages/session', { method: 'DELETE', headers: { 'sec-fetch-site': 'same-origin' } });
    expect(page.jar.has('postern-page')).toBe(false);
    expect(await (await page.post('/pages/session', null)).json()).toEqual({ token: null });
  });

  test('with https the cookie has the prefix that no other host can set', async () => {
    const app = await postern.another({ PUBLIC_URL: 'https://auth.example.com', PORT: '0', TRUST_PROXY: '0' });
    try {
      const { setCookie } = await createPageBrowser(() => app).signIn(ada);
      expect(setCookie).toMatch(
        /^__Host-postern-page=psa_[\w-]+; Max-Age=34560000; Path=\/; HttpOnly; Secure; SameSite=Lax$/m,
      );
    } finally {
      await app.close();
    }
  });

  test('another login in the same browser ends the one before it', async () => {
    const page = browser();
    const bob = await createUser(postern, { username: 'bob.pages' });
    const first = await page.signIn(ada);
    await page.signIn(bob);
    expect(await isValid(first.token)).toBe(false);
  });

  test('its device does not count toward MAX_DEVICES, but those beyond 20 do', async () => {
    const user = await createUser(postern, { username: `many.${randomUUID().slice(0, 8)}` });
    for (let count = 0; count < 22; count += 1) await browser().signIn(user);
    const devices = await devicesOf(user);
    expect(devices.filter(({ is_page }) => is_page)).toHaveLength(20);
    expect(devices).toHaveLength(22);
  });
});

describe('a login of an app', () => {
  test('is that of the pages: the same user, and no second question', async () => {
    const page = browser();
    await page.signIn(ada);
    const first = await goThrough(page, 'allow');
    expect(first.url.startsWith(`${returnTo}?authentication_id=${first.login.body.id}&code=`)).toBe(true);
    expect([first.approved.status, first.approved.body.user_id]).toEqual([201, ada.id]);
    const again = await goThrough(page);
    expect(again.approved.body.status).toBe('approved');
  });

  test('of a second app asks “Continue as Ada?” the first time, and “no” is told to the app', async () => {
    const page = browser();
    await page.signIn(ada);
    await goThrough(page, 'allow');
    const login = await begin('page', { redirect_to: second });
    const state = await page.visit(login.url);
    const asked = { next: 'ask', app: second, login_hint: null, user: 'Ada' };
    expect(await page.flow(state)).toEqual(asked);
    expect(await page.answer(state)).toEqual(asked);
    const { url = '' } = await page.answer(state, 'refuse');
    expect(url).toBe(
      `${second}?authentication_id=${login.body.id}&error=access_denied&iss=${encodeURIComponent(postern.url)}`,
    );
    // A repeat gets the same, also with another answer.
    expect(await page.answer(state, 'allow')).toEqual({ url });
  });

  test('the answers are listed in the account, in the export, and can be taken back', async () => {
    const user = await createUser(postern, { username: `apps.${randomUUID().slice(0, 8)}` });
    const page = browser();
    await page.signIn(user);
    await goThrough(page, 'allow');
    const { session } = await signIn(postern, user);
    const listed = await postern.api<{ id: string; redirect_uri: string }[]>('GET', '/v1/account/apps', {
      bearer: session.token,
    });
    expect(listed.body.map(({ redirect_uri }) => redirect_uri)).toEqual([returnTo]);
    const [{ id } = { id: '' }] = listed.body;
    expect((await postern.api('DELETE', `/v1/account/apps/${randomUUID()}`, { bearer: session.token })).status).toBe(
      404,
    );
    const { session: ofAda } = await signIn(postern, ada);
    expect((await postern.api('DELETE', `/v1/account/apps/${id}`, { bearer: ofAda.token })).status).toBe(404);
    expect((await postern.api('DELETE', `/v1/account/apps/${id}`, { bearer: session.token })).status).toBe(204);
    const state = await page.visit((await begin('page')).url);
    expect((await page.flow(state)).next).toBe('ask');
  });

  test('entries that are no longer in REDIRECT_URIS go with the next answer', async () => {
    const user = await createUser(postern, { username: `gone.${randomUUID().slice(0, 8)}` });
    await postern.services.pageApps.allow(user.id, 'https://gone.example/');
    await postern.services.pageApps.allow(user.id, second);
    await postern.services.pageApps.allow(user.id, second);
    expect((await postern.services.pageApps.list(user.id)).map(({ redirect_uri }) => redirect_uri)).toEqual([second]);
  });

  test('an app on the device is one entry, whatever its port', async () => {
    const page = browser();
    await page.signIn(ada);
    const one = await goThrough(page, 'allow', { redirect_to: 'http://127.0.0.1:5001/done' });
    expect(one.approved.status).toBe(201);
    const other = await goThrough(page, 'allow', { redirect_to: 'http://127.0.0.1:5002/done' });
    expect(other.url.startsWith('http://127.0.0.1:5002/done?')).toBe(true);
    const listed = (await postern.services.pageApps.list(ada.id)).map(({ redirect_uri }) => redirect_uri);
    expect(listed.filter((uri) => uri === 'http://127.0.0.1/done')).toHaveLength(1);
  });

  test('has its entry of REDIRECT_URIS as client_id in access tokens, whatever the port; other logins have postern', async () => {
    const page = browser();
    await page.signIn(ada);
    const uri = 'https://api.example.com';
    await postern.api('POST', '/admin/v1/audiences', { bearer: postern.adminKey, body: { uri } });
    const clientOf = async (token = '') => {
      const { body: session } = await postern.api<NewSession>('POST', '/v1/sessions', { basic: token });
      const asked = { bearer: session.token, body: { audience: uri } };
      const { body } = await postern.api<{ access_token: string }>('POST', '/v1/access-tokens', asked);
      const [, payload = ''] = body.access_token.split('.');
      return JSON.parse(Buffer.from(payload, 'base64url').toString()).client_id;
    };
    const app = await goThrough(page, 'allow', { redirect_to: 'http://127.0.0.1:5003/done' });
    expect(await clientOf(app.approved.body.token)).toBe('http://127.0.0.1/done');
    const other = await goThrough(page, 'allow', { redirect_to: second });
    expect(await clientOf(other.approved.body.token)).toBe(second);
    expect(await clientOf((await signIn(postern, ada)).token)).toBe('postern');
  });

  test('is no new proof: it has the time of the login of the pages, and ends no later', async () => {
    const page = browser();
    const { id } = await page.signIn(ada);
    await postern.database.query(
      testSql(
        `update authentications set approved_at = approved_at - interval '1 hour', expires_at = expires_at - interval '2 hours'
         where id = $1`,
        [id],
      ),
    );
    const rows = (of: string) =>
      postern.database.query<{ proven: string; approved_at: string; expires_at: string }>(
        testSql(
          'select coalesce(authenticated_at, approved_at) as proven, approved_at, expires_at from authentications where id = $1',
          [of],
        ),
      );
    const { login, approved } = await goThrough(page, 'allow');
    const [[held], [own]] = [await rows(id), await rows(login.body.id)];
    expect([own?.proven, own?.expires_at]).toEqual([held?.approved_at, held?.expires_at]);
    expect(own?.approved_at).not.toBe(held?.approved_at);
    expect(Date.parse(approved.body.expires_at)).toBe(Date.parse(String(held?.expires_at)));
    // Its use does not make it longer.
    expect(await isValid(approved.body.token ?? '')).toBe(true);
    expect((await rows(login.body.id))[0]?.expires_at).toEqual(held?.expires_at);
  });

  test('has the time and the methods of the login of the pages, so a password there and one here are one factor', async () => {
    const user = await createUser(postern, { username: `amr.${randomUUID().slice(0, 8)}` });
    const page = browser();
    const held = await page.signIn(user);
    const check = async (bearer: string) =>
      (await postern.api<Session>('POST', '/v1/sessions/verify', { bearer })).body;
    const sessionOf = async (basic = '') =>
      (await postern.api<NewSession>('POST', '/v1/sessions', { basic })).body.token;
    const ofPage = await check(await sessionOf(held.token));
    const bearer = await sessionOf((await goThrough(page, 'allow')).approved.body.token);
    const { authenticated_at, amr, proven_at } = await check(bearer);
    expect([authenticated_at, amr, proven_at]).toEqual([ofPage.authenticated_at, ['pwd'], null]);
    const { body: proven } = await postern.api<{ token: string }>('PUT', '/v1/account/session-proof', {
      bearer,
      body: { proof: byPassword },
    });
    expect((await check(proven.token)).amr).toEqual(['pwd']);
  });

  test('asks for the second factor that the user has got since, and still ends with the login of the pages', async () => {
    const who = await factors.person({ username: `factor.${randomUUID().slice(0, 8)}` });
    const page = browser();
    const held = await page.signIn(who.user);
    expect((await goThrough(page, 'allow')).approved.body.status).toBe('approved');
    const { app } = await factors.enrolTotp(who);
    const { login, approved } = await goThrough(page, 'allow');
    expect([approved.status, approved.body.status]).toEqual([201, 'pending']);
    expect(approved.body.challenge?.type).toBe('totp');
    const { body } = await factors.answer(login.body.id, await app.code());
    expect(body.status).toBe('approved');
    const [row] = await postern.database.query<{ second_factor: string; is_old: boolean }>(
      testSql(
        `select a.second_factor, a.authenticated_at = p.approved_at as is_old
         from authentications a join authentications p on p.id = $2 where a.id = $1`,
        [login.body.id, held.id],
      ),
    );
    expect(row).toEqual({ second_factor: 'totp', is_old: true });
    await postern.api('DELETE', '/v1/tokens', { basic: body.token ?? '' });
    expect(await isValid(held.token)).toBe(false);
  });

  test('must end while the login of the pages is valid, also after a further step', async () => {
    const who = await factors.person({ username: `factor.${randomUUID().slice(0, 8)}` });
    const page = browser();
    const held = await page.signIn(who.user);
    const { app } = await factors.enrolTotp(who);
    const { login } = await goThrough(page, 'allow');
    await postern.api('DELETE', '/v1/tokens', { basic: held.token });
    expect((await factors.answer(login.body.id, await app.code())).status).toBe(400);
  });

  test('is none where the policy has ended the login of the pages', async () => {
    const page = browser();
    const { id } = await page.signIn(ada);
    await postern.database.query(
      testSql(`update authentications set approved_at = approved_at - interval '2 hours' where id = $1`, [id]),
    );
    const state = await page.visit((await begin('page')).url);
    expect((await page.flow(state)).next).not.toBe('sign_in');
    const shorter = await postern.another({ AUTHENTICATION_TTL: '1h', PORT: '0' });
    try {
      expect((await createPageBrowser(() => shorter, page.jar).flow(state)).next).toBe('sign_in');
    } finally {
      await shorter.close();
    }
  });

  test('has the second factor of the login of the pages', async () => {
    const page = browser();
    const { id } = await page.signIn(ada);
    await postern.database.query(testSql("update authentications set second_factor = 'totp' where id = $1", [id]));
    const { login } = await goThrough(page, 'allow');
    const [row] = await postern.database.query<{ second_factor: string }>(
      testSql('select second_factor from authentications where id = $1', [login.body.id]),
    );
    expect(row?.second_factor).toBe('totp');
  });

  test('prompt and max_age ask for a login that is new enough', async () => {
    const page = browser();
    await page.signIn(ada);
    await goThrough(page, 'allow');
    for (const more of [{ prompt: 'login' }, { max_age: 0 }]) {
      const login = await begin('page', more);
      const state = await page.visit(login.url);
      expect((await page.flow(state)).next).toBe('sign_in');
      expect((await page.answer(state, 'allow')).next).toBe('sign_in');
      await page.signIn(ada);
      const { url = '' } = await page.answer(state);
      expect(new URL(url).searchParams.get('code')).toMatch(/^[\w-]{32}$/);
    }
    expect((await page.flow(await page.visit((await begin('page', { max_age: 60 })).url))).next).toBe('go');
  });

  test('other authenticators take neither', async () => {
    const { status, body } = await begin('passkey', { prompt: 'login', max_age: 1 });
    expect(status).toBe(422);
    expect(body.errors.map(({ field, code }) => [field, code])).toEqual(
      expect.arrayContaining([
        ['prompt', 'not_supported'],
        ['max_age', 'not_supported'],
      ]),
    );
  });

  test('the login of the pages must still be valid when the app ends its login', async () => {
    const page = browser();
    const { token } = await page.signIn(ada);
    const login = await begin('page');
    const { url = '' } = await page.answer(await page.visit(login.url), 'allow');
    await postern.api('DELETE', '/v1/tokens', { basic: token });
    const { status } = await end(login.body.id, new URL(url).searchParams.get('code') ?? '', login.codeVerifier);
    expect(status).toBe(400);
  });
});

describe('the end of a login', () => {
  test('logging out of the app ends the login of the pages in that browser, and no other', async () => {
    const [page, elsewhere] = [browser(), browser()];
    const [here, other] = [await page.signIn(ada), await elsewhere.signIn(ada)];
    const { approved } = await goThrough(page, 'allow');
    expect((await postern.api('DELETE', '/v1/tokens', { basic: approved.body.token ?? '' })).status).toBe(200);
    expect(await isValid(here.token)).toBe(false);
    expect(await isValid(other.token)).toBe(true);
    expect(await (await page.post('/pages/session', null)).json()).toEqual({ token: null });
  });

  test('so does the removal of the device of the app', async () => {
    const page = browser();
    const here = await page.signIn(ada);
    const { approved } = await goThrough(page, 'allow');
    const { session } = await signIn(postern, ada);
    const { device_id } = approved.body;
    expect((await postern.api('DELETE', `/v1/devices/${device_id}`, { bearer: session.token })).status).toBe(200);
    expect(await isValid(here.token)).toBe(false);
  });
});

describe('a login that has ended', () => {
  test('is a page that explains, and offers to begin again at the app', async () => {
    const page = browser();
    const login = await begin('page');
    const state = await page.visit(login.url);
    await stepClock(postern.database, '11 minutes');
    try {
      for (const path of [`/redirects/${login.body.id}`, `/sign-in?state=${state}`]) {
        const answer = await page.send(path, html);
        const text = await answer.text();
        expect(answer.status).toBe(410);
        expect(text).toContain(`href="${returnTo}?authentication_id=${login.body.id}&amp;error=expired&amp;iss=`);
        expect(text).toContain('Begin again');
      }
      expect(await page.flow(state)).toMatchObject({ page: 'ended' });
    } finally {
      await stepClock(postern.database, '0');
    }
  });

  test('so is one that was opened too often, and HEAD counts as no visit', async () => {
    const page = browser();
    const { url } = await begin('page');
    for (let count = 0; count < 8; count += 1) await page.send(url, { method: 'HEAD' });
    for (let count = 0; count < 5; count += 1) expect((await page.send(url)).status).toBe(303);
    const answer = await page.send(url, html);
    expect(answer.status).toBe(410);
    expect(await answer.text()).toContain('Begin again');
  });

  test('an unknown state leads nowhere', async () => {
    const answer = await browser().send('/sign-in?state=nothing', html);
    expect([answer.status, (await answer.text()).includes('Begin again')]).toEqual([410, false]);
  });

  test('an account that is locked gets no login', async () => {
    const user = await createUser(postern, { username: `locked.${randomUUID().slice(0, 8)}`, email: newEmail() });
    const page = browser();
    await page.signIn(user);
    const state = await page.visit((await begin('page')).url);
    await postern.api('POST', `/admin/v1/users/${user.id}/lock`, {
      bearer: postern.adminKey,
      body: { permanent: true },
    });
    expect((await page.answer(state, 'allow')).next).toBe('sign_in');
  });
});
