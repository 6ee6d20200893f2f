import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import { openClient } from '../../src/database/connections/open-client.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, newPhone, passwordLogin, smsLogin } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ PIN_ENROL: 'first_login', LOGIN_LIMIT_PER_ADDRESS: '0' }, { queryTimeout: 60_000 });
});
afterAll(() => postern.close());

const run = (text: string) => postern.database.query(testSql(text));

/** Until `end` is called, the work after an approval fails as on a full disk. */
async function failAfterApproval() {
  await run(`create function fill() returns trigger language plpgsql as $$ begin
               raise exception 'no space left on device' using errcode = 'disk_full'; end $$`);
  await run('create trigger fill before update of pin_hash, password_hash on users execute function fill()');
  await run('alter function claim_push_tokens rename to claim_push_tokens_away');
  return async () => {
    await run('drop function fill cascade');
    await run('alter function claim_push_tokens_away rename to claim_push_tokens');
  };
}

/** How many devices have the push token. It belongs to the last one that has sent it. */
const countDevicesWith = async (token: string) => {
  const [row] = await postern.database.query<{ count: number }>(
    testSql('select count(*)::int as count from devices where apn_device_token = $1', [token]),
  );
  return row?.count;
};
/** A push token that the device of another user has. */
async function usedToken(): Promise<string> {
  const token = randomBytes(32).toString('hex');
  const { username } = await createUser(postern);
  await postern.api('POST', '/v1/tokens', {
    body: { ...passwordLogin(username), device: { apn_device_token: token } },
  });
  expect(await countDevicesWith(token)).toBe(1);
  return token;
}
const warnings = () => postern.logged.filter((line) => line.includes('the login stays approved')).length;
const stateOf = async (id: string) => {
  const [row] = await postern.database.query(
    testSql(
      `select pin_hash is not null as pin, password_hash like '$argon2id$v=%' as rehashed
         from users u where id = $1`,
      [id],
    ),
  );
  return row;
};

test('a login in one step stays approved when the work after it fails, and the next login does the work', async () => {
  const secret = 'an imported password';
  const hash = pbkdf2Sync(secret, 'seasalt', 1000, 32, 'sha256').toString('base64');
  const user = await createUser(postern, {
    password: undefined,
    password_hash: `pbkdf2_sha256$1000$seasalt$${hash}`,
  });
  const device = { id: crypto.randomUUID(), apn_device_token: await usedToken() };
  const logIn = () =>
    postern.api<Authentication>('POST', '/v1/tokens', {
      body: { ...passwordLogin(user.username, secret), device, pin: '2468' },
    });
  const end = await failAfterApproval();
  const before = warnings();
  const { status, body } = await logIn();
  await end();
  expect([status, body.status]).toEqual([201, 'approved']);
  expect((await postern.api('POST', '/v1/sessions', { basic: body.token ?? '' })).status).toBe(201);
  // The log has each message once while the database fails.
  expect(warnings() - before).toBe(2);
  expect(await stateOf(user.id)).toEqual({ pin: false, rehashed: false });
  expect(await countDevicesWith(device.apn_device_token)).toBe(2);

  expect((await logIn()).body.status).toBe('approved');
  expect(await stateOf(user.id)).toEqual({ pin: true, rehashed: true });
  // If the devices are on different servers, a job removes the token from the other one.
  await expect.poll(() => countDevicesWith(device.apn_device_token)).toBe(1);
});

test('a login in two steps stays approved when the work after it fails', async () => {
  const user = await createUser(postern, { phone: newPhone() });
  const body = { ...smsLogin(user.phone), device: { apn_device_token: await usedToken() } };
  const { id } = (await postern.api<Authentication>('POST', '/v1/tokens', { body })).body;
  const answer = { secret: await codeOf(postern, id), pin: '2468' };
  const end = await failAfterApproval();
  const before = warnings();
  const { status, body: approved } = await postern.api<Authentication>('POST', `/v1/tokens/${id}/secret`, {
    body: answer,
  });
  await end();
  expect([status, approved.status]).toEqual([201, 'approved']);
  expect((await postern.api('POST', '/v1/sessions', { basic: approved.token ?? '' })).status).toBe(201);
  expect(warnings() - before).toBeGreaterThan(0);
  expect(await stateOf(user.id)).toMatchObject({ pin: false });
});

test('of two first logins with different PINs, the first one sets the PIN', async () => {
  const user = await createUser(postern);
  const logIn = async (pin: string) => {
    const answer = await postern.api<Authentication>('POST', '/v1/tokens', {
      body: { ...passwordLogin(user.username), pin },
    });
    return answer.body.status;
  };
  const holder = await openClient(postern.databaseEnv.DATABASE_URL, {
    application_name: 'test',
    connectionTimeoutMillis: 10_000,
  });
  onTestFinished(() => holder.end());
  await holder.query('begin');
  await holder.query('select from users where id = $1 for update', [user.id]);
  /** Both logins are approved, and wait to store their PINs. */
  const waiting = (count: number) =>
    eventually(`${count} waiting logins`, async () => {
      const rows = await postern.database.query(
        testSql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
      );
      return rows.length === count || undefined;
    });
  const first = logIn('1357');
  await waiting(1);
  const second = logIn('2468');
  await waiting(2);
  await holder.query('commit');
  expect(await Promise.all([first, second])).toEqual(['approved', 'approved']);
  expect([await logIn('1357'), await logIn('2468')]).toEqual(['approved', 'rejected']);
});
