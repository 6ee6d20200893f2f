import { Problem } from '../lib/problem.js';
import { isStorageFailure } from './database.js';

/** What is asked for of one key at a time at most; and how many may wait for their turn. */
const most = { together: 128, waiting: 1000 };
/** Milliseconds. What has waited for longer is refused: it would wait for the next statement too. */
const patience = 1000;

interface Waiting<Asked, Done> {
  readonly asked: Asked;
  readonly since: number;
  resolve(done: Done): void;
  reject(reason: unknown): void;
}

/**
 * Does one statement of a key at a time. What is asked for of the same key meanwhile shares the next statement, in the
 * order in which it was asked for. So a row that all of them lock is locked once for all, and none waits for another's commit.
 *
 * A storage failure fails all who share the statement. Any other failure may be the fault of one: nothing was done, so each
 * is done alone.
 * @param work does all of some, which have one key, and answers in their order
 * @throws Problem `overloaded` where too many wait, or one has waited for too long
 */
export function sharedByKey<Asked, Done>(
  keyOf: (asked: Asked) => string,
  work: (asked: readonly Asked[]) => Promise<readonly Done[]>,
): (asked: Asked) => Promise<Done> {
  /** Of each key that a statement is under way of, those that wait for it. */
  const keys = new Map<string, Waiting<Asked, Done>[]>();

  async function settle(group: readonly Waiting<Asked, Done>[]): Promise<void> {
    try {
      const done = await work(group.map(({ asked }) => asked));
      for (const [index, { resolve }] of group.entries()) resolve(done[index] as Done);
    } catch (error) {
      if (group.length === 1 || isStorageFailure(error)) for (const { reject } of group) reject(error);
      else for (const each of group) await settle([each]);
    }
  }

  async function run(key: string, first: Waiting<Asked, Done>): Promise<void> {
    const waiting: Waiting<Asked, Done>[] = [];
    keys.set(key, waiting);
    for (let group = [first]; group.length > 0; group = waiting.splice(0, most.together)) {
      await settle(group);
      // Those that were answered may ask again, and what has arrived in this turn was not read yet.
      if (group.length > 1) await new Promise(setImmediate);
      refuseOld(waiting);
    }
    keys.delete(key);
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      const key = keyOf(asked);
      const entry = { asked, since: performance.now(), resolve, reject };
      const waiting = keys.get(key);
      if (waiting === undefined) void run(key, entry);
      else if (waiting.length < most.waiting) waiting.push(entry);
      else reject(new Problem('overloaded', { retryAfter: 1 }));
    });
}

/** The oldest are the first. */
function refuseOld<Asked, Done>(waiting: Waiting<Asked, Done>[]): void {
  const oldest = performance.now() - patience;
  const kept = waiting.findIndex(({ since }) => since >= oldest);
  const old = waiting.splice(0, kept === -1 ? waiting.length : kept);
  for (const { reject } of old) reject(new Problem('overloaded', { retryAfter: 1 }));
}
