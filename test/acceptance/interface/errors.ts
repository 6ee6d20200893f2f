import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TestService } from '../../support/process.js';
import {
  type Client,
  codesOf,
  createClient,
  exampleId,
  expectProblem,
  nobody,
  passwordLogin,
  type Sent,
  uuid,
} from '../client.js';

export function describeErrors(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
  });

  describe('7 Errors', () => {
    const refusals: readonly [number, string, string, string, () => Sent | Promise<Sent>][] = [
      [400, 'malformed_json', 'POST', '/v1/tokens', () => ({ body: '{' })],
      [
        400,
        'authorization_rejected',
        'POST',
        `/v1/tokens/${exampleId}/secret`,
        () => ({ body: { secret: '1', pin: '1234' } }),
      ],
      [401, 'missing_credentials', 'GET', '/v1/notifications', () => ({})],
      [401, 'invalid_authentication_token', 'POST', '/v1/sessions', () => ({ basic: 'x' })],
      [401, 'invalid_session_token', 'POST', '/v1/sessions/verify', () => ({ bearer: 'x' })],
      [401, 'invalid_api_key', 'GET', '/admin/v1/users', () => ({ bearer: 'x' })],
      [401, 'no_active_token', 'DELETE', `/v1/tokens/${exampleId}`, async () => ({ bearer: await sessionToken() })],
      [404, 'not_found', 'GET', `/v1/tokens/${exampleId}`, () => ({})],
      [404, 'not_found', 'GET', '/nothing', () => ({})],
      [405, 'method_not_allowed', 'PUT', '/v1/tokens', () => ({ body: {} })],
      [
        409,
        'identity_taken',
        'POST',
        '/admin/v1/users',
        async () => ({ bearer: service.adminKey, body: { email: await takenEmail() } }),
      ],
      [413, 'payload_too_large', 'POST', '/v1/tokens', () => ({ body: { secret: 'x'.repeat(65 * 1024) } })],
      [
        415,
        'unsupported_media_type',
        'POST',
        '/v1/tokens',
        () => ({ body: 'a=b', headers: { 'Content-Type': 'text/plain' } }),
      ],
      [422, 'required', 'POST', '/v1/tokens', () => ({ body: {} })],
      [422, 'invalid_page', 'GET', '/v1/notifications?page=0', async () => ({ bearer: await sessionToken() })],
    ];
    const sessionToken = async () => (await client.signIn(await client.createUser())).session.token;
    const takenEmail = async () => (await client.createUser()).email;

    test.each(refusals)(
      '%i %s is a problem with a type, a title, a detail, a request id and codes: %s %s',
      async (...refusal) => {
        const [status, code, method, path, sent] = refusal;
        const answer = await client.send(method, path, await sent());
        expectProblem(answer, status, code);
        expect(answer.body.errors.length).toBeGreaterThan(0);
        for (const { code: each, message } of answer.body.errors) {
          expect(each).toMatch(/^[a-z]+(_[a-z]+)*$/);
          expect(message).toMatch(/\w.*[.?]$/);
        }
        expect(answer.text).not.toMatch(/ {2}at |select |node_modules|\.ts\b/i);
      },
    );

    test('405 lists the allowed methods', async () => {
      for (const [path, allowed] of [
        ['/v1/tokens', ['DELETE', 'OPTIONS', 'POST']],
        [`/v1/tokens/${exampleId}/secret`, ['OPTIONS', 'POST']],
        ['/v1/sessions', ['OPTIONS', 'POST']],
        ['/v1/notifications', ['GET', 'HEAD', 'OPTIONS']],
      ] as const) {
        const { status, headers } = await client.send('PATCH', path, { body: {} });
        expect([status, headers.get('Allow')?.split(', ').sort()]).toEqual([405, allowed]);
      }
    });

    test('messages depend on Accept-Language, codes do not', async () => {
      const ask = (language: string) =>
        client.send('POST', '/v1/tokens', { body: {}, headers: { 'Accept-Language': language } });
      const [english, spanish, other] = [await ask('en'), await ask('es-AR, en;q=0.4'), await ask('tlh')];
      expect(codesOf(spanish)).toEqual(codesOf(english));
      expect([english, spanish, other].map(({ headers }) => headers.get('Content-Language'))).toEqual([
        'en',
        'es',
        'en',
      ]);
      expect(spanish.body.title).not.toBe(english.body.title);
      expect(other.body.title).toBe(english.body.title);
    });

    test('the error_message of an authentication depends on Accept-Language too', async () => {
      const messages = ['en', 'es'].map(async (language) => {
        const headers = { 'Accept-Language': language };
        return (await client.start(passwordLogin(nobody()), { headers })).body.error_message;
      });
      expect(await messages[0]).not.toBe(await messages[1]);
    });
  });

  describe('9 Versioning', () => {
    test.each(['/tokens', '/v2/tokens', '/V1/tokens', '/v1/Tokens', '/v1/tokens/', '//v1/tokens'])(
      '%s is 404',
      async (path) => {
        expectProblem(await client.send('POST', path, { body: {} }), 404, 'not_found');
      },
    );
  });

  describe('every response', () => {
    test('has its own Request-ID', async () => {
      const { session } = await client.signIn(await client.createUser());
      const answers = [
        await client.start(passwordLogin(nobody())),
        await client.verify(session.token),
        await client.send('GET', '/v1/notifications', { bearer: session.token }),
        await client.send('GET', '/livez', { headers: { 'Request-ID': 'mine' } }),
        await client.send('GET', '/nothing'),
        await client.send('OPTIONS', '/v1/tokens'),
      ];
      const ids = answers.map(({ headers }) => headers.get('Request-ID'));
      for (const id of ids) expect(id).toMatch(uuid);
      expect(new Set(ids).size).toBe(ids.length);
    });

    test('cannot be read by a page of another origin', async () => {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await client.send(method, '/livez', { headers: { Origin: 'https://evil.example' } });
        expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      }
    });

    test('does not depend on unknown members of a body, which are not stored; the admin API refuses them', async () => {
      const unknownMembers = {
        id: exampleId,
        created_at: '2001-01-01T00:00:00Z',
        status: 'deactivated',
        lock: { permanent: true },
        colour: 'red',
      };
      const refused = await client.admin('POST', '/users', { username: 'unknown-members', ...unknownMembers });
      expect([refused.status, refused.body.errors.map(({ field }) => field).sort()]).toEqual([
        422,
        Object.keys(unknownMembers).sort(),
      ]);
      const user = await client.createUser();
      const { body, text } = await client.admin<Record<string, unknown>>('GET', `/users/${user.id}`);
      expect(body).toMatchObject({ status: 'active', lock: null });
      expect(text).not.toMatch(/red|2001-01-01/);
      const login = await client.start({
        ...passwordLogin(user),
        ...unknownMembers,
        token: 'psa_mine',
        device: { colour: 'red' },
      });
      expect(login.body).toMatchObject({ status: 'approved', token: expect.stringMatching(/^psa_.{80}$/) });
      for (const { id } of [user, login.body]) expect(id).not.toBe(exampleId);
    });

    test.each(['unlock', 'logout'])(
      'to a POST without a body is the same with and without a content type: %s',
      async (act) => {
        const { id } = await client.createUser();
        for (const headers of [{}, { 'Content-Type': 'application/json' }] as const) {
          const sent = { bearer: service.adminKey, headers };
          expect((await client.send('POST', `/admin/v1/users/${id}/${act}`, sent)).status).toBe(200);
        }
      },
    );
  });

  describe('Idempotency-Key', () => {
    const key = () => ({ 'Idempotency-Key': randomUUID() });
    const create = (body: object, headers: Record<string, string>) =>
      client.send<{ id: string }>('POST', '/admin/v1/users', { bearer: service.adminKey, body, headers });

    test('is returned by every operation, errors included', async () => {
      const longest = `~ ${'x'.repeat(253)}`.slice(0, 255);
      for (const value of [randomUUID(), longest]) {
        const sent = { headers: { 'Idempotency-Key': value } };
        const answers = [
          await client.start(passwordLogin(nobody()), sent),
          await client.start({}, sent),
          await client.send('GET', '/v1/notifications', sent),
          await client.send('GET', '/nothing', sent),
          await client.send('GET', '/livez', sent),
        ];
        expect(answers.map(({ headers }) => headers.get('Idempotency-Key'))).toEqual(answers.map(() => value));
      }
    });

    test('returns the stored response for a repeated creation, with a header', async () => {
      const [body, headers] = [{ username: `u${randomUUID()}` }, key()];
      const [first, repeat] = [await create(body, headers), await create(body, headers)];
      expect([repeat.status, repeat.text]).toEqual([201, first.text]);
      expect([first, repeat].map((answer) => answer.headers.get('Idempotent-Replayed'))).toEqual([null, 'true']);
    });

    test('leads to 422 if it was used with another body, and creates nothing', async () => {
      const [body, headers, other] = [{ username: `u${randomUUID()}` }, key(), { username: `u${randomUUID()}` }];
      await create(body, headers);
      expectProblem(await create(other, headers), 422, 'idempotency_key_reused');
      expect((await client.admin('GET', `/users?filter=username:eq:${other.username}`)).body).toEqual([]);
    });

    test('creates one user from many parallel requests, and each gets that user or 409', async () => {
      const [body, headers] = [{ username: `u${randomUUID()}` }, key()];
      const answers = await Promise.all(Array.from({ length: 12 }, () => create(body, headers)));
      const created = answers.filter(({ status }) => status === 201);
      expect(new Set(created.map(({ body: user }) => user.id)).size).toBe(1);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expect([answer.status, codesOf(answer)]).toEqual([409, ['request_in_progress']]);
        expect(answer.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
      }
      expect((await create(body, headers)).body.id).toBe(created[0]?.body.id);
    });
  });
}
