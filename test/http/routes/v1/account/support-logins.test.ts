import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../../src/contract/administration.js';
import type { IssuedSupportLogin, OwnSupportLogin } from '../../../../../src/contract/support-login.js';
import { createAdministration } from '../../../../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../../support/app.js';
import { stepClock } from '../../../../support/clock.js';
import { eventually } from '../../../../support/eventually.js';
import { ageLogin, signInWithRole } from '../../../../support/operators.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { askForLogin, verify } from '../../../../support/support-logins.js';
import { createUser, signIn } from '../../../../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp(
    {
      ...{ LOGIN_LIMIT_PER_ADDRESS: '0', SUPPORT_CONSENT: 'on', SESSION_TTL: '23h' },
      ...{ NOTICES: 'inbox', NOTIFICATION_TYPES: 'payment,pool,request,security' },
    },
    // Requests wait for locks of the tests, on a busy machine for a long time.
    { queryTimeout: 60_000 },
  );
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { admin } = createAdministration(() => postern);

/** A support login that waits for its user, and the calls of both. */
async function waiting() {
  const operator = await signInWithRole(postern, 'operator');
  const user = await createUser(postern);
  const { session } = await signIn(postern, user);
  const asked = await askForLogin(postern, operator, user.id);
  const path = `/v1/account/support-logins/${asked.body.id}`;
  const answer = (method: 'PUT' | 'DELETE', app = postern, bearer = session.token) =>
    app.api<OwnSupportLogin & Pick<ProblemAnswer, 'errors'>>(method, path, { bearer });
  const take = (by: { bearer: string } = operator, app = postern, method = 'GET') =>
    app.api<IssuedSupportLogin>(method, `/admin/v1/users/${user.id}/support-logins/${asked.body.id}`, {
      bearer: by.bearer,
    });
  const list = async () =>
    (await postern.api<OwnSupportLogin[]>('GET', '/v1/account/support-logins', { bearer: session.token })).body;
  return { operator, user, session, asked, answer, take, list };
}

describe('with SUPPORT_CONSENT=on', () => {
  test('an operator gets no token until the user allows it, and then once', async () => {
    const { operator, user, asked, answer, take, list } = await waiting();
    expect([asked.status, asked.body.status, asked.body.token]).toEqual([202, 'pending', undefined]);
    expect((await take()).body).toMatchObject({ status: 'pending' });
    expect(await list()).toEqual([
      {
        ...{ id: asked.body.id, status: 'pending', reason: 'Ticket 4711', write: false, ended_at: null },
        ...{ created_at: asked.body.created_at, expires_at: asked.body.expires_at },
      },
    ]);
    const allowed = await answer('PUT');
    expect([allowed.status, allowed.body.status]).toEqual([200, 'allowed']);
    expect((await take(operator, postern, 'HEAD')).status).toBe(200);
    const colleague = await signInWithRole(postern, 'operator');
    for (const by of [colleague, { bearer: postern.adminKey }]) {
      expect((await take(by)).body).not.toHaveProperty('token');
    }
    const { token = '', ...login } = (await take()).body;
    expect(login.status).toBe('active');
    expect((await take()).body).not.toHaveProperty('token');
    const { body: session } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
    expect((await verify(postern, session.token)).body).toMatchObject({ user_id: user.id, act: { write: false } });
  });

  test('the user gets a notice in the inbox when an operator asks, and when the operator has logged in', async () => {
    const { session, answer, take } = await waiting();
    const texts = () =>
      postern
        .api<{ description: string }[]>('GET', '/v1/notifications', { bearer: session.token })
        .then(({ body }) => body.map(({ description }) => description));
    const asked = await eventually('a notice of the question', async () => (await texts())[0]);
    expect(asked).toMatch(
      /asks to sign in to your account\. In your account you see why, and you allow or refuse it\.$/,
    );
    await answer('PUT');
    await take();
    const told = await eventually('a notice of the login', async () => {
      const all = await texts();
      return all.length === 2 ? all[0] : undefined;
    });
    expect(told).toMatch(
      /has signed in to your account\. In your account you see why, and you can end it at any time\.$/,
    );
  });

  test('a refusal is final, and the operator sees it', async () => {
    const { answer, take, list, user } = await waiting();
    for (const _ of [1, 2]) expect((await answer('DELETE')).status).toBe(204);
    expect((await answer('PUT')).body.errors[0]?.code).toBe('support_login_ended');
    expect((await take()).body).toMatchObject({ status: 'refused' });
    expect((await list())[0]?.status).toBe('refused');
    const { body } = await admin<Event[]>('GET', `/users/${user.id}/activity`);
    expect(body.slice(0, 2).map(({ type, actor }) => [type, actor])).toEqual([
      ['support_login.refused', 'user'],
      ['support_login.requested', expect.stringMatching(/^user:/)],
    ]);
  });

  test('what was allowed lasts 30 minutes from the answer, and a question lasts 24 hours', async () => {
    const first = await waiting();
    const second = await waiting();
    try {
      await stepClock(postern.database, '22 hours');
      const { body } = await first.answer('PUT');
      const left = Date.parse(body.expires_at) - Date.now() - 22 * 3_600_000;
      expect(Math.round(left / 60_000)).toBe(30);
      await stepClock(postern.database, '1351 minutes');
      expect((await first.list())[0]?.status).toBe('expired');
      await stepClock(postern.database, '1441 minutes');
      const late = await signIn(postern, second.user);
      const answer = await second.answer('PUT', postern, late.session.token);
      expect(answer.body.errors[0]?.code).toBe('support_login_ended');
    } finally {
      await stepClock(postern.database, '0');
    }
  });

  test('a logout on all devices ends a question and what was allowed', async () => {
    const { session, answer, take } = await waiting();
    await answer('PUT');
    await postern.api('POST', '/v1/account/logout-everywhere', { bearer: session.token });
    const { body } = await take();
    expect([body.status, body.token]).toEqual(['ended', undefined]);
  });

  test('the user ends a login at any time', async () => {
    const { answer, take } = await waiting();
    await answer('PUT');
    const { token = '' } = (await take()).body;
    const { body: session } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
    await answer('DELETE', other);
    for (const app of [postern, other]) expect((await verify(app, session.token)).status).toBe(401);
  });

  test('only the user of the login can answer: for others it does not exist', async () => {
    const { answer } = await waiting();
    const { session } = await signIn(postern, await createUser(postern));
    for (const method of ['PUT', 'DELETE'] as const) {
      const foreign = await answer(method, postern, session.token);
      const unknown = await postern.api<ProblemAnswer>(method, `/v1/account/support-logins/${randomUUID()}`, {
        bearer: session.token,
      });
      expect(foreign.status).toBe(404);
      expect({ ...foreign.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' });
    }
  });

  test('the operator needs a recent proof for the token, and keeps the role until then', async () => {
    const { operator, answer, take } = await waiting();
    await answer('PUT');
    await ageLogin(postern, operator.user.id, 16);
    expect((await take()).status).toBe(403);
    await ageLogin(postern, operator.user.id, -16);
    await admin('PATCH', `/users/${operator.user.id}`, { role: 'support' });
    expect((await take()).status).toBe(403);
  });
});

describe('many requests at once, on two instances', () => {
  test('take one token', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { operator, answer, take } = await waiting();
      await answer('PUT');
      const answers = await Promise.all(
        [...Array(8)].map((_, index) => take(operator, index % 2 === 0 ? postern : other)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(answers.filter(({ body }) => body.token !== undefined)).toHaveLength(1);
    }
  });

  test('allow it once: one event, one end', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { user, answer } = await waiting();
      const answers = await Promise.all(
        [...Array(8)].map((_, index) => answer('PUT', index % 2 === 0 ? postern : other)),
      );
      expect(new Set(answers.map(({ body }) => body.expires_at)).size).toBe(1);
      const { body } = await admin<Event[]>('GET', `/users/${user.id}/activity?filter=type:support_login.allowed`);
      expect(body).toHaveLength(1);
    }
  });

  test('end it in the end, whatever came first of the end, the answer and the token', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const { operator, answer, take } = await waiting();
      await answer('PUT');
      const [taken] = await Promise.all([take(operator, other), answer('DELETE'), answer('PUT', other)]);
      expect((await take()).body.status).toBe('ended');
      const { token } = taken.body;
      if (token !== undefined) expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    }
  });
});

describe('a change of the user while the operator takes the token', () => {
  test.each([
    ['a role', "role = 'support'"],
    ['a lock', "lock_kind = 'permanent'"],
  ])('%s waits for it, and ends the login', async (_, change) => {
    const { operator, user, answer, take } = await waiting();
    await answer('PUT');
    const waiters = (count: number) =>
      eventually(`${count} statements that wait`, async () => {
        const [row] = await postern.database.query(
          testSql<{ count: string }>(
            "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
          ),
        );
        return Number(row?.count) >= count ? true : undefined;
      });
    // The token is there, and its transaction waits to record the event.
    const { taken, changed } = await postern.database.user(user.id).transaction(async (tx) => {
      await tx.query(testSql('lock table events in exclusive mode'));
      const taken = take(operator, other);
      await waiters(1);
      const changed = other.database.query(testSql(`update users set ${change} where id = $1`, [user.id]));
      await waiters(2);
      return { taken, changed };
    });
    const { token = '' } = (await taken).body;
    expect(token).toMatch(/^psa_/);
    await changed;
    await postern.database.query(testSql("update users set role = 'user', lock_kind = null where id = $1", [user.id]));
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    expect((await take()).body.status).toBe('ended');
  });
});

test('the end ends the login, whatever the status of its support login', async () => {
  const { user, asked, answer, take } = await waiting();
  await answer('PUT');
  const { token = '' } = (await take()).body;
  const { body: session } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
  await postern.database.query(
    testSql('update support_logins set ended_at = db_now() where user_id = $1 and id = $2', [user.id, asked.body.id]),
  );
  expect((await verify(postern, session.token)).status).toBe(200);
  expect((await answer('DELETE')).status).toBe(204);
  expect((await verify(postern, session.token)).status).toBe(401);
});

test('export, erasure: the user gets what is stored, and the reason goes with the user', async () => {
  const { user, session, asked, answer, take } = await waiting();
  await answer('PUT');
  await take();
  const exported = await postern.api<{ support_logins: object[] }>('GET', '/v1/account/export', {
    bearer: session.token,
  });
  expect(exported.body.support_logins).toMatchObject([{ id: asked.body.id, reason: 'Ticket 4711', write: false }]);
  await admin('DELETE', `/users/${user.id}`);
  const events = await eventually('events without a reason', async () => {
    const { body } = await admin<Event[]>('GET', `/events?filter=user_id:${user.id},type:support_login.started`);
    return body.every(({ data }) => !('reason' in data)) ? body : undefined;
  });
  expect(events).toHaveLength(1);
});
