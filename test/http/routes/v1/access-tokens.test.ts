import { pbkdf2, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as jose from 'jose';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  jwtVerify,
} from 'jose';
import { allowInsecureRequests, validateJwtAccessToken } from 'oauth4webapi';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessToken, Audience, SigningKey } from '../../../../src/contract/access-token.js';
import { authenticationMethods } from '../../../../src/contract/session.js';
import { createSecretKeys } from '../../../../src/lib/crypto/secret-keys.js';
import { type RotationMode, rotateSigningKeys } from '../../../../src/sessions/access-tokens/signing-keys.js';
import { fencesOf } from '../../../docs/markdown.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { stepClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { signInWithRole } from '../../../support/operators.js';
import { queriesOf } from '../../../support/queries.js';
import { raceRounds } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { logInAs } from '../../../support/support-logins.js';
import { createUser, signIn } from '../../../support/users.js';

const issuer = 'https://auth.example.com';
const longEntry = `https://app.example.com/${'x'.repeat(150)}`;
const secret = 'a secret key of more than 32 characters';
let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  const env = { PUBLIC_URL: issuer, SECRET_KEY: secret, LOGIN_LIMIT_PER_ADDRESS: '0', SESSION_TTL: '1h' };
  postern = await startTestApp(env);
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { admin, refused } = createAdministration(() => postern);
const uris = { next: 0 };
const newAudience = async (more: object = {}) => {
  uris.next += 1;
  const { body } = await admin<Audience>('POST', '/audiences', { uri: `https://api${uris.next}.example.com`, ...more });
  return body;
};
const ask = (token: string, audience: string, more: object = {}, app = postern) =>
  app.api<AccessToken & { errors: { code: string }[] }>('POST', '/v1/access-tokens', {
    bearer: token,
    body: { audience, ...more },
  });
const keySet = async (app = postern) => (await app.api<JSONWebKeySet>('GET', '/.well-known/jwks.json')).body;
const rotate = (mode: RotationMode) =>
  postern.database.transaction((tx) => rotateSigningKeys(tx, createSecretKeys([secret]), mode, { actor: 'cli' }));

test('operators see which key signs, which is next and which has signed, but no secret', async () => {
  await newAudience();
  const list = async () =>
    (await admin<SigningKey[]>('GET', '/signing-keys')).body.filter(({ alg }) => alg === 'ES256');
  const kidsOf = (keys: readonly SigningKey[], state: SigningKey['state']) =>
    keys.flatMap((key) => (key.state === state ? [key.kid] : []));
  const before = await list();
  const [current, next] = [kidsOf(before, 'current'), kidsOf(before, 'next')];
  expect([current.length, next.length]).toEqual([1, 1]);
  await rotate('now');
  const after = await list();
  expect(kidsOf(after, 'current')).toEqual(next);
  expect(kidsOf(after, 'former')).toContain(current[0]);
  const published = (await keySet()).keys.filter(({ alg }) => alg === 'ES256').map(({ kid }) => kid);
  expect(new Set(after.map(({ kid }) => kid))).toEqual(new Set(published));
  expect(Object.keys(after[0] ?? {}).toSorted()).toEqual(['alg', 'created_at', 'kid', 'signs_since', 'state']);
});

test('the public keys are read by one query', async () => {
  await newAudience();
  const sent = await queriesOf(keySet);
  expect(sent).toHaveLength(1);
});

describe('an access token', () => {
  test.each(['ES256', 'RS256'] as const)('is checked by jose with the published keys: %s', async (alg) => {
    const audience = await newAudience({ alg, roles: true, claims: ['plan', 'toString'] });
    const user = await createUser(postern, { roles: ['editor'], claims: { plan: 'pro', secret: 'x' } });
    const { authentication, session } = await signIn(postern, user);
    const { status, body } = await ask(session.token, audience.uri);
    expect([status, body.token_type, body.expires_in]).toEqual([201, 'Bearer', 300]);
    const keys = createRemoteJWKSet(new URL(`${postern.url}/.well-known/jwks.json`));
    const checks = { issuer, audience: audience.uri, typ: 'at+jwt', algorithms: [alg] };
    const { payload } = await jwtVerify(body.access_token, keys, checks);
    const { iat = 0, exp = 0, jti, auth_time: time, ...rest } = payload;
    expect(rest).toEqual({
      ...{ iss: issuer, aud: audience.uri, client_id: 'postern', sub: user.id, sid: authentication.id },
      ...{ amr: ['pwd'], roles: ['editor'], claims: { plan: 'pro' } },
    });
    expect([exp - iat, time]).toEqual([300, Math.floor(Date.parse(authentication.updated_at) / 1000)]);
    expect(jti).toMatch(/^[0-9a-f-]{36}$/);
    await expect(
      jwtVerify(body.access_token, keys, { ...checks, audience: 'https://another.example' }),
    ).rejects.toThrow();
  });

  test('the answer that saves an audience names users whose roles and claims do not fit', async () => {
    const large = { a: 'x'.repeat(900), b: 'y' };
    const user = await createUser(postern, { claims: large });
    const fits = await createUser(postern, { claims: { b: 'y' } });
    const { body } = await admin<Audience & { too_large_for: string[] }>('POST', '/audiences', {
      ...{ uri: 'https://large.example.com', claims: ['a'] },
    });
    expect(body.too_large_for).toContain(user.id);
    expect(body.too_large_for).not.toContain(fits.id);
    const { session } = await signIn(postern, user);
    const refusal = await ask(session.token, body.uri);
    expect([refusal.status, refusal.body.errors[0]?.code]).toEqual([422, 'claims_too_large']);
    const changed = await admin<{ too_large_for: string[] }>('PATCH', `/audiences/${body.id}`, { claims: ['b'] });
    expect(changed.body.too_large_for).toEqual([]);
    expect((await ask(session.token, body.uri)).status).toBe(201);
  });

  test('a new address of an audience counts for the next token, and belongs to one audience', async () => {
    const [audience, another] = [await newAudience(), await newAudience()];
    const { session } = await signIn(postern, await createUser(postern));
    const uri = `${audience.uri}/v2`;
    const change = (body: object) =>
      admin<Audience & { errors: { code: string }[] }>('PATCH', `/audiences/${audience.id}`, body);
    // What a client has read can be sent back.
    expect((await change({ uri: audience.uri, ttl: 60 })).status).toBe(200);
    expect((await change({ uri })).body).toMatchObject({ uri, ttl: 60 });
    expect([(await ask(session.token, audience.uri)).status, (await ask(session.token, uri)).status]).toEqual([
      422, 201,
    ]);
    const { status, body } = await change({ uri: another.uri });
    expect([status, body.errors[0]?.code]).toEqual([409, 'audience_exists']);
    expect((await admin('PATCH', `/audiences/${randomUUID()}`, { uri })).status).toBe(404);
  });

  test('changes of an audience at the same time all count', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const audience = await newAudience();
      const changes = [{ uri: `${audience.uri}/v2` }, { ttl: 61 }, { roles: true }];
      const path = `/audiences/${audience.id}`;
      const answers = await Promise.all(changes.map((change) => admin<Audience>('PATCH', path, change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect((await admin<Audience>('GET', path)).body).toMatchObject(Object.assign({}, ...changes));
    }
  });

  describe('is warned of before it is refused', () => {
    const payloadOf = (token: string) => Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    const saveAudience = async (more: object, app = postern) =>
      (
        await app.api<Audience & { too_large_for: string[] }>('POST', '/admin/v1/audiences', {
          ...{
            bearer: postern.adminKey,
            body: { uri: `https://api-${randomUUID()}.example.com`, claims: ['a'], ...more },
          },
        })
      ).body;
    const changeClaim = (id: string, a: string) => admin('PATCH', `/users/${id}`, { claims: { a } });

    test('if it has all methods and the longest entry of REDIRECT_URIS', async () => {
      const app = await postern.another({
        REDIRECT_URIS: `http://127.0.0.1/done,${longEntry},https://app.example.com/`,
      });
      const audience = await saveAudience({}, app);
      const [id, time] = [randomUUID(), 2_000_000_000];
      const largest = {
        ...{ iss: issuer, aud: audience.uri, client_id: longEntry, jti: id, sub: id, sid: id, iat: time, exp: time },
        ...{ auth_time: time, amr: authenticationMethods, proven_at: time, claims: { a: '' } },
      };
      const room = 1024 - JSON.stringify(largest).length;
      const fits = await createUser(postern, { claims: { a: 'x'.repeat(room) } });
      const fitsNot = await createUser(postern, { claims: { a: 'x'.repeat(room + 1) } });
      const { too_large_for: named } = await saveAudience({}, app);
      await app.close();
      expect([fits, fitsNot].map(({ id: userId }) => named.includes(userId))).toEqual([false, true]);
    });

    test('if it is that of a support login', async () => {
      const operator = await signInWithRole(postern, 'operator');
      const user = await createUser(postern, { claims: { a: 'x' } });
      const { session } = await logInAs(postern, operator, user.id);
      const audience = await saveAudience({ support: true });
      const { access_token: small } = (await ask(session.token, audience.uri)).body;
      await changeClaim(user.id, 'x'.repeat(1024 - payloadOf(small).length + 2));
      const refusal = await ask(session.token, audience.uri);
      expect([refusal.status, refusal.body.errors[0]?.code]).toEqual([422, 'claims_too_large']);
      expect((await saveAudience({ support: true })).too_large_for).toContain(user.id);
    });
  });

  test('passes the check of docs/access-tokens.md, which refuses one of another service', async () => {
    const [fence] = fencesOf('docs/access-tokens.md').filter(({ language }) => language === 'js');
    const [imports = '', ...lines] = (fence?.text ?? '').split('\n');
    const names = /\{(.*)\} from 'jose'/.exec(imports)?.[1] ?? '';
    const body = lines.join('\n').replace("new URL('https://auth.example.com", `new URL('${postern.url}`);
    const code = `const {${names}} = jose; return (async () => { ${body} return payload; })()`;
    const check = new Function('jose', 'token', code);
    const uri = 'https://api.example.com';
    await admin('POST', '/audiences', { uri });
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    const token = async (audience: string) => (await ask(session.token, audience)).body.access_token;
    expect(await check(jose, await token(uri))).toMatchObject({ sub: user.id, aud: uri });
    await expect(check(jose, await token((await newAudience()).uri))).rejects.toThrow('"aud"');
  });

  test.each(['ES256', 'RS256'] as const)('is one of RFC 9068 for oauth4webapi: %s', async (alg) => {
    const audience = await newAudience({ alg, roles: true });
    const { session, authentication } = await signIn(postern, await createUser(postern, { roles: ['editor'] }));
    const { body } = await ask(session.token, audience.uri);
    const server = { issuer, jwks_uri: `${postern.url}/.well-known/jwks.json` };
    const options = { [allowInsecureRequests]: true, signingAlgorithms: [alg] };
    const check = (token: string, uri = audience.uri) =>
      validateJwtAccessToken(server, new Request(uri, { headers: { authorization: `Bearer ${token}` } }), uri, options);
    expect(await check(body.access_token)).toMatchObject({
      ...{ iss: issuer, aud: audience.uri, client_id: 'postern', sid: authentication.id, roles: ['editor'] },
      auth_time: expect.any(Number),
    });
    await expect(check(body.access_token, 'https://another.example')).rejects.toMatchObject({
      message: expect.stringContaining('"aud"'),
    });
    const [head = '', , signature = ''] = body.access_token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...decodeJwt(body.access_token), sub: randomUUID() }));
    await expect(check(`${head}.${forged.toString('base64url')}.${signature}`)).rejects.toMatchObject({
      message: expect.stringContaining('signature'),
    });
  });

  test('has no roles and claims unless the audience has them, and another jti each time', async () => {
    const audience = await newAudience();
    const user = await createUser(postern, { roles: ['editor'], claims: { plan: 'pro' } });
    const { session } = await signIn(postern, user);
    const keys = createLocalJWKSet(await keySet());
    const payloads = await Promise.all(
      [1, 2].map(
        async () => (await jwtVerify((await ask(session.token, audience.uri)).body.access_token, keys)).payload,
      ),
    );
    for (const payload of payloads) expect(Object.keys(payload)).not.toContain('roles');
    for (const payload of payloads) expect(Object.keys(payload)).not.toContain('claims');
    expect(new Set(payloads.map(({ jti }) => jti)).size).toBe(2);
  });

  test('lasts as asked within the limits, and never longer than the login', async () => {
    const audience = await newAudience({ ttl: 600 });
    const short = await other.another({ AUTHENTICATION_TTL: '5m' });
    const user = await createUser(postern);
    const { session } = await signIn(short, user);
    expect((await ask(session.token, audience.uri, { ttl: 60 })).body.expires_in).toBe(60);
    expect((await ask(session.token, audience.uri)).body.expires_in).toBeLessThanOrEqual(300);
    for (const ttl of [59, 601]) {
      const answer = await ask(session.token, audience.uri, { ttl });
      expect([answer.status, answer.body.errors[0]?.code]).toEqual([422, 'ttl_out_of_range']);
    }
    await short.close();
  });

  test('is refused for an unknown audience, for too many claims, and without a session', async () => {
    const audience = await newAudience({ claims: ['text'] });
    const user = await createUser(postern, { claims: { text: 'x'.repeat(1000) } });
    const { token, session } = await signIn(postern, user);
    const codeOf = async (uri: string) => {
      const { status, body } = await ask(session.token, uri);
      return [status, body.errors[0]?.code];
    };
    expect(await codeOf('https://nobody.example')).toEqual([422, 'unknown_audience']);
    expect(await codeOf(audience.uri)).toEqual([422, 'claims_too_large']);
    await admin('PATCH', `/audiences/${audience.id}`, { claims: [] });
    expect((await ask(session.token, audience.uri, {}, other)).status).toBe(201);
    await admin('DELETE', `/audiences/${audience.id}`);
    expect((await ask(session.token, audience.uri, {}, other)).status).toBe(422);
    await postern.api('DELETE', '/v1/tokens', { basic: token });
    expect((await ask(session.token, audience.uri)).status).toBe(401);
  });

  test('is accepted by no route of Postern', async () => {
    const audience = await newAudience({ uri: issuer });
    const { session } = await signIn(postern, await createUser(postern, { role: 'operator' }));
    const { body } = await ask(session.token, audience.uri);
    for (const [method, path] of [
      ['POST', '/v1/sessions/verify'],
      ['GET', '/v1/account'],
      ['GET', '/v1/notifications'],
      ['POST', '/v1/access-tokens'],
      ['GET', '/admin/v1/users'],
    ] as const) {
      const answer = await postern.api(method, path, {
        bearer: body.access_token,
        ...(path.endsWith('access-tokens') && { body: { audience: issuer } }),
      });
      expect([path, answer.status]).toEqual([path, 401]);
    }
    expect((await postern.api('POST', '/v1/sessions', { basic: body.access_token })).status).toBe(401);
  });

  test('is what policies of PostgreSQL read with set_config', async () => {
    const audience = await newAudience({ claims: ['team'], roles: true });
    const role = `app_${randomUUID().replaceAll('-', '')}`;
    const client = new pg.Client(postern.databaseEnv.DATABASE_URL);
    await client.connect();
    try {
      await client.query(`
        create table notes (team text, body text);
        insert into notes values ('red', 'of red'), ('blue', 'of blue');
        alter table notes enable row level security;
        alter table notes force row level security;
        create policy own_team on notes using (
          team = current_setting('request.jwt.claims', true)::json -> 'claims' ->> 'team'
          and (current_setting('request.jwt.claims', true)::jsonb -> 'roles') ? 'reader');
        create role ${role} nologin;
        grant select on notes to ${role};`);
      const notesOf = async (roles: string[]) => {
        const { session } = await signIn(postern, await createUser(postern, { roles, claims: { team: 'red' } }));
        const { body } = await ask(session.token, audience.uri);
        const { payload } = await jwtVerify(body.access_token, createLocalJWKSet(await keySet()));
        await client.query('begin');
        await client.query(`set local role ${role}`);
        await client.query("select set_config('request.jwt.claims', $1, true)", [JSON.stringify(payload)]);
        const { rows } = await client.query('select body from notes');
        await client.query('rollback');
        return rows;
      };
      expect(await notesOf(['reader'])).toEqual([{ body: 'of red' }]);
      expect(await notesOf([])).toEqual([]);
    } finally {
      await client.query(`drop table if exists notes; drop role if exists ${role}`).catch(() => undefined);
      await client.end();
    }
  });
});

describe('the keys', () => {
  test('are two of each algorithm, public only, and one of them signs', async () => {
    await newAudience({ alg: 'ES256' });
    const { keys } = await keySet();
    const own = keys.filter(({ alg }) => alg === 'ES256');
    expect(own.length).toBeGreaterThanOrEqual(2);
    for (const key of keys) expect(Object.keys(key)).not.toContain('d');
  });

  test('are rotated under load without one token that somebody with the keys from before refuses', async () => {
    const audience = await newAudience();
    const { session } = await signIn(postern, await createUser(postern));
    const kids = new Set<string>();
    const load = { isOver: false };
    const refusals: unknown[] = [];
    // A verifier reads the keys now and then: here each time after a rotation is complete.
    let known = createLocalJWKSet(await keySet());
    const client = async (app: TestApp) => {
      while (!load.isOver) {
        const verifier = known;
        const { body } = await ask(session.token, audience.uri, {}, app);
        kids.add(decodeProtectedHeader(body.access_token).kid ?? '');
        await jwtVerify(body.access_token, verifier).catch((error: unknown) => refusals.push(error));
      }
    };
    const clients = [postern, other, postern, other].map(client);
    for (let round = 0; round < 5; round += 1) {
      const before = kids.size;
      await rotate('now');
      await eventually('a token of the new key', async () => (kids.size > before ? true : undefined));
      known = createLocalJWKSet(await keySet());
    }
    load.isOver = true;
    await Promise.all(clients);
    expect(refusals).toEqual([]);
    expect(kids.size).toBeGreaterThanOrEqual(6);
  });

  test('of RSA sign a few tokens at a time, so that hashes of passwords need not wait for all of them', async () => {
    const audience = await newAudience({ alg: 'RS256' });
    const { accessTokens, verifiers } = postern.services;
    const sessions = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { session } = await signIn(postern, await createUser(postern));
        return verifiers.verifySession(session.token);
      }),
    );
    // Reads the keys.
    await accessTokens.issue(sessions[0] ?? expect.unreachable('there are 20'), { audience: audience.uri });
    const signed = { count: 0 };
    const tokens = Array.from({ length: 5 }, () => sessions)
      .flat()
      .map(async (session) => {
        await accessTokens.issue(session, { audience: audience.uri });
        signed.count += 1;
      });
    await Promise.race(tokens);
    // Libuv runs the work of its pool in the order in which it comes.
    await promisify(pbkdf2)('secret', 'salt', 1, 32, 'sha256');
    expect(signed.count).toBeLessThan(50);
    await Promise.all(tokens);
    expect(signed.count).toBe(100);
  });

  test('that were planned sign after 24 hours, and the former one stays published for an hour', async () => {
    const audience = await newAudience();
    const user = await createUser(postern);
    const kidOf = async () => {
      const { session } = await signIn(postern, user);
      return decodeProtectedHeader((await ask(session.token, audience.uri)).body.access_token).kid;
    };
    const kids = async () => (await keySet()).keys.map(({ kid }) => kid);
    try {
      const former = await kidOf();
      const planned = (await rotate('planned')).find(({ alg }) => alg === 'ES256')?.kid;
      expect((await rotate('planned')).find(({ alg }) => alg === 'ES256')?.kid).toBe(planned);
      expect([await kidOf(), (await kids()).includes(planned)]).toEqual([former, true]);
      await stepClock(postern.database, '24 hours 1 minute');
      expect([await kidOf(), (await kids()).includes(former)]).toEqual([planned, true]);
      await stepClock(postern.database, '25 hours 5 minutes');
      expect((await kids()).includes(former)).toBe(false);
    } finally {
      await stepClock(postern.database, '0');
    }
  });

  test('that are revoked are gone at once, and every instance signs with the next', async () => {
    const audience = await newAudience();
    const { session } = await signIn(postern, await createUser(postern));
    const kidOf = async (app: TestApp) =>
      decodeProtectedHeader((await ask(session.token, audience.uri, {}, app)).body.access_token).kid;
    const former = await kidOf(other);
    const [, ...more] = await rotate('revoke');
    expect(more.length).toBeLessThanOrEqual(1);
    expect((await keySet(other)).keys.map(({ kid }) => kid)).not.toContain(former);
    const kid = await kidOf(other);
    expect(kid).not.toBe(former);
    expect(await kidOf(postern)).toBe(kid);
  });
});

describe('audiences', () => {
  test('have a unique uri, limits, and events', async () => {
    const audience = await newAudience({ ttl: 900 });
    expect(audience).toMatchObject({ alg: 'ES256', ttl: 900, roles: false, claims: [], support: false });
    const { body: stored } = await admin<Audience>('GET', `/audiences/${audience.id}`);
    expect({ ...stored, too_large_for: [] }).toEqual(audience);
    expect((await refused('POST', '/audiences', { uri: audience.uri })).status).toBe(409);
    for (const [member, value] of Object.entries({ uri: 'a b', ttl: 901, alg: 'HS256', claims: ['x', 'x'] })) {
      expect((await refused('POST', '/audiences', { uri: 'https://x.example', [member]: value })).status).toBe(422);
    }
    const { body } = await admin<{ type: string; data: object }[]>(
      'GET',
      '/events?filter=type:eq:audience.created&limit=1',
    );
    expect(body).toMatchObject([{ data: { audience: audience.uri } }]);
  });

  test('are 100 at most, also if several are created at the same time', async () => {
    const filled = 'https://filled.example.com/';
    try {
      await postern.database.query(
        testSql(
          `insert into audiences (id, uri, alg, ttl, roles, claims, support, created_at, updated_at)
           select gen_random_uuid(), $1 || n, 'ES256', 300, false, '[]', false, now(), now()
           from generate_series(1, 98 - (select count(*) from audiences)) n`,
          [filled],
        ),
      );
      const created = Array.from({ length: 6 }, async (_, index) => {
        const answer = await admin<{ errors?: { code: string }[] }>('POST', '/audiences', {
          uri: `${filled}last/${index}`,
        });
        return answer.body.errors?.[0]?.code ?? answer.status;
      });
      const answers = await Promise.all(created);
      expect(answers.toSorted()).toEqual([201, 201, ...Array(4).fill('too_many_items')]);
    } finally {
      await postern.database.query(testSql('delete from audiences where uri like $1', [`${filled}%`]));
    }
  });

  test('need PUBLIC_URL', async () => {
    const plain = await startTestApp();
    const { status, body } = await plain.api<{ errors: { code: string }[] }>('POST', '/admin/v1/audiences', {
      bearer: plain.adminKey,
      body: { uri: 'https://api.example.com' },
    });
    expect([status, body.errors[0]?.code]).toEqual([422, 'public_url_required']);
    await plain.close();
  });
});
