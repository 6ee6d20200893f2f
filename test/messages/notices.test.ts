import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { OutboxMessage } from '../../src/contract/administration.js';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { signInWithRole } from '../support/operators.js';
import { type FcmFake, startFcm } from '../support/push-fakes/fcm.js';
import { queriesOf } from '../support/queries.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { askForLogin } from '../support/support-logins.js';
import { codeOf, createUser, newEmail, newPhone, password, passwordLogin, signIn, smsLogin } from '../support/users.js';

let fcm: FcmFake;
let postern: TestApp;
const others: TestApp[] = [];
beforeAll(async () => {
  fcm = await startFcm();
  fcm.behave({ status: 200, body: {} });
  postern = await newPostern({});
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((app) => app.close()));
});
afterAll(async () => {
  await postern.close();
  await fcm.close();
});

const newPostern = (env: Readonly<Record<string, string>>) =>
  startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0', APP_NAME: 'Example', GUESS_LIMIT: '2', ...env });

async function startOther(env: Readonly<Record<string, string>>): Promise<TestApp> {
  const app = await newPostern(env);
  others.push(app);
  return app;
}

/** Waits until the queue is empty: all notices have been sent. */
const settled = (app = postern) =>
  eventually('an empty queue', async () => {
    const left = await app.database.query(
      testSql(`select 1 from notices union all select 1 from undispatched_messages
           union all select 1 from graphile_worker._private_jobs`),
    );
    return left.length === 0 ? true : undefined;
  });

/** The notices that went to a user by SMS and mail, as `kind recipient`, the oldest first. */
async function noticesTo(user: User, app = postern): Promise<string[]> {
  await settled(app);
  const query = `filter=user_id:${user.id}&sort=created_at:asc&limit=100`;
  const { body } = await app.api<OutboxMessage[]>('GET', `/admin/v1/outbox?${query}`, { bearer: app.adminKey });
  return body.filter(({ kind }) => !kind.endsWith('.code')).map(({ kind, recipient }) => `${kind} ${recipient}`);
}

const pushedTo = (token: string) => fcm.received.filter(({ to }) => to === token);

/** A user with a mail address, logged in on a device that can be pushed to. */
async function newOwner(fields: object = {}, app = postern) {
  const user = await createUser(app, { email: newEmail(), ...fields });
  const token = randomBytes(32).toString('hex');
  const device = { id: randomUUID(), make: 'Fairphone', model: 'FP5' };
  const { session } = await signIn(app, user, device);
  const body = { type: 'android', token };
  await app.api('POST', '/v1/devices/tokens', { bearer: session.token, body });
  await settled(app);
  return { user, token, device, session: session.token };
}

const change = (user: User, body: object, app = postern) =>
  app.api('PATCH', `/admin/v1/users/${user.id}`, { bearer: app.adminKey, body });

describe('a login on a new device', () => {
  test('is reported by mail and by push to the other devices, with device, time and network', async () => {
    const { user, token } = await newOwner();
    const newToken = randomBytes(32).toString('hex');
    const device = { make: 'Eve’s', model: 'http://evil.com', os_name: 'EvilOS', gcm_device_token: newToken };
    await signIn(postern, user, device);
    expect(await noticesTo(user)).toEqual([`email.new_device ${user.email}`]);
    const [pushed] = await eventually('the push', async () =>
      pushedTo(token).length > 0 ? pushedTo(token) : undefined,
    );
    expect(JSON.stringify(pushed)).toContain('on a new device: Eve s http evil com, EvilOS.');
    expect(pushedTo(token)).toHaveLength(1);
    expect(pushedTo(newToken)).toEqual([]);
    const rows = await postern.database.query<{ params: object; sealed_code: unknown }>(
      testSql('select params, sealed_code from outbox where user_id = $1 order by created_at desc limit 1', [user.id]),
    );
    expect(rows[0]).toEqual({
      sealed_code: null,
      params: {
        device: 'Eve s http evil com, EvilOS',
        address: '127.0.0.0/24',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
      },
    });
  });

  test('is reported for logins in two steps too, and only once for each device', async () => {
    const user = await createUser(postern, { phone: newPhone(), email: newEmail() });
    const device = { id: randomUUID() };
    await signIn(postern, user);
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone, device) });
    const answer = { secret: await codeOf(postern, body.id), pin: '2468' };
    await postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: answer });
    for (let count = 0; count < 3; count += 1) await signIn(postern, user, device);
    expect(await noticesTo(user)).toEqual([`email.new_device ${user.email}`]);
  });

  test('writes neither a row nor a job when no channel reaches the user', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    await settled();
    const jobs = () =>
      postern.database.query(testSql(`select last_value, is_called from graphile_worker.jobs_id_seq1`));
    const before = await jobs();
    await signIn(postern, user);
    await signIn(postern, user);
    expect(await jobs()).toEqual(before);
    expect(await noticesTo(user)).toEqual([]);
    const reached = await createUser(postern, { email: newEmail() });
    await signIn(postern, reached);
    await settled();
    expect(await jobs()).toEqual(before);
    await signIn(postern, reached);
    expect(await jobs()).not.toEqual(before);
  });

  test('needs no further round trip to the database', async () => {
    const { user, device } = await newOwner();
    const tripsOn = async (on: object) =>
      (
        await queriesOf(() => postern.api('POST', '/v1/tokens', { body: passwordLogin(user.username, password, on) }))
      ).flatMap(({ name }) => (/^(account|device|limit|guess|authentication)/.test(name ?? '') ? [name] : []));
    const onKnownDevice = await tripsOn(device);
    await settled();
    const onNewDevice = await tripsOn({});
    expect(onNewDevice).toContain('authentication_approve_at_once');
    expect(onNewDevice.sort()).toEqual(onKnownDevice.sort());
    await settled();
  });

  test('is reported in the inbox where configured, with the id of the push, and by SMS where configured', async () => {
    const app = await startOther({ NOTICES: 'push,sms,inbox', NOTIFICATION_TYPES: 'payment,security' });
    const { user, token, session } = await newOwner({ phone: newPhone(), locale: 'es' }, app);
    await signIn(app, user, { make: 'Nueva' });
    expect(await noticesTo(user, app)).toEqual([`sms.new_device ${user.phone}`]);
    expect(app.printed.at(-1)).toBe(
      `SMS to ${user.phone}: Example: Alguien ha iniciado sesión en tu cuenta desde un dispositivo nuevo: Nueva. Si no has sido tú, revisa tus dispositivos.`,
    );
    const { body } = await app.api<Notification[]>('GET', '/v1/notifications', { bearer: session });
    expect(body).toHaveLength(1);
    expect(body[0]).toMatchObject({
      notification_type: 'security',
      notification_key: 'new_device',
      description: expect.stringMatching(/^Alguien ha iniciado sesión .* nuevo: Nueva\./),
    });
    const pushed = await eventually('the push', async () => pushedTo(token)[0]);
    expect(JSON.stringify(pushed)).toContain(body[0]?.id);
    expect(pushedTo(token)).toHaveLength(1);
  });

  test('is not reported in an inbox without the type security, and not at all with NOTICES=none', async () => {
    const app = await startOther({ NOTICES: 'inbox' });
    const { user, session } = await newOwner({}, app);
    await signIn(app, user);
    expect((await app.api<Notification[]>('GET', '/v1/notifications', { bearer: session })).body).toEqual([]);
    const silent = await startOther({ NOTICES: 'none' });
    const quiet = await newOwner({}, silent);
    await signIn(silent, quiet.user);
    await change(quiet.user, { password: 'another battery of horses' }, silent);
    expect(await noticesTo(user, app)).toEqual([]);
    expect(await noticesTo(quiet.user, silent)).toEqual([]);
  });
});

describe('the first device of a user', () => {
  const remove = (user: User, id: string) =>
    postern.api('DELETE', `/admin/v1/users/${user.id}/devices/${id}`, { bearer: postern.adminKey });

  test('causes no notice after the user was created, but the second device does', async () => {
    const user = await createUser(postern, { email: newEmail() });
    await signIn(postern, user);
    expect(await noticesTo(user)).toEqual([]);
    await signIn(postern, user);
    expect(await noticesTo(user)).toEqual([`email.new_device ${user.email}`]);
  });

  test('causes no notice when the login has two steps', async () => {
    const user = await createUser(postern, { phone: newPhone(), email: newEmail() });
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    const answer = { secret: await codeOf(postern, body.id), pin: '2468' };
    expect((await postern.api('POST', `/v1/tokens/${body.id}/secret`, { body: answer })).status).toBe(201);
    expect(await noticesTo(user)).toEqual([]);
  });

  test('causes no notice after an import', async () => {
    const [email, username] = [newEmail(), `imported-${randomUUID()}`];
    const body = `${JSON.stringify({ username, email, password })}\n`;
    const headers = { 'content-type': 'application/x-ndjson' };
    const { text } = await postern.api('POST', '/admin/v1/users/import', { bearer: postern.adminKey, body, headers });
    const { id } = JSON.parse(text.split('\n')[0] ?? '');
    const user = (await postern.api<User>('GET', `/admin/v1/users/${id}`, { bearer: postern.adminKey })).body;
    await signIn(postern, user);
    expect(await noticesTo(user)).toEqual([]);
    await signIn(postern, user);
    expect(await noticesTo(user)).toEqual([`email.new_device ${user.email}`]);
  });

  test('causes no notice after a registration', async () => {
    const app = await startOther({ REGISTRATION: 'on' });
    const [value, username] = [newPhone(), `registered-${randomUUID()}`];
    const started = await app.api<{ id: string }>('POST', '/v1/registrations', {
      body: { identity: { type: 'phone', value } },
    });
    const printed = () => app.printed.find((line) => line.includes(value));
    const secret = /\b\d{6}\b/.exec(await eventually('the code', async () => printed()))?.[0];
    const path = `/v1/registrations/${started.body.id}`;
    const registered = await app.api<{ id: string }>('POST', path, { body: { secret, username, password } });
    expect(registered.status).toBe(201);
    const email = newEmail();
    const bearer = app.adminKey;
    const { body: user } = await app.api<User>('PATCH', `/admin/v1/users/${registered.body.id}`, {
      ...{ bearer, body: { email } },
    });
    await settled(app);
    const before = await noticesTo(user, app);
    await signIn(app, user);
    expect(await noticesTo(user, app)).toEqual(before);
    await signIn(app, user);
    expect(await noticesTo(user, app)).toEqual([...before, `email.new_device ${email}`]);
  });

  test('causes a notice after all devices were removed, as users do after a theft', async () => {
    const user = await createUser(postern, { email: newEmail() });
    const [first, second] = [randomUUID(), randomUUID()];
    await signIn(postern, user, { id: first });
    expect((await remove(user, first)).status).toBe(200);
    await signIn(postern, user, { id: second });
    expect(await noticesTo(user)).toEqual([`email.new_device ${user.email}`]);
    expect((await remove(user, second)).status).toBe(200);
    await signIn(postern, user, { id: first });
    expect(await noticesTo(user)).toHaveLength(2);
  });

  test('is one of two devices that log in at the same time on two instances: the other one causes a notice', async () => {
    const second = await postern.another();
    others.push(second);
    for (let round = 0; round < raceRounds; round += 1) {
      const user = await createUser(postern, { email: newEmail() });
      await Promise.all([signIn(postern, user), signIn(second, user)]);
      expect(await noticesTo(user)).toEqual([`email.new_device ${user.email}`]);
    }
  });
});

test('each support login is reported, however many there are in an hour', async () => {
  const { user } = await newOwner();
  const operator = await signInWithRole(postern, 'operator');
  for (let count = 0; count < 21; count += 1) expect((await askForLogin(postern, operator, user.id)).status).toBe(201);
  const reported = (await noticesTo(user)).filter((message) => message === `email.support_login ${user.email}`);
  expect(reported).toHaveLength(21);
});

describe('the question for a support login, and its start, reach the inbox and push', () => {
  /** Asks the user and logs in. @returns the notifications of the user, the newest first, and how many pushes arrived */
  async function reached(app: TestApp) {
    const { user, token, session } = await newOwner({}, app);
    const operator = await signInWithRole(app, 'operator');
    const asked = await askForLogin(app, operator, user.id);
    expect(asked.body.status).toBe('pending');
    // The jobs of two notices may run at the same time, and the order in the inbox is that of the jobs.
    await settled(app);
    await app.api('PUT', `/v1/account/support-logins/${asked.body.id}`, { bearer: session });
    const path = `/admin/v1/users/${user.id}/support-logins/${asked.body.id}`;
    expect((await app.api<{ status: string }>('GET', path, { bearer: operator.bearer })).body.status).toBe('active');
    expect(await noticesTo(user, app)).toEqual([]);
    const { body } = await app.api<Notification[]>('GET', '/v1/notifications', { bearer: session });
    const shown = body.map(({ notification_type: type, notification_key: key }) => `${type} ${key}`);
    const pushes = await eventually('two pushes', async () => (pushedTo(token)[1] ? pushedTo(token) : undefined));
    expect(pushes.map((push) => body.some(({ id }) => JSON.stringify(push).includes(id)))).toEqual([true, true]);
    return shown;
  }

  test('with NOTICES=none, as a type that clients know, whatever its category says', async () => {
    const app = await startOther({ NOTICES: 'none', SUPPORT_CONSENT: 'on' });
    const body = { defaults: { inbox: 'off' }, data_schema: { type: 'object', required: ['amount'] } };
    const defined = await app.api('PUT', '/admin/v1/categories/request', { bearer: app.adminKey, body });
    expect(defined.status, defined.text).toBeLessThan(300);
    expect(await reached(app)).toEqual(['request support_login', 'request support_login_asked']);
  });

  test('as the first type where there is no request, and as security where that is listed', async () => {
    const named = await startOther({ NOTICES: 'none', SUPPORT_CONSENT: 'on', NOTIFICATION_TYPES: 'news,pool' });
    expect(await reached(named)).toEqual(['news support_login', 'news support_login_asked']);
    const types = 'payment,request,security';
    const listed = await startOther({ NOTICES: 'sms', SUPPORT_CONSENT: 'on', NOTIFICATION_TYPES: types });
    expect(await reached(listed)).toEqual(['security support_login', 'security support_login_asked']);
  });
});

describe('a guess lock', () => {
  const guess = (name: string | null) =>
    postern.api('POST', '/v1/tokens', { body: passwordLogin(name, 'not the password') });
  const unlockAll = () => postern.database.query(testSql('delete from guess_budgets'));

  test('is reported once an hour, however often the account is locked', async () => {
    const { user } = await newOwner();
    const lock = async () => {
      await unlockAll();
      await Promise.all([guess(user.username), guess(user.username)]);
      await settled();
    };
    for (let count = 0; count < 5; count += 1) await lock();
    const locks = async () => (await noticesTo(user)).filter((message) => message.startsWith('email.account_locked'));
    expect(await locks()).toEqual([`email.account_locked ${user.email}`]);
    await postern.database.query(testSql(`update request_limits set refilled_at = refilled_at - interval '1 hour'`));
    await lock();
    expect(await locks()).toHaveLength(2);
  });

  test('of an unknown identity runs the same statements, and its notice is dropped', async () => {
    const rows = () => postern.database.query(testSql('select id from outbox'));
    const before = await rows();
    const sent = (name: string | null) =>
      queriesOf(async () => {
        for (let count = 0; count < 2; count += 1) await guess(name);
      });
    const { user } = await newOwner();
    await settled();
    const ofRequests = (queries: Awaited<ReturnType<typeof sent>>) =>
      queries.flatMap(({ name, values }) => {
        // The job that sends the notice records it, perhaps before the request is over.
        const isOfJob = JSON.stringify(values ?? []).includes('message.sent');
        return !isOfJob && /^(guess|event|authentication|account|notice_insert)/.test(name ?? '') ? [name] : [];
      });
    const unknown = ofRequests(await sent('nobody-to-be-told'));
    expect(unknown).toContain('notice_insert');
    await settled();
    const between = await rows();
    expect(ofRequests(await sent(user.username))).toEqual(unknown);
    await settled();
    expect(between).toHaveLength(before.length);
    expect(await rows()).toHaveLength(between.length + 1);
  });
});

describe('a changed credential', () => {
  test('is reported to the former address and to the new one', async () => {
    const { user } = await newOwner();
    const [email, phone] = [newEmail(), newPhone()];
    await change(user, { email, phone });
    await change(user, { password: 'another battery of horses' });
    // The notice goes to the address that the user has when it is sent.
    await settled();
    await change(user, { pin: '2468', email: null, name: 'Ada' });
    // As above: the user has no address now, and gets one below.
    await settled();
    await change(user, { name: 'Ada Lovelace', username: user.username });
    const last = newEmail();
    await change(user, { username: `${user.username}2`, email: last });
    expect((await noticesTo(user)).sort()).toEqual(
      [
        ...[`email.email_changed ${email}`, `email.email_changed ${user.email}`, `email.phone_changed ${email}`],
        ...[`email.password_changed ${email}`, `email.email_changed ${email}`],
        ...[`email.email_changed ${last}`, `email.username_changed ${last}`],
      ].sort(),
    );
  });

  test('is reported only if the transaction commits', async () => {
    const { user } = await newOwner();
    const taken = await createUser(postern, { email: newEmail() });
    const refused = await change(user, { email: taken.email, password: 'another battery of horses' });
    expect(refused.status).toBe(409);
    expect(await noticesTo(user)).toEqual([]);
  });

  test('is reported once, though many jobs run for it in parallel', async () => {
    const { user } = await newOwner();
    for (let round = 0; round < raceRounds; round += 1) {
      await postern.database.query(
        testSql(
          `with notice as (
               insert into notices (user_id, id, kind, data, created_at)
               values ($1, $2, 'pin_changed', '{}', db_now()) returning user_id, id)
             select graphile_worker.add_job('notice.send', json_build_object('user_id', user_id, 'id', id))
             from notice, generate_series(1, 10)`,
          [user.id, randomUUID()],
        ),
      );
    }
    const pins = (await noticesTo(user)).filter((message) => message.startsWith('email.pin_changed'));
    expect(pins).toHaveLength(raceRounds);
  });

  test('is not reported after the user was deleted, and leaves no rows behind', async () => {
    const { user } = await newOwner();
    await change(user, { pin: '2468' });
    await postern.api('DELETE', `/admin/v1/users/${user.id}`, { bearer: postern.adminKey });
    await eventually('the erasure', async () => {
      const left = await postern.database.query(
        testSql('select 1 from notices where user_id = $1 union all select 1 from outbox where user_id = $1', [
          user.id,
        ]),
      );
      return left.length === 0 ? true : undefined;
    });
  });
});
