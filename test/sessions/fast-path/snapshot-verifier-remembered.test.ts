import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { NewSession, Session } from '../../../src/contract/session.js';
import type { User } from '../../../src/contract/user.js';
import { openClient } from '../../../src/database/connections/open-client.js';
import type { Handle } from '../../../src/database/database.js';
import { expiryTasks } from '../../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import type { Statement } from '../../../src/database/sql.js';
import { newToken, parseToken } from '../../../src/lib/crypto/token-strings.js';
import { sessionChangesTask } from '../../../src/sessions/fast-path/session-invalidation.js';
import { createSnapshotVerifier } from '../../../src/sessions/fast-path/snapshot-verifier.js';
import { createSessions } from '../../../src/sessions/sessions.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { stepClock } from '../../support/clock.js';
import { dpopVerifierOf, useWithoutProof } from '../../support/dpop.js';
import { eventually } from '../../support/eventually.js';
import { testPolicies } from '../../support/login-policies.js';
import { queriesOf } from '../../support/queries.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { createUser, login, password, passwordLogin, signIn } from '../../support/users.js';

let one: TestApp;
let other: TestApp;
beforeAll(async () => {
  one = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '100000' });
  other = await one.another();
});
afterAll(async () => {
  await other.close();
  await one.close();
});

const statusOn = async (on: TestApp, token: string) =>
  (await on.api('POST', '/v1/sessions/verify', { bearer: token })).status;
/** The statuses of both instances, twice each: the second time from their caches. */
async function statuses(token: string): Promise<number[]> {
  const first = await Promise.all([one, other].map((on) => statusOn(on, token)));
  const second = await Promise.all([one, other].map((on) => statusOn(on, token)));
  return [...new Set([...first, ...second])];
}

const run = (text: string, values: readonly unknown[] = []) => one.database.query(testSql(text, values));

interface SignedIn {
  readonly user: User;
  readonly token: string;
  readonly session: NewSession;
}

async function signInNewUser(): Promise<SignedIn> {
  const user = await createUser(one);
  return { user, ...(await signIn(one, user)) };
}

const admin = (method: string, path: string, body?: object) =>
  one.api(method, path, { bearer: one.adminKey, ...(body && { body }) });

describe('a session in the cache of both instances is refused by their next response', () => {
  const ends: Record<string, (signed: SignedIn) => Promise<{ status: number }>> = {
    'after its token is deleted': ({ token }) => one.api('DELETE', '/v1/tokens', { basic: token }),
    'after its user is locked': ({ user }) => admin('POST', `/admin/v1/users/${user.id}/lock`, { permanent: true }),
    'after its user is deactivated': ({ user }) =>
      admin('PATCH', `/admin/v1/users/${user.id}`, { status: 'deactivated' }),
    'after its user is logged out everywhere': ({ user }) => admin('POST', `/admin/v1/users/${user.id}/logout`),
    'after its user is deleted': ({ user }) => admin('DELETE', `/admin/v1/users/${user.id}`),
    'after an operator changes its password': ({ user }) =>
      admin('PATCH', `/admin/v1/users/${user.id}`, { password: `${password} and more` }),
    'after a later login of its device is used': async ({ user, session }) => {
      const { body } = await login(one, user, { id: session.device_id });
      return one.api('POST', '/v1/sessions', { basic: body.token ?? '' });
    },
  };
  test.each(Object.entries(ends))('%s', async (_, end) => {
    for (let round = 0; round < raceRounds; round += 1) {
      const signed = await signInNewUser();
      expect(await statuses(signed.session.token)).toEqual([200]);
      expect((await end(signed)).status).toBeLessThan(300);
      expect(await statuses(signed.session.token)).toEqual([401]);
    }
  });
});

describe('a change by SQL to a row that a session depends on', () => {
  const changes = [
    [`update users set status = 'deactivated' where id = $1`, `update users set status = 'active' where id = $1`],
    ['update users set epoch = epoch + 1 where id = $1', 'update users set epoch = epoch - 1 where id = $1'],
    [
      `update users set lock_kind = 'temporary', locked_until = db_now() + interval '1 day' where id = $1`,
      `update users set locked_until = db_now() where id = $1`,
    ],
    [
      `update authentications set ended_at = db_now() where user_id = $1`,
      'update authentications set ended_at = null where user_id = $1',
    ],
    [
      `update authentications set status = 'rejected' where user_id = $1`,
      `update authentications set status = 'approved' where user_id = $1`,
    ],
    [
      'update authentications set epoch = epoch - 1 where user_id = $1',
      'update authentications set epoch = epoch + 1 where user_id = $1',
    ],
    [
      `update sessions set expires_at = expires_at - interval '1 year' where user_id = $1`,
      `update sessions set expires_at = expires_at + interval '1 year' where user_id = $1`,
    ],
    [
      `update sessions set token_digest = sha256(token_digest) where user_id = $1`,
      `update sessions set token_digest = (select token_digest from kept_sessions k where k.id = sessions.id) where user_id = $1`,
    ],
    ['delete from sessions where user_id = $1', 'insert into sessions select * from kept_sessions where user_id = $1'],
    [
      'delete from authentications where user_id = $1',
      'insert into authentications select * from kept_authentications where user_id = $1',
    ],
    ['delete from users where id = $1', 'insert into users select * from kept_users where id = $1'],
  ] as const;

  test.each(changes)('takes effect at once, and so does its reversal: %s', async (there, back) => {
    const { user, session } = await signInNewUser();
    expect(await statuses(session.token)).toEqual([200]);
    for (const table of ['users', 'authentications', 'sessions']) {
      await run(`drop table if exists kept_${table}`);
      await run(`create table kept_${table} as select * from ${table}`);
    }
    await run(there, [user.id]);
    expect(await statuses(session.token)).toEqual([401]);
    await run(back, [user.id]);
    expect(await statuses(session.token)).toEqual([200]);
  });
});

test('a change takes effect at once even if its transaction began before others and commits after them', async () => {
  const client = await openClient(one.databaseEnv.DATABASE_URL, {
    application_name: 'test',
    connectionTimeoutMillis: 10_000,
  });
  try {
    for (let round = 0; round < raceRounds; round += 1) {
      const [slow, quick] = [await signInNewUser(), await signInNewUser()];
      await client.query('begin');
      await client.query('update authentications set ended_at = db_now() where user_id = $1', [slow.user.id]);
      for (const { session } of [slow, quick]) expect(await statuses(session.token)).toEqual([200]);
      await run('update authentications set ended_at = db_now() where user_id = $1', [quick.user.id]);
      expect(await statuses(quick.session.token)).toEqual([401]);
      expect(await statuses(slow.session.token)).toEqual([200]);
      await client.query('commit');
      expect(await statuses(slow.session.token)).toEqual([401]);
    }
  } finally {
    await client.end();
  }
});

test('checks during a logout never return 200 again after a 401', async () => {
  for (let round = 0; round < raceRounds; round += 1) {
    const { token, session } = await signInNewUser();
    let ended = false;
    const ask = async (on: TestApp) => {
      const answers: number[] = [];
      // The loop sends five more checks after the logout.
      for (let more = 5; more > 0; more -= ended ? 1 : 0) answers.push(await statusOn(on, session.token));
      return answers;
    };
    const asked = [one, other, one, other].map(ask);
    await one.api('DELETE', '/v1/tokens', { basic: token });
    ended = true;
    for (const answers of await Promise.all(asked)) {
      expect(answers.at(-1)).toBe(401);
      expect(answers.slice(answers.indexOf(401))).not.toContain(200);
    }
  }
});

/** A verifier whose query results a test can hold back. */
function createHeldVerifier() {
  const held: (() => void)[] = [];
  let holding = false;
  const database: Handle = {
    ...one.database,
    async query(statement) {
      const wait = holding;
      const rows = await one.database.query(statement);
      if (wait) await new Promise<void>((resolve) => held.push(resolve));
      return rows;
    },
  };
  const { verify } = createSnapshotVerifier(database);
  return {
    verify: (token: string) => verify(token).then(({ id }) => id),
    /** Begins a check and holds its query result back until the returned function is called. */
    async hold(token: string): Promise<() => Promise<string>> {
      holding = true;
      const answer = verify(token).then(({ id }) => id);
      answer.catch(() => undefined);
      await eventually('the query result', async () => (held.length > 0 ? true : undefined));
      holding = false;
      return () => {
        held.shift()?.();
        return answer;
      };
    },
  };
}

describe('a query result that arrives after a later one', () => {
  const refused = expect.objectContaining({ code: 'invalid_session_token' });

  test('is not cached if the later one reported a change', async () => {
    const { verify, hold } = createHeldVerifier();
    const [{ user, session }, bystander] = [await signInNewUser(), await signInNewUser()];
    await verify(bystander.session.token);
    const release = await hold(session.token);
    await run('update users set epoch = epoch + 1 where id = $1', [user.id]);
    expect(await verify(bystander.session.token)).toBe(bystander.session.id);
    // The check began before the change.
    expect(await release()).toBe(session.id);
    await expect(verify(session.token)).rejects.toEqual(refused);
  });

  test('is not answered from the cache if the later one reported a change', async () => {
    const { verify, hold } = createHeldVerifier();
    const [{ user, session }, bystander] = [await signInNewUser(), await signInNewUser()];
    for (const known of [bystander, { session }, bystander, { session }]) await verify(known.session.token);
    const release = await hold(session.token);
    await run('update users set epoch = epoch + 1 where id = $1', [user.id]);
    expect(await verify(bystander.session.token)).toBe(bystander.session.id);
    await expect(release()).rejects.toEqual(refused);
    await expect(verify(session.token)).rejects.toEqual(refused);
  });

  test('is not answered from the cache if a change was reported before its query was sent', async () => {
    const { verify, hold } = createHeldVerifier();
    const [{ user, session }, bystander] = [await signInNewUser(), await signInNewUser()];
    for (const known of [bystander, { session }, bystander, { session }]) await verify(known.session.token);
    await run('update users set epoch = epoch + 1 where id = $1', [user.id]);
    const release = await hold(bystander.session.token);
    const asked = verify(session.token);
    expect(await release()).toBe(bystander.session.id);
    await expect(asked).rejects.toEqual(refused);
  });
});

describe('the session cache', () => {
  test('saves the look-up: a check of a cached session reads only changes, in one round trip', async () => {
    const { session } = await signInNewUser();
    const { verify } = createSnapshotVerifier(one.database);
    const namesOf = async () => (await queriesOf(() => verify(session.token))).map(({ name }) => name);
    // The first query has no earlier snapshot.
    expect([await namesOf(), await namesOf(), await namesOf()]).toEqual([
      ['session_verify_many'],
      ['session_verify_many'],
      ['session_changes'],
    ]);
    await run('update sessions set expires_at = expires_at where user_id = $1', [session.user_id]);
    expect(await namesOf()).toEqual(['session_changes', 'session_verify_many']);
    expect(await namesOf()).toEqual(['session_changes']);
  });

  test('is used for the exact token only', async () => {
    const { session } = await signInNewUser();
    expect(await statuses(session.token)).toEqual([200]);
    for (let count = 0; count < 10; count += 1) {
      expect(await statuses(newToken('session', [session.user_id, session.id]).token)).toEqual([401]);
    }
    expect(await statuses(session.token)).toEqual([200]);
  });

  test('does not return a session that has ended by the clock of the database', async () => {
    const { token } = await signInNewUser();
    const { create } = createSessions(one.database, {
      ...{ lifetime: 60_000, batching: true, counters: createCounters() },
      dpopVerifier: dpopVerifierOf(one.database),
      report: async () => undefined,
      policies: testPolicies,
      deviceLimit: { removeOldest: async () => undefined },
    });
    const { verify } = createSnapshotVerifier(one.database);
    const parsed = parseToken('authentication', token);
    if (parsed === undefined) throw new Error('no token');
    const { session } = await create(parsed, useWithoutProof);
    for (let count = 0; count < 3; count += 1) await verify(session.token);
    onTestFinished(() => stepClock(one.database, '0'));
    // It has not ended by the clock of this process.
    await stepClock(one.database, '61 seconds');
    await expect(verify(session.token)).rejects.toThrow('invalid_session_token');
  });

  test('is not used if records of changes may be missing', async () => {
    const { user, session } = await signInNewUser();
    expect(await statuses(session.token)).toEqual([200]);
    await run('update users set epoch = epoch + 1 where id = $1', [user.id]);
    // A running transaction of another test's database may delay the deletion for a moment.
    await eventually('the records of changes to be deleted', async () => {
      await runMaintenanceOnce(one.database, [sessionChangesTask]);
      return (await run('select from session_changes where user_id = $1', [user.id])).length === 0 ? true : undefined;
    });
    expect(await statuses(session.token)).toEqual([401]);
  });

  test('is cleared when another server answers, or the same one after a restart', async () => {
    const { user, session } = await signInNewUser();
    let server = 'one';
    const database: Handle = {
      ...one.database,
      async query<Row extends object>(statement: Statement<Row>) {
        const rows = await one.database.query(statement);
        return rows.map((row) => {
          if (!('changes' in row) || !Array.isArray(row.changes)) return row;
          const [now, snapshot, , ...more] = row.changes;
          return { ...row, changes: [now, snapshot, server, ...more] };
        });
      },
    };
    const { verify } = createSnapshotVerifier(database);
    for (let count = 0; count < 3; count += 1) await verify(session.token);
    await run('update users set epoch = epoch + 1 where id = $1', [user.id]);
    await run('delete from session_changes where user_id = $1', [user.id]);
    // No row reports the change, as on a server that was restored from a copy. Only its start time differs.
    expect((await verify(session.token)).id).toBe(session.id);
    server = 'other';
    await expect(verify(session.token)).rejects.toThrow('invalid_session_token');
  });

  test('is correct on tables copied from a server with higher transaction numbers, and is used again after two maintenance runs', async () => {
    const { user, session } = await signInNewUser();
    await run(`insert into session_changes (user_id, xid) values ($1, '99999999999')`, [randomUUID()]);
    await run(`update session_changes_floor set floor = '99999999999', next_floor = '99999999999'`);
    expect(await statuses(session.token)).toEqual([200]);
    await run('update users set epoch = epoch + 1 where id = $1', [user.id]);
    expect(await statuses(session.token)).toEqual([401]);
    for (let rest = 0; rest < 2; rest += 1) await runMaintenanceOnce(one.database, [sessionChangesTask]);
    expect(await run(`select from session_changes where xid >= '99999999999'`)).toEqual([]);
    const next = await signInNewUser();
    expect(await statuses(next.session.token)).toEqual([200]);
    const queries = await queriesOf(() => statusOn(one, next.session.token));
    expect(queries.map(({ name }) => name)).toEqual(['session_changes']);
  });
});

describe('rows of session_changes', () => {
  const changeRows = () => run('select xid::text, user_id from session_changes');

  test('are not written by logins, new sessions, checks and expiry', async () => {
    const { user, token } = await signInNewUser();
    await runMaintenanceOnce(one.database, [sessionChangesTask]);
    const before = await changeRows();
    await one.api('POST', '/v1/tokens', { body: passwordLogin(user.username) });
    await one.api('POST', '/v1/tokens', { body: passwordLogin(user.username, 'wrong') });
    const { body } = await one.api<Session>('POST', '/v1/sessions', { basic: token });
    await run(`insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
      select user_id, gen_random_uuid(), authentication_id, device_id, token_digest, created_at, db_now() - interval '2 days'
      from sessions where id = '${body.id}'`);
    expect(await runMaintenanceOnce(one.database, expiryTasks(60_000))).toBeGreaterThan(0);
    // The service's own maintenance task may have deleted some meanwhile.
    expect(before).toEqual(expect.arrayContaining(await changeRows()));
  });

  test('are one for each user and transaction, however many rows change', async () => {
    const { user, token } = await signInNewUser();
    for (let count = 0; count < 5; count += 1) await one.api('POST', '/v1/sessions', { basic: token });
    await run(
      `with s as (update sessions set expires_at = db_now() where user_id = $1),
            a as (update authentications set ended_at = db_now() where user_id = $1)
       update users set epoch = epoch + 1 where id = $1`,
      [user.id],
    );
    expect(await run('select from session_changes where user_id = $1', [user.id])).toHaveLength(1);
  });
});
