import { beforeAll, describe, expect, test } from 'vitest';
import type { TestService } from '../../support/process.js';
import {
  type Client,
  codesOf,
  createClient,
  exampleId,
  expectProblem,
  password,
  passwordLogin,
  type Session,
  timeIn,
} from '../client.js';

export function describeSessions(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
  });

  describe('4.5 POST /v1/sessions', () => {
    test('is 201 with a session for the base64 of the authentication token', async () => {
      const { body } = await client.start(passwordLogin(await client.createUser()));
      const authorization = `Basic ${Buffer.from(body.token ?? '').toString('base64')}`;
      const answer = await client.send<Session>('POST', '/v1/sessions', { headers: { authorization } });
      expect(answer.status).toBe(201);
      expect(answer.body.token).toMatch(/^pss_/);
      expect(answer.headers.get('Cache-Control')).toBe('no-store');
      expect(answer.body.created_at < answer.body.expires_at).toBe(true);
    });

    test('accepts the credentials of HTTP clients: a trailing colon, a scheme in upper or lower case', async () => {
      const { token } = await client.signIn(await client.createUser());
      expect((await client.newSession(`${token}:`)).status).toBe(201);
      const encoded = Buffer.from(token).toString('base64');
      for (const scheme of ['basic', 'BASIC']) {
        const headers = { authorization: `${scheme} ${encoded}` };
        expect((await client.send('POST', '/v1/sessions', { headers })).status).toBe(201);
      }
      expectProblem(await client.newSession(`${token}:password`), 401, 'invalid_authentication_token');
    });

    test.each([
      ['no body and no content type', {}],
      ['no body and a content type', { headers: { 'Content-Type': 'application/json' } }],
      ['no body and a content type with a charset', { headers: { 'Content-Type': 'application/json; charset=utf-8' } }],
      ['an empty object', { body: {} }],
      [
        'members that mean nothing',
        { body: { token: 'pss_mine', expires_at: '2999-01-01T00:00:00Z', user_id: exampleId } },
      ],
    ])('may be sent with %s', async (_, sent) => {
      const { user, token } = await client.signIn(await client.createUser());
      const { status, body } = await client.newSession(token, sent);
      expect(status).toBe(201);
      expect(body).toMatchObject({ user_id: user.id, token: expect.stringMatching(/^pss_.{80}$/) });
    });

    test('creates a new session each time, and all of them are valid', async () => {
      const { token, session } = await client.signIn(await client.createUser());
      const others = await Promise.all([1, 2, 3, 4].map(() => client.newSession(token)));
      const tokens = [session, ...others.map(({ body }) => body)].map((each) => each.token);
      expect(new Set(tokens).size).toBe(5);
      for (const each of tokens) expect((await client.verify(each)).status).toBe(200);
    });

    test('is 401 with a Basic challenge for a token that is unknown, malformed, of another kind or missing', async () => {
      const { token, session } = await client.signIn(await client.createUser());
      const changed = token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      for (const wrong of [
        changed,
        `${token}A`,
        token.slice(0, -1),
        'psa_',
        'junk',
        ':',
        session.token,
        service.adminKey,
      ]) {
        const answer = await client.newSession(wrong);
        expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([
          401,
          expect.stringMatching(/^Basic realm=/),
        ]);
      }
      expectProblem(await client.send('POST', '/v1/sessions'), 401, 'missing_credentials');
      expectProblem(await client.send('POST', '/v1/sessions', { bearer: token }), 401, 'missing_credentials');
      expect((await client.newSession(token)).status).toBe(201);
    });

    test('is 401 for a token of a deleted user', async () => {
      const { user, token } = await client.signIn(await client.createUser());
      await client.admin('DELETE', `/users/${user.id}`);
      expectProblem(await client.newSession(token), 401, 'invalid_authentication_token');
    });

    test('is 403 while an operator has locked the account, temporarily or permanently', async () => {
      const { user, token } = await client.signIn(await client.createUser());
      for (const lock of [{ permanent: true }, { until: timeIn(90) }]) {
        await client.lock(user, lock);
        expectProblem(await client.newSession(token), 403, 'account_locked');
      }
      await client.admin('POST', `/users/${user.id}/unlock`);
      expect((await client.newSession(token)).status).toBe(201);
    });

    test('is 400 for a deactivated account, whose tokens have ended permanently', async () => {
      const { user, token } = await client.signIn(await client.createUser());
      const become = async (status: string) => (await client.admin('PATCH', `/users/${user.id}`, { status })).status;
      expect(await become('deactivated')).toBe(200);
      expectProblem(await client.newSession(token), 400, 'account_unusable');
      expect(await become('active')).toBe(200);
      expectProblem(await client.newSession(token), 401, 'invalid_authentication_token');
    });

    test('ends the older token of the same device with its sessions, at the first use of the newer one', async () => {
      const user = await client.createUser();
      const device = { id: exampleId };
      const [older, other] = [await client.signIn(user, device), await client.signIn(user)];
      const newer = (await client.start(passwordLogin(user, { device }))).body;
      expect((await client.verify(older.session.token)).status).toBe(200);
      expect((await client.newSession(newer.token)).status).toBe(201);
      expectProblem(await client.verify(older.session.token), 401, 'invalid_session_token');
      expectProblem(await client.newSession(older.token), 401, 'invalid_authentication_token');
      expect((await client.verify(other.session.token)).status).toBe(200);
    });
  });

  describe.each(['POST', 'GET'])('4.6 %s /v1/sessions/verify', (method) => {
    test('is 200 with the session, without its token', async () => {
      const { token, ...session } = (await client.signIn(await client.createUser())).session;
      const { status, body, headers } = await client.verify(token, method);
      // Other members come after those of the session.
      const members = Object.keys(session);
      expect([status, body]).toEqual([200, expect.objectContaining(session)]);
      expect(Object.keys(body ?? {}).slice(0, members.length)).toEqual(members);
      expect(headers.get('Cache-Control')).toBe('no-store');
    });

    test('is 401 with invalid_token for a token that is unknown, malformed or of another kind', async () => {
      const { token, session } = await client.signIn(await client.createUser());
      const changed = session.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      for (const wrong of [
        changed,
        `${session.token}A`,
        session.token.slice(0, -1),
        'pss_',
        'junk',
        token,
        service.adminKey,
      ]) {
        const answer = await client.verify(wrong, method);
        expectProblem(answer, 401, 'invalid_session_token');
        expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
      }
    });

    test('is 401 with a challenge that has no error parameter, for a request without credentials', async () => {
      const answer = await client.send(method, '/v1/sessions/verify');
      expectProblem(answer, 401, 'missing_credentials');
      expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer (?!.*error=)/);
    });

    test.each([
      ['its user is locked', (id: string) => client.admin('POST', `/users/${id}/lock`, { permanent: true })],
      ['its user is logged out', (id: string) => client.admin('POST', `/users/${id}/logout`)],
      ['its user is deactivated', (id: string) => client.admin('PATCH', `/users/${id}`, { status: 'deactivated' })],
      [
        'its user’s password changes',
        (id: string) => client.admin('PATCH', `/users/${id}`, { password: `${password}!` }),
      ],
      ['its user is deleted', (id: string) => client.admin('DELETE', `/users/${id}`)],
    ])('is 401 on the very next request after %s', async (_, revoke) => {
      const { user, session } = await client.signIn(await client.createUser());
      expect((await client.verify(session.token, method)).status).toBe(200);
      expect((await revoke(user.id)).status).toBeLessThan(300);
      expectProblem(await client.verify(session.token, method), 401, 'invalid_session_token');
    });
  });

  describe('5 Authentication', () => {
    test('a login needs no Authorization header, and ignores an old one', async () => {
      const user = await client.createUser();
      for (const sent of [{}, { bearer: 'pss_expired' }, { basic: 'ada:secret' }]) {
        expect((await client.start(passwordLogin(user), sent)).body.status).toBe('approved');
        const { id } = (await client.start(passwordLogin(user))).body;
        expect((await client.send('GET', `/v1/tokens/${id}`, sent)).status).toBe(201);
      }
    });

    test.each([
      ['DELETE', `/v1/tokens/${exampleId}`],
      ['POST', '/v1/sessions/verify'],
      ['GET', '/v1/notifications'],
    ])('%s %s carries a session token as Bearer, or is 401', async (method, path) => {
      const { token, session } = await client.signIn(await client.createUser());
      expectProblem(await client.send(method, path), 401, 'missing_credentials');
      expectProblem(await client.send(method, path, { basic: session.token }), 401, 'missing_credentials');
      expectProblem(await client.send(method, path, { bearer: token }), 401, 'invalid_session_token');
      expect(codesOf(await client.send(method, `${path}?access_token=${session.token}`))).toEqual([
        'missing_credentials',
      ]);
    });

    test('a user with a refused authentication token can log in again', async () => {
      const { user, token, authentication, session } = await client.signIn(await client.createUser());
      await client.send('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token });
      expect((await client.newSession(token)).status).toBe(401);
      const again = await client.signIn(user);
      expect((await client.verify(again.session.token)).status).toBe(200);
    });
  });
}
