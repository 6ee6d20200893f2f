import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { User } from '../../src/contract/user.js';
import type { StartedChallenge } from '../../src/credentials/challenges.js';
import { byPassword, createSelfService, type Person } from '../support/account.js';
import { createAdministration } from '../support/administration.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createRecoverySteps } from '../support/recovery.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import { codeOf, createUser, login, newEmail, signIn, smsLogin } from '../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', MAIL_PROVIDER: 'console', NOTICES: 'email' },
    PIN_POLICY: 'optional',
  });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { person, signInAgain, ask, refused, isLoggedIn } = createSelfService(() => postern);
const { admin, eventsOf } = createAdministration(() => postern);
const { begin, complete, recoverPin } = createRecoverySteps(() => postern);
const rounds = Array.from({ length: raceRounds }, (_, round) => round);
const logOut = (who: Pick<Person, 'bearer'>, body?: object) =>
  ask<{ ended: number }>(who, 'POST', '/logout-everywhere', body);
/** Whether both instances accept the session. */
const isIn = async ({ bearer }: Pick<Person, 'bearer'>) => {
  const answers = await Promise.all([postern, other].map(({ api }) => api('POST', '/v1/sessions/verify', { bearer })));
  return answers.map(({ status }) => status);
};

describe('POST /v1/account/logout-everywhere', () => {
  test('ends the other logins on all instances, keeps the calling one with its token, is recorded and is told', async () => {
    const user = await createUser(postern, { email: newEmail() });
    const caller = await signIn(postern, user);
    const others = [await signInAgain(user), await signInAgain(user)];
    for (const each of others) expect(await isIn(each)).toEqual([200, 200]);
    const unused = (await login(postern, user)).body;
    const { status, body } = await logOut({ bearer: caller.session.token });
    expect([status, body]).toEqual([200, { ended: 3 }]);
    for (const each of others) expect(await isIn(each)).toEqual([401, 401]);
    expect(await isIn({ bearer: caller.session.token })).toEqual([200, 200]);
    const sessionOf = async (token = '') => (await other.api('POST', '/v1/sessions', { basic: token })).status;
    expect(await sessionOf(caller.token)).toBe(201);
    expect(await sessionOf(unused.token)).toBe(401);
    expect((await postern.api('GET', `/v1/tokens/${caller.authentication.id}`)).body).toMatchObject({
      status: 'approved',
    });
    const [event] = (await eventsOf(user.id)).filter(({ type }) => type === 'user.logged_out_elsewhere');
    expect(event).toMatchObject({ actor: 'user', data: { ended: 3 } });
    const filter = `kind:eq:email.logged_out,recipient:eq:${encodeURIComponent(user.email ?? '')}`;
    await eventually('the notice', async () => {
      const notices = await admin<object[]>('GET', `/outbox?filter=${filter}`);
      return notices.body.length === 1 || undefined;
    });
    expect((await logOut({ bearer: caller.session.token })).body).toEqual({ ended: 0 });
  });

  test('with `all` ends the calling login too', async () => {
    const who = await person();
    const second = await signInAgain(who.user);
    expect((await logOut(who, { all: true })).body).toEqual({ ended: 2 });
    expect([await isIn(who), await isIn(second)]).toEqual([
      [401, 401],
      [401, 401],
    ]);
    expect((await eventsOf(who.user.id)).map(({ type }) => type)).toContain('user.logged_out');
  });

  test('takes `{all: false}`, and refuses other values and a session that ended', async () => {
    const who = await person();
    expect((await logOut(who, { all: false })).status).toBe(200);
    expect(await refused(who, 'POST', '/logout-everywhere', { all: 'yes' })).toEqual([422, 'all invalid_type']);
    await logOut(who, { all: true });
    expect(await refused(who, 'POST', '/logout-everywhere')).toEqual([401, 'invalid_session_token']);
  });

  test('ends open logins, recoveries, proofs, links for a role and a pending PIN', async () => {
    const who = await person({ pin: '2468', email: newEmail() });
    const { user } = who;
    const { body: open } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
    const code = await codeOf(postern, open.id);
    const recovery = await begin(user, 'password', 'email');
    await postern.database.query(testSql('delete from message_limits'));
    const { body: address } = await ask<StartedChallenge>(who, 'POST', '/email', {
      ...{ email: newEmail(), proof: byPassword },
    });
    expect(address.id).toEqual(expect.any(String));
    await admin('PATCH', `/users/${user.id}`, { role: 'support' });
    await admin('POST', `/users/${user.id}/enrollment-links`);
    await recoverPin(user, '1357', 'email');
    const again = await signInAgain(user, '2468');
    expect((await admin<User>('GET', `/users/${user.id}`)).body.pin_recovery).not.toBeNull();

    expect((await logOut(again)).status).toBe(200);
    const answer = { secret: code, pin: '2468' };
    const late = await postern.api<ProblemAnswer>('POST', `/v1/tokens/${open.id}/secret`, { body: answer });
    expect([late.status, late.body.errors[0]?.code]).toEqual([400, 'authorization_rejected']);
    expect((await postern.api('GET', `/v1/tokens/${open.id}`)).body).toMatchObject({ status: 'rejected' });
    const { path, secret } = recovery;
    expect((await complete(path, { secret, password: 'nine dull horses' })).status).toBe(400);
    expect((await admin<User>('GET', `/users/${user.id}`)).body.pin_recovery).toBeNull();
    const [row] = await postern.database.query<{ links: number; open: number }>(
      testSql(
        `select (select count(*)::int from users where id = $1 and role_link_digest is not null) as links,
                (select count(*)::int from challenges where user_id = $1 and ended_at is null) as open`,
        [user.id],
      ),
    );
    expect(row).toEqual({ links: 0, open: 0 });
  });

  test('of two devices that call it in parallel, exactly one stays logged in', async () => {
    for (const _ of rounds) {
      const who = await person();
      const second = await signInAgain(who.user);
      const answers = await Promise.all([
        logOut(who),
        other.api('POST', '/v1/account/logout-everywhere', { bearer: second.bearer }),
      ]);
      const won = answers.map(({ status }) => status === 200);
      expect(won.filter(Boolean)).toHaveLength(1);
      expect([await isLoggedIn(who), await isLoggedIn(second)]).toEqual(won);
    }
  });

  test('the calling login can get sessions at any moment meanwhile, and no login that was approved before survives', async () => {
    for (const _ of rounds) {
      const user = await createUser(postern);
      const caller = await signIn(postern, user);
      const before = await Promise.all([login(postern, user), login(postern, user)]);
      const sessionOf = (app: TestApp, token = '') =>
        app.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
      const [ended, ...sessions] = await Promise.all([
        logOut({ bearer: caller.session.token }),
        ...[postern, other, postern].map((app) => sessionOf(app, caller.token)),
        ...before.map(({ body }) => sessionOf(other, body.token)),
      ]);
      expect(ended?.status).toBe(200);
      const own = sessions.slice(0, 3);
      expect(own.map(({ status }) => status)).toEqual([201, 201, 201]);
      for (const { body } of own) expect(await isIn({ bearer: body.token })).toEqual([200, 200]);
      for (const { status, body } of sessions.slice(3)) {
        if (status === 201) expect(await isIn({ bearer: body.token })).toEqual([401, 401]);
      }
      for (const { body } of before) expect((await sessionOf(postern, body.token)).status).toBe(401);
    }
  });
});
