import { randomUUID } from 'node:crypto';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../../src/contract/administration.js';
import type { SupportLogin } from '../../../../../src/contract/support-login.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { stepClock } from '../../../../support/clock.js';
import { ageLogin, signInWithRole } from '../../../../support/operators.js';
import { raceRounds } from '../../../../support/rounds.js';
import { testSql } from '../../../../support/sql.js';
import { askForLogin, logInAs, verify } from '../../../../support/support-logins.js';
import { createUser, signIn } from '../../../../support/users.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', PUBLIC_URL: 'https://auth.example.com' });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { admin } = createAdministration(() => postern);
const codeOf = ({ status, body }: { status: number; body: { errors?: readonly { code: string }[] } }) => [
  status,
  body.errors?.[0]?.code,
];

describe('POST /admin/v1/users/{id}/support-logins', () => {
  test('gives an operator a token of the user for 30 minutes, which only reads', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const { status, body } = await askForLogin(postern, operator, user.id);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      status: 'active',
      reason: 'Ticket 4711',
      write: false,
      operator_id: operator.user.id,
    });
    expect(body.token).toMatch(/^psa_/);
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(1_800_000);
    const { body: session } = await postern.api<{ token: string; expires_at: string }>('POST', '/v1/sessions', {
      basic: body.token ?? '',
    });
    const checked = await verify(postern, session.token);
    expect(checked.body).toMatchObject({ user_id: user.id, amr: [], act: { sub: operator.user.id, write: false } });
    expect(checked.headers['postern-act']).toBe(`${operator.user.id};read`);
    const change = await postern.api('PATCH', '/v1/account', { bearer: session.token, body: { name: 'Eve' } });
    expect(codeOf(change)).toEqual([403, 'read_only_session']);
  });

  test('a login of the user’s own has an empty Postern-Act and no act', async () => {
    const { session } = await signIn(postern, await createUser(postern));
    const { body, headers } = await verify(postern, session.token);
    expect(headers['postern-act']).toBe('');
    expect(Object.keys(body)).not.toContain('act');
  });

  test('both ways to check a session say who acts', async () => {
    const alone = await postern.another({ DATABASE_BATCHING: 'false' });
    try {
      const operator = await signInWithRole(postern, 'operator');
      const { session } = await logInAs(postern, operator, (await createUser(postern)).id, { write: true });
      for (const app of [postern, alone]) {
        expect((await verify(app, session.token)).body.act).toEqual({ sub: operator.user.id, write: true });
      }
    } finally {
      await alone.close();
    }
  });

  test('an API key gets session_required, even with a faulty body', async () => {
    const user = await createUser(postern);
    for (const body of [{ reason: 'x' }, {}]) {
      const answer = await postern.api<{ errors: { code: string }[] }>(
        'POST',
        `/admin/v1/users/${user.id}/support-logins`,
        { bearer: postern.adminKey, body },
      );
      expect(codeOf(answer)).toEqual([403, 'session_required']);
    }
  });

  test('refuses an old login, the role support, a user with a role, and users who cannot log in', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const support = await signInWithRole(postern, 'support');
    const user = await createUser(postern);
    expect(codeOf(await askForLogin(postern, support, user.id))).toEqual([403, 'insufficient_scope']);
    for (const role of ['support', 'operator']) {
      const colleague = await createUser(postern, { role });
      expect(codeOf(await askForLogin(postern, operator, colleague.id))).toEqual([409, 'has_role']);
    }
    expect(codeOf(await askForLogin(postern, operator, operator.user.id))).toEqual([409, 'has_role']);
    expect(codeOf(await askForLogin(postern, operator, randomUUID()))).toEqual([404, 'not_found']);
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    expect(codeOf(await askForLogin(postern, operator, user.id))).toEqual([403, 'account_locked']);
    await admin('POST', `/users/${user.id}/unlock`);
    await admin('PATCH', `/users/${user.id}`, { status: 'deactivated' });
    expect(codeOf(await askForLogin(postern, operator, user.id))).toEqual([400, 'account_unusable']);
    await ageLogin(postern, operator.user.id, 16);
    expect(codeOf(await askForLogin(postern, operator, user.id))).toEqual([403, 'fresh_proof_required']);
  });

  test('the former support login of the same operator ends, and another operator’s stays', async () => {
    const [one, two] = [await signInWithRole(postern, 'operator'), await signInWithRole(postern, 'operator')];
    const user = await createUser(postern);
    const former = await logInAs(postern, one, user.id);
    const others = await logInAs(postern, two, user.id);
    const next = await logInAs(postern, one, user.id);
    expect(
      await Promise.all(
        [former, others, next].map(async ({ session }) => (await verify(postern, session.token)).status),
      ),
    ).toEqual([401, 200, 200]);
    const { body } = await admin<SupportLogin[]>('GET', `/users/${user.id}/support-logins`);
    expect(body.map(({ id, status }) => [id, status])).toEqual([
      [next.login.id, 'active'],
      [others.login.id, 'active'],
      [former.login.id, 'ended'],
    ]);
  });

  test('events name the operator, also for what the support login did', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const { session, token } = await logInAs(postern, operator, user.id, { write: true });
    await postern.api('PATCH', '/v1/account', { bearer: session.token, body: { name: 'Ada' } });
    await postern.api('DELETE', '/v1/tokens', { basic: token });
    const { body } = await admin<Event[]>('GET', `/users/${user.id}/activity`);
    expect(body.map(({ type, actor }) => [type, actor]).slice(0, 3)).toEqual([
      ['support_login.ended', `user:${operator.user.id}`],
      ['user.changed', `user:${operator.user.id}`],
      ['support_login.started', `user:${operator.user.id}`],
    ]);
    const { session: own } = await signIn(postern, user);
    const activity = await postern.api<{ type: string; by: string; address: string | null }[]>(
      'GET',
      '/v1/account/activity',
      {
        bearer: own.token,
      },
    );
    const started = activity.body.find(({ type }) => type === 'support_login.started');
    expect(started).toMatchObject({ by: 'operator', address: null });
  });

  test('it counts for no limit of devices, and its first session removes no device', async () => {
    const limited = await postern.another({ MAX_DEVICES: '1' });
    try {
      const operator = await signInWithRole(limited, 'operator');
      const user = await createUser(limited);
      const { session } = await signIn(limited, user);
      const { session: acting } = await logInAs(limited, operator, user.id);
      expect((await verify(limited, session.token)).status).toBe(200);
      const { body } = await limited.api<unknown[]>('GET', '/v1/devices', { bearer: acting.token });
      expect(body).toHaveLength(1);
    } finally {
      await limited.close();
    }
  });
});

describe('while a process of a release before support logins runs', () => {
  test('nobody gets a token, because that process would take it for a login of the user’s own', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const id = randomUUID();
    await postern.database.query(
      testSql(
        `insert into instances (id, host, process_id, version, node, streams, flushes, started_at, seen_at)
         values ($1, 'old.example', 1, '0.0.9', 'v24.0.0', 0, 1, db_now(), db_now())`,
        [id],
      ),
    );
    try {
      expect(codeOf(await askForLogin(postern, operator, user.id))).toEqual([409, 'upgrade_in_progress']);
      await postern.database.query(
        testSql(`update instances set seen_at = db_now() - interval '91 seconds' where id = $1`, [id]),
      );
      expect((await askForLogin(postern, operator, user.id)).status).toBe(201);
    } finally {
      await postern.database.query(testSql('delete from instances where id = $1', [id]));
    }
  });
});

test('two operators who try each other both get has_role', async () => {
  const [one, two] = [await signInWithRole(postern, 'operator'), await signInWithRole(postern, 'operator')];
  for (let round = 0; round < raceRounds * 5; round += 1) {
    const answers = await Promise.all([askForLogin(postern, one, two.user.id), askForLogin(other, two, one.user.id)]);
    expect(answers.map(codeOf)).toEqual(Array(2).fill([409, 'has_role']));
  }
});

describe('a support login ends', () => {
  const ends: readonly (readonly [
    string,
    (of: { operatorId: string; userId: string; own: string }) => Promise<unknown>,
  ])[] = [
    [
      'the user logs out everywhere',
      ({ own }) => postern.api('POST', '/v1/account/logout-everywhere', { bearer: own }),
    ],
    ['the user is deactivated', ({ userId }) => admin('PATCH', `/users/${userId}`, { status: 'deactivated' })],
    ['the user is locked', ({ userId }) => admin('POST', `/users/${userId}/lock`, { permanent: true })],
    ['the user gets a role', ({ userId }) => admin('PATCH', `/users/${userId}`, { role: 'support' })],
    ['the user is deleted', ({ userId }) => admin('DELETE', `/users/${userId}`)],
    ['an operator logs the user out', ({ userId }) => admin('POST', `/users/${userId}/logout`)],
    ['the operator loses the role', ({ operatorId }) => admin('PATCH', `/users/${operatorId}`, { role: 'user' })],
    ['the operator becomes support', ({ operatorId }) => admin('PATCH', `/users/${operatorId}`, { role: 'support' })],
    [
      'the operator is deactivated',
      ({ operatorId }) => admin('PATCH', `/users/${operatorId}`, { status: 'deactivated' }),
    ],
    ['the operator is locked', ({ operatorId }) => admin('POST', `/users/${operatorId}/lock`, { permanent: true })],
    ['the operator is logged out', ({ operatorId }) => admin('POST', `/users/${operatorId}/logout`)],
    ['the operator is deleted', ({ operatorId }) => admin('DELETE', `/users/${operatorId}`)],
    [
      'the role is taken away in SQL',
      ({ operatorId }) =>
        postern.database.query(testSql('update users set role_active_since = null where id = $1', [operatorId])),
    ],
  ];

  test.each(ends)('at the next request on every instance, when %s', async (_, end) => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const { session: own } = await signIn(postern, user);
    const { session, token } = await logInAs(postern, operator, user.id);
    for (const app of [postern, other]) expect((await verify(app, session.token)).status).toBe(200);
    await end({ operatorId: operator.user.id, userId: user.id, own: own.token });
    for (const app of [postern, other]) expect((await verify(app, session.token)).status).toBe(401);
    const renewed = await postern.api('POST', '/v1/sessions', { basic: token });
    expect(renewed.status).toBeGreaterThanOrEqual(400);
  });

  test.each(['user', 'operator'] as const)('when the %s is locked again after a lock that has run out', async (who) => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const lockedId = who === 'user' ? user.id : operator.user.id;
    const until = (minutes: number) =>
      postern.database.query(
        testSql("update users set lock_kind = 'temporary', locked_until = db_now() + $2::interval where id = $1", [
          lockedId,
          `${minutes} minutes`,
        ]),
      );
    await until(-1);
    const { login, session, token } = await logInAs(postern, operator, user.id);
    await until(10);
    await until(-1);
    expect((await verify(postern, session.token)).status).toBe(401);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
    const { body } = await admin<SupportLogin[]>('GET', `/users/${user.id}/support-logins`);
    expect(body.map(({ id, status }) => [id, status])).toEqual([[login.id, 'ended']]);
  });

  test('after an unlock it stays ended', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const { session, token } = await logInAs(postern, operator, user.id);
    await admin('POST', `/users/${user.id}/lock`, { permanent: true });
    await admin('POST', `/users/${user.id}/unlock`);
    expect((await verify(postern, session.token)).status).toBe(401);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(401);
  });

  test('after 30 minutes, and its sessions with it', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const { token } = await logInAs(postern, operator, user.id);
    try {
      await stepClock(postern.database, '29 minutes');
      const { body: session } = await postern.api<{ token: string }>('POST', '/v1/sessions', { basic: token });
      expect((await verify(postern, session.token)).status).toBe(200);
      await stepClock(postern.database, '31 minutes');
      expect((await verify(postern, session.token)).status).toBe(401);
    } finally {
      await stepClock(postern.database, '0');
    }
  });

  test('through DELETE by an operator, once more without an error', async () => {
    const [one, two] = [await signInWithRole(postern, 'operator'), await signInWithRole(postern, 'operator')];
    const user = await createUser(postern);
    const { login, session } = await logInAs(postern, one, user.id);
    const path = `/admin/v1/users/${user.id}/support-logins/${login.id}`;
    for (const _ of [1, 2]) expect((await two.call('DELETE', path)).status).toBe(204);
    expect((await verify(postern, session.token)).status).toBe(401);
    expect((await two.call('DELETE', `${path.slice(0, -36)}${randomUUID()}`)).status).toBe(404);
    const { body } = await admin<Event[]>('GET', `/users/${user.id}/activity?filter=type:support_login.ended`);
    expect(body.map(({ actor }) => actor)).toEqual([`user:${two.user.id}`]);
  });

  test('if the operator loses the role while the support login is created', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const operator = await signInWithRole(postern, 'operator');
      const user = await createUser(postern);
      const [asked] = await Promise.all([
        askForLogin(other, operator, user.id),
        admin('PATCH', `/users/${operator.user.id}`, { role: 'user' }),
      ]);
      if (asked.status !== 201) continue;
      expect((await postern.api('POST', '/v1/sessions', { basic: asked.body.token ?? '' })).status).toBe(401);
    }
  });
});

describe('an access token of a support login', () => {
  test('exists only for audiences with support, and says who acts', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const user = await createUser(postern);
    const { session } = await logInAs(postern, operator, user.id);
    const ask = (audience: string) =>
      postern.api<{ access_token: string; errors?: { code: string }[] }>('POST', '/v1/access-tokens', {
        bearer: session.token,
        body: { audience },
      });
    await admin('POST', '/audiences', { uri: 'https://closed.example.com' });
    await admin('POST', '/audiences', { uri: 'https://open.example.com', support: true });
    expect(codeOf(await ask('https://closed.example.com'))).toEqual([403, 'not_for_support_logins']);
    const { status, body } = await ask('https://open.example.com');
    expect(status).toBe(201);
    const keys = createLocalJWKSet((await postern.api<JSONWebKeySet>('GET', '/.well-known/jwks.json')).body);
    const { payload } = await jwtVerify(body.access_token, keys);
    expect(payload).toMatchObject({ sub: user.id, act: { sub: operator.user.id, write: false }, amr: [] });
  });
});
