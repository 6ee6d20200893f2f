import pg from 'pg';
import { Problem } from '../../lib/problem.js';
import { mainShard } from '../database.js';
import { nextDeadline, type Server } from '../server.js';
import type { Statement } from '../sql.js';
import type { MapLog } from './map.js';
import {
  deleteOutcomes,
  findOutcome,
  insertRollback,
  type PreparedPart,
  parsePrepareName,
  prepareName,
  rawStatement,
  selectPrepared,
  selectServers,
} from './outcomes.js';

/**
 * Milliseconds. `age`: how long a process may take between the first prepared part and the decision. `cleanUp`: between two
 * deletions of old outcomes, because each reads the whole table.
 */
const times = { interval: 3000, age: 5000, cleanUp: 60_000 };

/**
 * Completes the transactions over several servers whose process has died or is too slow, at once and then every few seconds.
 * Any number of processes may do so. @returns a function that stops it
 */
export function startRecovery(servers: ReadonlyMap<string, Server>, log: MapLog): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isFailing = false;
  let lastCleanUp = performance.now();
  const recoverAndCleanUp = async () => {
    const needed = await recover(servers, times.age);
    if (performance.now() - lastCleanUp < times.cleanUp) return;
    lastCleanUp = performance.now();
    await cleanUp(servers, needed);
  };
  const run = () => {
    running ??= recoverAndCleanUp()
      .then(
        () => {
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) log.warn({ err: error }, 'transactions over several servers could not be completed');
          isFailing = true;
        },
      )
      .finally(() => {
        running = undefined;
      });
  };
  run();
  const timer = setInterval(run, times.interval).unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}

/**
 * Completes each prepared transaction that is older than `age` milliseconds. A server that fails does not delay the
 * others.
 * @returns the ids of these transactions, whose outcomes must stay
 * @throws the first error of a server, at the end
 */
export async function recover(servers: ReadonlyMap<string, Server>, age: number): Promise<string[]> {
  const lists = await Promise.allSettled(
    [...servers].map(async ([name, server]) => {
      const rows = await queryOn(server, selectPrepared({ age }));
      return { name, server, parts: rows.flatMap((row) => parsePrepareName(row.name) ?? []) };
    }),
  );
  const found = lists.flatMap((list) => (list.status === 'fulfilled' ? [list.value] : []));
  const completeOn = (group: typeof found) =>
    Promise.allSettled(group.flatMap(({ server, parts }) => parts.map((part) => complete(servers, server, part))));
  // The directory is last, as in `commitInTwoPhases`.
  const completed = [
    ...(await completeOn(found.filter(({ name }) => name !== mainShard))),
    ...(await completeOn(found.filter(({ name }) => name === mainShard))),
  ];
  const failed = [...lists, ...completed].find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return found.flatMap(({ parts }) => parts.map(({ id }) => id));
}

/**
 * Deletes old outcomes, unless SHARDS of this process lacks a server: an instance that was not restarted yet does not see
 * what is prepared there.
 * @param needed the ids of outcomes that stay
 */
export async function cleanUp(servers: ReadonlyMap<string, Server>, needed: readonly string[]): Promise<void> {
  const main = servers.get(mainShard);
  const registered = main === undefined ? [] : await queryOn(main, selectServers({}));
  if (registered.some(({ name }) => !servers.has(name))) return;
  await Promise.all([...servers.values()].map((server) => queryOn(server, deleteOutcomes({ needed }))));
}

async function complete(servers: ReadonlyMap<string, Server>, server: Server, part: PreparedPart): Promise<void> {
  const deciding = servers.get(part.deciding);
  if (deciding === undefined) throw new Error(`SHARDS does not name ${part.deciding}, which decides a transaction`);
  await queryOn(deciding, insertRollback({ id: part.id }));
  const [outcome] = await queryOn(deciding, findOutcome({ id: part.id }));
  if (outcome === undefined) throw new Error('a transaction has no outcome');
  const end = outcome.is_committed ? 'commit' : 'rollback';
  try {
    await queryOn(server, rawStatement(`${end} prepared '${prepareName(part)}'`));
  } catch (error) {
    if (!isDoneElsewhere(error)) throw error;
  }
}

/** Another process completes it or has completed it: undefined_object, or object_not_in_prerequisite_state. */
function isDoneElsewhere(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error;
  return cause instanceof pg.DatabaseError && ['42704', '55000'].includes(cause.code ?? '');
}

const queryOn = <Row extends object>(server: Server, statement: Statement<Row>) =>
  server.query(statement, nextDeadline());
