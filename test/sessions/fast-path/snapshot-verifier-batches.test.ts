import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Authentication } from '../../../src/contract/authentication.js';
import type { NewSession } from '../../../src/contract/session.js';
import type { User } from '../../../src/contract/user.js';
import { openClient } from '../../../src/database/connections/open-client.js';
import { newToken } from '../../../src/lib/crypto/token-strings.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { queriesOf } from '../../support/queries.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import {
  codeOf,
  createUser,
  login,
  newPhone,
  passwordLogin,
  signIn,
  smsLogin,
  wrongCode,
} from '../../support/users.js';

let one: TestApp;
let other: TestApp;
let unbatched: TestApp;
beforeAll(async () => {
  // A query that hangs must not be cancelled before the test has looked at the others, and the load may delay all of them.
  one = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '100000' }, { queryTimeout: 60_000 });
  other = await one.another();
  unbatched = await one.another({ DATABASE_BATCHING: 'false' });
});
afterAll(async () => {
  for (const { close } of [unbatched, other, one]) await close();
});

const verify = (on: TestApp, token: string) => on.api('POST', '/v1/sessions/verify', { bearer: token });
const newSession = async (token: string) => (await one.api<NewSession>('POST', '/v1/sessions', { basic: token })).body;

/** The part of a response that identifies its session or its problem. */
const outcomeOf = ({ status, body }: Awaited<ReturnType<typeof verify>>) =>
  status === 200 ? { status, id: body.id, user_id: body.user_id } : { status };

interface Case {
  readonly token: string;
  readonly answer: ReturnType<typeof outcomeOf>;
}

/** Sessions in every state, with the expected outcome of each. */
async function createCases(): Promise<Case[]> {
  const list: Case[] = [];
  const addRefused = (token: string) => list.push({ token, answer: { status: 401 } });
  for (let count = 0; count < 4; count += 1) {
    const { token, session } = await signIn(one, await createUser(one));
    for (const live of [session, await newSession(token)]) {
      list.push({ token: live.token, answer: { status: 200, id: live.id, user_id: live.user_id } });
    }
    const expired = await newSession(token);
    await one.database.query(testSql('update sessions set expires_at = db_now() where id = $1', [expired.id]));
    addRefused(expired.token);
    const ended = await signIn(one, await createUser(one));
    await one.api('DELETE', '/v1/tokens', { basic: ended.token });
    addRefused(ended.session.token);
    // The right user and session, but another token.
    addRefused(newToken('session', [session.user_id, session.id]).token);
    addRefused(newToken('session', [ended.session.user_id, session.id]).token);
    addRefused(newToken('session', [randomUUID(), randomUUID()]).token);
    addRefused(token);
    addRefused(`${session.token.slice(0, -1)}!`);
  }
  return list;
}

describe('parallel session checks', () => {
  test('get one result each: valid, expired, ended, forged, foreign and malformed tokens together', async () => {
    const cases = (await createCases()).flatMap((each) => Array<Case>(10).fill(each));
    for (const on of [one, unbatched]) {
      const answers = await Promise.all(cases.map(({ token }) => verify(on, token)));
      expect(answers.map(outcomeOf)).toEqual(cases.map(({ answer }) => answer));
    }
  });

  test('never accept a login that ended before they began on two instances under load', async () => {
    const crowd = (await createCases()).slice(0, 8).map(({ token }) => token);
    let running = true;
    const load = [one, other].flatMap((on) =>
      crowd.map(async (token) => {
        while (running) await verify(on, token);
      }),
    );
    try {
      for (let round = 0; round < raceRounds; round += 1) {
        const { token, session } = await signIn(one, await createUser(one));
        const before = await Promise.all([one, other].map((on) => verify(on, session.token)));
        expect(before.map(({ status }) => status)).toEqual([200, 200]);
        expect((await one.api('DELETE', '/v1/tokens', { basic: token })).status).toBe(200);
        const after = await Promise.all([one, other, one, other].map((on) => verify(on, session.token)));
        expect(after.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
      }
    } finally {
      running = false;
      await Promise.all(load);
    }
  });

  test('are right or 503 when their connection is killed, and right again at once', async () => {
    const { session } = await signIn(one, await createUser(one));
    const dead = newToken('session', [session.user_id, session.id]).token;
    for (let round = 0; round < raceRounds; round += 1) {
      const checked = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? session.token : dead));
      const answers = checked.map((token) => verify(one, token));
      await one.database.query(
        testSql(`select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and application_name ~ '^postern( map|$)' and pid <> pg_backend_pid()`),
      );
      for (const [index, { status }] of (await Promise.all(answers)).entries()) {
        expect([index % 2 === 0 ? 200 : 401, 503]).toContain(status);
      }
      // The pool may still hold dead connections, which fail one after the other.
      const answerTo = (token: string) =>
        eventually('the storage', async () => {
          const { status } = await verify(one, token);
          return status === 503 ? undefined : status;
        });
      expect([await answerTo(session.token), await answerTo(dead)]).toEqual([200, 401]);
    }
  });

  test('continue while one query hangs, and the hanging one finishes later', async () => {
    const user = await createUser(one);
    const { session } = await signIn(one, user);
    const client = await openClient(one.databaseEnv.DATABASE_URL, {
      application_name: 'test',
      connectionTimeoutMillis: 10_000,
    });
    try {
      await client.query('select pg_advisory_lock(1)');
      // The first check that reads the clock waits for the advisory lock. The locked row lets all others pass. Work in the
      // background of the service reads the clock, too.
      await client.query(`
        create table first_reader (taken boolean);
        insert into first_reader values (false);
        create or replace function db_now() returns timestamptz language plpgsql as $$ begin
          if current_query() like '%session%' then
            perform from first_reader for update skip locked;
            if found then perform pg_advisory_xact_lock_shared(1); end if;
          end if;
          return clock_timestamp();
        end $$;`);
      const hanging = verify(one, session.token);
      await eventually('a query to hang', async () => {
        // Locks of this database only: other test files use the same server.
        const { rowCount } = await client.query(`select from pg_locks join pg_database on pg_database.oid = database
          where datname = current_database() and locktype = 'advisory' and not granted`);
        return rowCount === 1 ? true : undefined;
      });
      const others = await Promise.all(Array.from({ length: 40 }, () => verify(one, session.token)));
      expect(others.map(({ status }) => status)).toEqual(Array(40).fill(200));
      expect(await Promise.race([hanging.then(() => 'answered'), verify(one, session.token).then(() => 'hangs')])).toBe(
        'hangs',
      );
      await client.query('select pg_advisory_unlock(1)');
      expect((await hanging).status).toBe(200);
    } finally {
      await client.query(`create or replace function db_now() returns timestamptz language sql volatile
        as $$ select clock_timestamp() $$`);
      await client.end();
    }
  });
});

describe('round trips to the database', () => {
  /** Names of prepared statements. */
  const namesOf = async (work: () => Promise<unknown>) => (await queriesOf(work)).map(({ name }) => name);
  const verifySession = (on: TestApp, token: string) => on.services.verifiers.verifySession(token);

  test('are one for all session checks of a turn of the event loop, and one for each check without batching', async () => {
    const { session, token } = await signIn(one, await createUser(one));
    const tokens = [session.token, session.token, (await newSession(token)).token];
    const together = (on: TestApp) => queriesOf(() => Promise.all(tokens.map((text) => verifySession(on, text))));
    expect((await together(one)).map(({ name }) => name)).toEqual(['session_verify_many']);
    expect((await together(one)).map(({ name }) => name)).toEqual(['session_changes']);
    expect((await together(unbatched)).map(({ name }) => name)).toEqual(Array(3).fill('session_verify'));
  });

  test('are none for malformed tokens', async () => {
    const { session, token } = await signIn(one, await createUser(one));
    const wrongSum = session.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const junk of [wrongSum, token, 'x', `${session.token}A`, session.token.toLowerCase()]) {
      const queries = await queriesOf(async () => expect((await verify(one, junk)).status).toBe(401));
      expect(queries).toEqual([]);
    }
  });

  test('are one for a new session, at the first use of its token and later', async () => {
    const { body } = await login(one, await createUser(one));
    for (let use = 1; use <= 2; use += 1) {
      const queries = await queriesOf(() => newSession(body.token ?? ''));
      expect(queries.map(({ name }) => name)).toEqual(['session_create']);
    }
  });

  test('are three for a login, and five for a failed one, for known and unknown identities', async () => {
    const user = await createUser(one);
    const loginOf = (who: Pick<User, 'username'>, secret?: string) =>
      namesOf(() => one.api('POST', '/v1/tokens', { body: passwordLogin(who.username, secret) }));
    expect(await loginOf(user)).toHaveLength(3);
    const failed = await loginOf(user, 'not the secret');
    expect(failed).toHaveLength(5);
    expect(await loginOf({ username: `nobody${randomUUID()}` })).toEqual(failed);
  });

  test('are two for a page (the check and the page), and one for a notification', async () => {
    const user = await createUser(one);
    const { session } = await signIn(one, user);
    const body = { user_id: user.id, notification_type: 'payment', description: 'A payment' };
    const publish = () => one.api('POST', '/admin/v1/notifications', { bearer: one.adminKey, body });
    expect(await namesOf(publish)).toEqual(['notifications_publish_one']);
    const page = await namesOf(() => one.api('GET', '/v1/notifications', { bearer: session.token }));
    expect(page).toEqual(['session_verify_many', expect.any(String)]);
  });

  test('are six for a second step, and seven for a failed one, for known and unknown identities', async () => {
    const [user, other] = await Promise.all([0, 1].map(() => createUser(one, { phone: newPhone() })));
    const step2 = async (phone: string | null, secretOf: (id: string) => Promise<string>) => {
      const { body } = await one.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) });
      const answer = { secret: await secretOf(body.id), pin: '1234' };
      return namesOf(() => one.api('POST', `/v1/tokens/${body.id}/secret`, { body: answer }));
    };
    const wrong = await step2(user?.phone ?? null, async (id) => wrongCode(await codeOf(one, id)));
    expect(wrong).toHaveLength(7);
    expect(await step2(newPhone(), async () => '123456')).toEqual(wrong);
    expect(await step2(other?.phone ?? null, (id) => codeOf(one, id))).toHaveLength(6);
  });
});
