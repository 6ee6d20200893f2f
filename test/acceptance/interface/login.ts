import { beforeAll, describe, expect, test } from 'vitest';
import type { TestService } from '../../support/process.js';
import {
  type Answer,
  type Client,
  createClient,
  exampleId,
  expectProblem,
  fieldsOf,
  nobody,
  passwordLogin,
  secondsBetween,
  shapeOf,
  smsLogin,
  timeIn,
  wrongCode,
} from '../client.js';

export function describeLogin(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
  });

  describe('4.1 POST /v1/tokens', () => {
    test('is 201 with the token for a single-step login, without any Authorization header', async () => {
      const { status, headers, body } = await client.start(passwordLogin(await client.createUser()));
      expect([status, body.status]).toEqual([201, 'approved']);
      expect(body.token).toMatch(/^psa_/);
      expect(headers.get('Content-Type')).toBe('application/json; charset=utf-8');
      expect(headers.get('Cache-Control')).toBe('no-store');
    });

    test('is 201 without a token for the start of a two-step login, with its expiry', async () => {
      const { status, body } = await client.start(smsLogin(await client.createUser()));
      expect([status, body.status, body.token]).toEqual([201, 'created', undefined]);
      expect(secondsBetween(body.created_at, body.expires_at)).toBe(600);
      expect(body.updated_at).toBe(body.created_at);
    });

    test.each([
      ['identity', ['identity']],
      ['authenticator', ['authenticator']],
      ['secret', ['secret']],
      ['device', ['device']],
      ['everything', ['authenticator', 'device', 'identity']],
    ])('is 422 without %s', async (name, fields) => {
      const complete: Record<string, unknown> = passwordLogin(nobody());
      const answer = await client.start(name === 'everything' ? {} : { ...complete, [name]: undefined });
      expectProblem(answer, 422, 'required');
      expect(fieldsOf(answer).sort()).toEqual(fields);
    });

    test('is 422 for an identity without type or value, and for a type other than email, phone and username', async () => {
      for (const [identity, fields] of [
        [{}, ['identity.type', 'identity.value']],
        [{ type: 'username' }, ['identity.value']],
        [{ value: 'ada' }, ['identity.type']],
        [{ type: 'passport', value: 'ada' }, ['identity.type']],
        [{ type: 'Email', value: 'ada@example.com' }, ['identity.type']],
        [{ type: 'email', value: 'ada' }, ['identity.value']],
        [{ type: 'phone', value: 'ada' }, ['identity.value']],
      ] as const) {
        const answer = await client.start(passwordLogin(nobody(), { identity }));
        expect([answer.status, fieldsOf(answer).sort()]).toEqual([422, fields]);
      }
    });

    test('reports all field errors at once', async () => {
      const device = { id: 'mine', make: 7, model: 'x'.repeat(256), screen_width: 'wide' };
      const answer = await client.start({ ...passwordLogin(nobody()), secret: null, pin: 'abcd', device });
      expect(answer.status).toBe(422);
      expect(fieldsOf(answer).sort()).toEqual(
        ['device.id', 'device.make', 'device.model', 'device.screen_width', 'pin', 'secret'].sort(),
      );
    });

    test('is 422 for an authenticator that is not installed', async () => {
      for (const authenticator of ['custom:badge', 'telepathy', 'Password', '__proto__', 'toString']) {
        expectProblem(await client.start(passwordLogin(nobody(), { authenticator })), 422, 'unknown_authenticator');
      }
    });

    test('needs the secret for a password, and ignores it for SMS', async () => {
      const user = await client.createUser();
      expect((await client.start(smsLogin(user, { secret: 'anything' }))).body.status).toBe('created');
      expectProblem(await client.start(passwordLogin(user, { secret: '' })), 422, 'required');
    });

    test('accepts a missing PIN, but requires the right PIN of a user who has one', async () => {
      const [withoutPin, withPin] = [await client.createUser(), await client.createUser({ pin: '2468' })];
      const statusWith = async (login: object) => (await client.start(login)).body.status;
      expect(await statusWith(passwordLogin(withoutPin, { pin: '1357' }))).toBe('approved');
      expect(await statusWith(passwordLogin(withPin))).toBe('rejected');
      expect(await statusWith(passwordLogin(withPin, { pin: '1357' }))).toBe('rejected');
      expect(await statusWith(passwordLogin(withPin, { pin: '2468' }))).toBe('approved');
      // A login never sets a PIN.
      expect(await statusWith(passwordLogin(withoutPin, { pin: '9999' }))).toBe('approved');
    });

    test('returns 201 with status rejected, an error message and no token for a wrong secret', async () => {
      const user = await client.createUser();
      const { status, body } = await client.start(passwordLogin(user, { secret: 'wrong', device: { id: exampleId } }));
      expect(status).toBe(201);
      expect(body).toMatchObject({ status: 'rejected', error_code: 'invalid_credentials', device_id: exampleId });
      expect(body.error_message).toMatch(/\w/);
      expect(body).not.toHaveProperty('token');
      expect(body.expires_at).toBe(body.created_at);
      expect((await client.status(body.id)).body).toEqual({ id: body.id, status: 'rejected' });
    });

    test('returns the same response for unknown, deactivated and passwordless users, wrong PINs and wrong secrets', async () => {
      const deactivated = await client.createUser();
      await client.admin('PATCH', `/users/${deactivated.id}`, { status: 'deactivated' });
      const passwordless = await client.createUser({ password: undefined });
      const user = await client.createUser({ pin: '2468' });
      const answers = [
        await client.start(passwordLogin(user, { secret: 'wrong' })),
        await client.start(passwordLogin(user, { pin: '1357' })),
        await client.start(passwordLogin(nobody())),
        await client.start(passwordLogin(deactivated)),
        await client.start(passwordLogin(passwordless)),
      ];
      for (const answer of answers) expect(shapeOf(answer)).toEqual(shapeOf(answers[0] as Answer<unknown>));
    });

    test('starts an SMS login for an unknown number with the same response, and never approves it', async () => {
      const known = await client.startSms(await client.createUser());
      const unknown = await client.start(smsLogin(nobody()));
      expect(shapeOf(unknown)).toEqual(shapeOf(await client.start(smsLogin(await client.createUser()))));
      expect(secondsBetween(unknown.body.created_at, unknown.body.expires_at)).toBe(600);
      const secret = wrongCode(known.code);
      const [ofUnknown, ofKnown] = [unknown.body.id, known.id].map((id) =>
        client.sendSecret(id, { secret, pin: '2468' }),
      );
      expect(shapeOf((await ofUnknown) as Answer<unknown>)).toEqual(shapeOf((await ofKnown) as Answer<unknown>));
    });

    test('is 423 with the seconds to wait for a temporarily locked account and the right secret', async () => {
      const user = await client.createUser();
      await client.lock(user, { until: timeIn(90), reason: 'lost phone' });
      const answer = await client.start(passwordLogin(user));
      expectProblem(answer, 423, 'account_temporarily_locked');
      const wait = Number(answer.headers.get('Retry-After'));
      expect(wait > 30 && wait <= 91).toBe(true);
      expect(answer.text).not.toContain('lost phone');
      expect((await client.start(passwordLogin(user, { secret: 'wrong' }))).body.status).toBe('rejected');
    });

    test('is 403 for a permanently locked account and the right secret', async () => {
      const user = await client.createUser();
      await client.lock(user, { permanent: true });
      expectProblem(await client.start(passwordLogin(user)), 403, 'account_locked');
      expect((await client.start(passwordLogin(user, { secret: 'wrong' }))).body.status).toBe('rejected');
      await client.admin('POST', `/users/${user.id}/unlock`);
      expect((await client.start(passwordLogin(user))).body.status).toBe('approved');
    });
  });
}
