import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readMessageLimits, readRequestLimits } from '../../src/limits/limit-states.js';
import { createTestDatabase } from '../support/database.js';
import { runs } from '../support/rounds.js';
import { testSql } from '../support/sql.js';

let test_: Awaited<ReturnType<typeof createTestDatabase>>;
beforeAll(async () => {
  test_ = await createTestDatabase();
});
afterAll(() => test_.drop());

/** Sets the clock of the database to this number of seconds after a fixed time. */
const setClock = (second: number) =>
  test_.database.query(
    testSql(`create or replace function db_now() returns timestamptz language sql volatile
             as $$ select timestamptz '2030-01-01 00:00:00Z' + interval '${second} seconds' $$`),
  );
const waitOf = async (call: string, key: Buffer) => {
  const [row] = await test_.database.query<{ wait: number | null }>(testSql(`select ${call} as wait`, [key]));
  return row?.wait ?? undefined;
};
/** Steps of the clock, also backwards. */
const steps = fc.array(fc.integer({ min: -30, max: 60 }), { minLength: 1, maxLength: 12 });

test('a request limit is read as the next requests would find it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), steps, async (size, clock) => {
      const limitKey = randomBytes(16);
      let now = 0;
      for (const step of clock) {
        now += step;
        await setClock(now);
        const requests = [1, 2].map((position) => ({ limitKey, limitSize: size, limitWindow: 60, position }));
        const [next, second] = await readRequestLimits(test_.database, requests);
        const wait = await waitOf(`take_request($1, ${size}, 60)`, limitKey);
        expect(next?.wait).toEqual(wait === undefined ? undefined : expect.closeTo(wait, 3));
        if (wait !== undefined) continue;
        const secondWait = await waitOf(`take_request($1, ${size}, 60)`, limitKey);
        expect(second?.wait).toEqual(secondWait === undefined ? undefined : expect.closeTo(secondWait, 3));
      }
    }),
    { numRuns: runs(15, 40) },
  );
});

test('a limit of 0 never refuses', async () => {
  const off = { limitKey: null, limitSize: 0, limitWindow: 60, position: 3 };
  expect(await readRequestLimits(test_.database, [off])).toEqual([undefined]);
});

test('a message limit is read as the next message would find it, with the window that is full', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(-20, 30, 61, 600, 4000), { minLength: 1, maxLength: 16 }),
      async (clock) => {
        const key = randomBytes(16);
        let now = 0;
        for (const step of clock) {
          now += step;
          await setClock(now);
          const [state] = await readMessageLimits(test_.database, [key]);
          const wait = await waitOf('(select wait from take_message_slot($1))', key);
          expect(state?.wait).toEqual(wait === undefined ? undefined : expect.closeTo(wait, 3));
        }
      },
    ),
    { numRuns: runs(15, 40) },
  );
});

test.each([
  ['minute', 1, 10],
  ['hour', 5, 61],
  ['day', 10, 800],
])('if the messages of the %s have reached the limit, the state names this window', async (window, messages, step) => {
  const key = randomBytes(16);
  for (let sent = 0; sent < messages; sent += 1) {
    await setClock(sent * Math.max(61, step));
    await waitOf('(select wait from take_message_slot($1))', key);
  }
  await setClock((messages - 1) * Math.max(61, step) + 62 * Number(window !== 'minute'));
  const [state] = await readMessageLimits(test_.database, [key]);
  expect([state?.window, state?.since]).toEqual([window, '2030-01-01T00:00:00.000000Z']);
});
