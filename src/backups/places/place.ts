import { BackupError } from '../container/error.js';

/** Where a backup is written. */
export interface BackupPlace {
  /** The full name of the backup `name`, for people. */
  locate(name: string): string;
  /**
   * Writes a backup. It gets its name when it is complete, and never replaces another backup.
   * @returns its bytes
   */
  write(name: string, content: AsyncIterable<Buffer>): Promise<number>;
}

/** A folder or a bucket with backups. Names may contain one slash. */
export interface BackupStore extends BackupPlace {
  /** The names that begin with a prefix, sorted. None if there is no such folder. */
  list(prefix: string): Promise<string[]>;
  /** The content of a file. Reading fails with BackupError if there is none. */
  read(name: string): AsyncIterable<Buffer>;
  /** Succeeds if there is no such file. */
  remove(name: string): Promise<void>;
  /** Removes the incomplete files of names with this prefix that interrupted writes left long ago. */
  removeAbandoned(prefix: string): Promise<void>;
}

/** The beginning of the names of all backups. */
export const backupPrefix = 'postern-';

const backupNames = /^postern-(\d+(?:\.\d+)?)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar(?:\.age)?$/;

/** The name of a backup. It contains the time, so names sort by age. */
export function backupName(systemId: string, createdAt: string, isEncrypted: boolean): string {
  return `${backupPrefix}${systemId}-${createdAt.replaceAll(/[-:]/g, '')}.tar${isEncrypted ? '.age' : ''}`;
}

/**
 * The parts of the name of a backup: the identifier of the database, and the start in milliseconds since 1970.
 * Undefined for other names.
 */
export function parseBackupName(name: string): { readonly systemId: string; readonly startedAt: number } | undefined {
  const [, systemId, ...digits] = backupNames.exec(name) ?? [];
  if (systemId === undefined) return undefined;
  const [year = 0, month = 1, ...rest] = digits.map(Number);
  return { systemId, startedAt: Date.UTC(year, month - 1, ...rest) };
}

/**
 * The backups of one database in a store, the oldest first.
 * @param systemId undefined: the store must have backups of one database only
 * @throws BackupError if there is none, or several databases have some
 */
export async function listStored(store: BackupStore, systemId?: string): Promise<string[]> {
  const names = (await store.list(backupPrefix)).filter((name) => {
    const parsed = parseBackupName(name);
    return parsed !== undefined && (systemId === undefined || parsed.systemId === systemId);
  });
  if (names.length === 0) throw new BackupError(`There is no backup in ${store.locate('')}.`);
  // The names sort by system, and then by time. With several systems, the last name is not the newest backup.
  if (new Set(names.map((name) => parseBackupName(name)?.systemId)).size > 1) {
    throw new BackupError(`${store.locate('')} has backups of several databases: name the file.`);
  }
  return names;
}

/**
 * Deletes all backups of a database except the newest ones.
 * @param now milliseconds since 1970
 * @returns the names of the deleted backups
 */
export async function removeOldBackups(
  store: BackupStore,
  { systemId, keep, now }: { readonly systemId: string; readonly keep: number; readonly now: number },
): Promise<string[]> {
  const names = await listStored(store, systemId);
  // The names of the future were given while the clock was ahead. If they counted as the newest ones, each new backup
  // would be deleted at once.
  const isAhead = (name: string) => (parseBackupName(name)?.startedAt ?? 0) > now;
  const old = [...names.filter(isAhead), ...names.filter((name) => !isAhead(name))].slice(0, -keep);
  for (const name of old) await store.remove(name);
  return old;
}
