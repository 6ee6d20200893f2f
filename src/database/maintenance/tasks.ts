import { setTimeout as wait } from 'node:timers/promises';
import type { Database, Queryable } from '../database.js';
import { sql, statement } from '../sql.js';

/** The result of a step. */
export interface Step {
  /** Rows that the step removed. */
  readonly removed: number;
  /** Where the next step continues. Undefined: the task is finished, and starts again after `pauseMs`. */
  readonly next?: Position;
}

/** The progress of a task, stored as JSON. */
export type Position = Readonly<Record<string, string>>;

/** Repeated work, in steps short enough not to slow down requests. */
export interface MaintenanceTask {
  readonly name: string;
  /** Milliseconds from the end of the task to its next start. */
  readonly pauseMs: number;
  /**
   * Runs one step in a transaction of its own.
   * @param position the `next` of the last step; undefined at the start
   */
  step(tx: Queryable, position: Position | undefined): Promise<Step>;
}

export interface RunningMaintenance {
  /** Waits for the step that is running. */
  stop(): Promise<void>;
}

/** The pause after a step is this many times its duration, so all tasks together use a fifth of one connection. */
const pauseFactor = 4;
/** Milliseconds. */
const timing = {
  shortestPause: 10,
  /** Until a task that failed runs again. */
  afterFailure: 60_000,
  /** Until any other task runs after a failure. */
  afterOtherFailure: 10_000,
  /** Until this process checks again whether another instance still runs the task. */
  takenByOther: 5000,
};

const addTask = statement<{ name: string }>(
  'maintenance_add',
  (p) => sql`
    insert into maintenance_tasks (name, due_at) select ${p.name}, db_now()
    where not exists (select from maintenance_tasks where name = ${p.name})
    on conflict do nothing`,
);
/** Locks the row of the task. An instance that finds it locked leaves the task to the other instance. */
const lockTask = statement<{ name: string }, { position: Position | null; due_in: number }>(
  'maintenance_lock',
  (p) => sql`
    select position, extract(epoch from due_at - db_now())::float8 * 1000 as due_in
    from maintenance_tasks where name = ${p.name} for update skip locked`,
);
const storePosition = statement<{ name: string; position: Position | null; dueIn: number }>(
  'maintenance_store',
  (p) => sql`
    update maintenance_tasks set position = ${p.position}, due_at = db_now() + ${p.dueIn} * interval '1 ms'
    where name = ${p.name}`,
);

/**
 * Runs maintenance tasks one step at a time until it is stopped. Of several instances, one runs a task at a time. Each step
 * stores its progress, so another instance or the next start continues there.
 * @param delay milliseconds until the first task
 */
export function startMaintenance(
  database: Database,
  tasks: readonly MaintenanceTask[],
  onError: (error: unknown) => void,
  delay = 0,
): RunningMaintenance {
  const stopping = new AbortController();
  const pause = (milliseconds: number) =>
    wait(Math.max(0, milliseconds), undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  const running = (async () => {
    const dueTimes = new Map(tasks.map((task) => [task, performance.now() + delay]));
    for (let next = earliest(dueTimes); next !== undefined; next = earliest(dueTimes)) {
      const { task, dueAt } = next;
      await pause(dueAt - performance.now());
      if (stopping.signal.aborted) return;
      const startedAt = performance.now();
      try {
        dueTimes.set(task, performance.now() + (await runStep(database, task)));
      } catch (error) {
        onError(error);
        // The other tasks run before this task is tried again, so a task that always fails does not block them.
        for (const [other, otherDueAt] of dueTimes) {
          dueTimes.set(other, Math.max(otherDueAt, performance.now() + timing.afterOtherFailure));
        }
        dueTimes.set(task, performance.now() + timing.afterFailure);
      }
      await pause(pauseAfter(performance.now() - startedAt));
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function earliest(
  dueTimes: ReadonlyMap<MaintenanceTask, number>,
): { task: MaintenanceTask; dueAt: number } | undefined {
  const [first] = [...dueTimes].sort(([, one], [, other]) => one - other);
  return first === undefined ? undefined : { task: first[0], dueAt: first[1] };
}

/** @returns milliseconds until the task is due again */
async function runStep(database: Database, task: MaintenanceTask): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.query(addTask({ name: task.name }));
    const [row] = await tx.query(lockTask({ name: task.name }));
    if (row === undefined) return timing.takenByOther;
    // If the due time is further away than the pause, the clock was ahead when it was written. It must not delay the
    // task.
    if (row.due_in > 0 && row.due_in <= task.pauseMs) return row.due_in;
    const startedAt = performance.now();
    const { next } = await task.step(tx, row.position ?? undefined);
    const dueIn = next === undefined ? task.pauseMs : pauseAfter(performance.now() - startedAt);
    await tx.query(storePosition({ name: task.name, position: next ?? null, dueIn }));
    return dueIn;
  });
}

const pauseAfter = (duration: number) => Math.max(timing.shortestPause, duration * pauseFactor);

/** Runs every task from its start to its end, without a pause. @returns how many rows were removed. */
export async function runMaintenanceOnce(database: Database, tasks: readonly MaintenanceTask[]): Promise<number> {
  let removed = 0;
  for (const task of tasks) {
    let position: Position | undefined;
    do {
      const step = await database.transaction((tx) => task.step(tx, position));
      removed += step.removed;
      position = step.next;
    } while (position !== undefined);
  }
  return removed;
}
