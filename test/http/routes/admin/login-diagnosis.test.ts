import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKey } from '../../../../src/contract/administration.js';
import type { LoginDiagnosis, Remedy } from '../../../../src/contract/login-diagnosis/login-diagnosis.js';
import { loginReasons } from '../../../../src/contract/login-diagnosis/texts.js';
import type { User } from '../../../../src/contract/user.js';
import { createAdministration } from '../../../support/administration.js';
import { eventually } from '../../../support/eventually.js';
import { type Instances, newAddress, startInstances, wayOf } from '../../../support/login-prediction.js';
import { createSituations } from '../../../support/login-situations.js';
import { testSql } from '../../../support/sql.js';
import { newPhone } from '../../../support/users.js';

let instances: Instances;
beforeAll(async () => {
  instances = await startInstances();
});
afterAll(() => instances.close());

const { admin, refused } = createAdministration(() => instances.base);
const { change, lockByGuesses, byName, newUser, newUserWithPhone, createKnownDevice, startSms, runSql } =
  createSituations(() => instances);
const diagnoseUser = async ({ id }: Pick<User, 'id'>, query = '') =>
  (await admin<LoginDiagnosis>('GET', `/users/${id}/login-diagnosis${query}`)).body;
const diagnoseIdentity = async (body: object) => (await admin<LoginDiagnosis>('POST', '/login-diagnosis', body)).body;
const reasonOf = (reasons: LoginDiagnosis['reasons'], code: string) => reasons.find((reason) => reason.code === code);

describe('the diagnosis of a user', () => {
  test('says why and until when the user is refused, and which request changes it', async () => {
    const user = await newUser();
    await lockByGuesses(byName(user));
    const refusal = await diagnoseUser(user);
    const [reason] = refusal.reasons;
    expect(refusal).toMatchObject({
      user_id: user.id,
      identity: null,
      verdict: 'no',
      device: { id: null, known: false },
    });
    expect(reason).toMatchObject({
      ...{ code: 'new_devices_locked_by_guesses', effect: 'blocks', since: refusal.checked_at, until: refusal.until },
      data: { failures: 3, locks: 1, failures_to_permanent: 97 },
      message: `Wrong secrets locked all new devices until ${refusal.until}. Wrong secrets since the last success: 3. After 97 more the lock is permanent.`,
    });
    expect(Date.parse(refusal.until ?? '') - Date.parse(refusal.checked_at)).toBe(600_000);
    expect(refusal.message).toBe(`No login works. It works again by itself at ${refusal.until}.`);
    expect(wayOf(refusal, { authenticator: 'password' }).verdict).toBe('blocked');
    expect(wayOf(refusal, { authenticator: 'sms' }).verdict).toBe('not_set_up');
    const [remedy] = reason?.remedies ?? [];
    expect(remedy).toMatchObject({ action: 'reset_budget', by: 'operator', scope: 'users:write', body: null });
    await admin(remedy?.method ?? '', (remedy?.path ?? '').replace('/admin/v1', ''));
    expect(await diagnoseUser(user)).toMatchObject({ verdict: 'yes', since: null, until: null, reasons: [] });
  });

  test('has the point of view of the given device', async () => {
    const user = await newUser();
    const device = await createKnownDevice(user);
    await lockByGuesses(byName(user));
    const ofDevice = await diagnoseUser(user, `?device_id=${device.toUpperCase()}`);
    expect(ofDevice).toMatchObject({ verdict: 'yes', device: { id: device, known: true } });
    expect(reasonOf(ofDevice.reasons, 'other_devices_locked_by_guesses')).toMatchObject({
      effect: 'note',
      data: { devices: [null] },
    });
    expect(await diagnoseUser(user, `?device_id=${randomUUID()}`)).toMatchObject({
      verdict: 'no',
      device: { known: false },
    });
  });

  test('is in the language of the client', async () => {
    const user = await newUser();
    await admin('POST', `/users/${user.id}/lock`, { permanent: true, reason: 'Robado' });
    const { body } = await instances.base.api<LoginDiagnosis>('GET', `/admin/v1/users/${user.id}/login-diagnosis`, {
      ...{ bearer: instances.base.adminKey, headers: { 'accept-language': 'es' } },
    });
    expect(body.message).toBe('Ningún inicio de sesión funciona.');
    expect(body.reasons[0]?.message).toBe('Un operador bloqueó al usuario: Robado.');
  });

  test('says since when an operator locked or deactivated the user', async () => {
    const user = await newUser();
    await admin('POST', `/users/${user.id}/lock`, { until: '2099-01-01T00:00:00Z' });
    await change(user, { status: 'deactivated' });
    const { reasons, checked_at, until } = await diagnoseUser(user);
    expect(reasonOf(reasons, 'locked_by_operator')).toMatchObject({
      ...{ since: checked_at, until: '2099-01-01T00:00:00.000000Z' },
      remedies: [{ action: 'unlock' }],
    });
    expect(reasonOf(reasons, 'deactivated')).toMatchObject({ since: checked_at, until: null });
    // The lock ends by itself, but the deactivation does not.
    expect(until).toBeNull();
  });

  test('adds notes about conditions that do not refuse the login', async () => {
    const user = await newUser({ role: 'support' });
    await change(user, { second_factor: 'required' });
    const { verdict, reasons, ways, second_factor } = await diagnoseUser(user);
    expect(verdict).toBe('yes');
    expect(reasons.map(({ code, effect }) => [code, effect])).toEqual([
      ['factor_not_enrolled', 'note'],
      ['role_not_active', 'note'],
    ]);
    expect(second_factor).toEqual({ policy: 'required', required: false, types: [] });
    const password = ways.find(({ authenticator }) => authenticator === 'password');
    expect(password).toMatchObject({ verdict: 'yes', pin: 'any', reasons: [{ code: 'pin_missing', effect: 'note' }] });
    // Changes of a user with a role need the scope admin. The PIN is the user's own.
    expect(reasons[1]?.remedies).toMatchObject([{ action: 'create_enrollment_link', scope: 'admin' }]);
    expect(password?.reasons[0]?.remedies).toMatchObject([{ action: 'set_pin', by: 'user', scope: null }]);
  });

  test('answers `maybe` for a login by code if the last code was not delivered', async () => {
    const user = await newUserWithPhone();
    const { body } = await startSms(instances.base, user.phone);
    // The queue sends the message. Afterwards nothing else changes it.
    await eventually('the message is sent', async () => {
      const read = testSql<{ state: string }>('select state from outbox where authentication_id = $1', [body.id]);
      const [message] = await instances.base.database.query(read);
      return message?.state === 'sent' ? true : undefined;
    });
    const failed = `state = 'failed', last_error = 'unreachable handset', created_at = created_at - interval '2 minutes'`;
    await runSql(`update outbox set ${failed} where authentication_id = $1`, [body.id]);
    await runSql(`update message_limits set sent_at = '{}' where $1 <> ''`, [user.id]);
    const way = wayOf(await diagnoseUser(user), { authenticator: 'sms' });
    expect(way.verdict).toBe('maybe');
    expect(reasonOf(way.reasons, 'last_message_failed')).toMatchObject({
      ...{ effect: 'note', data: { state: 'failed', error: 'unreachable handset' } },
      message: 'The last code to this address was not sent: unreachable handset.',
      remedies: [
        { action: 'retry_message', method: 'POST', path: expect.stringMatching(/^.admin.v1.outbox.[\w-]{36}.retry$/) },
      ],
    });
  });

  test('does not call an authenticator service of the operator, and says that it cannot know the answer', async () => {
    const user = await newUser();
    const way = wayOf(await diagnoseUser(user), { authenticator: 'custom:badge' });
    expect(way).toMatchObject({ verdict: 'maybe', answers: [], reasons: [{ code: 'decided_elsewhere' }, {}] });
    await lockByGuesses(byName(user));
    const locked = wayOf(await diagnoseUser(user), { authenticator: 'custom:badge' });
    expect(locked).toMatchObject({ verdict: 'blocked', answers: [{ step: 'start', status: 423 }] });
  });

  test('uses up no guess, and does not count as a request of a login', async () => {
    const user = await newUserWithPhone();
    const address = newAddress();
    const { strict } = instances;
    const path = `/admin/v1/users/${user.id}/login-diagnosis?address=${address}`;
    const before = await rowsOfLogins(user.id);
    for (let times = 0; times < 10; times += 1) {
      const { body } = await strict.api<LoginDiagnosis>('GET', path, { bearer: strict.adminKey });
      expect([body.verdict, body.address]).toEqual(['yes', address]);
    }
    expect(await rowsOfLogins(user.id)).toEqual(before);
  });
});

/** The rows that a login of the user writes. */
const rowsOfLogins = (userId: string) =>
  runSql(
    `select (select count(*) from events where user_id = $1)::int as events,
            (select count(*) from authentications where user_id = $1)::int as logins,
            (select count(*) from outbox where user_id = $1)::int as messages,
            (select jsonb_agg(b) from guess_budgets b where user_id = $1) as guesses,
            (select jsonb_agg(l order by key) from request_limits l where refilled_at > db_now()) as requests,
            (select jsonb_agg(m order by key) from message_limits m) as codes`,
    [userId],
  );

describe('the diagnosis of an identity', () => {
  test('finds the user by any spelling, and checks one authenticator', async () => {
    const user = await newUser();
    const identity = { type: 'username', value: user.username?.toUpperCase() };
    const diagnosis = await diagnoseIdentity({ identity, authenticator: 'password' });
    expect(diagnosis).toMatchObject({
      ...{ user_id: user.id, identity: { type: 'username', value: user.username }, verdict: 'yes' },
      ways: [{ authenticator: 'password', identity: { value: user.username } }],
    });
    expect(diagnosis.ways).toHaveLength(1);
  });

  test('says that nobody has an identity, and how to create the user', async () => {
    const phone = newPhone();
    const { user_id, verdict, reasons, second_factor } = await diagnoseIdentity({
      identity: { type: 'phone', value: phone },
    });
    expect([user_id, verdict, second_factor]).toEqual([null, 'no', null]);
    expect(reasons[0]?.remedies).toMatchObject([{ action: 'create_user', path: '/admin/v1/users', body: { phone } }]);
  });

  test('says that an authenticator is not configured', async () => {
    const identity = { type: 'username', value: (await newUser()).username };
    const { ways, verdict } = await diagnoseIdentity({ identity, authenticator: 'oidc:nowhere' });
    expect(verdict).toBe('no');
    expect(ways).toMatchObject([
      {
        ...{ authenticator: 'oidc:nowhere', verdict: 'not_set_up' },
        answers: [{ step: 'start', status: 422, code: 'validation_failed' }],
        reasons: [{ code: 'not_configured', remedies: [{ action: 'configure', setting: 'OIDC_PROVIDERS' }] }],
      },
    ]);
  });
});

describe('a diagnosis refuses', () => {
  const identity = { type: 'username', value: 'ada' };

  test.each([
    [{}, [['identity', 'required']]],
    [{ identity: { type: 'phone', value: 'ada' } }, [['identity.value', 'invalid_identity']]],
    [{ identity: { type: 'nickname', value: 'ada' } }, [['identity.type', 'invalid_choice']]],
    [{ identity, device_id: 'x' }, [['device_id', 'invalid_format']]],
    [{ identity, device_id: '00000000-0000-0000-0000-000000000001' }, [['device_id', 'reserved_id']]],
    [{ identity, address: 'localhost' }, [['address', 'invalid_format']]],
    [{ identity, authenticator: '' }, [['authenticator', 'required']]],
    [{ identity, secret: 'x' }, [['secret', 'unknown_member']]],
  ])('the body %j', async (body, errors) => {
    expect(await refused('POST', '/login-diagnosis', body)).toEqual({ status: 422, errors });
  });

  test.each([
    ['device_id=x', [['device_id', 'invalid_format']]],
    ['device_id=00000000-0000-0000-0000-000000000000', [['device_id', 'reserved_id']]],
    [`device_id=${randomUUID()}&device_id=${randomUUID()}`, [['device_id', 'repeated_parameter']]],
    [
      'address=localhost&device_id=x',
      [
        ['device_id', 'invalid_format'],
        ['address', 'invalid_format'],
      ],
    ],
    ['device=x', [['device', 'unknown_parameter']]],
  ])('the query %s', async (query, errors) => {
    const user = await newUser();
    expect(await refused('GET', `/users/${user.id}/login-diagnosis?${query}`)).toEqual({ status: 422, errors });
  });

  test('an id that no user has', async () => {
    expect((await refused('GET', `/users/${randomUUID()}/login-diagnosis`)).status).toBe(404);
    expect((await refused('GET', '/users/x/login-diagnosis')).status).toBe(404);
  });

  test('a key without the scope users:read', async () => {
    const user = await newUser();
    const keyWith = async (scope: string) =>
      (await admin<ApiKey & { token: string }>('POST', '/keys', { name: 'x', scopes: [scope] })).body.token;
    const { api } = instances.base;
    const path = `/admin/v1/users/${user.id}/login-diagnosis`;
    const ask = async (bearer: string) => [
      (await api('GET', path, { bearer })).status,
      (await api('POST', '/admin/v1/login-diagnosis', { bearer, body: { identity } })).status,
    ];
    expect(await ask(await keyWith('users:write'))).toEqual([403, 403]);
    expect(await ask(await keyWith('users:read'))).toEqual([200, 200]);
    expect((await api('GET', path)).status).toBe(401);
  });
});

describe('every remedy', () => {
  /** The operations of the OpenAPI document, each with its path as a pattern. */
  const operations = async () => {
    const { body } = await instances.base.api<{ paths: Record<string, Record<string, { security?: unknown[] }>> }>(
      'GET',
      '/openapi.json',
    );
    return Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      })),
    );
  };

  test('names a route of the API', async () => {
    const user = await newUser({ role: 'support' });
    await lockByGuesses(byName(user));
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    await change(user, { status: 'deactivated', password: null, second_factor: 'required' });
    const { reasons, ways } = await diagnoseUser(user);
    const unknown = await diagnoseIdentity({ identity: { type: 'username', value: 'nobody2' } });
    const found = [...reasons, ...ways.flatMap((way) => way.reasons), ...unknown.reasons].flatMap(
      (each) => each.remedies,
    );
    const routes = await operations();
    const isRoute = ({ method, path }: Remedy) =>
      routes.some((route) => route.method === method && route.pattern.test(path ?? ''));
    expect(found.filter((remedy) => remedy.by !== 'administrator' && !isRoute(remedy))).toEqual([]);
    expect(new Set(found.map(({ action }) => action))).toEqual(
      new Set([
        ...['unlock', 'reset_budget', 'reactivate', 'set_password', 'set_phone', 'set_email', 'set_pin', 'create_user'],
        ...['enrol_passkey', 'link_external_identity', 'create_enrollment_link'],
      ]),
    );
  });
});

test('every reason has a text in both languages with the same placeholders', () => {
  const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(String).toSorted();
  for (const { en, es } of Object.values(loginReasons)) expect(placeholders(es)).toEqual(placeholders(en));
});
