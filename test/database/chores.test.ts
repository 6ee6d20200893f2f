import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Chore, startChores } from '../../src/database/chores.js';
import { sql } from '../../src/database/database.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const minute = 60_000;
const unexpected = (error: unknown) => {
  throw error;
};

/** Counts its steps: as many as `length`, then it is done. */
function countingChore(name: string, length: number): Chore & { readonly steps: string[] } {
  const steps: string[] = [];
  return {
    name,
    steps,
    rest: minute,
    async step(_tx, from) {
      const at = from?.at ?? '0';
      steps.push(at);
      return Number(at) + 1 < length ? { removed: 1, next: { at: String(Number(at) + 1) } } : { removed: 1 };
    },
  };
}

test('steps follow each other until a chore is done, then it rests, also for another instance and after a restart', async () => {
  const chore = countingChore('counts', 5);
  const last = countingChore('counts after it', 1);
  const first = startChores(fresh.database, [chore], unexpected);
  await eventually('the steps', async () => (chore.steps.length === 5 ? true : undefined));
  await first.stop();
  const second = startChores(fresh.database, [chore, last], unexpected);
  await eventually('the chore behind it', async () => (last.steps.length === 1 ? true : undefined));
  await second.stop();
  expect(chore.steps).toEqual(['0', '1', '2', '3', '4']);
});

test('a stopped one goes on where it was', async () => {
  const chore = countingChore('endless', Number.POSITIVE_INFINITY);
  const first = startChores(fresh.database, [chore], unexpected);
  await eventually('some steps', async () => (chore.steps.length > 2 ? true : undefined));
  await first.stop();
  const count = chore.steps.length;
  const second = startChores(fresh.database, [chore], unexpected);
  await eventually('more steps', async () => (chore.steps.length > count ? true : undefined));
  await second.stop();
  expect(chore.steps).toEqual(chore.steps.map((_, index) => String(index)));
});

test('of two instances one takes a step at a time, and none is taken twice', async () => {
  const chore = countingChore('shared', 40);
  const instances = [1, 2].map(() => startChores(fresh.database, [chore], unexpected));
  await eventually('the steps', async () => (chore.steps.length >= 40 ? true : undefined));
  await Promise.all(instances.map((instance) => instance.stop()));
  expect(chore.steps).toEqual(Array.from({ length: 40 }, (_, index) => String(index)));
});

test('one that fails is told, undone, and keeps no other from its turn', async () => {
  const told: unknown[] = [];
  const failing: Chore = {
    name: 'fails',
    rest: minute,
    async step(tx) {
      await tx.query(sql(`insert into password_schemes values ('of a step that fails')`));
      throw new Error('on purpose');
    },
  };
  const other = countingChore('beside it', 1);
  const chores = startChores(fresh.database, [other, failing], (error) => void told.push(error));
  await eventually('both', async () => (told.length === 1 && other.steps.length === 1 ? true : undefined));
  await chores.stop();
  expect(told).toEqual([new Error('on purpose')]);
  expect(await fresh.database.query(sql('select 1 from password_schemes'))).toEqual([]);
});

test('a clock that was far ahead puts nothing off for longer than the rest', async () => {
  const chore = countingChore('early', 1);
  await fresh.database.query(sql(`insert into chores (name, due_at) values ('early', db_now() + interval '1 year')`));
  const chores = startChores(fresh.database, [chore], unexpected);
  await eventually('a step', async () => (chore.steps.length === 1 ? true : undefined));
  await chores.stop();
});
