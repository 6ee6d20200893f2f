import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Problem } from '../../lib/problem.js';
import { waitAtMost } from '../../lib/time-limit.js';
import { completeTransaction, mainShard, type Transaction } from '../database.js';
import { MovedError, nextDeadline, type OpenTransaction, type Server } from '../server.js';
import { compose, type Scope, type Statement, sql } from '../sql.js';
import { commitWithOutcome, prepareName, rawStatement } from './outcomes.js';
import {
  divide,
  type Router,
  repeatMoved,
  routed,
  serverNamed,
  serverOf,
  serverOfStatement,
  serversOfSpanning,
} from './routing.js';
import { createUserOrder, type UserOrder } from './user-order.js';

const uniqueViolation = '23505';
/** Milliseconds for which a transaction waits for the other servers after one of them has found rows. */
const slowAnswerMs = 200;

/** The part of a transaction on one server. */
interface Branch {
  readonly server: Server;
  readonly transaction: OpenTransaction;
}

/** Whether the transaction has changed or locked rows. */
const hasWritten = compose<{ written: boolean }, 'everyone'>(
  'everyone',
  sql`select pg_current_xact_id_if_assigned() is not null as written`,
);

/**
 * Runs `work` in a transaction as `attemptTransaction` does. If one of its users was moved, it runs again from its start, so
 * it must change nothing but rows.
 */
export function inDistributedTransaction<T>(
  router: Router,
  home: string | undefined,
  work: (tx: Transaction<Scope>) => Promise<T>,
): Promise<T> {
  return repeatMoved(router, () => attemptTransaction(router, home, work));
}

/**
 * Runs `work` in one transaction over the servers that its statements need, each begun by the first statement on it. If
 * one server has changes, its commit decides. If several have, it is a two-phase commit (decision 119): all but one are
 * prepared, and the commit of that one decides. It writes the outcome too, so that `recovery.ts` can complete the others.
 * @param home the user of the transaction, whose server decides; undefined if there is none
 */
async function attemptTransaction<T>(
  router: Router,
  home: string | undefined,
  work: (tx: Transaction<Scope>) => Promise<T>,
): Promise<T> {
  const branches = new Map<Server, Promise<Branch>>();
  /** The servers that take no part any more, because they have hung. */
  const left = new Set<Server>();
  let isEnding = false;
  const directory = serverNamed(router.servers, mainShard);
  const order = createUserOrder(home);

  /** The branch on the server that `find` gives. `find` is called again if the map changes before the branch has begun. */
  function branchOn(find: () => Server): Promise<Branch> {
    return routed(router, find, async (server, isHere) => {
      refuseLeft(server);
      const known = branches.get(server);
      if (known !== undefined) return known;
      const beginning = server.begin(nextDeadline(), isHere).then((transaction) => ({ server, transaction }));
      branches.set(server, beginning);
      // A branch that did not begin takes no part.
      beginning.catch(() => branches.delete(server));
      return beginning;
    });
  }

  async function queryOn<Row extends object>(find: () => Server, statement: Statement<Row>): Promise<Row[]> {
    const { server, transaction } = await branchOn(find);
    refuseLeft(server);
    const first = server === directory ? order.awaitEarlier() : order.note(statement);
    if (first !== undefined) await transaction.query(first);
    return transaction.query(statement);
  }

  function refuseLeft(server: Server): void {
    if (!left.has(server)) return;
    throw new Problem('storage_unavailable', { cause: new Error('the server has hung'), retryAfter: 1 });
  }

  /** Ends the part on a server that hangs, as soon as it answers or its time is over. */
  function leave(server: Server): void {
    if (isEnding) return;
    const beginning = branches.get(server);
    left.add(server);
    branches.delete(server);
    const end = async ({ transaction }: Branch) => {
      await transaction.rollback();
      transaction.release();
    };
    beginning?.then(end, () => undefined);
  }

  /**
   * The rows that any server finds. When one has found some, servers that hang leave the transaction, unless it has used them
   * before. So they do not delay users of other servers.
   * @throws MovedError if no server has found a row, and the map of this process has changed meanwhile
   */
  async function queryAny<Row extends object>(servers: readonly Server[], statement: Statement<Row>): Promise<Row[]> {
    const version = router.map.version();
    const used = new Set(branches.keys());
    const answers = servers.map((server) => queryOn(() => server, statement));
    const answered = new Set<Server>();
    const all = Promise.allSettled(
      answers.map((answer, place) => answer.finally(() => answered.add(servers[place] as Server))),
    );
    await Promise.race([all, firstFound(answers).catch(() => [])]);
    await waitAtMost(slowAnswerMs, all);
    const hanging = servers.filter((server) => !answered.has(server) && !used.has(server));
    for (const server of hanging) leave(server);
    const rows = await allFound(answers.filter((_, place) => !hanging.includes(servers[place] as Server)));
    if (rows.length > 0 || router.map.version() === version) return rows;
    // A row may move to another server while the servers are read, and so be found on none.
    throw new MovedError(new Error('users were moved while the servers were read'));
  }

  async function query<Row extends object>(statement: Statement<Row>): Promise<Row[]> {
    const { servers } = router;
    const { server } = statement;
    if (server !== undefined) return queryOn(() => serverNamed(servers, server), statement);
    if (statement.scope === 'directory') return queryOn(() => serverNamed(servers, mainShard), statement);
    if (statement.scope === 'user') {
      return allRows(
        divide(router, statement).map((part) => queryOn(() => serverOfStatement(router, part, home), part)),
      );
    }
    if (statement.scope === 'spanning') {
      const candidates = serversOfSpanning(router, statement);
      if (typeof statement.users !== 'string') return queryAny(candidates, statement);
      return allFound(candidates.map((server) => queryOn(() => server, statement)));
    }
    throw new Error('a statement about everyone runs on each shard, and not in this transaction');
  }

  const openBranches = async () =>
    (await Promise.allSettled(branches.values())).flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );

  try {
    const commit = async () => {
      isEnding = true;
      await commitAll(router, await openBranches(), { home, order });
    };
    return await completeTransaction(query, commit, work);
  } catch (error) {
    isEnding = true;
    await Promise.all((await openBranches()).map(({ transaction }) => transaction.rollback()));
    throw error;
  } finally {
    for (const { transaction } of await openBranches()) transaction.release();
  }
}

/** The rows of all answers. It waits for each, so that none runs on when the transaction ends. @throws the first error */
export async function allRows<Row>(answers: readonly Promise<Row[]>[]): Promise<Row[]> {
  const [only] = answers;
  if (only !== undefined && answers.length === 1) return only;
  const results = await Promise.allSettled(answers);
  return results.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/**
 * The rows that the servers found. The rows of a server that fails are missing. It waits for each, as `allRows` does.
 * @throws the error of a server that failed, if no server found a row
 */
async function allFound<Row>(answers: readonly Promise<Row[]>[]): Promise<Row[]> {
  const results = await Promise.allSettled(answers);
  const rows = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  const failed = results.find((result) => result.status === 'rejected');
  if (rows.length === 0 && failed !== undefined) throw failed.reason;
  return rows;
}

/** The rows of the first server that finds some. It does not wait for a server that hangs. @throws as `allFound` */
export async function firstFound<Row>(answers: readonly Promise<Row[]>[]): Promise<Row[]> {
  const found = answers.map(async (answer) => {
    const rows = await answer;
    return rows.length > 0 ? rows : Promise.reject(new Error('no rows'));
  });
  return Promise.any(found).catch(() => allFound(answers));
}

async function commitAll(
  router: Router,
  branches: readonly Branch[],
  { home, order }: { readonly home: string | undefined; readonly order: UserOrder },
): Promise<void> {
  for (const { transaction } of branches) {
    const failure = transaction.failure();
    if (failure !== undefined) throw failure.error;
  }
  const main = serverNamed(router.servers, mainShard);
  const writers = branches.length > 1 ? await selectWriters(branches) : branches;
  const readers = branches.filter((branch) => !writers.includes(branch));
  await Promise.all(readers.map(({ transaction }) => transaction.commit()));
  const [first, second] = writers;
  if (second === undefined) return first?.transaction.commit();
  const homeServer = home === undefined ? undefined : serverOf(router, home);
  const deciding =
    writers.find(({ server }) => server === homeServer) ?? writers.find(({ server }) => server !== main) ?? second;
  await commitInTwoPhases(router, writers, { deciding, order });
}

/** The branches with changes. It asks only the servers whose statements did not report any. */
async function selectWriters(branches: readonly Branch[]): Promise<Branch[]> {
  const written = await Promise.all(
    branches.map(async ({ transaction }) => {
      if (transaction.hasReportedWrites()) return true;
      const [row] = await transaction.query(hasWritten);
      return row?.written === true;
    }),
  );
  return branches.filter((_, place) => written[place]);
}

/** A transaction that takes too long is rolled back by recovery, which stores the outcome first. */
function throwLate(error: unknown): never {
  if (!(error instanceof pg.DatabaseError && error.code === uniqueViolation)) throw error;
  throw new Problem('storage_unavailable', { cause: error, retryAfter: 1 });
}

async function commitInTwoPhases(
  { servers }: Router,
  writers: readonly Branch[],
  { deciding, order }: { readonly deciding: Branch; readonly order: UserOrder },
): Promise<void> {
  const main = servers.get(mainShard);
  const names = new Map([...servers].map(([name, server]) => [server, name]));
  const nameOf = ({ server }: Branch) => names.get(server) ?? mainShard;
  const id = randomUUID();
  const others = writers
    .filter((branch) => branch !== deciding)
    .map((branch) => ({ ...branch, name: prepareName({ id, deciding: nameOf(deciding), branch: nameOf(branch) }) }));
  const endPrepared = (parts: typeof others, end: 'commit' | 'rollback') =>
    Promise.allSettled(
      parts.map(({ transaction, name }) => transaction.query(rawStatement(`${end} prepared '${name}'`))),
    );
  let isDecided = false;
  try {
    await Promise.all(
      others.map(({ server, transaction, name }) =>
        transaction.query(rawStatement(`${server === main ? order.shareLocks() : ''}prepare transaction '${name}'`)),
      ),
    );
    isDecided = true;
    await deciding.transaction.query(commitWithOutcome(id)).catch(throwLate);
  } catch (error) {
    // If the connection broke during the commit, the outcome is unknown. Recovery reads it, and completes the others.
    // Otherwise nothing is committed, and the caller rolls back the branches that were not prepared.
    if (!isDecided || isRefused(error)) await endPrepared(others, 'rollback');
    throw error;
  }
  // The transaction is committed, also if one of these fails: recovery completes it then.
  // The directory is last: its locks protect what the rows on the other servers refer to, such as images.
  await endPrepared(
    others.filter(({ server }) => server !== main),
    'commit',
  );
  await endPrepared(
    others.filter(({ server }) => server === main),
    'commit',
  );
}

/** Whether the server has refused a statement, and so rolls back the transaction. */
function isRefused(error: unknown): boolean {
  const cause = error instanceof Problem ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.severity === 'ERROR';
}
