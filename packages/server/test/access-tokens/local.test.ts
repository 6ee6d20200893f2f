import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isProblem } from '@postern/client';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAdministration } from '../../../../test/support/administration.js';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { startFaultyProxy } from '../../../../test/support/fault-injection/proxy.js';
import { createUser, signIn } from '../../../../test/support/users.js';
import { createRevocations } from '../../src/access-tokens/revocations.js';
import { createConnection } from '../../src/connection.js';
import {
  createPosternServer,
  expressSession,
  type LocalSession,
  type PosternServer,
  refusalOf,
  sessionOf,
} from '../../src/index.js';

const issuer = 'https://auth.example.com';
const audience = 'https://api.example.com';
const local = { local: true } as const;

const opened: PosternServer[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});
function verifier(url: string, apiKey: string, more: object = {}): PosternServer {
  const server = createPosternServer({ url, apiKey, audience, issuer, timeout: 60_000, ...more });
  opened.push(server);
  return server;
}
/** Asks again while Postern says that it cannot check yet. */
const settled = (server: PosternServer, token: string) =>
  eventually('a check', async () =>
    server
      .verify(token, local)
      .then((session) => ({ session }))
      .catch(() => undefined),
  );

describe('with a real Postern', () => {
  let app: TestApp;
  let other: TestApp;
  beforeAll(async () => {
    const env = { PUBLIC_URL: issuer, LOGIN_LIMIT_PER_ADDRESS: '0' };
    app = await startTestApp(env, { streamTimes: { checkIntervalMs: 50 } });
    other = await app.another();
    await createAdministration(() => app).admin('POST', '/audiences', { uri: audience, roles: true, claims: ['plan'] });
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });
  async function holder() {
    const user = await createUser(app, { roles: ['editor'], claims: { plan: 'pro' } });
    const { token, session } = await signIn(app, user);
    const { body } = await app.api<{ access_token: string }>('POST', '/v1/access-tokens', {
      bearer: session.token,
      body: { audience },
    });
    const logOut = () => app.api('DELETE', '/v1/tokens', { basic: token });
    return { user, token: session.token, accessToken: body.access_token, logOut };
  }

  test('verify with `local` returns what the token says, without a request for each check', async () => {
    const sent: string[] = [];
    const server = verifier(app.url, app.adminKey, {
      fetch: (input: string, init: RequestInit) => {
        sent.push(new URL(input).pathname);
        return fetch(input, init);
      },
    });
    const { user, accessToken } = await holder();
    const headers = { authorization: `Bearer ${accessToken}` };
    await settled(server, accessToken);
    for (let round = 0; round < 10; round += 1) {
      expect(await server.verify({ headers }, local)).toMatchObject({
        ...{ user_id: user.id, roles: ['editor'], claims: { plan: 'pro' }, amr: ['pwd'], proven_at: null },
        authentication_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
    }
    expect(sent.sort()).toEqual(['/.well-known/jwks.json', '/v1/revocations']);
    const session = await server.verify({ headers }, local);
    expect(Math.abs(Date.parse(session?.authenticated_at ?? '') - Date.now())).toBeLessThan(120_000);
  });

  test('a token is refused after a logout, on another instance too, and every other kind of text gives no session', async () => {
    const servers = [verifier(app.url, app.adminKey), verifier(other.url, app.adminKey)];
    const { accessToken, token, logOut } = await holder();
    for (const server of servers) expect((await settled(server, accessToken)).session).not.toBeNull();
    const [head, body, signature = ''] = accessToken.split('.');
    const changed = `${head}.${body}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const none = Buffer.from('{"alg":"none","typ":"at+jwt","kid":"x"}').toString('base64url');
    for (const text of [
      '',
      'x',
      token,
      changed,
      `${none}.${body}.`,
      `${none}.${body}.AAAA`,
      `${head}.${body}`,
      `${accessToken}.x`,
    ])
      expect(await servers[0]?.verify({ headers: { authorization: `Bearer ${text}` } }, local)).toBeNull();
    await logOut();
    for (const server of servers)
      await eventually('the refusal', async () =>
        (await server.verify(accessToken, local)) === null ? true : undefined,
      );
    // A verifier that begins now learns of it too.
    expect((await settled(verifier(app.url, app.adminKey), accessToken)).session).toBeNull();
  });

  test('the middlewares take `local`', async () => {
    const server = verifier(app.url, app.adminKey);
    const { user, accessToken } = await holder();
    await settled(server, accessToken);
    const answer = async (authorization: string, options: object = {}) => {
      const request = { headers: { authorization } };
      return new Promise((resolve) => {
        const response = { statusCode: 200, setHeader: () => undefined, end: () => resolve(response.statusCode) };
        expressSession(server, { local: true, ...options })(request, response, () =>
          resolve(sessionOf<LocalSession>(request).user_id),
        );
      });
    };
    expect(await answer(`Bearer ${accessToken}`)).toBe(user.id);
    expect(await answer(`Bearer ${accessToken}`, { within: '10m' })).toBe(user.id);
    expect(await answer(`Bearer ${accessToken}`, { factor: true })).toBe(401);
    expect(await answer('Bearer x')).toBe(401);
  });

  test('twenty verifiers refuse a token soon after the same logout', async () => {
    const servers = Array.from({ length: 20 }, () => verifier(app.url, app.adminKey));
    const { accessToken, logOut } = await holder();
    for (const server of servers) expect((await settled(server, accessToken)).session).not.toBeNull();
    await logOut();
    await Promise.all(
      servers.map((server) =>
        eventually('the refusal', async () => ((await server.verify(accessToken, local)) === null ? true : undefined)),
      ),
    );
  });

  test('a logout while the connection is broken is known after it', async () => {
    const proxy = await startFaultyProxy({ port: Number(new URL(app.url).port) });
    const server = verifier(`http://127.0.0.1:${proxy.port}`, app.adminKey);
    const [leaving, staying] = [await holder(), await holder()];
    for (const { accessToken } of [leaving, staying])
      expect((await settled(server, accessToken)).session).not.toBeNull();
    proxy.down();
    await leaving.logOut();
    await proxy.up();
    await eventually('the refusal', async () =>
      (await server.verify(leaving.accessToken, local)) === null ? true : undefined,
    );
    expect((await server.verify(staying.accessToken, local))?.user_id).toBe(staying.user.id);
    server.close();
    await proxy.close();
  });

  test('a key without the scope is an outage, never a logout', async () => {
    const { body } = await app.api<{ token: string }>('POST', '/admin/v1/keys', {
      bearer: app.adminKey,
      body: { name: 'x', scopes: ['users:read'] },
    });
    const server = verifier(app.url, body.token, { timeout: 200 });
    const { accessToken } = await holder();
    // A busy service may answer the request for the stream too late for this check, and then it answers the next one.
    await eventually('the answer of Postern', async () => {
      const error = await server.verify(accessToken, local).catch((reason: unknown) => reason);
      expect(refusalOf(error)?.status).toBe(503);
      return isProblem((error as Error).cause, 'insufficient_scope') || undefined;
    });
  });
});

test('without `audience` or `issuer`, `local` says what is missing', async () => {
  for (const more of [{ audience: undefined }, { issuer: undefined }])
    await expect(verifier('http://127.0.0.1:1', 'psk_x', more).verify('x', local)).rejects.toThrow(
      'createPosternServer({ url, apiKey, audience, issuer })',
    );
});

/** A Postern whose stream a test writes, on a clock of its own. */
describe('with a stream that a test writes', () => {
  let server: Server;
  let url: string;
  let streams: ServerResponse[];
  let requests: string[];
  let isPublished: boolean;
  let sign: (payload: JWTPayload, header?: object) => Promise<string>;
  /** The time of the database, in seconds. It has nothing to do with that of this machine. */
  const now = 2_000_000_000;
  const timeAt = (seconds: number) => new Date(seconds * 1000).toISOString();
  const payload = {
    ...{ iss: issuer, aud: audience, sub: 'ada', sid: 'login', jti: 'x', auth_time: now - 9, amr: ['pwd'] },
  };

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['performance'], now: Date.now() });
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    const key = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
    streams = [];
    requests = [];
    isPublished = true;
    sign = (more, header = {}) =>
      new SignJWT({ ...payload, iat: now - 5, exp: now + 300, ...more })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header })
        .sign(privateKey);
    server = createServer((request, response) => {
      if (request.url === '/.well-known/jwks.json')
        return response.end(JSON.stringify({ keys: [{ kty: 'OKP' }, ...(isPublished ? [key] : [])] }));
      requests.push(`${request.headers['last-event-id']}`);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return streams.push(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    vi.useRealTimers();
    server.closeAllConnections();
    server.close();
  });

  const stream = (count = 1) => eventually('a stream', async () => streams[count - 1]);
  const tell = (response: ServerResponse, data: object) =>
    response.write(`event: revocation\ndata: ${JSON.stringify(data)}\n\n`);
  let beats = 0;
  const beat = (response: ServerResponse, seconds = now, age = 0.01) => {
    beats += 1;
    response.write(
      `event: beat\nid: b${beats}\ndata: ${JSON.stringify({ through: timeAt(seconds - age), now: timeAt(seconds) })}\n\n`,
    );
  };
  const outcome = (verify: PosternServer, token: string) =>
    verify.verify(token, local).then(
      (session) => session?.user_id ?? null,
      (error: unknown) => refusalOf(error)?.status,
    );
  const becomes = (verify: PosternServer, token: string, expected: unknown) =>
    eventually(`${expected}`, async () => ((await outcome(verify, token)) === expected ? true : undefined));

  async function ready() {
    const verify = verifier(url, 'psk_x');
    const token = await sign({});
    const first = outcome(verify, token);
    const response = await stream();
    beat(response);
    expect(await first).toBe('ada');
    return { verify, token, response };
  }

  test('throws before the first beat, and 15 seconds after the last one, also for texts that are no tokens', async () => {
    const early = verifier(url, 'psk_x', { timeout: 50 });
    expect([await outcome(early, await sign({})), await outcome(early, 'x')]).toEqual([503, 503]);
    // On a busy machine, a request for the stream takes longer than 50 ms, so it fails and another one follows.
    const beatsAgain = async (seconds?: number) => {
      const token = await sign({});
      await eventually('a beat', async () => {
        for (const each of streams) beat(each, seconds);
        return (await outcome(early, token)) === 'ada' || undefined;
      });
    };
    await beatsAgain();
    vi.advanceTimersByTime(14_000);
    expect([await outcome(early, await sign({})), await outcome(early, 'x')]).toEqual(['ada', null]);
    vi.advanceTimersByTime(1500);
    expect([await outcome(early, await sign({})), await outcome(early, 'x')]).toEqual([503, 503]);
    await beatsAgain(now + 15.5);
  });

  test('counts the age that the beat itself has, so an instance that lags does not look fresh', async () => {
    const { verify, token, response } = await ready();
    vi.advanceTimersByTime(1000);
    beat(response, now + 1, 14);
    tell(response, { sid: 'marker', before: timeAt(now) });
    await becomes(verify, await sign({ sid: 'marker' }), null);
    expect(await outcome(verify, token)).toBe('ada');
    vi.advanceTimersByTime(1100);
    expect(await outcome(verify, token)).toBe(503);
  });

  test('does not take late beats of a proxy that holds them back for fresh ones, and connects again', async () => {
    const { verify, token, response } = await ready();
    vi.advanceTimersByTime(16_000);
    expect(await outcome(verify, token)).toBe(503);
    // Written long ago, and forwarded now.
    beat(response, now + 0.5);
    const second = await stream(2);
    expect(await outcome(verify, token)).toBe(503);
    beat(second, now + 16);
    await becomes(verify, token, 'ada');
    expect(requests).toEqual(['undefined', `b${beats - 2}`]);
  });

  test('connects again if nothing arrives: the connection may be lost without a sign', async () => {
    const connection = createConnection(() => url, { apiKey: 'psk_x' });
    const revocations = createRevocations(connection, { maxLateMs: 50 });
    // The beat follows the headers at once, because a busy machine may take longer than 50 ms to continue here.
    server.on('request', () => {
      for (const each of streams.slice(-1)) beat(each);
    });
    expect(await revocations.current()).toBeCloseTo(now, 0);
    await eventually('a request after each of two beats', async () => new Set(requests).size > 2 || undefined);
    revocations.close();
  });

  test('connects again after a step of the clock of the database, and goes on', async () => {
    const { verify, token, response } = await ready();
    beat(response, now + 200);
    beat(await stream(2), now + 200);
    await becomes(verify, token, 'ada');
  });

  test('connects again where it stopped when the stream is cut, and forgets nothing', async () => {
    const { verify, token, response } = await ready();
    tell(response, { sid: 'login', before: timeAt(now) });
    await becomes(verify, token, null);
    response.destroy();
    const second = await stream(2);
    expect(requests[1]).toBe(`b${beats}`);
    beat(second);
    await becomes(verify, token, null);
    expect(await outcome(verify, await sign({ sid: 'another login' }))).toBe('ada');
  });

  test.each([
    ['the login', { sid: 'login' }],
    ['the user', { sub: 'ada' }],
  ])('refuses tokens of %s up to the second of `before`, and later ones not', async (_, ids) => {
    const { verify, token, response } = await ready();
    tell(response, { ...ids, before: '2033-05-18T03:33:19.999999Z' });
    await becomes(verify, token, null);
    expect(Math.floor(Date.parse('2033-05-18T03:33:19.999Z') / 1000)).toBe(now - 1);
    expect(await outcome(verify, await sign({ iat: now - 1 }))).toBeNull();
    expect(await outcome(verify, await sign({ iat: now }))).toBe('ada');
    // An older one that comes later changes nothing.
    tell(response, { ...ids, before: timeAt(now - 100) });
    beat(response);
    expect(await outcome(verify, await sign({ iat: now - 1 }))).toBeNull();
  });

  test('refuses every token of a withdrawn key for good: a thief of the key chooses the times of its tokens', async () => {
    const { verify, token, response } = await ready();
    tell(response, { kid: 'k1', before: timeAt(now - 1) });
    await becomes(verify, token, null);
    expect(await outcome(verify, await sign({ iat: now }))).toBeNull();
    // Revocations are forgotten after 20 minutes, and a cache may still give out the key. The unknown key makes the verifier read the keys.
    vi.advanceTimersByTime(1_500_000);
    beat(response, now + 1500);
    const later = { iat: now + 1500, exp: now + 1800 };
    await becomes(verify, await sign({ ...later, sid: 'x' }, { kid: 'k2' }), null);
    expect(await outcome(verify, await sign(later))).toBeNull();
  });

  test('reads the keys again after a reset: one may have been withdrawn so long ago that no event says so', async () => {
    const { verify, token, response } = await ready();
    isPublished = false;
    expect(await outcome(verify, token)).toBe('ada');
    response.write('event: reset\ndata: {}\n\n');
    beat(response);
    await becomes(verify, token, null);
  });

  test('checks issuer, audience, times by the clock of the database, type and algorithm', async () => {
    const { verify } = await ready();
    const refused = [
      sign({ iss: 'https://other.example' }),
      sign({ aud: 'https://other.example' }),
      sign({ aud: [audience, 'https://other.example'] }),
      sign({ exp: now }),
      sign({ iat: now + 100 }),
      sign({ sid: 1 }),
      sign({}, { typ: 'JWT' }),
      sign({}, { kid: 'k2' }),
      sign({}, { crit: ['b64'], b64: true }),
    ];
    for (const token of refused) expect(await outcome(verify, await token)).toBeNull();
    expect(await outcome(verify, await sign({ exp: now + 1 }))).toBe('ada');
  });
});
