import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Statement } from '../../../src/database/sql.js';
import { createRates, type Rates } from '../../../src/notifications/channels/rates.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { allQueriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});
beforeEach(() => postern.database.query(testSql(`update channels set tokens = 0, tokens_at = 'epoch'`)));

/** Moves the time at which the bucket was last filled, as if time had passed. */
const pass = (ms: number) =>
  postern.database.query(testSql('update channels set tokens_at = tokens_at - make_interval(secs => $1)', [ms / 1000]));
/** Fills the bucket as of a future time, so that the time that the test takes adds nothing. */
const stopTime = () => postern.database.query(testSql(`update channels set tokens_at = db_now() + interval '1 hour'`));

const ask = (rates: Rates, channel: 'email' | 'sms', count: number) =>
  Promise.all(Array.from({ length: count }, () => rates.pauseBefore(channel)));
const granted = (pauses: readonly number[]) => pauses.filter((pause) => pause === 0).length;

test('messages that are ready together take one statement, and a channel without a rate none', async () => {
  const rates = createRates(postern.database, { email: { size: 1000, windowMs: 1000 } });
  const sent = await allQueriesOf(async () => {
    expect(granted(await ask(rates, 'email', 80))).toBe(80);
    expect(granted(await ask(rates, 'sms', 80))).toBe(80);
  });
  expect(sent.filter(({ name }) => name === 'channel_take')).toHaveLength(1);
});

test('at most a tenth of a second is granted at once, and the others come again one after another', async () => {
  const rates = createRates(postern.database, { email: { size: 100, windowMs: 1000 } });
  expect(granted(await ask(rates, 'email', 500))).toBe(10);
  await stopTime();
  const pauses = await ask(rates, 'email', 5);
  expect(granted(pauses)).toBe(0);
  expect(pauses[0]).toBeLessThanOrEqual(10);
  expect(pauses.map((pause) => pause - (pauses[0] ?? 0))).toEqual([0, 10, 20, 30, 40]);
});

test('a slow rate grants one message at a time', async () => {
  const rates = createRates(postern.database, { sms: { size: 6, windowMs: 60_000 } });
  expect(granted(await ask(rates, 'sms', 3))).toBe(1);
  // Some seconds before and after the ten seconds of a message, because the test takes time too.
  await pass(5000);
  expect(granted(await ask(rates, 'sms', 3))).toBe(0);
  await pass(6000);
  expect(granted(await ask(rates, 'sms', 3))).toBe(1);
});

test('all instances share the rate: parallel messages get no more than it allows', async () => {
  const rate = { email: { size: 500, windowMs: 1000 } };
  const begin = performance.now();
  const pauses = await Promise.all(
    [postern, other].flatMap(({ database }) =>
      Array.from({ length: 20 }, () => ask(createRates(database, rate), 'email', 7)),
    ),
  );
  const seconds = (performance.now() - begin) / 1000;
  const count = granted(pauses.flat());
  expect(count).toBeGreaterThanOrEqual(50);
  expect(count).toBeLessThanOrEqual(50 + Math.ceil(500 * seconds));
});

test('the rate of one channel does not use up that of another', async () => {
  const rates = createRates(postern.database, { email: { size: 1, windowMs: 1000 }, sms: { size: 1, windowMs: 1000 } });
  expect([await rates.pauseBefore('email'), await rates.pauseBefore('sms')]).toEqual([0, 0]);
});

test('an error reaches all that wait, and the next ask again', async () => {
  let isBroken = true;
  const database = {
    query: <Row extends object>(statement: Statement<Row>) =>
      isBroken ? Promise.reject(new Error('no database')) : postern.database.query(statement),
  };
  const rates = createRates(database, { email: { size: 10, windowMs: 1000 } });
  const results = await Promise.allSettled([rates.pauseBefore('email'), rates.pauseBefore('email')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await rates.pauseBefore('email')).toBe(0);
});
