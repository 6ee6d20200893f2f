import { describe, expect, test } from 'vitest';
import { divideByUser } from '../../../src/notifications/push/shares.js';

const itemsOf = (userId: string, count: number) => Array.from({ length: count }, (_, at) => ({ userId, at }));

describe('a step of the fan-out', () => {
  test('takes 200 pushes of a user, and everything of the others', () => {
    const items = [...itemsOf('crowded', 10), ...itemsOf('other', 3)];
    const { now, later } = divideByUser(items, (user) => (user === 'crowded' ? 50 : 1), new Map());
    expect(now).toEqual([...itemsOf('crowded', 4), ...itemsOf('other', 3)]);
    expect(later.map(({ item }) => item)).toEqual(itemsOf('crowded', 10).slice(4));
  });

  test('gives the rest times one after the other', () => {
    const { later } = divideByUser(itemsOf('crowded', 7), () => 100, new Map());
    expect(later.map(({ dueIn }) => dueIn)).toEqual([0.5, 1, 1.5, 2, 2.5]);
  });

  test('takes at most as many pushes as may wait, and tries again after a minute when the user has them all', () => {
    const waiting = new Map([
      ['nearly', 850],
      ['full', 1000],
    ]);
    const { now, later } = divideByUser([...itemsOf('nearly', 2), ...itemsOf('full', 1)], () => 100, waiting);
    expect(now).toEqual(itemsOf('nearly', 1));
    expect(later.map(({ item, dueIn }) => [item.userId, dueIn])).toEqual([
      ['nearly', 0.5],
      ['full', 60.5],
    ]);
  });

  test('takes a notification of a user with more devices than that as a whole', () => {
    const { now, later } = divideByUser(itemsOf('user', 2), () => 900, new Map());
    expect([now.length, later.length]).toEqual([1, 1]);
  });

  test('takes notifications that cause no push, however many', () => {
    expect(divideByUser(itemsOf('user', 5000), () => 0, new Map()).now).toHaveLength(5000);
  });
});
