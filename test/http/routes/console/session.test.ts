import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../../src/contract/authentication.js';
import type { ConsoleEntry } from '../../../../src/contract/console/session.js';
import type { NewSession } from '../../../../src/contract/session.js';
import { createAdministration } from '../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { createConsole } from '../../../support/console.js';
import { bindLogin } from '../../../support/dpop.js';
import { testSql } from '../../../support/sql.js';
import { createUser, password, passwordLogin, signIn } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { admin, isValid } = createAdministration(() => postern);
const { browser, operator } = createConsole(() => postern);

type Person = Awaited<ReturnType<typeof operator>>;

const codesOf = ({ status, body }: { status: number; body: { errors?: readonly { code: string }[] } | undefined }) => [
  status,
  ...(body?.errors ?? []).map(({ code }) => code),
];
const adminAnswer = async (bearer: string, path = '/users?limit=1') =>
  codesOf(await postern.api<{ errors?: { code: string }[] }>('GET', `/admin/v1${path}`, { bearer }));

/** Logs a person in with the password and the app, as the page does. */
async function logIn({ username, app }: Pick<Person, 'username' | 'app'>, device: object = {}) {
  const { body: begun } = await postern.api<Authentication>('POST', '/v1/tokens', {
    body: passwordLogin(username, password, device),
  });
  await app.rewind();
  const { body: approved } = await postern.api<Authentication>('POST', `/v1/tokens/${begun.id}/secret`, {
    body: { secret: await app.code() },
  });
  return { id: begun.id, token: approved.token ?? '' };
}

const renew = (client: Person['browser']) => client.send<NewSession>('POST', '/console/session');

describe('signing in', () => {
  test('keeps the token in a cookie that no script can read, and answers with a session', async () => {
    const person = await operator();
    const { token } = await logIn(person);
    const client = browser();
    const answer = await client.send<NewSession>('POST', '/console/session', { body: { authentication_token: token } });
    expect(answer.status).toBe(201);
    expect(answer.setCookies).toEqual([
      `postern_console=${token}; Path=/; HttpOnly; SameSite=Strict`,
      `postern_console_device=${answer.body.device_id}; Max-Age=34560000; Path=/; HttpOnly; SameSite=Strict`,
    ]);
    expect(answer.text).not.toContain('psa_');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.body).toMatchObject({ user_id: person.session.user_id, token: expect.stringMatching(/^pss_/) });
    expect(await adminAnswer(answer.body.token)).toEqual([200]);
    expect(await adminAnswer(answer.body.token, '/keys')).toEqual([200]);
  });

  test('renews the session with the cookie alone', async () => {
    const { browser: client, session } = await operator('support');
    const renewed = await renew(client);
    expect(renewed.status).toBe(201);
    expect(renewed.setCookies).toEqual([]);
    expect(renewed.body.id).not.toBe(session.id);
    expect(await adminAnswer(renewed.body.token)).toEqual([200]);
    expect(await adminAnswer(renewed.body.token, '/keys')).toEqual([403, 'insufficient_scope']);
    expect(await isValid(session.token)).toBe(true);
  });

  test('uses cookies over https that no other host and no page over http can set', async () => {
    const secure = await startTestApp({ PUBLIC_URL: 'https://auth.example.com' });
    try {
      const { browser: client } = await createConsole(() => secure).operator();
      expect([...client.cookies.keys()]).toEqual([...['__Host-postern_console', '__Host-postern_console_device']]);
      const token = client.cookies.get('__Host-postern_console') ?? '';
      expect((await renew(client)).status).toBe(201);
      // A cookie of a page over plain http is not accepted.
      const headers = { cookie: `postern_console=${token}`, 'sec-fetch-site': 'same-origin' };
      const forged = await secure.api('POST', '/console/session', { headers });
      expect(forged.status).toBe(401);
      const body = { authentication_token: token };
      const { setCookies } = await secure.api('POST', '/console/session', { body });
      expect(setCookies[0]).toBe(`__Host-postern_console=${token}; Path=/; HttpOnly; Secure; SameSite=Strict`);
      const separate = await secure.another({ CONSOLE_PORT: '0' });
      const answer = await fetch(`${separate.administrationUrl}/console/session`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'sec-fetch-site': 'same-origin',
          origin: 'https://console.example.com',
        },
        body: JSON.stringify(body),
      });
      expect(answer.headers.getSetCookie()[0]).toBe(setCookies[0]);
      await separate.close();
    } finally {
      await secure.close();
    }
  });

  test('tells the page on which device this browser last signed in', async () => {
    const entry = await browser().send<ConsoleEntry>('GET', '/console/sign-in');
    expect(entry.body).toEqual({
      ...{ app_name: 'Postern', takes_pin: true, device_id: null },
      notification_types: ['payment', 'pool', 'request'],
    });
    const { browser: client, session } = await operator();
    await client.send('DELETE', '/console/session');
    const later = await client.send<ConsoleEntry>('GET', '/console/sign-in');
    expect(later.body.device_id).toBe(session.device_id);
    client.cookies.set('postern_console_device', 'rubbish');
    expect((await client.send<ConsoleEntry>('GET', '/console/sign-in')).body.device_id).toBeNull();
  });

  test('is refused without a login, with a wrong token, and with a token of another kind', async () => {
    expect(codesOf(await renew(browser()))).toEqual([401, 'invalid_authentication_token']);
    const { session } = await operator();
    for (const token of ['rubbish', session.token, `${'psa_'}${'A'.repeat(80)}`]) {
      const client = browser();
      const body = { authentication_token: token };
      const answer = await client.send('POST', '/console/session', { body });
      expect(codesOf(answer)).toEqual([401, 'invalid_authentication_token']);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
      expect(answer.setCookies).toEqual([]);
      client.cookies.set('postern_console', token);
      expect(codesOf(await renew(client))).toEqual([401, 'invalid_authentication_token']);
    }
    const badForms = [{}, { authentication_token: 1 }, []];
    for (const body of badForms) {
      expect((await browser().send('POST', '/console/session', { body })).status).toBe(422);
    }
  });

  test('needs an active role and a login with a second factor', async () => {
    const user = await createUser(postern);
    const { token } = await signIn(postern, user);
    const attempt = async () => {
      const answer = await browser().send('POST', '/console/session', { body: { authentication_token: token } });
      expect(answer.setCookies).toEqual([]);
      return codesOf(answer);
    };
    expect(await attempt()).toEqual([403, 'role_required']);
    await admin('PATCH', `/users/${user.id}`, { role: 'support' });
    expect(await attempt()).toEqual([403, 'role_not_active']);
    await postern.database.query(testSql('update users set role_active_since = db_now() where id = $1', [user.id]));
    expect(await attempt()).toEqual([403, 'second_factor_required']);
  });
});

describe('a signed-in operator', () => {
  test('who loses the role is refused by the API and by the next renewal', async () => {
    const { browser: client, session } = await operator();
    const { token } = (await renew(client)).body;
    await admin('PATCH', `/users/${session.user_id}`, { role: 'support' });
    expect(await adminAnswer(token, '/keys')).toEqual([403, 'insufficient_scope']);
    expect((await renew(client)).status).toBe(201);
    await admin('PATCH', `/users/${session.user_id}`, { role: 'user' });
    expect(await adminAnswer(token)).toEqual([401, 'invalid_api_key']);
    expect(codesOf(await renew(client))).toEqual([403, 'role_required']);
  });

  test('who is locked is refused until the lock is removed', async () => {
    const { browser: client, session } = await operator();
    await admin('POST', `/users/${session.user_id}/lock`, { permanent: true });
    expect(await adminAnswer(session.token)).toEqual([401, 'invalid_session_token']);
    expect(codesOf(await renew(client))).toEqual([403, 'account_locked']);
    await admin('POST', `/users/${session.user_id}/unlock`);
    expect((await renew(client)).status).toBe(201);
  });

  test.each([
    ['logged out', 'POST', '/logout', undefined, [401, 'invalid_authentication_token']],
    ['deactivated', 'PATCH', '', { status: 'deactivated' }, [400, 'account_unusable']],
    ['deleted', 'DELETE', '', undefined, [401, 'invalid_authentication_token']],
    ['given another password', 'PATCH', '', { password: 'nine dull horses' }, [401, 'invalid_authentication_token']],
  ])('who is %s is refused at once', async (_what, method, path, body, refusal) => {
    const { browser: client, session } = await operator();
    expect((await admin(method, `/users/${session.user_id}${path}`, body)).status).toBeLessThan(300);
    expect(await adminAnswer(session.token)).toEqual([401, 'invalid_session_token']);
    expect(codesOf(await renew(client))).toEqual(refusal);
  });

  test('whose token or device is removed from elsewhere is refused at once', async () => {
    const person = await operator();
    const { token, id } = await logIn(person);
    const elsewhere = browser();
    await elsewhere.send('POST', '/console/session', { body: { authentication_token: token } });
    expect((await postern.api('DELETE', `/v1/tokens/${id}`, { bearer: person.session.token })).status).toBe(200);
    expect(codesOf(await renew(elsewhere))).toEqual([401, 'invalid_authentication_token']);
    const { user_id: userId, device_id: deviceId } = person.session;
    await admin('DELETE', `/users/${userId}/devices/${deviceId}`);
    expect(codesOf(await renew(person.browser))).toEqual([401, 'invalid_authentication_token']);
    expect(await isValid(person.session.token)).toBe(false);
  });

  test('who signs out ends the login and loses the cookie', async () => {
    const { browser: client, session } = await operator();
    const token = client.cookies.get('postern_console') ?? '';
    const signedOut = await client.send('DELETE', '/console/session');
    expect(signedOut.status).toBe(204);
    expect(signedOut.setCookies).toEqual(['postern_console=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict']);
    expect(client.cookies.has('postern_console')).toBe(false);
    expect(await isValid(session.token)).toBe(false);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    expect((await client.send('DELETE', '/console/session')).status).toBe(204);
    client.cookies.set('postern_console', token);
    expect((await client.send('DELETE', '/console/session')).status).toBe(204);
  });

  test('with a second token of another host ends every login that the browser sends, and renews none', async () => {
    for (const PUBLIC_URL of ['https://auth.example.com', 'http://auth.example.com']) {
      const app = await postern.another({ PUBLIC_URL });
      try {
        const people = createConsole(() => app);
        const [victim, attacker] = [await people.operator(), await people.operator()];
        const name = PUBLIC_URL.startsWith('https') ? '__Host-postern_console' : 'postern_console';
        const [own = '', planted = ''] = [victim, attacker].map(({ browser: each }) => each.cookies.get(name));
        const send = (method: 'POST' | 'DELETE', cookie: string) =>
          app.api<NewSession & Pick<ProblemAnswer, 'errors'>>(method, '/console/session', {
            headers: { cookie, 'sec-fetch-site': 'same-origin' },
          });
        for (const cookie of [`${name}=${planted}; ${name}=${own}`, `${name}=${own};${name}=${planted}`]) {
          expect(codesOf(await send('POST', cookie))).toEqual([401, 'invalid_authentication_token']);
        }
        for (const other of ['__Secure-postern_console', 'Postern_console', 'x__Host-postern_console']) {
          const renewed = await send('POST', `${other}=${planted}; ${name}=${own}`);
          expect([renewed.status, renewed.body.user_id]).toEqual([201, victim.session.user_id]);
        }
        const all = `postern_console=${planted}; __Host-postern_console=${own}; ${name}=rubbish; ${name}=${planted}`;
        expect((await send('DELETE', all)).status).toBe(204);
        for (const basic of [own, planted]) {
          expect((await app.api('POST', '/v1/sessions', { basic })).status).toBe(401);
        }
      } finally {
        await app.close();
      }
    }
  });

  test('ends the login of this browser also if another host has set a token that only its own key can end', async () => {
    const victim = await operator();
    const own = victim.browser.cookies.get('postern_console') ?? '';
    const bound = await bindLogin(postern, await createUser(postern), { model: 'Fairphone' });
    const cookie = `__Host-postern_console=${bound.token}; postern_console=${own}`;
    const signedOut = await postern.api('DELETE', '/console/session', {
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    expect([signedOut.status, signedOut.setCookies.length]).toEqual([204, 1]);
    expect((await postern.api('POST', '/v1/sessions', { basic: own })).status).toBe(401);
    expect(await isValid(victim.session.token)).toBe(false);
  });

  test('needs a new proof for keys when the login is old', async () => {
    const { browser: client, session } = await operator();
    await postern.database.query(
      testSql(`update authentications set approved_at = approved_at - interval '1 hour' where user_id = $1`, [
        session.user_id,
      ]),
    );
    const { token: bearer } = (await renew(client)).body;
    const body = { name: 'late', scopes: ['users:read'] };
    const refused = await postern.api<{ errors: { code: string }[] }>('POST', '/admin/v1/keys', { bearer, body });
    expect(codesOf(refused)).toEqual([403, 'fresh_proof_required']);
  });

  test('keeps a re-authentication when the page is loaded again, until it is too old, and only for this login', async () => {
    const person = await operator();
    const userId = person.session.user_id;
    const tryKey = async (bearer: string) => {
      const body = { name: `key ${randomUUID()}`, scopes: ['users:read'] };
      return codesOf(await postern.api<{ errors: { code: string }[] }>('POST', '/admin/v1/keys', { bearer, body }));
    };
    const age = (table: string, column: string) =>
      postern.database.query(
        testSql(`update ${table} set ${column} = ${column} - interval '1 hour' where user_id = $1`, [userId]),
      );
    await age('authentications', 'approved_at');
    const { token: bearer } = (await renew(person.browser)).body;
    await person.app.rewind();
    const proof = { type: 'totp', secret: await person.app.code() };
    expect((await postern.api('PUT', '/v1/account/session-proof', { bearer, body: { proof } })).status).toBe(200);
    expect((await tryKey(bearer))[0]).toBe(201);
    const reloaded = (await renew(person.browser)).body.token;
    expect(reloaded).not.toBe(bearer);
    expect((await tryKey(reloaded))[0]).toBe(201);

    const other = await logIn(person);
    const elsewhere = browser();
    await elsewhere.send('POST', '/console/session', { body: { authentication_token: other.token } });
    await age('authentications', 'approved_at');
    expect(await tryKey((await renew(elsewhere)).body.token)).toEqual([403, 'fresh_proof_required']);

    await age('sessions', 'proven_at');
    expect(await tryKey((await renew(person.browser)).body.token)).toEqual([403, 'fresh_proof_required']);
  });
});

describe('a request from another site', () => {
  const origin = () => new URL(postern.url).origin;

  test('is refused and changes nothing', async () => {
    const { browser: client, session } = await operator();
    const cookie = [...client.cookies].map((pair) => pair.join('=')).join('; ');
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', origin: origin() },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${origin()}.evil.example` },
      { origin: origin().replace('http:', 'https:') },
    ];
    for (const headers of foreign) {
      for (const method of ['POST', 'DELETE']) {
        const answer = await postern.api<{ errors: { code: string }[] }>(method, '/console/session', {
          headers: { ...headers, cookie },
        });
        expect([headers, ...codesOf(answer)]).toEqual([headers, 403, 'cross_site_request']);
      }
    }
    expect(await isValid(session.token)).toBe(true);
    expect((await renew(client)).status).toBe(201);
  });

  test('is recognised by Origin if there is no Sec-Fetch-Site; a request with neither header is accepted', async () => {
    const { browser: client } = await operator();
    const cookie = [...client.cookies].map((pair) => pair.join('=')).join('; ');
    for (const headers of [{ cookie, origin: origin() }, { cookie }]) {
      expect((await postern.api('POST', '/console/session', { headers })).status).toBe(201);
    }
    const proxied = await startTestApp({ PUBLIC_URL: 'https://auth.example.com' });
    try {
      for (const [pageOrigin, status] of [
        ['https://auth.example.com', 401],
        ['https://other.example.com', 403],
      ] as const) {
        const answer = await proxied.api('POST', '/console/session', { headers: { origin: pageOrigin } });
        expect(answer.status).toBe(status);
      }
    } finally {
      await proxied.close();
    }
  });
});

test('CONSOLE=off removes every route', async () => {
  const withoutConsole = await startTestApp({ CONSOLE: 'off' });
  try {
    const paths = [
      ...(['GET /console/sign-in', 'POST /console/session', 'DELETE /console/session'] as const),
      ...(['POST /console/setup', 'POST /console/setup/link', 'POST /console/setup/factor'] as const),
    ];
    for (const path of paths) {
      const [method = '', url = ''] = path.split(' ');
      expect([path, (await fetch(withoutConsole.url + url, { method })).status]).toEqual([path, 404]);
    }
    expect(Object.keys(withoutConsole.app.swagger().paths ?? {}).filter((path) => path.startsWith('/console'))).toEqual(
      [],
    );
  } finally {
    await withoutConsole.close();
  }
});
