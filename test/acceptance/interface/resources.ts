import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stepClock } from '../../support/clock.js';
import type { TestService } from '../../support/process.js';
import {
  type Client,
  createClient,
  exampleId,
  expectProblem,
  type Notification,
  nobody,
  passwordLogin,
  secondsBetween,
  smsLogin,
  time,
  type User,
  uuid,
  wrongCode,
} from '../client.js';

export function describeResources(given: () => TestService): void {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = given();
    client = createClient(service);
  });

  const fieldsOfAuthentication = [
    ...['created_at', 'device_id', 'error_code', 'error_message', 'expires_at', 'id', 'status', 'updated_at'],
  ];

  describe('1 What the service does', () => {
    test('it issues authentication tokens, and session tokens in exchange', async () => {
      const { token, session } = await client.signIn(await client.createUser());
      expect(token).toMatch(/^psa_[A-Za-z0-9_-]{32,}$/);
      expect(session.token).toMatch(/^pss_[A-Za-z0-9_-]{32,}$/);
    });

    test('an authentication token is valid only for creating sessions', async () => {
      const { token, authentication } = await client.signIn(await client.createUser());
      expectProblem(await client.verify(token), 401, 'invalid_session_token');
      expectProblem(await client.send('GET', '/v1/notifications', { bearer: token }), 401, 'invalid_session_token');
      const deleted = await client.send('DELETE', `/v1/tokens/${authentication.id}`, { bearer: token });
      expectProblem(deleted, 401, 'invalid_session_token');
      expect((await client.newSession(token)).status).toBe(201);
    });

    test('a session token is valid for every other operation, but not for creating sessions', async () => {
      const { session, authentication } = await client.signIn(await client.createUser());
      expectProblem(await client.newSession(session.token), 401, 'invalid_authentication_token');
      expect((await client.verify(session.token)).status).toBe(200);
      expect((await client.send('GET', '/v1/notifications', { bearer: session.token })).status).toBe(200);
      const deleted = await client.send('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token });
      expect(deleted.status).toBe(200);
    });

    test.each(['username', 'email', 'phone'] as const)('a login is made with an identity of type %s', async (type) => {
      const user = await client.createUser();
      const { status, body } = await client.start(passwordLogin(user, { identity: { type, value: user[type] } }));
      expect([status, body.status]).toEqual([201, 'approved']);
    });

    test('an identity is found in any notation', async () => {
      const { username, email, phone } = await client.createUser();
      const spellings = [
        { type: 'username', value: username.toUpperCase() },
        { type: 'email', value: email.toUpperCase() },
        { type: 'phone', value: phone.replace(/^\+1(\d{3})/, '+1 ($1) ') },
      ];
      for (const identity of spellings) {
        expect((await client.start(passwordLogin({ username }, { identity }))).body.status).toBe('approved');
      }
    });

    test('a login runs as a single step with username and password', async () => {
      const { body } = await client.start(passwordLogin(await client.createUser()));
      expect(body).toMatchObject({ status: 'approved', token: expect.any(String) });
    });

    test('a login runs as two steps with phone number and SMS code', async () => {
      const { id, code, authentication } = await client.startSms(await client.createUser());
      expect(authentication.token).toBeUndefined();
      const { body } = await client.sendSecret(id, { secret: code, pin: '2468' });
      expect(body).toMatchObject({ id, status: 'approved', token: expect.any(String) });
      expect((await client.newSession(body.token)).status).toBe(201);
    });

    test('by default a session lives 15 minutes and an authentication token a year', async () => {
      const { authentication, session } = await client.signIn(await client.createUser());
      expect(secondsBetween(session.created_at, session.expires_at)).toBe(15 * 60);
      expect(secondsBetween(authentication.created_at, authentication.expires_at)).toBe(365 * 24 * 3600);
    });

    test('a client whose session has expired gets a new one, until its authentication token expires too', async () => {
      const { user, token, session, authentication } = await client.signIn(await client.createUser());
      onTestFinished(() => stepClock(service.database, '0'));
      await stepClock(service.database, '15 minutes');
      expectProblem(await client.verify(session.token), 401, 'invalid_session_token');
      const { body: next } = await client.newSession(token);
      expect(next.token).not.toBe(session.token);
      await stepClock(service.database, '364 days 23 hours 59 minutes');
      const { status, body: last } = await client.newSession(token);
      expect([status, last.expires_at <= authentication.expires_at]).toEqual([201, true]);
      await stepClock(service.database, '365 days');
      expectProblem(await client.newSession(token), 401, 'invalid_authentication_token');
      expect((await client.start(passwordLogin(user))).body).toMatchObject({ status: 'approved' });
    });
  });

  describe('2 Resources and their fields', () => {
    test('2.1 an approved authentication has all its fields, the token once', async () => {
      const user = await client.createUser();
      const { body } = await client.start(passwordLogin(user));
      expect(Object.keys(body).sort()).toEqual([...fieldsOfAuthentication, 'token', 'user_id'].sort());
      expect(body).toMatchObject({ id: expect.stringMatching(uuid), device_id: expect.stringMatching(uuid) });
      expect(body).toMatchObject({ status: 'approved', error_code: '', error_message: '' });
      for (const value of [body.expires_at, body.created_at, body.updated_at]) expect(value).toMatch(time);
      expect((await client.status(body.id)).text).not.toContain(body.token);
    });

    test('2.1 an authentication that is not approved has all its fields but the token', async () => {
      for (const { login, more } of [
        { login: smsLogin(nobody()), more: ['destination', 'resend_at'] },
        { login: passwordLogin(nobody()), more: [] },
      ]) {
        const { body } = await client.start(login);
        expect(Object.keys(body).sort()).toEqual([...fieldsOfAuthentication, ...more].sort());
        expect(body).toMatchObject({ id: expect.stringMatching(uuid), device_id: expect.stringMatching(uuid) });
        for (const value of [body.expires_at, body.created_at, body.updated_at]) expect(value).toMatch(time);
      }
    });

    test('2.2 a session has all its fields, with its user and its device', async () => {
      const { user, authentication, session } = await client.signIn(await client.createUser());
      const { id, token, created_at, expires_at, updated_at, ...others } = session;
      expect(id).toMatch(uuid);
      expect(token).toMatch(/^pss_/);
      for (const value of [created_at, expires_at, updated_at]) expect(value).toMatch(time);
      expect(others).toEqual({ user_id: user.id, device_id: authentication.device_id });
    });

    test('2.3 a device may have an id of any 8-4-4-4-12 form, shown in lower case', async () => {
      const user = await client.createUser();
      for (const id of [exampleId, exampleId.toUpperCase(), 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
        const { body } = await client.start(passwordLogin(user, { device: { id } }));
        expect(body.device_id).toBe(id.toLowerCase());
      }
    });

    test('2.3 a device without an id gets one', async () => {
      const user = await client.createUser();
      const ids = [(await client.start(passwordLogin(user))).body, (await client.start(passwordLogin(user))).body];
      expect(ids[0]?.device_id).toMatch(uuid);
      expect(ids[0]?.device_id).not.toBe(ids[1]?.device_id);
    });

    test('2.3 a device is described by make, model, OS and more, and shown to operators once a login is approved', async () => {
      const user = await client.createUser();
      const description = {
        make: 'Äpple',
        model: 'iPhone 🤳',
        os_name: '',
        os_version: '18.1',
        sdk_version: 'x'.repeat(255),
      };
      const device = { ...description, id: exampleId, screen_width: 390, screen_height: '844' };
      await client.start(passwordLogin(user, { device, secret: 'wrong' }));
      expect((await client.admin('GET', `/users/${user.id}/devices`)).body).toEqual([]);
      await client.start(passwordLogin(user, { device: { ...device, apn_device_token: 'a', gcm_device_token: 'g' } }));
      const { body, text } = await client.admin<object[]>('GET', `/users/${user.id}/devices`);
      expect(body).toMatchObject([{ ...description, id: exampleId, screen_width: '390', screen_height: '844' }]);
      expect(text).not.toContain('device_token');
    });

    test('2.4 a notification has all its fields', async () => {
      const user = await client.createUser();
      const given = {
        ...{ actor_id: exampleId.toUpperCase(), actor: 'Grace Hopper', notification_type: 'payment' },
        ...{
          notification_key: 'received',
          object_id: exampleId,
          object_data_number: 12.5,
          object_data_string: 'Lunch',
        },
        description: 'Grace Hopper paid you 12.50',
      };
      const [published] = await client.publish([
        { ...given, user_id: user.id, image: 'https://example.com/lunch.jpg' },
      ]);
      const { id, sequence, image, created_at, updated_at, ...others } = await onlyNotificationOf(user);
      expect(others).toEqual({ ...given, actor_id: exampleId, user_id: user.id });
      expect([id, sequence]).toEqual([expect.stringMatching(uuid), expect.any(Number)]);
      expect([created_at, updated_at]).toEqual([expect.stringMatching(time), expect.stringMatching(time)]);
      expect({ ...others, id, sequence, image, created_at, updated_at }).toEqual(published);
    });

    test('2.4 missing fields of a notification are null, or empty for object_data_string', async () => {
      const user = await client.createUser();
      await client.publish({ user_id: user.id, notification_type: 'pool', description: 'x' });
      expect(await onlyNotificationOf(user)).toMatchObject({
        ...{ actor_id: null, actor: null, notification_key: null, object_id: null, object_data_number: null },
        ...{ object_data_string: '', image: null },
      });
    });

    test.each(['0.1', '-0.000001', '123456789012345', '99999999999.9999', '0'])(
      '2.4 object_data_number %s comes back exactly',
      async (number) => {
        const user = await client.createUser();
        const body = `{"user_id":"${user.id}","notification_type":"payment","description":"x","object_data_number":${number}}`;
        const published = await client.send('POST', '/admin/v1/notifications', { bearer: service.adminKey, body });
        expect(published.status).toBe(201);
        expect((await onlyNotificationOf(user)).object_data_number).toBe(Number(number));
      },
    );

    test('2.5 an image has an id, three URLs and two times', async () => {
      const user = await client.createUser();
      await client.publish({
        user_id: user.id,
        notification_type: 'pool',
        description: 'x',
        image: 'https://example.com/a.png',
      });
      expect((await onlyNotificationOf(user)).image).toEqual({
        id: expect.stringMatching(uuid),
        ...{ url: expect.stringMatching(/^https?:/), full_screen_url: expect.stringMatching(/^https?:/) },
        thumbnail_url: expect.stringMatching(/^https?:/),
        ...{ created_at: expect.stringMatching(time), updated_at: expect.stringMatching(time) },
      });
    });

    async function onlyNotificationOf(user: User): Promise<Notification> {
      const { session } = await client.signIn(user);
      const { body } = await client.send<Notification[]>('GET', '/v1/notifications', { bearer: session.token });
      const [notification] = body;
      if (notification === undefined || body.length > 1) throw new Error(`${body.length} notifications`);
      return notification;
    }
  });

  describe('3 States and transitions', () => {
    test('a two-step authentication goes from created to pending to approved', async () => {
      const { id, code, authentication } = await client.startSms(await client.createUser());
      expect(authentication.status).toBe('created');
      expect((await client.status(id)).body.status).toBe('pending');
      expect((await client.sendSecret(id, { secret: code, pin: '2468' })).body.status).toBe('approved');
      expect((await client.status(id)).body.status).toBe('approved');
    });

    test('a two-step authentication is rejected after its last attempt, also with the right code', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      const seen = [];
      for (let guess = 1; guess <= 5; guess += 1) {
        await client.sendSecret(id, { secret: wrongCode(code), pin: '2468' });
        seen.push((await client.status(id)).body.status);
      }
      expect(seen).toEqual(['pending', 'pending', 'pending', 'pending', 'rejected']);
      expectProblem(await client.sendSecret(id, { secret: code, pin: '2468' }), 400, 'authorization_rejected');
      expect((await client.status(id)).body.status).toBe('rejected');
    });

    test('a single-step authentication is approved or rejected at once', async () => {
      const user = await client.createUser();
      for (const [secret, status] of [
        [undefined, 'approved'],
        ['wrong', 'rejected'],
      ] as const) {
        const { body } = await client.start(passwordLogin(user, secret === undefined ? {} : { secret }));
        expect(body.status).toBe(status);
        expect((await client.status(body.id)).body.status).toBe(status);
      }
    });

    test('an approved authentication does not change with any further secret', async () => {
      const { id, code } = await client.startSms(await client.createUser());
      await client.sendSecret(id, { secret: code, pin: '2468' });
      for (let guess = 1; guess <= 6; guess += 1) {
        expectProblem(
          await client.sendSecret(id, { secret: wrongCode(code), pin: '2468' }),
          400,
          'authorization_rejected',
        );
      }
      expect((await client.status(id)).body.status).toBe('approved');
    });
  });
}
