import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UserDevice, UserToken } from '../../../../src/contract/administration.js';
import type { Authentication } from '../../../../src/contract/authentication.js';
import { byPassword } from '../../../support/account.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { type BoundLogin, bindLogin, newProofKey, proofFor, requestSession } from '../../../support/dpop.js';
import { queriesOf } from '../../../support/queries.js';
import { codeOf, createUser, login, newPhone, passwordLogin, signIn, smsLogin } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PIN_POLICY: 'optional' });
});
afterAll(() => postern.close());

const newBoundLogin = async () => bindLogin(postern, await createUser(postern));
const codesOf = (answer: { status: number; body: Pick<ProblemAnswer, 'errors'> }) => [
  answer.status,
  answer.body.errors?.[0]?.code,
];

describe('a login with a key', () => {
  test('answers with a bound token and a nonce, and the token gets sessions with a proof', async () => {
    const login = await newBoundLogin();
    expect(login.authentication.is_bound).toBe(true);
    const first = await requestSession(postern, login.token, proofFor(postern, login));
    expect(first.status).toBe(201);
    const nonce = first.headers['dpop-nonce'] ?? '';
    const second = await requestSession(postern, login.token, proofFor(postern, { ...login, nonce }));
    expect(second.status).toBe(201);
    for (const { body } of [first, second]) {
      expect((await postern.api('POST', '/v1/sessions/verify', { bearer: body.token })).status).toBe(200);
    }
  });

  test('also takes a key on Ed25519', async () => {
    const user = await createUser(postern);
    const key = newProofKey('Ed25519');
    const { body, headers } = await login(postern, user, { jwk: key.jwk });
    const proof = proofFor(postern, {
      ...{ key, token: body.token ?? '', authentication: body, nonce: headers['dpop-nonce'] ?? '' },
    });
    expect((await requestSession(postern, body.token ?? '', proof)).status).toBe(201);
  });

  test('binds the token of a login in two steps', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const key = newProofKey();
    const started = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: smsLogin(user.phone, { jwk: key.jwk }),
    });
    expect([started.body.is_bound, started.headers['dpop-nonce']]).toEqual([undefined, undefined]);
    const { body, headers } = await postern.api<Authentication>('POST', `/v1/tokens/${started.body.id}/secret`, {
      body: { secret: await codeOf(postern, started.body.id) },
    });
    expect(body.is_bound).toBe(true);
    const token = body.token ?? '';
    const boundLogin = { key, token, authentication: body, nonce: headers['dpop-nonce'] ?? '' };
    expect(codesOf(await requestSession(postern, token))).toEqual([401, 'invalid_dpop_proof']);
    expect((await requestSession(postern, token, proofFor(postern, boundLogin))).status).toBe(201);
  });

  test('shows the binding in the lists of devices and tokens', async () => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user, { model: 'without' });
    await bindLogin(postern, user, { model: 'with' });
    const devices = await postern.api<UserDevice[]>('GET', '/v1/devices', { bearer: session.token });
    expect(devices.body.map(({ model, is_bound }) => [model, is_bound])).toEqual([
      ['with', true],
      ['without', false],
    ]);
    const list = <Item>(what: string) =>
      postern.api<Item[]>('GET', `/admin/v1/users/${user.id}/${what}`, { bearer: postern.adminKey });
    expect((await list<UserDevice>('devices')).body.map(({ is_bound }) => is_bound)).toEqual([true, false]);
    expect((await list<UserToken>('tokens')).body.map(({ is_bound }) => is_bound)).toEqual([true, false]);
  });

  test('is refused with 422 for a key that is private, of another type or malformed', async () => {
    const user = await createUser(postern);
    const { jwk } = newProofKey();
    for (const wrong of [
      { ...jwk, d: jwk.x },
      { ...jwk, y: jwk.x },
      { ...jwk, y: undefined },
      { ...jwk, x: 'short' },
      { ...jwk, kty: 'RSA' },
      { ...jwk, crv: 'P-384' },
      { kty: 'oct', k: 'AA' },
      {},
      [],
      'key',
      null,
    ]) {
      const { status, body } = await postern.api<ProblemAnswer>('POST', '/v1/tokens', {
        body: passwordLogin(user.username, undefined, { jwk: wrong }),
      });
      expect([wrong, status]).toEqual([wrong, 422]);
      expect(body.errors.every(({ field }) => field?.startsWith('device.jwk'))).toBe(true);
    }
  });

  test('with a wrong password gets the same response as without a key', async () => {
    const user = await createUser(postern);
    const { body, headers } = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: passwordLogin(user.username, 'wrong', { jwk: newProofKey().jwk }),
    });
    expect([body.status, body.is_bound, headers['dpop-nonce']]).toEqual(['rejected', undefined, undefined]);
  });
});

describe('a token without a key', () => {
  test('needs no proof, and its answers have no new members or headers', async () => {
    const user = await createUser(postern);
    const { body, headers } = await login(postern, user);
    expect([body.is_bound, headers['dpop-nonce']]).toEqual([undefined, undefined]);
    const { status, headers: sessionHeaders } = await requestSession(postern, body.token ?? '');
    expect([status, sessionHeaders['dpop-nonce']]).toEqual([201, undefined]);
  });

  test('ignores a DPoP header, also one that is not valid', async () => {
    const { body } = await login(postern, await createUser(postern));
    const token = body.token ?? '';
    const foreign = { key: newProofKey(), token, authentication: body, nonce: 'none' };
    for (const proof of [proofFor(postern, foreign), 'junk', '']) {
      expect((await requestSession(postern, token, proof)).status).toBe(201);
    }
  });
});

/** Proofs that are refused, and the cause that `detail` names. */
const refusals: readonly [string, (login: BoundLogin) => string | undefined, string][] = [
  ['without a proof', () => undefined, 'in the header DPoP'],
  ['with an empty header', () => '', 'must hold one JWT'],
  ['with a text that is no JWT', () => 'a.b.c', 'must hold one JWT'],
  [
    'with two proofs',
    (boundLogin) => `${proofFor(postern, boundLogin)}, ${proofFor(postern, boundLogin)}`,
    'must hold one JWT',
  ],
  [
    'with the algorithm none',
    (boundLogin) => proofFor(postern, boundLogin, { header: { alg: 'none' } }),
    'must hold one JWT',
  ],
  ['with another key', (boundLogin) => proofFor(postern, { ...boundLogin, key: newProofKey() }), 'Another key'],
  [
    'with a proof that is too long',
    (boundLogin) => proofFor(postern, boundLogin, { claims: { a: 'a'.repeat(4000) } }),
    'one JWT',
  ],
  [
    'for another method',
    (boundLogin) => proofFor(postern, boundLogin, { claims: { htm: 'GET' } }),
    'htm must be the method',
  ],
  [
    'for another path',
    (boundLogin) => proofFor(postern, boundLogin, { claims: { htu: `${postern.url}/v1/tokens` } }),
    'htu must be',
  ],
  [
    'for another host',
    (boundLogin) => proofFor(postern, boundLogin, { claims: { htu: 'http://evil.example/v1/sessions' } }),
    'htu',
  ],
  ['for another scheme', (boundLogin) => proofFor(postern, boundLogin, { claims: { htu: toFtp() } }), 'htu must be'],
  ['for another token', (boundLogin) => proofFor(postern, boundLogin, { claims: { ath: 'x' } }), 'ath must be'],
  ['without a jti', (boundLogin) => proofFor(postern, boundLogin, { claims: { jti: undefined } }), 'needs the claims'],
  ['without a time', (boundLogin) => proofFor(postern, boundLogin, { claims: { iat: undefined } }), 'needs the claims'],
  [
    'with an old time',
    (boundLogin) => proofFor(postern, boundLogin, { claims: { iat: secondsFromNow(-400) } }),
    'The claim iat',
  ],
  [
    'with a future time',
    (boundLogin) => proofFor(postern, boundLogin, { claims: { iat: secondsFromNow(400) } }),
    'The claim iat',
  ],
];
/** Other spellings of the URL, and values that no number or text of a claim has. */
const oddClaims: readonly [string, () => Record<string, unknown>, string][] = [
  ...(
    [
      ['another port', (url) => url.replace(/:\d+/, ':1')],
      ['the host as a user of another', (url) => url.replace('/v1', '@evil.example/v1')],
      ['no scheme', (url) => url.replace('http:', '')],
      ['the path alone', () => '/v1/sessions'],
      ['a slash at the end', (url) => `${url}/`],
      ['an encoded letter', (url) => url.replace('sessions', '%73essions')],
      ['an encoded slash', (url) => url.replace('/sessions', '%2fsessions')],
      ['two slashes', (url) => url.replace('/v1', '//v1')],
      ['upper case in the path', (url) => url.replace('v1', 'V1')],
      ['a parameter of the path', (url) => `${url};x`],
      ['a dot after the host', (url) => url.replace(/:(\d+)/, '.:$1x')],
      ['a list', (url) => [url]],
    ] satisfies [string, (url: string) => unknown][]
  ).map(([title, spell]): [string, () => Record<string, unknown>, string] => [
    `with ${title} in htu`,
    () => ({ htu: spell(`${postern.url}/v1/sessions`) }),
    title === 'a list' ? 'needs the claims' : 'htu must be',
  ]),
  ['with a method in lower case', () => ({ htm: 'post' }), 'htm must be'],
  ['with a time far beyond all times', () => ({ iat: 1e308 }), 'The claim iat'],
  ['with a time far before all times', () => ({ iat: -1e308 }), 'The claim iat'],
  ['with a time as a text', () => ({ iat: String(Math.floor(Date.now() / 1000)) }), 'needs the claims'],
  ['with an empty jti', () => ({ jti: '' }), 'needs the claims'],
  ['with a number as jti', () => ({ jti: 7 }), 'needs the claims'],
  ['with a long jti', () => ({ jti: 'j'.repeat(256) }), 'needs the claims'],
  ['with a number as nonce', () => ({ nonce: 7 }), 'needs the claims'],
  ['with the digest of the token in another spelling', () => ({ ath: `${'A'.repeat(43)}=` }), 'ath must be'],
];
const toFtp = () => `${postern.url.replace('http:', 'ftp:')}/v1/sessions`;
const secondsFromNow = (seconds: number) => Date.now() / 1000 + seconds;

describe('a bound token', () => {
  const odd = oddClaims.map(([title, claims, detail]): (typeof refusals)[number] => [
    title,
    (boundLogin) => proofFor(postern, boundLogin, { claims: claims() }),
    detail,
  ]);
  test.each([...refusals, ...odd])('is refused %s', async (_, proofOf, detail) => {
    const boundLogin = await newBoundLogin();
    const refused = await requestSession(postern, boundLogin.token, proofOf(boundLogin));
    expect(codesOf(refused)).toEqual([401, 'invalid_dpop_proof']);
    expect(JSON.stringify(refused.body)).toContain(detail);
    expect(refused.headers['www-authenticate']).toBe(
      'DPoP realm="postern", error="invalid_dpop_proof", algs="ES256 EdDSA Ed25519"',
    );
    expect(refused.headers['dpop-nonce']).toMatch(/^\d+\.[\w-]{43}$/);
    // The refusal does not end the token.
    expect((await requestSession(postern, boundLogin.token, proofFor(postern, boundLogin))).status).toBe(201);
  });

  test('accepts htu with a query, a fragment and upper case, and a time within five minutes', async () => {
    const boundLogin = await newBoundLogin();
    const loud = postern.url.replace('http://', 'HTTP://');
    for (const claims of [
      { htu: `${postern.url}/v1/sessions?a=1#b` },
      { htu: `${loud}/v1/sessions` },
      { iat: secondsFromNow(-200) },
      { iat: secondsFromNow(200) },
    ]) {
      expect((await requestSession(postern, boundLogin.token, proofFor(postern, boundLogin, { claims }))).status).toBe(
        201,
      );
    }
  });

  test('gets a nonce if the proof has none, an invalid one or an expired one', async () => {
    const boundLogin = await newBoundLogin();
    const [seconds = '', digest = ''] = boundLogin.nonce.split('.');
    for (const nonce of [
      undefined,
      '',
      'foreign',
      `${seconds}.${'A'.repeat(43)}`,
      `${Number(seconds) + 1}.${digest}`,
    ]) {
      const refused = await requestSession(
        postern,
        boundLogin.token,
        proofFor(postern, boundLogin, { claims: { nonce } }),
      );
      expect(codesOf(refused)).toEqual([401, 'use_dpop_nonce']);
      expect(refused.headers['www-authenticate']).toContain('error="use_dpop_nonce"');
      const next = { ...boundLogin, nonce: refused.headers['dpop-nonce'] ?? '' };
      expect((await requestSession(postern, boundLogin.token, proofFor(postern, next))).status).toBe(201);
    }
  });

  test('gets a session with one statement', async () => {
    const boundLogin = await newBoundLogin();
    const names = async (proof?: string) =>
      (await queriesOf(() => requestSession(postern, boundLogin.token, proof))).map(({ name }) => name);
    expect(await names(proofFor(postern, boundLogin))).toEqual(['session_create_bound']);
  });

  test('logs out with a proof only', async () => {
    const boundLogin = await newBoundLogin();
    const remove = (proof?: string) =>
      postern.api<ProblemAnswer>('DELETE', '/v1/tokens', {
        basic: boundLogin.token,
        ...(proof !== undefined && { headers: { DPoP: proof } }),
      });
    const claims = { htm: 'DELETE', htu: `${postern.url}/v1/tokens` };
    expect(codesOf(await remove())).toEqual([401, 'invalid_dpop_proof']);
    expect(codesOf(await remove(proofFor(postern, boundLogin)))).toEqual([401, 'invalid_dpop_proof']);
    expect(codesOf(await remove(proofFor(postern, boundLogin, { claims: { ...claims, nonce: 'x' } })))).toEqual([
      401,
      'use_dpop_nonce',
    ]);
    expect((await remove(proofFor(postern, boundLogin, { claims }))).status).toBe(200);
    expect(codesOf(await remove(proofFor(postern, boundLogin, { claims })))).toEqual([401, 'no_active_token']);
  });

  test('stays bound when a change of the password replaces it', async () => {
    const boundLogin = await newBoundLogin();
    const { body: session } = await requestSession(postern, boundLogin.token, proofFor(postern, boundLogin));
    const changed = await postern.api<{ token: string }>('PUT', '/v1/account/password', {
      bearer: session.token,
      body: { password: 'nine dull horses', proof: byPassword },
    });
    const { token } = changed.body;
    expect(codesOf(await requestSession(postern, token))).toEqual([401, 'invalid_dpop_proof']);
    expect((await requestSession(postern, token, proofFor(postern, { ...boundLogin, token }))).status).toBe(201);
    expect(codesOf(await requestSession(postern, boundLogin.token, proofFor(postern, boundLogin)))).toEqual([
      401,
      'invalid_authentication_token',
    ]);
  });

  test('is no login to the console', async () => {
    const boundLogin = await newBoundLogin();
    const refused = await postern.api<ProblemAnswer>('POST', '/console/session', {
      headers: { origin: postern.url },
      body: { authentication_token: boundLogin.token },
    });
    expect(codesOf(refused)).toEqual([401, 'invalid_dpop_proof']);
  });
});

describe('behind a proxy', () => {
  test('htu is the public URL or a listed one, whatever host the request names', async () => {
    const PUBLIC_URL = 'https://api.example/auth';
    const named = await postern.another({ PUBLIC_URL, TRUST_PROXY: '127.0.0.1' });
    const listing = await postern.another({ PUBLIC_URL, DPOP_ORIGINS: 'http://api.internal:8080,https://b.example' });

    // Without PUBLIC_URL: the URL by which the client called.
    const trusting = await postern.another({ TRUST_PROXY: '127.0.0.1' });
    try {
      const boundLogin = await newBoundLogin();
      const statusOf = async (app: TestApp, htu: string, headers: Readonly<Record<string, string>> = {}) => {
        const proof = proofFor(postern, boundLogin, { claims: { htu } });
        return (
          await app.api('POST', '/v1/sessions', { basic: boundLogin.token, headers: { ...headers, DPoP: proof } })
        ).status;
      };
      expect(await statusOf(named, 'https://api.example/auth/v1/sessions')).toBe(201);
      const other = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-host': 'evil.example', host: 'evil.example' };
      for (const htu of [`${named.url}/v1/sessions`, 'https://evil.example/v1/sessions']) {
        expect(await statusOf(named, htu)).toBe(401);
        expect(await statusOf(named, htu, other)).toBe(401);
      }
      expect(await statusOf(named, 'https://api.example/auth/v1/sessions', other)).toBe(201);
      expect(await statusOf(listing, 'http://api.internal:8080/v1/sessions')).toBe(201);
      expect(await statusOf(listing, 'https://b.example/v1/sessions')).toBe(201);
      expect(await statusOf(listing, 'https://api.internal:8080/v1/sessions')).toBe(401);
      expect(await statusOf(listing, 'https://api.example/auth/v1/sessions')).toBe(201);
      expect(await statusOf(named, 'http://api.example/auth/v1/sessions')).toBe(401);
      expect(await statusOf(named, 'https://api.example/v1/sessions')).toBe(401);
      // The same URL in other spellings (RFC 3986, 6.2), and texts that only look like it.
      for (const same of ['HTTPS://API.EXAMPLE/auth/v1/sessions', 'https://api.example:443/auth/v1/sessions?x#y'])
        expect([same, await statusOf(named, same, other)]).toEqual([same, 201]);
      for (const htu of [
        ...['https://api.example:8443/auth/v1/sessions', 'https://api.example./auth/v1/sessions'],
        ...[
          'https://api.example@evil.example/auth/v1/sessions',
          'https://evil.example/?https://api.example/auth/v1/sessions',
        ],
        ...['https://api.example.evil.example/auth/v1/sessions', 'https://api.example/auth/v1/sessions/'],
        ...['https://api.example/AUTH/v1/sessions', 'https://api.example/auth/v1%2fsessions', '/auth/v1/sessions'],
        ...[
          'https://api.example/auth//v1/sessions',
          'https://api.example/auth/v1/%73essions',
          'https://аpi.example/auth/v1/sessions',
        ],
      ])
        expect([htu, await statusOf(named, htu, other)]).toEqual([htu, 401]);
      // A proxy that speaks TLS and keeps the Host header.
      expect(await statusOf(postern, `${postern.url.replace('http:', 'https:')}/v1/sessions`)).toBe(201);
      const forwarded = {
        'x-forwarded-for': '203.0.113.7',
        'x-forwarded-proto': 'https',
        'x-forwarded-host': 'app.example',
      };
      expect(await statusOf(trusting, 'https://app.example/v1/sessions', forwarded)).toBe(201);
      expect(await statusOf(trusting, `${trusting.url}/v1/sessions`, forwarded)).toBe(401);
      expect(await statusOf(postern, 'https://app.example/v1/sessions', forwarded)).toBe(401);
    } finally {
      for (const app of [named, listing, trusting]) await app.close();
    }
  });
});
