import { describe, expect, test } from 'vitest';
import { runQueue, type TakenDelivery } from '../../src/webhooks/queue-run.js';
import type { AttemptResult } from '../../src/webhooks/schedule.js';

const delivery = (sequence: number, fields: Partial<TakenDelivery> = {}): TakenDelivery => ({
  user_id: 'user',
  pending: 2,
  id: `d${sequence}`,
  sequence,
  event_id: `e${sequence}`,
  type: 'user.updated',
  is_late: false,
  attempts: 0,
  age: 0,
  due_in: 0,
  is_due: false,
  data: {},
  created_at: '2026-11-01T00:00:00.000000Z',
  ...fields,
});
const answer = (status: number, fields: Partial<AttemptResult> = {}): AttemptResult => ({
  ok: status < 300,
  status,
  answer: '',
  error: status < 300 ? undefined : 'refused',
  retryAfter: undefined,
  durationMs: 1,
  ...fields,
});

/**
 * Runs over deliveries.
 * @param answers the answers of the endpoint by delivery id. No entry: 204. `undefined`: the event is no longer stored
 * @returns which deliveries were tried, and the result. `done` counts the deliveries that are no longer pending
 */
async function run(deliveries: TakenDelivery[], answers: Record<string, AttemptResult | undefined> = {}) {
  const tried: string[] = [];
  const result = await runQueue(deliveries, {
    async attempt({ id }) {
      tried.push(id);
      return id in answers ? answers[id] : answer(204);
    },
    mayAttempt: () => true,
    random: () => 0,
    isAccepting: () => false,
  });
  return { ...result, tried };
}

describe('a run over the queue of a user', () => {
  test('delivers in order, and requests another run at once, because there may be more', async () => {
    const { tried, done, dueIn, results } = await run([delivery(1), delivery(2)]);
    expect(tried).toEqual(['d1', 'd2']);
    expect({ done, dueIn }).toEqual({ done: 2, dueIn: 0 });
    expect(results.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  test('an event that fails holds back the later ones', async () => {
    const { tried, done, dueIn, results } = await run([delivery(1), delivery(2)], { d1: answer(500) });
    expect(tried).toEqual(['d1']);
    expect({ done, dueIn }).toEqual({ done: 0, dueIn: 5 });
    expect(results).toMatchObject([{ id: 'd1', state: 'pending', delay: 5, is_late: false }]);
  });

  test('an event that waits for its next attempt holds back the later ones', async () => {
    const { tried, dueIn } = await run([delivery(1, { attempts: 2, age: 40, due_in: 100 }), delivery(2)]);
    expect({ tried, dueIn }).toEqual({ tried: [], dueIn: 100 });
  });

  test('after an hour the later events pass an event that fails', async () => {
    const waiting = delivery(1, { attempts: 5, age: 3600, due_in: 2000 });
    const passed = await run([waiting, delivery(2)]);
    expect(passed.tried).toEqual(['d2']);
    expect(passed.results).toMatchObject([
      { id: 'd1', state: 'pending', is_late: true, attempted: false },
      { id: 'd2', state: 'delivered' },
    ]);
    expect(passed.dueIn).toBe(2000);

    const before = await run([{ ...waiting, age: 3590 }, delivery(2)]);
    expect(before).toMatchObject({ tried: [], dueIn: 10 });
  });

  test('an event whose repetition was requested is tried although an event before it fails, and holds back no less after it', async () => {
    const failing = delivery(1, { attempts: 4, age: 60 });
    const requested = delivery(3, { is_due: true });
    const all = [failing, delivery(2), requested, delivery(4)];
    const { tried, done, dueIn } = await run(all, { d1: answer(500) });
    expect({ tried, done, dueIn }).toEqual({ tried: ['d1', 'd3'], done: 1, dueIn: 1800 });
    // One that waits for its next attempt is not tried earlier.
    expect((await run([{ ...failing, due_in: 100 }, delivery(2), requested])).tried).toEqual(['d3']);
    const failed = await run(all, { d1: answer(500), d3: answer(500) });
    expect({ tried: failed.tried, dueIn: failed.dueIn }).toEqual({ tried: ['d1', 'd3'], dueIn: 5 });
  });

  test('a late event is retried without holding back others', async () => {
    const late = delivery(1, { attempts: 6, age: 7000, is_late: true });
    const { tried, results, dueIn } = await run([late, delivery(2)], { d1: answer(500) });
    expect(tried).toEqual(['d1', 'd2']);
    expect(results).toMatchObject([{ state: 'pending', is_late: true, delay: 3600 }, { state: 'delivered' }]);
    expect(dueIn).toBe(3600);
  });

  test('the attempts end after 24 hours', async () => {
    // The next attempt would be in an hour, and so more than 24 hours after the first one.
    const { results, done } = await run([delivery(1, { attempts: 28, age: 84_000, is_late: true })], {
      d1: answer(500),
    });
    expect(results).toMatchObject([{ state: 'failed', delay: null, error: 'refused' }]);
    expect(done).toBe(1);
  });

  test('the pauses are 5 s, 30 s, 2 min, 10 min, 30 min, and then an hour, with up to a tenth more', async () => {
    const delayAfter = async (attempts: number, random: number) => {
      const { results } = await runQueue([delivery(1, { attempts })], {
        attempt: async () => answer(503),
        mayAttempt: () => true,
        random: () => random,
        isAccepting: () => false,
      });
      return results[0]?.delay;
    };
    const delays = [5, 30, 120, 600, 1800, 3600, 3600, 3600];
    expect(await Promise.all(delays.map((_, attempts) => delayAfter(attempts, 0)))).toEqual(delays);
    expect(await delayAfter(3, 1)).toBe(660);
  });

  test('Retry-After makes a pause longer, never shorter', async () => {
    const pause = async (retryAfter: number) =>
      (await run([delivery(1)], { d1: answer(429, { retryAfter }) })).results[0]?.delay;
    expect(await pause(90)).toBe(90);
    expect(await pause(1)).toBe(5);
  });

  test('410 ends the run, and says so', async () => {
    const { tried, isGone, results } = await run([delivery(1), delivery(2)], { d1: answer(410) });
    expect({ tried, isGone }).toEqual({ tried: ['d1'], isGone: true });
    expect(results).toMatchObject([{ state: 'pending', status: 410 }]);
  });

  test('an event that is no longer stored fails without an attempt at the endpoint', async () => {
    const { results, done } = await run([delivery(1)], { d1: undefined });
    expect(results).toMatchObject([{ state: 'failed', attempted: false, error: 'the event is no longer stored' }]);
    expect(done).toBe(1);
  });

  test('a run without time left makes no attempt, and its queue is due at once', async () => {
    const result = await runQueue([delivery(1)], {
      attempt: async () => answer(204),
      mayAttempt: () => false,
      random: () => 0,
      isAccepting: () => false,
    });
    expect(result).toEqual({ taken: 2, results: [], done: 0, dueIn: 0, isGone: false });
  });
});
