import { availableCores, availableMemory } from '../../lib/machine.js';

/** The resources that one process may use: database connections, cores and memory, which all workers share. */
export interface ResourceLimits {
  /** Connections of the pool that serves requests. */
  readonly connections: number;
  /**
   * Concurrent jobs of the queue. Each job needs a connection. Each runner of the queue needs one more connection, and
   * so do the names of the runners and the signals.
   */
  readonly jobs: number;
  /**
   * The number of passwords that are hashed at a time, at least one. More hashes than cores would evict each other's CPU
   * caches. All workers together use at most a quarter of the memory, if that is enough for one hash of each worker.
   */
  readonly hashes: number;
  /** Passwords that wait to be hashed. */
  readonly waitingHashes: number;
}

/** The limits of a single process. */
const singleProcess = { connections: 20, jobs: 10, waitingHashes: 128 };
/**
 * Connections of all workers together. With up to six workers they fit into the 100 that PostgreSQL allows by default. More
 * connections would only wait for the same cores.
 */
const totalConnections = 30;
/** Bytes for a hash: 19 MiB, and the thread that computes it. */
const bytesPerHash = 35e6;
/** The maximum number of parallel hashes of one process. A login takes 1 to 2 ms of the main thread, and 9 ms of a hashing thread. */
const maxHashes = 8;
/** With fewer connections, a few users with locked rows would block all others. */
const minConnections = 5;

/** The limits of one worker, if there are `workers` of them. `memory` is in bytes. */
export function resourceLimits(workers: number, cores = availableCores(), memory = availableMemory()): ResourceLimits {
  const hashesInMemory = Math.max(1, Math.floor(memory / 4 / bytesPerHash / workers));
  const perWorker = (all: number, min: number) => Math.max(min, Math.ceil(all / workers));
  return {
    connections: workers === 1 ? singleProcess.connections : perWorker(totalConnections, minConnections),
    jobs: perWorker(singleProcess.jobs, 1),
    hashes: Math.min(maxHashes, hashesInMemory, perWorker(cores, 1)),
    waitingHashes: perWorker(singleProcess.waitingHashes, 16),
  };
}

/** Connections of a process besides those of requests and jobs: one for each group of jobs, their names and the signals. */
const otherConnections = 6;

/**
 * The maximum number of connections of one instance: its processes, one more during a rolling restart, and those that look for
 * a new primary, migrate and supervise.
 * @param pushChannels each has a group of jobs
 */
export function connectionsOfInstance(workers: number, pushChannels: number): number {
  const { connections, jobs } = resourceLimits(workers);
  const processes = workers === 1 ? 1 : workers + 1;
  return processes * (connections + jobs + otherConnections + pushChannels) + 2;
}
