import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { type AccessFiles, openAccessFiles } from './access.js';
import type { Account } from './account.js';
import { type Binaries, serverEnvironment } from './binaries.js';
import { type DataDirectory, openDataDirectory, superuser } from './data-directory.js';
import { inheritedIndexes, inheritedPath } from './descriptors.js';
import { EmbeddedPostgresError, reasonOf } from './error.js';

/** Everything that is needed to start a server on a data directory. */
export interface Server {
  binaries: Binaries;
  data: DataDirectory;
  /** The account to run as, unless it is this process's own. */
  account: Account | undefined;
  logFile: string;
  /** Megabytes. Undefined: a part of the memory of this machine. */
  sharedBuffers?: number | undefined;
}

/** A server process that this Postern started. */
export interface StartedServer {
  pid: number | undefined;
  /** The reason why the server has ended; undefined while it runs. */
  failure(): string | undefined;
}

/** The address for clients: fields of pg's ClientConfig. */
export interface DatabaseAddress {
  /** The folder of a unix socket. */
  host: string;
  port: number;
  user: string;
  database: string;
}

/** The name of Postern's database. */
export const databaseName = 'postern';

export const addressOf = ({ data }: Server): DatabaseAddress => ({
  host: data.ownPath,
  port: 5432,
  user: superuser,
  database: databaseName,
});

/** Opens a data directory in DATA_DIR for a server of these binaries. @throws EmbeddedPostgresError */
export async function openServer(
  dataDir: string,
  path: string,
  binaries: Binaries,
  account: Account | undefined,
  initdbOptions?: readonly string[],
): Promise<Server> {
  const data = await openDataDirectory(dataDir, path, binaries, account, initdbOptions);
  return { binaries, data, account, logFile: join(dataDir, 'postgres.log') };
}

const maxLogBytes = 10 * 1024 * 1024;

/** The length of the end of the log that contains the cause of a failed start. */
const logTailBytes = 4096;

/**
 * The settings on the command line, not in `postgresql.conf`: so a new release changes them for existing data too, and no
 * edited file can change durability, privacy or the socket.
 */
const serverSettings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: '5432',
  // Enough for sixteen workers with every push channel during a rolling restart, and for commands.
  max_connections: '300',
  // The queries are short: compilation costs more than it saves.
  jit: 'off',
  timezone: 'UTC',
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  // While a backup storage fails, its replication slot keeps the write-ahead log. If this lasts for days, the log must
  // not fill the disk.
  max_slot_wal_keep_size: '8GB',
  // After a crash PostgreSQL syncs all files before the recovery. One call for all files saves seconds.
  ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),

  log_timezone: 'UTC',
  log_destination: 'stderr',
  // The server inherits a descriptor of the log file.
  logging_collector: 'off',
  log_min_messages: 'warning',
  log_checkpoints: 'off',
  // Statements, parameters and failing rows hold secrets: never log them.
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
 * `shared_buffers` in megabytes: an eighth of the memory of this machine or container, because the system caches files too
 * and Postern runs beside it. The server uses the memory as it fills it. A database that needs more than 1 GB deserves a
 * server of its own.
 */
function defaultSharedBuffers(): number {
  // If the value is 0 or more than the memory, there is no limit.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const megabytes = Math.min(totalmem(), limit) / 2 ** 20;
  return Math.round(Math.min(1024, Math.max(128, megabytes / 8)));
}

/**
 * Starts a server in its own session, so that neither Ctrl-C in a terminal nor the end of this process stops it.
 * Connect to find out when it is ready.
 */
export function spawnServer(server: Server): StartedServer {
  if (server.account === undefined) return spawnWith(server, undefined);
  const access = openAccessFiles(dirname(server.data.path));
  try {
    return spawnWith(server, access);
  } finally {
    access.close();
  }
}

/** @param access the rules for clients; undefined: the server reads the rules in its data directory */
function spawnWith(
  { binaries, data, account, logFile, sharedBuffers = defaultSharedBuffers() }: Server,
  access: AccessFiles | undefined,
): StartedServer {
  const directory = inheritedPath(data.path);
  const settings = {
    ...serverSettings,
    shared_buffers: `${sharedBuffers}MB`,
    unix_socket_directories: directory,
    cluster_name: data.clusterName,
    ...(access && {
      hba_file: inheritedPath('', inheritedIndexes.hba),
      ident_file: inheritedPath('', inheritedIndexes.ident),
    }),
  };
  const log = openLog(logFile);
  try {
    const server = spawn(
      join(binaries.directory, 'bin', 'postgres'),
      ['-D', directory, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      {
        ...account,
        cwd: '/',
        env: serverEnvironment,
        stdio: ['ignore', log, log, data.descriptor, ...(access === undefined ? [] : [access.hba, access.ident])],
        detached: true,
      },
    );
    server.unref();
    return { pid: server.pid, failure: watchProcess(server) };
  } finally {
    closeSync(log);
  }
}

function watchProcess(server: ChildProcess): () => string | undefined {
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
      const tail = Buffer.alloc(Math.min(size, logTailBytes));
      readSync(descriptor, tail, 0, tail.length, size - tail.length);
      return tail.toString().trimEnd().split('\n').slice(-20);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return [];
  }
}

/** Limits the log when the server starts: a running server keeps its descriptor, so a rename would have no effect. */
function openLog(logFile: string): number {
  // Root must not follow a symbolic link of the owner of DATA_DIR to another file.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  try {
    const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxLogBytes) renameSync(logFile, `${logFile}.1`);
    return openSync(logFile, flags, 0o600);
  } catch (error) {
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `${logFile} cannot be written (${reasonOf(error)}): let the user who starts Postern write to it, or remove it.`,
      { cause: error },
    );
  }
}
