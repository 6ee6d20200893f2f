import { availableCores, availableMemory } from './lib/machine.js';

/** What one process takes of what all workers share: the connections of the database, the cores, and the memory. */
export interface Share {
  /** Connections of the pool that answers requests. */
  readonly connections: number;
  /** Jobs of the queue at a time; each needs a connection. Each line of the queue needs one more, its names one, and signals one. */
  readonly jobs: number;
  /**
   * Passwords that are hashed at a time, one at least: more than there are cores would take each other's caches. All
   * together take a quarter of the memory at most, where that is enough for one of each worker.
   */
  readonly hashes: number;
  /** Passwords that wait to be hashed. */
  readonly waitingHashes: number;
}

/** What a process alone takes. */
const alone = { connections: 20, jobs: 10, waitingHashes: 128 };
/**
 * Connections of all pools together, where there are several: they fit into the 100 that PostgreSQL allows by default
 * up to six workers, and more of them would only wait for the same cores.
 */
const connectionsOfAll = 36;
/** Bytes of a hash: 19 MiB, and the thread that makes it. */
const memoryOfHash = 35e6;
/** Of one process: a login takes 1 to 2 ms of its thread that handles requests, and 9 of one that hashes. */
const mostHashes = 8;
/** With fewer, a few users whose rows are locked would hold up everybody. */
const fewestConnections = 5;

export function shareOf(workers: number, cores = availableCores(), memory = availableMemory()): Share {
  const hashesInMemory = Math.max(1, Math.floor(memory / 4 / memoryOfHash / workers));
  const part = (all: number, fewest: number) => Math.max(fewest, Math.ceil(all / workers));
  return {
    connections: workers === 1 ? alone.connections : part(connectionsOfAll, fewestConnections),
    jobs: part(alone.jobs, 1),
    hashes: Math.min(mostHashes, hashesInMemory, part(cores, 1)),
    waitingHashes: part(alone.waitingHashes, 16),
  };
}
