import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newToken } from '../../../src/lib/crypto/token-strings.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type BadRequests, createBadRequests, expectRefusal, noLimits } from '../../support/bad-requests.js';
import { testSql } from '../../support/sql.js';
import { createUser, signIn } from '../../support/users.js';

let postern: TestApp;
let bad: BadRequests;
/** One valid credential of each kind. */
const good = { authentication: '', session: '', key: '' };
beforeAll(async () => {
  postern = await startTestApp(noLimits);
  bad = createBadRequests(postern);
  const { token, session } = await signIn(postern, await createUser(postern));
  const { body: key } = await postern.api<{ token: string }>('POST', '/admin/v1/keys', {
    bearer: postern.adminKey,
    body: { name: 'test', scopes: ['users:read'] },
  });
  Object.assign(good, { authentication: token, session: session.token, key: key.token });
  // A use of a key is recorded once a minute: from now on not for an hour, however long the tests take.
  await postern.database.query(testSql("update api_keys set last_used_at = db_now() + interval '1 hour'"));
});
afterAll(() => postern.close());

type Kind = keyof typeof good;
interface ProtectedRoute {
  readonly kind: Kind;
  readonly method: string;
  readonly path: string;
  readonly scheme: 'Basic' | 'Bearer';
  readonly code: string;
}
/** Routes for each kind of credential, with the error code that each returns for an invalid one. */
const routes: readonly ProtectedRoute[] = [
  {
    kind: 'authentication',
    method: 'POST',
    path: '/v1/sessions',
    scheme: 'Basic',
    code: 'invalid_authentication_token',
  },
  { kind: 'session', method: 'POST', path: '/v1/sessions/verify', scheme: 'Bearer', code: 'invalid_session_token' },
  { kind: 'session', method: 'GET', path: '/v1/sessions/verify', scheme: 'Bearer', code: 'invalid_session_token' },
  // A path that the fast path of session checks does not handle.
  { kind: 'session', method: 'GET', path: '/v1/sessions/verify?x=', scheme: 'Bearer', code: 'invalid_session_token' },
  { kind: 'key', method: 'GET', path: '/admin/v1/users', scheme: 'Bearer', code: 'invalid_api_key' },
];
const kinds: readonly Kind[] = ['authentication', 'session', 'key'];

const base64 = (text: string) => Buffer.from(text).toString('base64');
const headerOf = ({ scheme }: ProtectedRoute, token: string) =>
  `${scheme} ${scheme === 'Basic' ? base64(token) : token}`;

/** Sends a request over a socket: fetch normalises headers, and refuses the invalid ones that this test needs. */
const sendTo = ({ method, path }: ProtectedRoute, ...authorization: readonly string[]) => {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', 'Content-Length: 0'];
  return bad.sendRaw(`${[...lines, ...authorization.map((value) => `Authorization: ${value}`)].join('\r\n')}\r\n\r\n`);
};

describe.each(routes.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const { kind, scheme, code } = route;
  const other = scheme === 'Basic' ? 'Bearer' : 'Basic';

  test('accepts its own kind of credential', async () => {
    expect((await sendTo(route, headerOf(route, good[kind])))?.status).toBeLessThan(300);
  });

  test.each(kinds.filter((wrong) => wrong !== kind))('refuses a %s token', async (wrong) => {
    const answer = await bad.expectNoChange(() => sendTo(route, headerOf(route, good[wrong])));
    expectRefusal(answer, 401, code);
    const needed = { authentication: 'psa_…', session: 'pss_…', key: 'psk_…' }[kind];
    expect(JSON.parse(answer?.text ?? '').detail).toMatch(new RegExp(`needs an? .*\\(${needed}\\)`));
  });

  test.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['the scheme alone', scheme],
    ['the scheme and a space', `${scheme} `],
    ['the other scheme alone', other],
    ['an unknown scheme', 'Digest username="x"'],
    ['an unknown scheme with a token', 'Token abc'],
    ['a word', 'x'],
    ['two words', `${scheme} a b`],
    ['a list', `${scheme} a, ${scheme} b`],
    ['parameters', `${scheme} token="a"`],
    ['quotes', `${scheme} "a"`],
    ['513 characters', `${scheme} ${'x'.repeat(513 - scheme.length - 1)}`],
    ['15,000 characters', `${scheme} ${'x'.repeat(15_000)}`],
    ['bytes beyond ASCII', `${scheme} \xff\xfe`],
    ['a tab', `${scheme}\tabc`],
  ])('refuses an Authorization of %s with 401, and names the needed scheme', async (_, value) => {
    const answer = await bad.expectNoChange(() => sendTo(route, value));
    expectRefusal(answer, 401);
    expect(answer?.headers['www-authenticate']).toMatch(new RegExp(`^${scheme} realm="postern"`));
  });

  test('refuses a missing Authorization with 401', async () => {
    expectRefusal(await bad.expectNoChange(() => sendTo(route)), 401, 'missing_credentials');
  });

  test('answers error="invalid_token" only for credentials of its own scheme', async () => {
    const challengeOf = async (...values: readonly string[]) =>
      (await sendTo(route, ...values))?.headers['www-authenticate'];
    for (const values of [[scheme], [`${scheme} a b`], [`${scheme} ${'x'.repeat(600)}`], [`${scheme} x`]]) {
      const challenge = await challengeOf(...values);
      if (scheme === 'Bearer') expect(challenge).toBe('Bearer realm="postern", error="invalid_token"');
      else expect(challenge).toBe('Basic realm="postern", charset="UTF-8"');
    }
    for (const values of [[], [''], [other], [`${other} x`], ['Digest x']]) {
      expect(await challengeOf(...values)).not.toContain('error=');
    }
  });

  test('refuses a valid token with more text after it with 401', async () => {
    for (const more of [' x', ', x', `, ${headerOf(route, good[kind])}`]) {
      const value = headerOf(route, good[kind]) + more;
      expectRefusal(await bad.expectNoChange(() => sendTo(route, value)), 401, 'invalid_authorization_header');
    }
  });

  test('refuses a valid token under the other scheme with 401', async () => {
    const value = `${other} ${other === 'Basic' ? base64(good[kind]) : good[kind]}`;
    const answer = await bad.expectNoChange(() => sendTo(route, value));
    expectRefusal(answer, 401, 'missing_credentials');
    if (other === 'Bearer') expect(JSON.parse(answer?.text ?? '').detail).toContain('with the scheme Basic');
  });

  test('refuses two Authorization headers with 401, even if one is valid', async () => {
    const [right, wrong] = [headerOf(route, good[kind]), headerOf(route, 'x')];
    for (const values of [
      [right, right],
      [right, wrong],
      [wrong, right],
      [right, ''],
    ] as const) {
      expectRefusal(await bad.expectNoChange(() => sendTo(route, ...values)), 401, 'invalid_authorization_header');
    }
  });

  test.each<[string, (token: string) => string]>([
    ['without its last character', (token) => token.slice(0, -1)],
    ['without its prefix', (token) => token.slice(4)],
    ['with one more character', (token) => `${token}A`],
    ['with padding', (token) => `${token}=`],
    ['twice', (token) => token + token],
    ['in upper case', (token) => token.toUpperCase()],
    ['in lower case', (token) => token.toLowerCase()],
    ['with its prefix in upper case', (token) => token.slice(0, 4).toUpperCase() + token.slice(4)],
    ['with another last character', (token) => token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))],
    ['with another first character', (token) => token.replace(/(?<=_)./, (first) => (first === 'A' ? 'B' : 'A'))],
    ['with two characters swapped', (token) => token.replace(/(?<=^.{40,})(.)(?!\1)(.)/, '$2$1')],
    ['with a slash for its underscore', (token) => token.replace('_', '/')],
    ['with a NUL after it', (token) => `${token}%00`],
    ['percent-encoded', (token) => token.replaceAll('_', '%5f')],
    ['in quotes', (token) => `"${token}"`],
    ['in Cyrillic letters', (token) => token.replace('p', '\u0440')],
  ])('refuses a valid token %s', async (_, change) => {
    expect(change(good[kind])).not.toBe(good[kind]);
    expectRefusal(await bad.expectNoChange(() => sendTo(route, headerOf(route, change(good[kind])))), 401, code);
  });

  test('refuses a well-formed token that was never issued', async () => {
    const { token } = newToken(kind, kind === 'key' ? [randomUUID()] : [randomUUID(), randomUUID()]);
    expectRefusal(await bad.expectNoChange(() => sendTo(route, headerOf(route, token))), 401, code);
  });

  test('refuses a token with the ids of a valid one and other random bits', async () => {
    const bytes = Buffer.from(good[kind].slice(4), 'base64url');
    const id = (at: number) =>
      bytes
        .subarray(at, at + 16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    const { token } = newToken(kind, kind === 'key' ? [id(0)] : [id(0), id(16)]);
    expect(token.slice(0, 20)).toBe(good[kind].slice(0, 20));
    expectRefusal(await bad.expectNoChange(() => sendTo(route, headerOf(route, token))), 401, code);
  });

  test.each(['access_token', 'token', 'api_key', 'authorization'])('ignores a token in ?%s=', async (name) => {
    const withToken = { ...route, path: `${route.path}${route.path.includes('?') ? '&' : '?'}${name}=${good[kind]}` };
    expectRefusal(await bad.expectNoChange(() => sendTo(withToken)), 401, 'missing_credentials');
  });
});

describe('Basic credentials are refused', () => {
  const [route] = routes as readonly [ProtectedRoute];
  test.each<[string, () => string]>([
    ['not in base64', () => good.authentication],
    ['only padding', () => '===='],
    ['in base64 without its padding', () => base64(`${good.authentication}:`).replaceAll('=', '')],
    ['in base64url', () => base64(`${good.authentication}:\xff\xfe`).replaceAll('+', '-').replaceAll('/', '_')],
    ['in base64 with another character at the end', () => `${base64(good.authentication)}!`],
    ['in base64 with another character inside', () => base64(good.authentication).replace(/^.{8}/, '$&*')],
    ['in base64 of base64', () => base64(base64(good.authentication))],
    ['with a password', () => base64(`${good.authentication}:x`)],
    ['as the password', () => base64(`:${good.authentication}`)],
    ['with two colons', () => base64(`${good.authentication}::`)],
    ['with a line feed', () => base64(`${good.authentication}\n`)],
    ['with a NUL', () => base64(`${good.authentication}\0`)],
    ['in UTF-16', () => Buffer.from(good.authentication, 'utf16le').toString('base64')],
  ])('%s', async (_, credentials) => {
    expectRefusal(
      await bad.expectNoChange(() => sendTo(route, `Basic ${credentials()}`)),
      401,
      'invalid_authentication_token',
    );
  });
});

test('a key without the scope gets 403', async () => {
  const headers = { Authorization: `Bearer ${good.key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ username: 'x' });
  expectRefusal(
    await bad.expectNoChange(() => bad.send('POST', '/admin/v1/users', { headers, body })),
    403,
    'insufficient_scope',
  );
  expectRefusal(
    await bad.expectNoChange(() => bad.send('GET', '/admin/v1/keys', { headers })),
    403,
    'insufficient_scope',
  );
});

test('an unauthorized caller gets no errors of the body or the query', async () => {
  const sent = { headers: { 'Content-Type': 'application/json' }, body: '{"username":7}' };
  expectRefusal(await bad.expectNoChange(() => bad.send('POST', '/admin/v1/users', sent)), 401, 'missing_credentials');
  expectRefusal(
    await bad.expectNoChange(() => bad.send('GET', '/v1/notifications?page=0')),
    401,
    'missing_credentials',
  );
});

describe('an Idempotency-Key', () => {
  const send = (path: string, ...keys: readonly string[]) => {
    const lines = [`POST ${path} HTTP/1.1`, 'Host: x', 'Connection: close', 'Content-Type: application/json'];
    const authorization = `Authorization: Bearer ${postern.adminKey}`;
    const all = [...lines, authorization, 'Content-Length: 2', ...keys.map((key) => `Idempotency-Key: ${key}`)];
    return bad.sendRaw(`${all.join('\r\n')}\r\n\r\n{}`);
  };

  test.each([
    ['of 256 characters', ['x'.repeat(256)]],
    ['of 10,000 characters', ['x'.repeat(10_000)]],
    ['that is empty', ['']],
    ['with a tab', ['a\tb']],
    ['with a DEL', ['a\x7fb']],
    ['beyond ASCII', ['caf\xe9']],
    ['that is sent twice', ['a', 'b']],
    ['that is sent twice with one value', ['a', 'a']],
  ])('%s gets 400, on every operation', async (_, keys) => {
    for (const path of ['/admin/v1/users', '/admin/v1/notifications', '/v1/tokens', '/livez', '/nothing']) {
      const answer = await bad.expectNoChange(() => send(path, ...keys));
      expectRefusal(answer, 400, 'malformed_request');
      expect(answer?.headers).not.toHaveProperty('idempotency-key');
    }
  });

  test.each([
    'x'.repeat(255),
    '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~',
    "'; drop table idempotency_keys; --",
    '{"a": [1]}',
  ])('%.60s is echoed unchanged', async (key) => {
    const answer = await send('/v1/tokens', key);
    expectRefusal(answer, 422, 'required');
    expect(answer?.headers['idempotency-key']).toBe(key);
  });
});

test('the service logs no internal error and no credential for these requests', () => {
  expect(bad.internalErrors()).toEqual([]);
  const logged = postern.logged.join('\n');
  for (const token of Object.values(good)) expect(logged).not.toContain(token.slice(4));
});
