import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, login, newPhone, signIn, smsLogin } from '../support/users.js';

let one: TestApp;
let other: TestApp;
beforeAll(async () => {
  const env = { LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000' };
  // Requests wait for locks of the tests, on a busy machine for a long time.
  one = await startTestApp(env, { queryTimeout: 60_000 });
  other = await one.another();
});
afterAll(async () => {
  await other.close();
  await one.close();
});

const newSession = ({ api }: TestApp, token: string) => api<NewSession>('POST', '/v1/sessions', { basic: token });
const verify = ({ api }: TestApp, token: string) => api('POST', '/v1/sessions/verify', { bearer: token });
const answer = ({ api }: TestApp, id: string, code: string, headers = {}) =>
  api<Authentication>('POST', `/v1/tokens/${id}/secret`, { body: { secret: code, pin: '2468' }, headers });
const remove = ({ api }: TestApp, session: string, deviceId: string) =>
  api('DELETE', `/v1/devices/${deviceId}`, { bearer: session });

/** A user with a session on one device, and another logged-in device. */
async function newPerson() {
  const user = await createUser(one, { phone: newPhone() });
  const lost = await signIn(one, user);
  const { session } = await signIn(one, user);
  return { user, session, lost, device: { id: lost.authentication.device_id } };
}

/** Step 1 of a login by SMS on a device, and its code. */
async function begin(user: User, device: object) {
  await one.database.query(testSql('delete from message_limits'));
  const { body } = await one.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(user.phone, device) });
  return { id: body.id, code: await codeOf(one, body.id) };
}

/** Blocks the user's requests when they take a guess, until `meanwhile` is done. */
async function heldAtGuess<T>(user: User, bucket: string, request: () => Promise<T>, meanwhile: () => Promise<void>) {
  const { database } = one;
  const requesting = await database.transaction(async (tx) => {
    await tx.query(
      testSql('insert into guess_budgets (user_id, bucket, updated_at) values ($1, $2, db_now())', [user.id, bucket]),
    );
    const answering = request();
    await eventually('the request to wait', async () => {
      // On another connection, since a transaction keeps its first snapshot of the activity.
      const waiting = await database.query(
        testSql(`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
               and query like '%take_guess%'`),
      );
      return waiting.length > 0 ? true : undefined;
    });
    await meanwhile();
    return { answering };
  });
  return requesting.answering;
}

describe('a login on a device that is removed meanwhile', () => {
  test('is rejected with a correct password', async () => {
    const { user, session, device } = await newPerson();
    const { body } = await heldAtGuess(
      user,
      device.id,
      () => login(other, user, device),
      async () => expect((await remove(one, session.token, device.id)).status).toBe(200),
    );
    expect(body).toMatchObject({ status: 'rejected', error_code: 'invalid_credentials' });
    expect((await one.api('GET', `/v1/devices/${device.id}`, { bearer: session.token })).status).toBe(404);
  });

  test('is refused with a correct code', async () => {
    const { user, session, device } = await newPerson();
    const { id, code } = await begin(user, device);
    const { status } = await heldAtGuess(
      user,
      device.id,
      () => answer(other, id, code),
      async () => expect((await remove(one, session.token, device.id)).status).toBe(200),
    );
    expect(status).toBe(400);
    expect((await one.api('GET', `/v1/devices/${device.id}`, { bearer: session.token })).status).toBe(404);
  });

  test('cannot be repeated by its Idempotency-Key', async () => {
    const { user, session, device } = await newPerson();
    const { id, code } = await begin(user, device);
    const key = { 'idempotency-key': 'again' };
    expect((await answer(one, id, code, key)).status).toBe(201);
    await remove(one, session.token, device.id);
    expect((await answer(one, id, code, key)).status).toBe(400);
  });
});

test(`removing a device in parallel with codes, tokens and new sessions leaves none of them, ${raceRounds} times`, async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const { user, session, lost, device } = await newPerson();
    const { id, code } = await begin(user, device);
    const { body: unused } = await login(one, user, device);
    const race = () =>
      [one, other].map((instance) => ({
        answering: answer(instance, id, code),
        opening: newSession(instance, lost.token),
        firstUse: newSession(instance, unused.token ?? ''),
        verifying: verify(instance, lost.session.token),
      }));
    const startedBefore = race();
    const removing = remove(other, session.token, device.id);
    const racing = [...startedBefore, ...race()];
    expect((await removing).status).toBe(200);
    expect((await verify(one, lost.session.token)).status).toBe(401);

    const approved = await Promise.all(racing.map(({ answering }) => answering));
    for (const { status } of approved) expect([201, 400]).toContain(status);
    const opened = await Promise.all(racing.flatMap(({ opening, firstUse }) => [opening, firstUse]));
    for (const { status } of opened) expect([201, 401]).toContain(status);
    for (const { verifying } of racing) expect([200, 401]).toContain((await verifying).status);

    const tokens = [lost.token, unused.token, ...approved.map(({ body }) => body.token)].filter((token) => token);
    for (const instance of [one, other]) {
      const again = await Promise.all(tokens.map((token) => newSession(instance, token ?? '')));
      expect(again.map(({ status }) => status)).toEqual(tokens.map(() => 401));
      const made = opened.filter(({ status }) => status === 201);
      const verified = await Promise.all(made.map(({ body }) => verify(instance, body.token)));
      expect(verified.map(({ status }) => status)).toEqual(made.map(() => 401));
    }
    expect((await verify(other, session.token)).status).toBe(200);
    expect((await one.api('GET', `/v1/devices/${device.id}`, { bearer: session.token })).status).toBe(404);
  }
});

test(`of many parallel removals of a device at least one succeeds, ${raceRounds} times, and logins still work`, async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const { user, session, lost, device } = await newPerson();
    const logins = [one, other].map((instance) => login(instance, user, device));
    const removals = await Promise.all(
      [one, other, one, other].map((instance) => remove(instance, session.token, device.id)),
    );
    expect(removals.map(({ status }) => status)).toContain(200);
    for (const { status } of removals) expect([200, 404]).toContain(status);
    for (const { status } of await Promise.all(logins)) expect(status).toBe(201);
    expect((await newSession(other, lost.token)).status).toBe(401);
    expect((await verify(one, lost.session.token)).status).toBe(401);
  }
});
