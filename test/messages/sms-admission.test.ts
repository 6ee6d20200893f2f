import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OutboxMessage } from '../../src/contract/administration.js';
import type { Authentication } from '../../src/contract/authentication.js';
import type { LoginDiagnosis } from '../../src/contract/login-diagnosis/login-diagnosis.js';
import type { System } from '../../src/contract/operation/system.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, messageOf, smsLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ SMS_COUNTRIES: 'ES, us', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', METRICS_PORT: '0' },
  });
});
afterAll(() => postern.close());

/** A mobile number of Spain with this prefix. */
const spanish = (prefix = `+346${randomInt(100, 1000)}`) => `${prefix}${randomInt(10 ** 5, 10 ** 6)}`.slice(0, 12);

async function startLogin(phone: string): Promise<Authentication> {
  const { status, body } = await postern.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
  expect(status).toBe(201);
  return body;
}
const newUser = (phone: string) => createUser(postern, { phone, password: undefined });
const reasonOf = async ({ id }: OutboxMessage) => {
  const [row] = await postern.database.query<{ last_error: string | null }>(
    testSql('select last_error from outbox where id = $1', [id]),
  );
  return row?.last_error;
};

describe('SMS_COUNTRIES', () => {
  test.each(['+34612345678', '+12125550123'])('lets codes through to %s', async (phone) => {
    await newUser(phone);
    await messageOf(postern, (await startLogin(phone)).id, ['sent']);
  });

  // France, a satellite network, and Jamaica, which shares the code of the United States.
  test.each(['+33612345678', '+88213123456', '+18765550123'])(
    'sends no code to %s, with the same answer',
    async (phone) => {
      const unknown = await startLogin(phone);
      await newUser(phone);
      const known = await startLogin(`${phone.slice(0, -1)}9`);
      await newUser(`${phone.slice(0, -2)}11`);
      const refused = await startLogin(`${phone.slice(0, -2)}11`);
      for (const login of [unknown, known]) expect(Object.keys(refused)).toEqual(Object.keys(login));
      const message = await messageOf(postern, refused.id, ['dropped']);
      expect(await reasonOf(message)).toContain('SMS_COUNTRIES');
      const { body } = await postern.api<Authentication>('GET', `/v1/tokens/${refused.id}`);
      expect(body.status).toBe('pending');
    },
  );
});

/** Codes that were sent to a prefix some minutes ago, of which some were used. */
async function sendCodes(prefix: string, sent: number, used: number): Promise<void> {
  await postern.database.query(
    testSql(
      `with code as (
         select gen_random_uuid() as user_id, gen_random_uuid() as id, gen_random_uuid() as login, n,
                db_now() - interval '10 minutes' + n * interval '1 second' as at from generate_series(1, $2::int) n),
       login as (
         insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
         select user_id, login, login, 'sms', case when n <= $3::int then 'approved' else 'pending' end, 0, at, at, at from code)
       insert into outbox (user_id, id, authentication_id, channel, kind, recipient, state, sealed_code, expires_at,
                           created_at, updated_at)
       select user_id, id, login, 'sms', 'sms.code', $1::text || lpad(n::text, 5, '0'), 'sent', '', at, at, at from code`,
      [prefix, sent, used],
    ),
  );
}
const system = async () => (await postern.api<System>('GET', '/admin/v1/system', { bearer: postern.adminKey })).body;
const pausesOf = (prefix: string) =>
  postern.database.query<{ data: object }>(
    testSql("select data from events where type = 'sms.prefix_paused' and data->>'prefix' = $1", [prefix]),
  );

describe('a prefix of which few codes are used', () => {
  test('is paused for an hour, and operators are told', async () => {
    const prefix = '+346101';
    await sendCodes(prefix, 100, 9);
    const phones = [spanish(prefix), spanish(prefix)];
    for (const phone of phones) {
      await newUser(phone);
      const message = await messageOf(postern, (await startLogin(phone)).id, ['dropped']);
      expect(await reasonOf(message)).toContain(prefix);
    }
    expect(await pausesOf(prefix)).toEqual([{ data: { prefix, sent: 100, used: 9 } }]);
    const { sms_codes: usage } = await system();
    const [first] = usage;
    expect(first).toMatchObject({ prefix, country: 'ES', sent: 100, used: 9, paused_until: expect.any(String) });
    const metrics = await (await fetch(postern.metricsUrl ?? '')).text();
    expect(metrics).toContain(`postern_sms_codes{country="ES",prefix="${prefix}",outcome="used"} 9`);
    const [phone] = phones;
    const { body: diagnosis } = await postern.api<LoginDiagnosis>('POST', '/admin/v1/login-diagnosis', {
      bearer: postern.adminKey,
      body: { identity: { type: 'phone', value: phone }, authenticator: 'sms' },
    });
    expect(diagnosis.ways[0]?.reasons).toContainEqual(
      expect.objectContaining({ code: 'sms_prefix_paused', effect: 'blocks', until: first?.paused_until }),
    );
    // After the pause, the codes before it no longer count.
    await postern.database.query(
      testSql(`update events set created_at = created_at - interval '61 minutes' where data->>'prefix' = $1`, [prefix]),
    );
    const later = spanish(prefix);
    await newUser(later);
    await messageOf(postern, (await startLogin(later)).id, ['sent']);
  });

  test.each([
    ['one in ten of a hundred was used', 100, 10],
    ['fewer than a hundred were sent', 99, 0],
  ])('is not paused if %s', async (_, sent, used) => {
    const prefix = sent === 100 ? '+346102' : '+346103';
    await sendCodes(prefix, sent, used);
    const phone = spanish(prefix);
    await newUser(phone);
    await messageOf(postern, (await startLogin(phone)).id, ['sent']);
    expect(await pausesOf(prefix)).toEqual([]);
  });

  test('counts a code as used when its login went on', async () => {
    const phone = spanish('+346104');
    await newUser(phone);
    const { id } = await startLogin(phone);
    const code = await codeOf(postern, id);
    await postern.api('POST', `/v1/tokens/${id}/secret`, { body: { secret: code, pin: '2468' } });
    expect((await system()).sms_codes.find(({ prefix }) => prefix === '+346104')).toMatchObject({ sent: 1, used: 1 });
  });

  test('counts codes of the last minutes only when they were used', async () => {
    const prefix = '+346105';
    await sendCodes(prefix, 100, 0);
    await postern.database.query(
      testSql("update outbox set created_at = db_now() - interval '30 seconds' where left(recipient, 7) = $1", [
        prefix,
      ]),
    );
    const phone = spanish(prefix);
    await newUser(phone);
    await messageOf(postern, (await startLogin(phone)).id, ['sent']);
  });
});

test('with registration, the limits for a prefix and in total have values', async () => {
  const open = await startTestApp({
    ...{ REGISTRATION: 'on', LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' },
  });
  try {
    const start = (phone: string) => open.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
    const phones = Array.from({ length: 61 }, (_, at) => `+34610600${String(at).padStart(3, '0')}`);
    for (const phone of phones) await createUser(open, { phone, password: undefined });
    const logins: string[] = [];
    for (const phone of phones) logins.push((await start(phone)).body.id);
    await messageOf(open, logins[59] ?? '', ['sent']);
    await messageOf(open, logins[60] ?? '', ['dropped']);
  } finally {
    await open.close();
  }
});
