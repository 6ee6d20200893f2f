import { setTimeout as wait } from 'node:timers/promises';
import { type Database, prepared, type Queryable } from './database.js';

/** What a step has done. */
export interface Step {
  /** Rows that it removed. */
  readonly removed: number;
  /** Where the next one goes on; undefined: it is done, and starts anew after a rest. */
  readonly next?: Position;
}

/** How far a chore came, as JSON. */
export type Position = Readonly<Record<string, string>>;

/** Work that never ends, in steps that are short enough to disturb nobody. */
export interface Chore {
  readonly name: string;
  /** Milliseconds from its end to its next start. */
  readonly rest: number;
  /** One step, in a transaction of its own. `from` is what the last one called `next`; undefined at the start. */
  step(tx: Queryable, from: Position | undefined): Promise<Step>;
}

export interface Chores {
  /** Lets the step that runs end. */
  stop(): Promise<void>;
}

/** After a step follow this many times what it took, so that all chores together take a fifth of one connection. */
const pauses = 4;
/**
 * Milliseconds: the shortest pause; until a chore that failed is tried again, and any other after it; until it is looked
 * again for one that another instance does.
 */
const timing = { least: 10, failed: 60_000, anyFailed: 10_000, taken: 5000 };

const addChore = prepared(
  'chores_add',
  'insert into chores (name, due_at) select $1, db_now() where not exists (select from chores where name = $1) on conflict do nothing',
);
const takeChore = prepared(
  'chores_take',
  `select position, extract(epoch from due_at - db_now())::float8 * 1000 as due_in
   from chores where name = $1 for update skip locked`,
);
const keepChore = prepared(
  'chores_keep',
  `update chores set position = $2, due_at = db_now() + $3 * interval '1 ms' where name = $1`,
);

/**
 * Does chores one step at a time for as long as the process runs. Of several instances one does a chore at a time; how
 * far it came is kept with each step, so that another one, or the next start, goes on there.
 */
export function startChores(database: Database, chores: readonly Chore[], onError: (error: unknown) => void): Chores {
  const stopping = new AbortController();
  const pause = (milliseconds: number) =>
    wait(Math.max(0, milliseconds), undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  const running = (async () => {
    const due = new Map(chores.map((chore) => [chore, performance.now()]));
    for (let next = earliest(due); next !== undefined; next = earliest(due)) {
      const { chore, at } = next;
      await pause(at - performance.now());
      if (stopping.signal.aborted) return;
      const begun = performance.now();
      try {
        due.set(chore, performance.now() + (await takeStep(database, chore)));
      } catch (error) {
        onError(error);
        // Behind the others, which get their turn even if this one always fails; mostly the database is away.
        for (const [other, otherAt] of due) due.set(other, Math.max(otherAt, performance.now() + timing.anyFailed));
        due.set(chore, performance.now() + timing.failed);
      }
      await pause(pauseAfter(performance.now() - begun));
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function earliest(due: ReadonlyMap<Chore, number>): { chore: Chore; at: number } | undefined {
  const [first] = [...due].sort(([, one], [, other]) => one - other);
  return first === undefined ? undefined : { chore: first[0], at: first[1] };
}

/** @returns milliseconds until it is due again */
async function takeStep(database: Database, chore: Chore): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.query(addChore, [chore.name]);
    const [row] = await tx.query<{ position: Position | null; due_in: number }>(takeChore, [chore.name]);
    if (row === undefined) return timing.taken;
    // A clock that was ahead when this was written must not put it off for longer than it rests.
    if (row.due_in > 0 && row.due_in <= chore.rest) return row.due_in;
    const begun = performance.now();
    const { next } = await chore.step(tx, row.position ?? undefined);
    const dueIn = next === undefined ? chore.rest : pauseAfter(performance.now() - begun);
    await tx.query(keepChore, [chore.name, next ?? null, dueIn]);
    return dueIn;
  });
}

const pauseAfter = (took: number) => Math.max(timing.least, took * pauses);

/** Does every chore from its start to its end, without a pause. @returns how many rows were removed. */
export async function finishChores(database: Database, chores: readonly Chore[]): Promise<number> {
  let removed = 0;
  for (const chore of chores) {
    let from: Position | undefined;
    do {
      const step = await database.transaction((tx) => chore.step(tx, from));
      removed += step.removed;
      from = step.next;
    } while (from !== undefined);
  }
  return removed;
}
