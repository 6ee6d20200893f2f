import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { arrivals, createPushSteps, hexToken } from '../../../support/push.js';
import { type ApnsFake, startApns } from '../../../support/push-fakes/apns.js';
import { type FcmFake, fcmUnregistered, startFcm } from '../../../support/push-fakes/fcm.js';
import { startWebPushService, type WebPushFake } from '../../../support/push-fakes/web-push.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let web: WebPushFake;
let fcm: FcmFake;
let apns: ApnsFake;
let app: TestApp;

beforeAll(async () => {
  [web, fcm, apns] = await Promise.all([startWebPushService(), startFcm(), startApns()]);
  // These tests push only published notifications.
  const env = { LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'none' };
  app = await startTestApp({ ...web.env, ...fcm.env, ...apns.env, ...env });
});
afterAll(async () => {
  await app.close();
  await Promise.all([web.close(), fcm.close(), apns.close()]);
});
beforeEach(() => {
  web.behave({ status: 201 });
  fcm.behave({ status: 200, body: {} });
  apns.behave({ status: 200 });
});

const { register, newPhone, publish, pushInState, untilRetried, makeJobsDue } = createPushSteps(() => app);

describe('a token', () => {
  test('that the service no longer knows is removed, and the delivery status says so', async () => {
    const cases = [
      { phone: await newPhone('android'), service: fcm, behaviour: fcmUnregistered },
      { phone: await newPhone('ios'), service: apns, behaviour: { status: 410, body: { reason: 'Unregistered' } } },
      { phone: await newPhone('ios'), service: apns, behaviour: { status: 400, body: { reason: 'BadDeviceToken' } } },
    ];
    for (const { phone, service, behaviour } of cases) {
      service.behave(behaviour, phone.token);
      const first = await publish(phone.user);
      expect(await pushInState(first.id, 'gone')).toMatchObject({ reason: 'token_gone', attempts: 1 });
      const second = await publish(phone.user);
      const none = await pushInState(second.id, 'none');
      expect(none).toMatchObject({ device_id: phone.deviceId, reason: 'no_token' });
      expect(arrivals(service, phone.token)).toHaveLength(1);
    }
  });

  test.each([404, 410])('of a browser is removed if its push service answers %i', async (status) => {
    const user = await createUser(app);
    const { session } = await signIn(app, user);
    const { path, subscription } = web.subscribe();
    await register(session.token, 'web', subscription);
    web.behave({ status }, path);
    await pushInState((await publish(user)).id, 'gone');
    expect(await pushInState((await publish(user)).id, 'none')).toMatchObject({ reason: 'no_token' });
  });

  test('stays if the service answers 404 without an error about the token', async () => {
    const phone = await newPhone('android');
    fcm.behave({ status: 404 }, phone.token);
    const { id } = await publish(phone.user);
    expect(await untilRetried(id, 1)).toMatchObject({ error: 'fcm answered 404', reason: 'retrying' });
    fcm.behave({ status: 200, body: {} }, phone.token);
    await makeJobsDue();
    await pushInState(id, 'sent');
  });

  test('stays if APNs refuses it since a time before its registration, and goes if since a later time', async () => {
    const phone = await newPhone('ios');
    const [row] = await app.database.query<{ now: number }>(
      testSql('select extract(epoch from db_now())::float8 * 1000 as now'),
    );
    const now = row?.now ?? 0;
    apns.behave({ status: 410, body: { reason: 'Unregistered', timestamp: Math.floor(now - 3_600_000) } }, phone.token);
    const { id } = await publish(phone.user);
    expect(await untilRetried(id, 1)).toMatchObject({ error: 'apns answered 410 Unregistered', reason: 'retrying' });
    apns.behave({ status: 410, body: { reason: 'Unregistered', timestamp: Math.floor(now + 3_600_000) } }, phone.token);
    await makeJobsDue();
    expect(await pushInState(id, 'gone')).toMatchObject({ reason: 'token_gone' });
  });

  test('that is registered while the service refuses the old one stays', async () => {
    const phone = await newPhone('ios');
    const newToken = hexToken();
    let answer = () => {};
    const when = new Promise<void>((resolve) => {
      answer = resolve;
    });
    apns.behave({ status: 410, body: { reason: 'Unregistered' }, when }, phone.token);
    const first = await publish(phone.user);
    await eventually('the push to start', async () => arrivals(apns, phone.token)[0]);
    expect((await register(phone.session, 'ios', newToken)).status).toBe(201);
    answer();
    await pushInState(first.id, 'gone');
    const second = await publish(phone.user);
    await pushInState(second.id, 'sent');
    expect(arrivals(apns, newToken)).toHaveLength(1);
  });

  test('moves to the device that registers it, so the former owner of a phone gets nothing on it', async () => {
    const before = await newPhone('ios');
    const after = await newPhone('ios', undefined, before.token);
    const { id } = await publish(before.user);
    expect(await pushInState(id, 'none')).toMatchObject({ device_id: before.deviceId, reason: 'no_token' });
    await pushInState((await publish(after.user)).id, 'sent');
    expect(arrivals(apns, before.token)).toHaveLength(1);
  });

  test('moves with a login that sends it', async () => {
    const before = await newPhone('android');
    const after = await createUser(app);
    await signIn(app, after, { gcm_device_token: before.token });
    expect(await pushInState((await publish(before.user)).id, 'none')).toMatchObject({ reason: 'no_token' });
    await pushInState((await publish(after)).id, 'sent');
  });

  test('that many register at once belongs to one of them', async () => {
    const token = hexToken();
    const people = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const user = await createUser(app);
        return { user, session: (await signIn(app, user)).session.token };
      }),
    );
    const answers = await Promise.all(people.map(({ session }) => register(session, 'ios', token)));
    expect(answers.map(({ status }) => status)).toEqual(people.map(() => 201));
    const rows = await app.database.query(testSql('select id from devices where apn_device_token = $1', [token]));
    expect(rows).toHaveLength(1);
  });

  test('that is registered again gets 200', async () => {
    const phone = await newPhone('ios');
    const again = await register(phone.session, 'ios', phone.token);
    expect(again).toMatchObject({
      status: 200,
      body: { type: 'ios', device_id: phone.deviceId, channel: 'apns', enabled: true },
    });
    expect(again.text).not.toContain(phone.token);
  });

  test.each([
    ['ios', 'not hexadecimal', 'invalid_format', 'token'],
    ['ios', { endpoint: 'x' }, 'invalid_type', 'token'],
    ['android', 'with a space', 'invalid_format', 'token'],
    ['web', 'no JSON', 'invalid_format', 'token'],
    ['web', { keys: {} }, 'required', 'token.endpoint'],
    ['web', { endpoint: 'ftp://example.com/x', keys: {} }, 'invalid_url', 'token.endpoint'],
    [
      'web',
      { endpoint: 'https://example.com/x', keys: { p256dh: 'AAAA', auth: 'AAAA' } },
      'invalid_format',
      'token.keys.p256dh',
    ],
    ['pager', 'x', 'invalid_choice', 'type'],
  ])('of type %s with the value %o is refused', async (type, token, code, field) => {
    const { session } = await signIn(app, await createUser(app));
    const { status, body } = await register(session.token, type, token);
    expect(status).toBe(422);
    expect(body.errors).toContainEqual(expect.objectContaining({ field, code }));
  });

  test('needs a session to be registered', async () => {
    const { status } = await app.api('POST', '/v1/devices/tokens', { body: { type: 'ios', token: hexToken() } });
    expect(status).toBe(401);
  });
});

describe('one token in two spellings', () => {
  const spelled = (token: string) => [
    token.toUpperCase(),
    `<${token.match(/.{8}/g)?.join(' ')}>`,
    `${token.match(/../g)?.join('-')}\n`,
    token.replace(/[a-f]/, (letter) => letter.toUpperCase()),
    `"${token}"`,
    `0x${token}`,
    token.match(/.{16}/g)?.join('_') ?? '',
  ];

  test('of APNs belongs to the last phone alone, which gets one push', async () => {
    const token = hexToken();
    for (const spelling of spelled(token)) {
      const first = await newPhone('ios', undefined, token);
      const second = await newPhone('ios', undefined, spelling);
      const lost = await publish(first.user);
      expect(await pushInState(lost.id, 'none')).toMatchObject({ reason: 'no_token' });
      await pushInState((await publish(second.user)).id, 'sent');
    }
    expect(arrivals(apns, token)).toHaveLength(spelled(token).length);
  });

  test('in the device of a login is one token too', async () => {
    const token = hexToken();
    for (const spelling of spelled(token)) {
      const phone = await newPhone('ios', undefined, token);
      const user = await createUser(app);
      await signIn(app, user, { apn_device_token: spelling });
      expect(await pushInState((await publish(phone.user)).id, 'none')).toMatchObject({ reason: 'no_token' });
      await pushInState((await publish(user)).id, 'sent');
    }
    expect(arrivals(apns, token)).toHaveLength(spelled(token).length);
  });

  test('of FCM, pasted with quotes, invisible marks or line ends, belongs to the last phone alone', async () => {
    const token = `x:${hexToken()}`;
    for (const spelling of [`"${token}"`, `\u200b${token}\n`, `${token.slice(0, 20)}\n${token.slice(20)}`]) {
      const first = await newPhone('android', undefined, token);
      const second = await newPhone('android', undefined, spelling);
      const lost = await publish(first.user);
      expect(await pushInState(lost.id, 'none')).toMatchObject({ reason: 'no_token' });
      await pushInState((await publish(second.user)).id, 'sent');
    }
  });

  test('of FCM does not exist otherwise: upper and lower case are two tokens', async () => {
    const token = `x:${hexToken()}`;
    const first = await newPhone('android', undefined, token);
    await newPhone('android', undefined, token.toUpperCase());
    await pushInState((await publish(first.user)).id, 'sent');
  });

  test('of Web Push, with keys in another order and base64, belongs to the last browser alone', async () => {
    const { subscription } = web.subscribe();
    const { endpoint, keys } = subscription;
    const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64');
    const { origin, host, pathname } = new URL(endpoint);
    const spellings = [
      { keys: { auth: standard(keys.auth), p256dh: standard(keys.p256dh) }, expirationTime: null, endpoint },
      { ...subscription, endpoint: `${endpoint}#part` },
      {
        ...subscription,
        endpoint: `${origin.replace(host, host.toUpperCase()).replace('http', 'HTTP')}/x/..${pathname}`,
      },
      JSON.stringify({ keys, endpoint: ` ${endpoint}\n` }),
    ];
    for (const spelling of spellings) {
      const [first, second] = [await createUser(app), await createUser(app)];
      const [before, after] = [await signIn(app, first), await signIn(app, second)];
      expect((await register(before.session.token, 'web', subscription)).status).toBe(201);
      expect((await register(after.session.token, 'web', spelling)).status).toBe(201);
      expect(await pushInState((await publish(first)).id, 'none')).toMatchObject({ reason: 'no_token' });
      await pushInState((await publish(second)).id, 'sent');
      expect((await register(after.session.token, 'web', subscription)).status).toBe(200);
    }
  });
});
