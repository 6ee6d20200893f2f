import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { createUser, login, newPhone, passwordLogin, smsLogin } from '../support/users.js';

/** If the database's clock is set back by a day, the requests that were counted before still block no longer than usual. */
describe('a step of the database’s clock a day back', () => {
  let postern: TestApp;
  /** Seconds of Unix time. */
  let begun: number;
  beforeEach(async () => {
    begun = Date.now() / 1000;
    postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '6' });
    await setClockAhead('1 day');
  });
  afterEach(() => postern.close());

  /** Sets the database's clock to the time of the start plus an interval. It stands still, so that no limit is refilled meanwhile. */
  const setClockAhead = (interval: string) =>
    postern.database.query(
      testSql(`create or replace function db_now() returns timestamptz language sql volatile
           as $$ select to_timestamp(${begun}) + interval '${interval}' $$`),
    );
  const post = (body: object) => postern.api('POST', '/v1/tokens', { body });
  const retryAfter = ({ headers }: { headers: Readonly<Record<string, string>> }) => Number(headers['retry-after']);
  const forgetAddress = () => postern.database.query(testSql('delete from request_limits'));

  test('blocks logins of an address for at most a minute', async () => {
    const requestLogin = () => post(passwordLogin(`user${crypto.randomUUID()}`, 'wrong'));
    for (let count = 0; count < 6; count += 1) expect((await requestLogin()).status).toBe(201);
    expect((await requestLogin()).status).toBe(429);
    await setClockAhead('0');
    // The first login after the step is accepted. After it, the limit of the address is used up.
    expect((await requestLogin()).status).toBe(201);
    const refused = await requestLogin();
    expect(refused.status).toBe(429);
    expect(retryAfter(refused)).toBeLessThanOrEqual(10);
    await setClockAhead('1 minute');
    const later = [];
    for (let count = 0; count < 7; count += 1) later.push((await requestLogin()).status);
    expect(later).toEqual([201, 201, 201, 201, 201, 201, 429]);
  });

  test('blocks codes of an identity for a minute, and for an hour after five codes', async () => {
    const phone = newPhone();
    const requestLogin = async () => {
      await forgetAddress();
      return post(smsLogin(phone));
    };
    expect((await requestLogin()).status).toBe(201);
    await setClockAhead('0');
    const refused = await requestLogin();
    expect(refused.status).toBe(429);
    expect(retryAfter(refused)).toBeGreaterThan(30);
    expect(retryAfter(refused)).toBeLessThanOrEqual(60);
    for (let minute = 1; minute <= 4; minute += 1) {
      await setClockAhead(`${minute} minutes 1 second`);
      expect((await requestLogin()).status).toBe(201);
    }
    await setClockAhead('-2 days');
    const full = await requestLogin();
    expect(full.status).toBe(429);
    expect(retryAfter(full)).toBeGreaterThan(3000);
    expect(retryAfter(full)).toBeLessThanOrEqual(3600);
    await setClockAhead('-2 days 1 hour');
    expect((await requestLogin()).status).toBe(201);
  });

  test('does not change how long wrong guesses lock an account', async () => {
    const user = await createUser(postern);
    const guess = async (secret?: string) => {
      await forgetAddress();
      return post(passwordLogin(user.username, secret));
    };
    for (let count = 0; count < 5; count += 1) await guess('wrong');
    expect((await guess()).status).toBe(423);
    await setClockAhead('0');
    const locked = await guess();
    expect(locked.status).toBe(423);
    expect(retryAfter(locked)).toBeGreaterThan(10);
    expect(retryAfter(locked)).toBeLessThanOrEqual(30);
    await setClockAhead('31 seconds');
    await forgetAddress();
    expect((await login(postern, user)).body.status).toBe('approved');
  });

  test('counts a guess of a killed process as wrong after 15 seconds', async () => {
    const user = await createUser(postern);
    await postern.database.query(
      testSql(
        `insert into guess_budgets (user_id, bucket, slots, slots_taken_at, updated_at)
           select $1, '00000000-0000-0000-0000-000000000000', array_agg(gen_random_uuid()), array_agg(now), max(now)
           from generate_series(1, 5), (select db_now() as now) clock`,
        [user.id],
      ),
    );
    const take = testSql(
      `select outcome from take_guess($1, '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 5, 100, 30, 3600)`,
      [user.id],
    );
    await setClockAhead('0');
    expect(await postern.database.query(take)).toEqual([{ outcome: 'busy' }]);
    await setClockAhead('16 seconds');
    expect((await login(postern, user)).status).toBe(423);
  });
});
