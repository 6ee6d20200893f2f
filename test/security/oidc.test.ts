import { createSecretKey, generateKeyPairSync, randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { ExternalIdentity } from '../../src/contract/external-identity.js';
import type { User } from '../../src/contract/user.js';
import { createDiscovery } from '../../src/delivery/oidc/discovery.js';
import { createIdTokenReader } from '../../src/delivery/oidc/id-tokens.js';
import { RedirectFailure } from '../../src/delivery/oidc/redirect-failure.js';
import { createOutbound } from '../../src/delivery/outbound.js';
import { type ApiAnswer, type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { clientId, type Issuer, startIssuer } from '../support/issuer.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { createUser } from '../support/users.js';

let attic: Issuer;
let other: Issuer;
let postern: TestApp;
beforeAll(async () => {
  [attic, other] = await Promise.all([startIssuer(), startIssuer()]);
  postern = await startTestApp({
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    OIDC_PROVIDERS: JSON.stringify({
      attic: { issuer: attic.url, client_ids: [clientId, 'the-other-app'], algorithms: ['RS256', 'ES256'] },
      other: { issuer: other.url, client_ids: [clientId] },
    }),
  });
});
afterAll(async () => {
  await postern.close();
  await Promise.all([attic.close(), other.close()]);
});

type Body = Authentication & Pick<ProblemAnswer, 'errors'>;
const begin = async (provider = 'attic') => {
  const { body } = await postern.api<Body>('POST', '/v1/tokens', {
    body: { authenticator: `oidc:${provider}`, device: {} },
  });
  return { id: body.id, nonce: String(body.challenge?.nonce), challenge: body.challenge };
};
const answer = (id: string, secret: string) =>
  postern.api<Body>('POST', `/v1/tokens/${id}/secret`, { body: { secret } });
const identities = (user: User) => `/admin/v1/users/${user.id}/external-identities`;
const link = (user: User, subject: string, provider = 'attic', bearer = postern.adminKey) =>
  postern.api<ExternalIdentity & ProblemAnswer>('PUT', identities(user), { bearer, body: { provider, subject } });
/** Creates a user who is linked to a new subject of the provider. */
const newLinkedUser = async (provider = 'attic') => {
  const user = await createUser(postern);
  const subject = randomUUID();
  await link(user, subject, provider);
  return { user, subject };
};
const outcome = ({ status, body }: ApiAnswer<Body>) => (status === 201 ? body.status : status);
const now = () => Math.floor(Date.now() / 1000);

describe('a login by id_token', () => {
  test('starts with the issuer, the client ids and a new nonce', async () => {
    const [one, two] = [await begin(), await begin()];
    expect(one.challenge).toEqual({
      ...{ type: 'oidc', issuer: attic.url, client_ids: [clientId, 'the-other-app'] },
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(two.nonce).not.toBe(one.nonce);
  });

  test('approves the user linked to issuer and subject, without a PIN, once for each token', async () => {
    const { user, subject } = await newLinkedUser();
    const { id, nonce } = await begin();
    const token = await attic.sign({ nonce, sub: subject });
    const approved = await answer(id, token);
    expect(outcome(approved)).toBe('approved');
    expect(outcome(await answer(id, token))).toBe(400);
    expect(outcome(await answer((await begin()).id, token))).toBe(400);
    const session = await postern.api('POST', '/v1/sessions', { basic: approved.body.token ?? '' });
    expect(session.body.user_id).toBe(user.id);
  });

  test('never finds a user by the mail address', async () => {
    const email = `${randomUUID()}@example.com`;
    await createUser(postern, { email });
    const { id, nonce } = await begin();
    expect(outcome(await answer(id, await attic.sign({ nonce, sub: randomUUID(), email, email_verified: true })))).toBe(
      400,
    );
  });

  test('approves one of many parallel requests', async () => {
    const { subject } = await newLinkedUser();
    for (let round = 0; round < raceRounds; round += 1) {
      const { id, nonce } = await begin();
      const token = await attic.sign({ nonce, sub: subject });
      const answers = await Promise.all(Array.from({ length: 5 }, () => answer(id, token)));
      expect(answers.map(outcome).sort()).toEqual([400, 400, 400, 400, 'approved']);
    }
  });

  test('accepts clocks that differ by less than a minute, and several audiences that are all configured', async () => {
    const { subject: sub } = await newLinkedUser();
    const validClaims: readonly (() => object)[] = [
      () => ({ exp: now() - 50, iat: now() - 300 }),
      () => ({ iat: now() + 50, nbf: now() + 50, exp: now() + 90 }),
      () => ({ aud: [clientId, 'the-other-app'], azp: clientId }),
      () => ({ aud: ['the-other-app'] }),
    ];
    for (const claimsNow of validClaims) {
      const { id, nonce } = await begin();
      const claims = claimsNow();
      expect(outcome(await answer(id, await attic.sign({ nonce, sub, ...claims }))), JSON.stringify(claims)).toBe(
        'approved',
      );
    }
  });

  test.each([
    ['a subject in upper case', (sub: string) => sub.toUpperCase()],
    ['an unlinked subject', () => randomUUID()],
  ])('says of %s that no user is linked to the account', async (_title, other) => {
    const { subject } = await newLinkedUser();
    const { id, nonce } = await begin();
    const { status, body } = await answer(id, await attic.sign({ nonce, sub: other(subject) }));
    expect({ status, authentication: (body as { authentication?: object }).authentication }).toMatchObject({
      ...{ status: 400, authentication: { status: 'rejected', error_code: 'not_linked' } },
    });
  });

  test('gives the same response to every invalid token', async () => {
    const { subject: sub } = await newLinkedUser();
    await newLinkedUser('other');
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const [published] = attic.published();
    const publicPem = stranger.publicKey.export({ type: 'spki', format: 'pem' });
    const kid = published?.kid ?? '';
    const unsigned = (nonce: string, alg: string) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: attic.url, aud: clientId, sub, nonce, iat: now(), exp: now() + 300 };
      return `${part({ alg, kid })}.${part(claims)}.`;
    };
    const symmetric = (nonce: string, secret: string) =>
      new SignJWT({ iss: attic.url, aud: clientId, sub, nonce, iat: now(), exp: now() + 300 })
        .setProtectedHeader({ alg: 'HS256', kid })
        .sign(createSecretKey(Buffer.from(secret)));
    const attacks: Record<string, (nonce: string) => Promise<string> | string> = {
      'another audience': (nonce) => attic.sign({ nonce, sub, aud: 'their-app' }),
      'no audience': (nonce) => attic.sign({ nonce, sub, aud: undefined }),
      'an unknown audience among several': (nonce) =>
        attic.sign({ nonce, sub, aud: [clientId, 'their-app'], azp: clientId }),
      'several audiences without azp': (nonce) => attic.sign({ nonce, sub, aud: [clientId, 'the-other-app'] }),
      'several audiences with an unknown azp': (nonce) =>
        attic.sign({ nonce, sub, aud: [clientId, 'the-other-app'], azp: 'their-app' }),
      'another issuer': (nonce) => attic.sign({ nonce, sub, iss: other.url }),
      'an issuer with a trailing slash': (nonce) => attic.sign({ nonce, sub, iss: `${attic.url}/` }),
      'the token of another provider': (nonce) => other.sign({ nonce, sub }),
      'the key of another provider': (nonce) => other.sign({ nonce, sub, iss: attic.url }),
      'the key of another provider with our key id': (nonce) => other.sign({ nonce, sub, iss: attic.url }, { kid }),
      'an unknown key': (nonce) => attic.sign({ nonce, sub }, {}, stranger.privateKey),
      'a key in its own header': (nonce) =>
        attic.sign({ nonce, sub }, { jwk: stranger.publicKey.export({ format: 'jwk' }) }, stranger.privateKey),
      'a URL of a key in its header': (nonce) =>
        attic.sign({ nonce, sub }, { kid: 'theirs', jku: `${other.url}/keys` }, stranger.privateKey),
      'another allowed algorithm': (nonce) => attic.sign({ nonce, sub }, { alg: 'ES256' }, curve.privateKey),
      'a forbidden algorithm': (nonce) => attic.sign({ nonce, sub }, { alg: 'RS512' }),
      'no algorithm': (nonce) => unsigned(nonce, 'none'),
      'no algorithm, in capitals': (nonce) => unsigned(nonce, 'NONE'),
      'no signature': (nonce) => unsigned(nonce, 'RS256'),
      'the public key as a secret': (nonce) => symmetric(nonce, String(publicPem)),
      'the published key as a secret': (nonce) => symmetric(nonce, JSON.stringify(published)),
      'an unknown critical extension': (nonce) => attic.sign({ nonce, sub }, { crit: ['strange'], strange: 1 }),
      'the type of an access token': (nonce) => attic.sign({ nonce, sub }, { typ: 'at+jwt' }),
      'no nonce': () => attic.sign({ sub }),
      'another nonce': () => attic.sign({ sub, nonce: 'another' }),
      'an expiry in the past': (nonce) => attic.sign({ nonce, sub, exp: now() - 70, iat: now() - 300 }),
      'no expiry': (nonce) => attic.sign({ nonce, sub, exp: undefined }),
      'a not-before time in the future': (nonce) => attic.sign({ nonce, sub, nbf: now() + 70 }),
      'an issue time in the future': (nonce) => attic.sign({ nonce, sub, iat: now() + 70 }),
      'an old issue time': (nonce) => attic.sign({ nonce, sub, iat: now() - 700 }),
      'no issue time': (nonce) => attic.sign({ nonce, sub, iat: undefined }),
      'text instead of a time': (nonce) => attic.sign({ nonce, sub, exp: 'never' }),
      'no subject': (nonce) => attic.sign({ nonce, sub: undefined }),
      'an empty subject': (nonce) => attic.sign({ nonce, sub: '' }),
      'a number as subject': (nonce) => attic.sign({ nonce, sub: 7 }),
      'an array as subject': (nonce) => attic.sign({ nonce, sub: [sub] }),
      'an unknown key id': (nonce) => attic.sign({ nonce, sub }, { kid: randomUUID() }),
      'a truncated signature': async (nonce) => (await attic.sign({ nonce, sub })).slice(0, -4),
      'changed claims': async (nonce) => {
        const [head, , signature] = (await attic.sign({ nonce, sub: 'x' })).split('.');
        const [, claims] = (await attic.sign({ nonce, sub })).split('.');
        return `${head}.${claims}.${signature}`;
      },
      'four parts': async (nonce) => `${await attic.sign({ nonce, sub })}.x`,
      'five parts': () => 'a.b.c.d.e',
      'invalid text': () => 'rubbish',
      'the maximum length': () => `${'e'.repeat(8000)}.${'e'.repeat(8000)}.${'e'.repeat(300)}`,
    };
    const reads = { ...attic.reads };
    const shapes = new Map<string, string[]>();
    for (const [attack, make] of Object.entries(attacks)) {
      const { id, nonce } = await begin();
      const { status, body } = await answer(id, await make(nonce));
      const { request_id: _, authentication, ...same } = body as object as Record<string, unknown>;
      const shape = JSON.stringify({ status, same, authentication: { ...(authentication as object), id: '' } });
      shapes.set(shape, [...(shapes.get(shape) ?? []), attack]);
    }
    expect([...shapes.values()]).toEqual([Object.keys(attacks)]);
    expect([...shapes.keys()][0]).toContain('"status":400');
    expect(attic.reads.discovery - reads.discovery).toBeLessThanOrEqual(1);
  });

  test("refuses a valid token for another login's challenge, and after the challenge has expired", async () => {
    const { subject: sub } = await newLinkedUser();
    const [one, two] = [await begin(), await begin()];
    expect(outcome(await answer(one.id, await attic.sign({ nonce: two.nonce, sub })))).toBe(400);
    const expire = "update authentications set challenge_ends_at = db_now() - interval '1 s' where id = $1";
    await postern.database.query(testSql(expire, [two.id]));
    expect(outcome(await answer(two.id, await attic.sign({ nonce: two.nonce, sub })))).toBe(400);
  });

  test('is refused for a deactivated user like for an unknown one, and reports a lock only after a valid token', async () => {
    const [gone, locked] = [await newLinkedUser(), await newLinkedUser()];
    const bearer = postern.adminKey;
    await postern.api('PATCH', `/admin/v1/users/${gone.user.id}`, { bearer, body: { status: 'deactivated' } });
    await postern.api('POST', `/admin/v1/users/${locked.user.id}/lock`, { bearer, body: { permanent: true } });
    const login = async (sub: string) => {
      const { id, nonce } = await begin();
      return outcome(await answer(id, await attic.sign({ nonce, sub })));
    };
    expect(await login(gone.subject)).toBe(400);
    expect(await login(locked.subject)).toBe(403);
  });
});

describe('an unavailable provider', () => {
  test('causes 503, delays no other login, and is called again when it is back', async () => {
    const slow = await startIssuer();
    const instance = await postern.another({
      OIDC_PROVIDERS: JSON.stringify({
        slow: { issuer: slow.url, client_ids: [clientId] },
        other: { issuer: other.url, client_ids: [clientId] },
      }),
    });
    onTestFinished(async () => {
      await instance.close();
      await slow.close();
    });
    const user = await createUser(postern);
    const subject = randomUUID();
    const put = (provider: string) =>
      instance.api('PUT', identities(user), { bearer: postern.adminKey, body: { provider, subject } });
    await Promise.all([put('slow'), put('other')]);
    const login = async (provider: string, issuer: Issuer) => {
      const { body } = await instance.api<Body>('POST', '/v1/tokens', {
        body: { authenticator: `oidc:${provider}`, device: {} },
      });
      const secret = await issuer.sign({ nonce: body.challenge?.nonce, sub: subject });
      return instance.api<Body>('POST', `/v1/tokens/${body.id}/secret`, { body: { secret } });
    };
    const finished: string[] = [];
    const noted = async (name: string, work: Promise<ApiAnswer<Body>>) => {
      const done = await work;
      finished.push(name);
      return done;
    };
    slow.behave(() => undefined);
    const hanging = noted('slow', login('slow', slow));
    expect(outcome(await noted('other', login('other', other)))).toBe('approved');
    const refused = await hanging;
    expect(finished).toEqual(['other', 'slow']);
    expect([refused.status, refused.body.errors[0]?.code]).toEqual([503, 'authenticator_unavailable']);
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    const invalidAnswers: [string, Parameters<Issuer['behave']>[0]][] = [
      [
        'another issuer',
        (_request, response) => response.end(JSON.stringify({ issuer: other.url, jwks_uri: other.url })),
      ],
      ['no keys', (_request, response) => response.end(JSON.stringify({ issuer: slow.url }))],
      ['no JSON', (_request, response) => response.end('<html>')],
      ['a redirect', (_request, response) => response.writeHead(302, { location: other.url }).end()],
      ['an error', (_request, response) => response.writeHead(500).end()],
      [
        'a response over the size limit',
        (_request, response) => response.end(`{"issuer":"${slow.url}","x":"${'x'.repeat(70_000)}"}`),
      ],
    ];
    for (const [what, behaviour] of invalidAnswers) {
      slow.behave(behaviour);
      expect((await login('slow', slow)).status, what).toBe(503);
    }
    slow.behave(undefined);
    expect(outcome(await login('slow', slow))).toBe('approved');
  });
});

describe('the keys of a provider', () => {
  const startReading = async (cooldown: number) => {
    const issuer = await startIssuer();
    const outbound = createOutbound({ allowPrivateNetworkTargets: true });
    onTestFinished(async () => {
      await outbound.close();
      await issuer.close();
    });
    const discovery = createDiscovery({ issuer: issuer.url, outbound, cooldownMs: cooldown });
    const readIdToken = createIdTokenReader({ discovery, clientIds: [clientId], algorithms: ['RS256'] });
    const read = async (token: string) => {
      try {
        return (await readIdToken(token, { nonce: 'n', now: new Date() })).sub;
      } catch (error) {
        expect(error).toBeInstanceOf(RedirectFailure);
        return undefined;
      }
    };
    return { issuer, read };
  };

  test('can change: tokens of the new key are accepted, and tokens of the old key no longer', async () => {
    const { issuer, read } = await startReading(0);
    const before = await issuer.sign({ nonce: 'n' });
    expect(await read(before)).toBe('a-subject');
    issuer.rotate();
    expect(await read(await issuer.sign({ nonce: 'n' }))).toBe('a-subject');
    expect(await read(before)).toBeUndefined();
    expect(issuer.reads).toEqual({ discovery: 1, keys: 3 });
  });

  test('are fetched once for any number of tokens with an unknown key id', async () => {
    const { issuer, read } = await startReading(30_000);
    const junk = () => issuer.sign({ nonce: 'n' }, { kid: randomUUID() });
    const tokens = await Promise.all(Array.from({ length: 100 }, junk));
    expect(await Promise.all(tokens.map(read))).toEqual(Array(100).fill(undefined));
    expect(await read(await junk())).toBeUndefined();
    expect(await read(await issuer.sign({ nonce: 'n' }))).toBe('a-subject');
    expect(issuer.reads).toEqual({ discovery: 1, keys: 1 });
  });

  test('are not fetched for a token with another algorithm, nor for invalid text', async () => {
    const { issuer, read } = await startReading(0);
    const symmetric = new SignJWT({ nonce: 'n' }).setProtectedHeader({ alg: 'HS256' });
    expect(await read(await symmetric.sign(createSecretKey(Buffer.alloc(32))))).toBeUndefined();
    expect(await read('rubbish')).toBeUndefined();
    expect(issuer.reads).toEqual({ discovery: 0, keys: 0 });
  });
});
