import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { User } from '../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { raceRounds } from '../support/rounds.js';
import { testSql } from '../support/sql.js';
import {
  codeOf,
  createUser,
  newPhone,
  password,
  passwordLogin,
  signIn,
  smsLogin,
  wrongCode,
} from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  // Requests of one user wait for each other, on a busy machine for a long time.
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0' }, { queryTimeout: 60_000 });
});
afterAll(() => postern.close());
beforeEach(() => postern.database.query(testSql('delete from message_limits')));

type LoginBody = Authentication & Pick<ProblemAnswer, 'errors'>;
const attempt = (username: string | null, secret: string, device: object = {}, app = postern) =>
  app.api<LoginBody>('POST', '/v1/tokens', { body: passwordLogin(username, secret, device) });
const outcome = ({ status, body }: { status: number; body: LoginBody }) => (status === 201 ? body.status : status);
const guessWrong = async (username: string | null, times: number, device: object = {}) => {
  const outcomes = [];
  for (let time = 0; time < times; time += 1) outcomes.push(outcome(await attempt(username, 'wrong', device)));
  return outcomes;
};
/** Ends a lock, as if its time had passed. */
const endLock = () =>
  postern.database.query(testSql('update guess_budgets set locked_until = db_now() where locked_until is not null'));
const countFailures = async (user: User) => {
  const rows = await postern.database.query<{ total: number }>(
    testSql('select coalesce(sum(total_failures), 0)::int as total from guess_budgets where user_id = $1', [user.id]),
  );
  return rows[0]?.total;
};

describe('wrong secrets in a row', () => {
  test('lock the account for 30 s, doubled with each further lock up to an hour, and report the exact seconds', async () => {
    const user = await createUser(postern);
    for (const expected of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      expect(await guessWrong(user.username, 5)).toEqual(Array(5).fill('rejected'));
      const refused = await attempt(user.username, password);
      expect(refused.status).toBe(423);
      expect(refused.body.errors[0]?.code).toBe('account_temporarily_locked');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(expected - 15);
      expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(expected);
      await endLock();
    }
  });

  test('are not counted while the account is locked, and the correct secret is refused too', async () => {
    const user = await createUser(postern);
    await guessWrong(user.username, 5);
    expect(await guessWrong(user.username, 10)).toEqual(Array(10).fill(423));
    expect(await countFailures(user)).toBe(5);
    await endLock();
    expect(outcome(await attempt(user.username, password))).toBe('approved');
  });

  test('are reset by a correct one', async () => {
    const user = await createUser(postern);
    for (let round = 0; round < 3; round += 1) {
      await guessWrong(user.username, 4);
      expect(outcome(await attempt(user.username, password))).toBe('approved');
    }
    await guessWrong(user.username, 5);
    await endLock();
    await attempt(user.username, password);
    await guessWrong(user.username, 5);
    const again = await attempt(user.username, password);
    expect(Number(again.headers['retry-after'])).toBeLessThanOrEqual(30);
  });

  test('lock the account permanently after a hundred, until an operator unlocks it', async () => {
    const user = await createUser(postern);
    await guessWrong(user.username, 5);
    // The account is now as it is after 17 locks.
    await postern.database.query(
      testSql('update guess_budgets set total_failures = 85, locked_until = db_now() where user_id = $1', [user.id]),
    );
    await guessWrong(user.username, 5);
    await endLock();
    await guessWrong(user.username, 5);
    expect([await countFailures(user), (await attempt(user.username, password)).status]).toEqual([95, 423]);
    await endLock();
    await guessWrong(user.username, 5);
    const refused = await attempt(user.username, password);
    expect(refused.status).toBe(403);
    expect(refused.body.errors[0]?.code).toBe('account_locked');
    await postern.api('POST', `/admin/v1/users/${user.id}/unlock`, { bearer: postern.adminKey });
    expect(outcome(await attempt(user.username, password))).toBe('approved');
  });

  test('lock an unknown identity in the same way', async () => {
    const [known, unknown] = [(await createUser(postern)).username, `nobody${randomUUID().slice(0, 8)}`];
    for (let lock = 0; lock < 3; lock += 1) {
      // In parallel, so that both are locked at about the same time. Locks differ by at least 30 s in their length.
      const [ofUnknown, ofKnown] = await Promise.all([guessWrong(unknown, 5), guessWrong(known, 5)]);
      expect(ofUnknown).toEqual(ofKnown);
      const [one, other] = [await attempt(known, 'x'), await attempt(unknown, 'x')];
      expect(other.status).toBe(one.status);
      expect(other.body.errors).toEqual(one.body.errors);
      expect(Math.abs(Number(other.headers['retry-after']) - Number(one.headers['retry-after']))).toBeLessThan(20);
      await endLock();
    }
  });

  test('never end or block existing sessions', async () => {
    const user = await createUser(postern);
    const { token, session } = await signIn(postern, user);
    await guessWrong(user.username, 5);
    expect((await attempt(user.username, password)).status).toBe(423);
    expect((await postern.api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
    expect((await postern.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  });

  test('record an event when they lock', async () => {
    const user = await createUser(postern);
    await guessWrong(user.username, 5);
    const { body } = await postern.api<{ type: string }[]>('GET', `/admin/v1/users/${user.id}/activity`, {
      bearer: postern.adminKey,
    });
    expect(body.filter(({ type }) => type === 'account.locked_by_guesses')).toHaveLength(1);
  });
});

describe('one budget', () => {
  test('is shared by all identities, authenticators, steps and the PIN of an account', async () => {
    const phone = newPhone();
    const user = await createUser(postern, { phone, email: `${phone.slice(1)}@example.com`, pin: '2468' });
    const sms = (await postern.api<Authentication>('POST', '/v1/tokens', { body: smsLogin(phone) })).body;
    const code = await codeOf(postern, sms.id);
    await attempt(user.username, 'wrong');
    const byMail = { ...passwordLogin(null, 'wrong'), identity: { type: 'email', value: user.email } };
    await postern.api('POST', '/v1/tokens', { body: byMail });
    await postern.api('POST', '/v1/tokens', { body: { ...passwordLogin(user.username), pin: '1357' } });
    const answer = (secret: string, pin: string) =>
      postern.api('POST', `/v1/tokens/${sms.id}/secret`, { body: { secret, pin } });
    expect((await answer(wrongCode(code), '2468')).status).toBe(400);
    expect((await answer(code, '1357')).status).toBe(400);
    expect((await answer(code, '2468')).status).toBe(423);
    expect((await attempt(user.username, password)).status).toBe(423);
  });

  test('of a known device is separate from that of all other devices', async () => {
    const user = await createUser(postern);
    const device = { id: randomUUID() };
    await signIn(postern, user, device);
    await guessWrong(user.username, 5, { id: randomUUID() });
    expect((await attempt(user.username, password, { id: randomUUID() })).status).toBe(423);
    expect(outcome(await attempt(user.username, password, device))).toBe('approved');
    expect((await attempt(user.username, password)).status).toBe(423);
    await endLock();
    await guessWrong(user.username, 5, device);
    expect((await attempt(user.username, password, device)).status).toBe(423);
    expect(outcome(await attempt(user.username, password, { id: randomUUID() }))).toBe('approved');
  });
});

describe(`in parallel, over ${raceRounds} rounds,`, () => {
  const rounds = Array.from({ length: raceRounds }, (_, round) => round);

  test('of thirty wrong secrets five are evaluated', async () => {
    for (const _ of rounds) {
      const user = await createUser(postern);
      const answers = await Promise.all(Array.from({ length: 30 }, () => attempt(user.username, 'wrong')));
      const outcomes = answers.map(outcome);
      expect(outcomes.filter((one) => one === 'rejected')).toHaveLength(5);
      expect(outcomes.filter((one) => one === 423)).toHaveLength(25);
      expect(await countFailures(user)).toBe(5);
    }
  });

  test('twenty correct secrets all succeed and cause no lock', async () => {
    const user = await createUser(postern);
    for (const _ of rounds) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => attempt(user.username, password)));
      expect(answers.map(outcome)).toEqual(Array(20).fill('approved'));
      expect(await countFailures(user)).toBe(0);
    }
  });

  test('twenty-nine wrong secrets and a correct one have the result of some serial order', async () => {
    for (const _ of rounds) {
      const user = await createUser(postern);
      const secrets = Array.from({ length: 30 }, (_, index) => (index === 15 ? password : 'wrong'));
      const outcomes = (await Promise.all(secrets.map((secret) => attempt(user.username, secret)))).map(outcome);
      const approved = outcomes[15] === 'approved';
      const evaluated = outcomes.filter((one) => one === 'rejected').length;
      expect(['approved', 423]).toContain(outcomes[15]);
      // At most four wrong secrets before the correct one and five after it; without it exactly five.
      expect(evaluated).toBeGreaterThanOrEqual(5);
      expect(evaluated).toBeLessThanOrEqual(approved ? 9 : 5);
      expect((await attempt(user.username, password)).status).toBe(423);
    }
  });
});

describe('two instances on one database', () => {
  test('share the budget', async () => {
    const other = await postern.another();
    try {
      const user = await createUser(postern);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          attempt(user.username, 'wrong', {}, index % 2 === 0 ? postern : other),
        ),
      );
      expect(answers.map(outcome).filter((one) => one === 'rejected')).toHaveLength(5);
      const friend = await createUser(postern);
      const logins = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          attempt(friend.username, password, {}, index % 2 === 0 ? postern : other),
        ),
      );
      expect(logins.map(outcome)).toEqual(Array(20).fill('approved'));
    } finally {
      await other.close();
    }
  });
});

/** The bucket of all unknown devices. */
const nil = '00000000-0000-0000-0000-000000000000';

describe('a guess of a killed process', () => {
  test('counts as wrong after fifteen seconds', async () => {
    const user = await createUser(postern);
    await postern.database.query(
      testSql(
        `insert into guess_budgets (user_id, bucket, slots, slots_taken_at, updated_at)
           select $1, $2, array_agg(gen_random_uuid()), array_agg(db_now() - interval '15 seconds'), db_now()
           from generate_series(1, 5)`,
        [user.id, nil],
      ),
    );
    expect((await attempt(user.username, password)).status).toBe(423);
    expect(await countFailures(user)).toBe(5);
  });
});

describe('limits and locks of any size', () => {
  test.each([
    ['1', '3650d', '3650d', 3650 * 86_400],
    ['1', '1s', '1s', 1],
    ['1', '3649d', '3650d', 3650 * 86_400],
  ])('lock an account: GUESS_LIMIT=%s, GUESS_LOCK=%s, GUESS_LOCK_MAX=%s', async (limit, lock, longest, seconds) => {
    const other = await startTestApp({
      GUESS_LIMIT: limit,
      GUESS_LOCK: lock,
      GUESS_LOCK_MAX: longest,
      GUESS_LIMIT_PERMANENT: '0',
    });
    try {
      const user = await createUser(other);
      for (let count = 0; count < 3; count += 1) {
        expect(outcome(await attempt(user.username, 'wrong', {}, other))).toBe('rejected');
        const refused = await attempt(user.username, password, {}, other);
        if (seconds > 1) expect(refused.status).toBe(423);
        await other.database.query(testSql('update guess_budgets set locked_until = db_now()'));
        if (count === 2 && seconds > 1) expect(Number(refused.headers['retry-after'])).toBeGreaterThan(seconds - 60);
      }
    } finally {
      await other.close();
    }
  });
});

/** The functions of the database, for two guesses at a user's account. */
function guessesAt(user: User, { permanentLimit = 100 } = {}) {
  const limits = `5, ${permanentLimit}, 30, 3600`;
  return {
    slots: [randomUUID(), randomUUID()] as const,
    take: (slot: string) => testSql(`select outcome from take_guess('${user.id}', '${nil}', '${slot}', ${limits})`),
    settle: (slot: string, result: string) =>
      testSql(`select settle_guess('${user.id}', '${nil}', '${slot}', '${result}', ${limits})`),
  };
}

describe('a correct guess in parallel with another one', () => {
  test('does not drop the other one: a wrong one still counts', async () => {
    const user = await createUser(postern);
    const { slots, take, settle } = guessesAt(user);
    for (const slot of slots) expect(await postern.database.query(take(slot))).toEqual([{ outcome: 'taken' }]);
    await postern.database.query(settle(slots[0], 'right'));
    await postern.database.query(settle(slots[1], 'wrong'));
    expect(await countFailures(user)).toBe(1);
  });

  test('does not end a permanent lock that the other one has caused', async () => {
    const user = await createUser(postern);
    const { slots, take, settle } = guessesAt(user, { permanentLimit: 1 });
    for (const slot of slots) await postern.database.query(take(slot));
    await postern.database.query(settle(slots[0], 'wrong'));
    await postern.database.query(settle(slots[1], 'right'));
    expect(await postern.database.query(take(randomUUID()))).toEqual([{ outcome: 'permanent' }]);
  });
});

test('a guess that waited for a deleted row is still counted', async () => {
  const user = await createUser(postern);
  const {
    slots: [first, second],
    take,
    settle,
  } = guessesAt(user);
  await postern.database.query(take(first));
  let waiting: Promise<unknown> | undefined;
  await postern.database.transaction(async (tx) => {
    await tx.query(settle(first, 'right'));
    waiting = postern.database.query(take(second));
    await eventually('the second guess to wait', async () => {
      const blocked = await postern.database.query(
        testSql(`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%take_guess%'`),
      );
      return blocked.length > 0 ? true : undefined;
    });
  });
  expect(await waiting).toEqual([{ outcome: 'taken' }]);
  await postern.database.query(settle(second, 'wrong'));
  expect(await countFailures(user)).toBe(1);
});
