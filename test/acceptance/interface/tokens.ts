import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TestService } from '../../support/process.js';
import {
  type Answer,
  type Authentication,
  type Client,
  codesOf,
  createClient,
  exampleId,
  expectProblem,
  fieldsOf,
  passwordLogin,
  secondsBetween,
  shapeOf,
  smsLogin,
  timeIn,
  wrongCode,
} from '../client.js';

export function describeTokens(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
  });

  describe('4.2 POST /v1/tokens/{id}/secret', () => {
    const pin = '2468';

    test('is 201 with the authentication, its token and the token’s expiry for the right code', async () => {
      const { id, code, authentication } = await client.startSms(await client.createUser());
      const { status, body, headers } = await client.sendSecret(id, { secret: code, pin });
      expect(status).toBe(201);
      expect(body).toMatchObject({
        id,
        device_id: authentication.device_id,
        status: 'approved',
        error_code: '',
        error_message: '',
      });
      expect(body.token).toMatch(/^psa_/);
      expect(body.created_at).toBe(authentication.created_at);
      expect(secondsBetween(body.updated_at, body.expires_at)).toBe(365 * 24 * 3600);
      expect(headers.get('Cache-Control')).toBe('no-store');
    });

    test('accepts the id in upper case too', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      expect((await client.sendSecret(id.toUpperCase(), { secret: code, pin })).body).toMatchObject({
        id,
        status: 'approved',
      });
    });

    test('requires the secret and the PIN: a missing or malformed one is 422 and does not count as an attempt', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      for (const [body, fields] of [
        [{}, ['pin', 'secret']],
        [{ secret: code }, ['pin']],
        [{ pin }, ['secret']],
        [{ secret: '', pin }, ['secret']],
        [{ secret: Number(code), pin }, ['secret']],
        [{ secret: code, pin: 2468 }, ['pin']],
        [{ secret: code, pin: '246' }, ['pin']],
        [{ secret: code, pin: '1234567890123' }, ['pin']],
      ] as const) {
        const answer = await client.sendSecret(id, body);
        expect([answer.status, fieldsOf(answer).sort()]).toEqual([422, fields]);
      }
      expect((await client.sendSecret(id, { secret: code, pin })).status).toBe(201);
    });

    test('is 400 for a wrong code, with the authentication in the problem, and further attempts are possible', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      const answer = await client.sendSecret<{ authentication: Authentication }>(id, { secret: wrongCode(code), pin });
      expectProblem(answer, 400, 'authorization_rejected');
      const { authentication } = answer.body;
      expect(Object.keys(authentication).sort()).toEqual(['error_code', 'error_message', 'id', 'status']);
      expect(authentication).toMatchObject({
        id,
        error_code: 'authorization_rejected',
        error_message: expect.stringMatching(/\w/),
      });
      expect((await client.status(id)).body.status).toBe('pending');
      expect((await client.sendSecret(id, { secret: code, pin })).status).toBe(201);
    });

    test('returns the same response for a wrong code, for too many wrong codes, and for an approved or unknown authentication', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      const single = (await client.start(passwordLogin(await client.createUser()))).body;
      const answers = [];
      for (let guess = 1; guess <= 6; guess += 1)
        answers.push(await client.sendSecret(id, { secret: wrongCode(code), pin }));
      for (const other of [randomUUID(), single.id, 'x'.repeat(36)])
        answers.push(await client.sendSecret(other, { secret: code, pin }));
      expectProblem(answers[0] as Answer<unknown>, 400, 'authorization_rejected');
      for (const answer of answers) expect(shapeOf(answer)).toEqual(shapeOf(answers[0] as Answer<unknown>));
    });

    test('requires the right PIN of a user who has one', async () => {
      const { id, code } = await client.startSms(await client.createUser({ pin: '1357' }));
      expectProblem(await client.sendSecret(id, { secret: code, pin }), 400, 'authorization_rejected');
      expect((await client.sendSecret(id, { secret: code, pin: '1357' })).status).toBe(201);
    });

    test('is 423 while the account is temporarily locked and 403 while it is permanently locked, and approves after an unlock', async () => {
      const { user, id, code } = await client.startSms(await client.createUser());
      await client.lock(user, { until: timeIn(90) });
      const temporary = await client.sendSecret(id, { secret: code, pin });
      expectProblem(temporary, 423, 'account_temporarily_locked');
      await client.lock(user, { permanent: true });
      expectProblem(await client.sendSecret(id, { secret: code, pin }), 403, 'account_locked');
      expectProblem(await client.sendSecret(id, { secret: wrongCode(code), pin }), 400, 'authorization_rejected');
      await client.admin('POST', `/users/${user.id}/unlock`);
      expect((await client.sendSecret(id, { secret: code, pin })).body.status).toBe('approved');
    });

    test('approves a repeat with the same Idempotency-Key, with a new token, while the first token is unused', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      const headers = { 'Idempotency-Key': randomUUID() };
      const first = await client.sendSecret(id, { secret: code, pin }, { headers });
      const repeat = await client.sendSecret(id, { secret: code, pin }, { headers });
      expect([first.status, repeat.status, repeat.body.status]).toEqual([201, 201, 'approved']);
      expect(repeat.headers.get('Idempotency-Key')).toBe(headers['Idempotency-Key']);
      expectProblem(await client.newSession(first.body.token), 401, 'invalid_authentication_token');
      expect((await client.newSession(repeat.body.token)).status).toBe(201);
      expectProblem(await client.sendSecret(id, { secret: code, pin }, { headers }), 400, 'authorization_rejected');
    });
  });

  describe('4.3 GET /v1/tokens/{id}', () => {
    test('is 201 with the id and the status, without Authorization, and never shows the token', async () => {
      const { body } = await client.start(passwordLogin(await client.createUser()));
      const found = await client.status(body.id.toUpperCase());
      expect([found.status, found.body]).toEqual([201, { id: body.id, status: 'approved' }]);
      expect(found.headers.get('Cache-Control')).toBe('no-store');
    });

    test('is 404 for an unknown id, an invalid id and a deleted authentication', async () => {
      const { authentication, session } = await client.signIn(await client.createUser());
      await client.send('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token });
      for (const id of [randomUUID(), 'x', authentication.id])
        expectProblem((await client.status(id)) as Answer<unknown>, 404, 'not_found');
    });

    test('is 404 after the first session of a later login on the same device', async () => {
      const user = await client.createUser();
      const device = { id: exampleId };
      const { authentication } = await client.signIn(user, device);
      const later = (await client.start(passwordLogin(user, { device }))).body;
      expect((await client.status(authentication.id)).body.status).toBe('approved');
      await client.newSession(later.token);
      expect(codesOf(await client.status(authentication.id))).toEqual(['not_found']);
    });
  });

  describe('4.4 DELETE /v1/tokens/{id}', () => {
    const remove = <Body = { id: string }>(id: string, bearer?: string) =>
      client.send<Body>('DELETE', `/v1/tokens/${id}`, { bearer });

    test('is 200 with the id, and the next request with the token or its sessions is refused', async () => {
      const { authentication, token, session } = await client.signIn(await client.createUser());
      const { status, body } = await remove(authentication.id, session.token);
      expect([status, body]).toEqual([200, { id: authentication.id }]);
      expectProblem(await client.newSession(token), 401, 'invalid_authentication_token');
      expectProblem(await client.verify(session.token), 401, 'invalid_session_token');
    });

    test('works for another device of the same user, and keeps the caller logged in', async () => {
      const user = await client.createUser();
      const [phone, tablet] = [await client.signIn(user), await client.signIn(user)];
      expect((await remove(phone.authentication.id, tablet.session.token)).status).toBe(200);
      expect((await client.verify(phone.session.token)).status).toBe(401);
      expect((await client.verify(tablet.session.token)).status).toBe(200);
    });

    test('is 401 for an authentication that is unknown, unapproved, already deleted or of another user', async () => {
      const user = await client.createUser();
      const [own, gone, foreign] = [
        await client.signIn(user),
        await client.signIn(user),
        await client.signIn(await client.createUser()),
      ];
      await remove(gone.authentication.id, own.session.token);
      const rejected = (await client.start(passwordLogin(user, { secret: 'wrong' }))).body;
      const unapproved = (await client.start(smsLogin(user))).body;
      for (const { id } of [
        { id: randomUUID() },
        { id: 'x' },
        gone.authentication,
        foreign.authentication,
        rejected,
        unapproved,
      ]) {
        expectProblem(await remove(id, own.session.token), 401, 'no_active_token');
      }
      expect((await client.newSession(foreign.token)).status).toBe(201);
      expect((await client.status(unapproved.id)).status).toBe(201);
    });

    test('is 401 without a session', async () => {
      const { authentication, token } = await client.signIn(await client.createUser());
      expectProblem(await remove(authentication.id), 401, 'missing_credentials');
      expect((await client.newSession(token)).status).toBe(201);
    });

    test('DELETE /v1/tokens ends the token in its Basic credentials', async () => {
      const { authentication, token, session } = await client.signIn(await client.createUser());
      const deleted = await client.send('DELETE', '/v1/tokens', { basic: token });
      expect([deleted.status, deleted.body]).toEqual([200, { id: authentication.id }]);
      expect((await client.verify(session.token)).status).toBe(401);
      const again = await client.send('DELETE', '/v1/tokens', { basic: token });
      expect([again.status, again.headers.get('WWW-Authenticate')]).toEqual([401, expect.stringContaining('Basic')]);
    });
  });
}
