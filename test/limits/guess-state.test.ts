import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GuessAttempt } from '../../src/limits/guess-budget.js';
import { readGuessState } from '../../src/limits/guess-state.js';
import { createTestDatabase } from '../support/database.js';
import { runs } from '../support/rounds.js';
import { testSql } from '../support/sql.js';

const limits = { failureLimit: 3, permanentLimit: 9, lockSeconds: 30, maxLockSeconds: 600 };

let test_: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  test_ = await createTestDatabase();
  // The clock stands still, so that the two decisions are about the same moment.
  await test_.database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select timestamptz '2030-01-01 00:00:00Z' $$`),
  );
});
afterAll(() => test_.drop());

/** Seconds from now; negative ones are in the past. */
const seconds = fc.integer({ min: -40, max: 40 });
const budgets = fc.record({
  ...{
    failures: fc.integer({ min: 0, max: 2 }),
    total: fc.integer({ min: 0, max: 9 }),
    locks: fc.integer({ min: 0, max: 5 }),
  },
  ...{
    lockEnd: fc.option(seconds),
    permanent: fc.boolean(),
    updated: seconds,
    slots: fc.array(seconds, { maxLength: 4 }),
  },
});

test('a guess budget is read as the next guess would find it, and reading does not change it', async () => {
  const { database } = test_;
  await fc.assert(
    fc.asyncProperty(budgets, async ({ failures, total, locks, lockEnd, permanent, updated, slots }) => {
      const userId = randomUUID();
      const device = '00000000-0000-0000-0000-000000000000';
      const after = (place: string) => `db_now() + ${place} * interval '1 second'`;
      await database.query(
        testSql(
          `insert into guess_budgets (user_id, bucket, failures, total_failures, locks, locked_until, permanent, updated_at,
                                      slots, slots_taken_at)
           select $1, $2, $3, $4, $5, ${after('$6::int')}, $7, ${after('$8::int')},
                  array(select gen_random_uuid() from unnest($9::int[])), array(select ${after('s')} from unnest($9::int[]) s)`,
          [userId, device, failures, total, locks, lockEnd, permanent, updated, slots],
        ),
      );
      const rows = () => database.query(testSql('select * from guess_budgets where user_id = $1', [userId]));
      const before = await rows();
      const { attempt: tried } = await readGuessState(
        test_.database.user(userId),
        { userId, knownDevice: undefined },
        limits,
      );
      expect(await rows()).toEqual(before);
      const [taken] = await database.query<GuessAttempt>(
        testSql('select outcome, retry_after from take_guess($1, $2, $3, 3, 9, 30, 600)', [
          userId,
          device,
          randomUUID(),
        ]),
      );
      expect(tried).toEqual(taken);
    }),
    { numRuns: runs(50, 150) },
  );
});
