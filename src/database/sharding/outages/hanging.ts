import { setImmediate as afterArrivals } from 'node:timers/promises';
import pg from 'pg';
import { Problem } from '../../../lib/problem.js';
import { waitAtMost } from '../../../lib/time-limit.js';
import { isStorageFailure } from '../../database.js';
import type { OpenTransaction, Server } from '../../server.js';

/** Milliseconds without any answer after which a server hangs, if a transaction waits to begin. */
const silenceMs = 1500;
/** The transactions that may wait for a server that hangs: they notice when it answers again. */
const maxWaiting = 2;

/**
 * Refuses most transactions that wait to begin on a server that hangs. Otherwise transactions over several servers would hold
 * connections of the other servers meanwhile, and delay the users there. A busy server does not hang: it answers some
 * statements.
 */
export function refuseWhileHanging(server: Server): Server {
  /** When the first transaction after the last answer was to begin. */
  let askedAt: number | undefined;
  let waiting = 0;
  const hangs = () => askedAt !== undefined && performance.now() - askedAt >= silenceMs;

  async function noteAnswer<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      askedAt = undefined;
      return result;
    } catch (error) {
      if (isAnswer(error)) askedAt = undefined;
      throw error;
    }
  }

  async function amongFew<T>(work: () => Promise<T>): Promise<T> {
    if (waiting >= maxWaiting) {
      throw new Problem('storage_unavailable', { cause: new Error('the server hangs'), retryAfter: 1 });
    }
    waiting += 1;
    try {
      return await work();
    } finally {
      waiting -= 1;
    }
  }

  /** Waits for the answer of a server that does not hang yet. A transaction that begins after the refusal ends at once. */
  async function unlessHanging(beginning: Promise<OpenTransaction>): Promise<OpenTransaction> {
    let isPending = true;
    const settled = beginning.finally(() => {
      isPending = false;
    });
    const ended = settled.catch(() => undefined);
    const end = performance.now() + silenceMs;
    // A timer fires early if the process was busy when it was set.
    for (let left = silenceMs; isPending && left > 0; left = end - performance.now()) {
      await waitAtMost(Math.ceil(left), ended);
    }
    // If this process itself was slow, answers have arrived that it has not read yet.
    if (isPending && hangs()) await afterArrivals();
    if (!isPending || !hangs()) return settled;
    return amongFew(() => settled).catch(async (error: unknown) => {
      if (isPending) void endLater(ended);
      throw error;
    });
  }

  return {
    ...server,
    query: (statement, deadline, isHere) => noteAnswer(server.query(statement, deadline, isHere)),
    async begin(deadline, isHere) {
      const begin = () => noteAnswer(server.begin(deadline, isHere));
      const isHanging = hangs();
      askedAt ??= performance.now();
      const transaction = await (isHanging ? amongFew(begin) : unlessHanging(begin()));
      return { ...transaction, query: (statement) => noteAnswer(transaction.query(statement)) };
    },
  };
}

async function endLater(beginning: Promise<OpenTransaction | undefined>): Promise<void> {
  const transaction = await beginning;
  await transaction?.rollback();
  transaction?.release();
}

/** Whether an error comes from the server, and not from a wait that was too long. */
function isAnswer(error: unknown): boolean {
  if (!isStorageFailure(error) || error.cause instanceof pg.DatabaseError) return true;
  const { code } = (error.cause ?? {}) as { readonly code?: string };
  return code === 'ECONNREFUSED' || code === 'ECONNRESET';
}
