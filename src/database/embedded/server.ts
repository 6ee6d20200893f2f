import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import type { Account } from './account.js';
import { type Binaries, SERVER_ENVIRONMENT } from './binaries.js';
import type { DataDirectory } from './data-directory.js';
import { inheritedName } from './descriptors.js';
import { EmbeddedPostgresError, reasonOf } from './error.js';

/** What it takes to start a server on a data directory. */
export interface Server {
  binaries: Binaries;
  data: DataDirectory;
  /** The account to run as, unless it is this process's own. */
  account: Account | undefined;
  /** Whether DATA_DIR belongs to root. */
  isRoots: boolean;
  logFile: string;
}

/** A server process that this Postern started. */
export interface StartedServer {
  pid: number | undefined;
  /** Why it has ended, or undefined as long as it has not. */
  failure(): string | undefined;
}

const LOG_FILE_LIMIT_BYTES = 10 * 1024 * 1024;

/** Enough of the log's end to hold the cause of a failed start. */
const LOG_TAIL_BYTES = 4096;

/**
 * On the command line and not in `postgresql.conf`, so that a new release's settings also reach old data, and so that
 * no edited file takes durability, privacy or the socket away.
 */
const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: '5432',
  // Sixteen workers with every channel of push, in a rolling restart, and commands beside them.
  max_connections: '300',
  // The queries are short: compiling them costs more than it saves.
  jit: 'off',
  timezone: 'UTC',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // After a crash everything is written out before the recovery: at once, not file by file, which takes seconds.
  ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),

  log_timezone: 'UTC',
  log_destination: 'stderr',
  // The log is a descriptor that the server inherits.
  logging_collector: 'off',
  log_min_messages: 'warning',
  log_checkpoints: 'off',
  // Statements, parameters and failing rows hold secrets: none of them may be logged, in no case.
  log_statement: 'none',
  log_min_duration_statement: '-1',
  log_min_duration_sample: '-1',
  log_transaction_sample_rate: '0',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
  log_error_verbosity: 'terse',
};

/**
 * Megabytes in which the server keeps pages of tables: an eighth of what this machine or container has, since the system
 * keeps files too and Postern runs beside it. It is taken as it is filled. Beyond 1 GB a database is worth a server of its own.
 */
function sharedBuffers(): number {
  // 0 or more than there is: no limit.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const megabytes = Math.min(totalmem(), limit) / 2 ** 20;
  return Math.round(Math.min(1024, Math.max(128, megabytes / 8)));
}

/**
 * Starts a server in its own session, so that neither a terminal's Ctrl-C nor this process's end takes it down.
 * Whether it got ready is to be found out by connecting.
 */
export function spawnServer({ binaries, data, account, logFile }: Server): StartedServer {
  const directory = inheritedName(data.path);
  const memory = { shared_buffers: `${sharedBuffers()}MB` };
  const settings = { ...SETTINGS, ...memory, unix_socket_directories: directory, cluster_name: data.clusterName };
  const log = openLog(logFile);
  try {
    const server = spawn(
      join(binaries.directory, 'bin', 'postgres'),
      ['-D', directory, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      {
        ...account,
        cwd: '/',
        env: SERVER_ENVIRONMENT,
        stdio: ['ignore', log, log, data.descriptor],
        detached: true,
      },
    );
    server.unref();
    return { pid: server.pid, failure: watch(server) };
  } finally {
    closeSync(log);
  }
}

function watch(server: ChildProcess): () => string | undefined {
  let failure: string | undefined;
  server.once('error', (error) => {
    failure = error.message;
  });
  server.once('exit', (code, signal) => {
    failure = signal === null ? `exit code ${code}` : signal;
  });
  return () => failure;
}

/** The end of the server's log, for the cause of a failure. */
export function tailOfLog(logFile: string): string[] {
  try {
    const descriptor = openSync(logFile, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const { size } = fstatSync(descriptor);
      const tail = Buffer.alloc(Math.min(size, LOG_TAIL_BYTES));
      readSync(descriptor, tail, 0, tail.length, size - tail.length);
      return tail.toString().trimEnd().split('\n').slice(-20);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}

/** Bounded where the server starts, because a running one keeps its descriptor: a rename would not reach it. */
function openLog(logFile: string): number {
  // Root must not be led to another file by a link that the owner of DATA_DIR has put there.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  try {
    const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LOG_FILE_LIMIT_BYTES) renameSync(logFile, `${logFile}.1`);
    return openSync(logFile, flags, 0o600);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${logFile} cannot be written (${reasonOf(error)}): let the user who starts Postern write to it, or remove it.`,
      { cause: error },
    );
  }
}
