import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MaintenanceTask, startMaintenance } from '../../../src/database/maintenance/tasks.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

const minute = 60_000;
const unexpected = (error: unknown) => {
  throw error;
};

/** A task that records its steps, and is finished after `length` steps. */
function countingTask(name: string, length: number): MaintenanceTask & { readonly steps: string[] } {
  const steps: string[] = [];
  return {
    name,
    steps,
    pauseMs: minute,
    async step(_tx, from) {
      const place = from?.place ?? '0';
      steps.push(place);
      return Number(place) + 1 < length ? { removed: 1, next: { place: String(Number(place) + 1) } } : { removed: 1 };
    },
  };
}

test('a task runs step by step and then pauses, also for another instance and after a restart', async () => {
  const task = countingTask('counts', 5);
  const last = countingTask('counts after it', 1);
  const first = startMaintenance(fresh.database, [task], unexpected);
  await eventually('the steps', async () => (task.steps.length === 5 ? true : undefined));
  await first.stop();
  const second = startMaintenance(fresh.database, [task, last], unexpected);
  await eventually('the task behind it', async () => (last.steps.length === 1 ? true : undefined));
  await second.stop();
  expect(task.steps).toEqual(['0', '1', '2', '3', '4']);
});

test('a stopped task continues at its stored position', async () => {
  const task = countingTask('endless', Number.POSITIVE_INFINITY);
  const first = startMaintenance(fresh.database, [task], unexpected);
  await eventually('some steps', async () => (task.steps.length > 2 ? true : undefined));
  await first.stop();
  const count = task.steps.length;
  const second = startMaintenance(fresh.database, [task], unexpected);
  await eventually('more steps', async () => (task.steps.length > count ? true : undefined));
  await second.stop();
  expect(task.steps).toEqual(task.steps.map((_, index) => String(index)));
});

test('two instances never run the same step', async () => {
  const task = countingTask('shared', 40);
  const instances = [1, 2].map(() => startMaintenance(fresh.database, [task], unexpected));
  await eventually('the steps', async () => (task.steps.length >= 40 ? true : undefined));
  await Promise.all(instances.map((instance) => instance.stop()));
  expect(task.steps).toEqual(Array.from({ length: 40 }, (_, index) => String(index)));
});

test('a step that fails is reported and rolled back, and other tasks still run', async () => {
  const reported: unknown[] = [];
  const failing: MaintenanceTask = {
    name: 'fails',
    pauseMs: minute,
    async step(tx) {
      await tx.query(testSql(`insert into password_schemes values ('of a step that fails')`));
      throw new Error('on purpose');
    },
  };
  const other = countingTask('beside it', 1);
  const maintenance = startMaintenance(fresh.database, [other, failing], (error) => void reported.push(error));
  await eventually('both', async () => (reported.length === 1 && other.steps.length === 1 ? true : undefined));
  await maintenance.stop();
  expect(reported).toEqual([new Error('on purpose')]);
  expect(await fresh.database.query(testSql('select 1 from password_schemes'))).toEqual([]);
});

test('a clock that was ahead delays a task by at most its pause', async () => {
  const task = countingTask('early', 1);
  await fresh.database.query(
    testSql(`insert into maintenance_tasks (name, due_at) values ('early', db_now() + interval '1 year')`),
  );
  const maintenance = startMaintenance(fresh.database, [task], unexpected);
  await eventually('a step', async () => (task.steps.length === 1 ? true : undefined));
  await maintenance.stop();
});
