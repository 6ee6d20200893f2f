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
  /** The names of files that begin with a prefix, sorted. Folders may be listed too, with a slash at the end. */
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

const backupNames =
  /^postern-((\d+(?:\.\d+)?)(?:-[0-9a-f]{8})?)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar(?:\.age)?$/;

/** The name of a backup. It contains the time, so names sort by age. */
export function backupName(owner: string, createdAt: string, isEncrypted: boolean): string {
  return `${backupPrefix}${owner}-${createdAt.replaceAll(/[-:]/g, '')}.tar${isEncrypted ? '.age' : ''}`;
}

/**
 * The parts of the name of a backup: its owner, the identifier of the database, and the start in milliseconds since
 * 1970. Undefined for other names.
 */
export function parseBackupName(
  name: string,
): { readonly owner: string; readonly systemId: string; readonly startedAt: number } | undefined {
  const [, owner, systemId, ...digits] = backupNames.exec(name) ?? [];
  if (owner === undefined || systemId === undefined) return undefined;
  const [year = 0, month = 1, ...rest] = digits.map(Number);
  return { owner, systemId, startedAt: Date.UTC(year, month - 1, ...rest) };
}

/**
 * The backups of one owner in a store, the oldest first.
 * @param owner undefined: the backups of the original and its restored copies, which must be the only ones
 * @throws BackupError if there is none, or several databases have some
 */
export async function listStored(store: BackupStore, owner?: string): Promise<string[]> {
  const found = (await store.list(backupPrefix)).flatMap((name) => {
    const parsed = parseBackupName(name);
    return parsed !== undefined && (owner === undefined || parsed.owner === owner) ? [{ name, ...parsed }] : [];
  });
  if (found.length === 0) throw new BackupError(`There is no backup in ${store.locate('')}.`);
  if (new Set(found.map(({ systemId }) => systemId)).size > 1) {
    throw new BackupError(`${store.locate('')} has backups of several databases: name the file.`);
  }
  // Not by name, because the names sort by owner first.
  return found.sort((a, b) => a.startedAt - b.startedAt).map(({ name }) => name);
}

/**
 * The backups of the original or of other restored copies of a database. They are not backups of `owner`, because both
 * may have changed since the restore.
 */
export async function listRelated(store: BackupStore, owner: string): Promise<string[]> {
  const [systemId] = owner.split('-');
  return (await store.list(backupPrefix)).filter((name) => {
    const parsed = parseBackupName(name);
    return parsed?.systemId === systemId && parsed?.owner !== owner;
  });
}

/** Backups that this database has made, by their full names, and whether each was verified. */
export type MadeBackups = ReadonlyMap<string, { readonly is_verified: boolean }>;

/**
 * The backups of an owner that this database has made, the oldest first, and the number of other files with such names. Somebody
 * else may have written these, so they never count and are never deleted.
 */
export async function listMade(
  store: BackupStore,
  { owner, made }: { readonly owner: string; readonly made: MadeBackups },
): Promise<{ readonly names: string[]; readonly others: number }> {
  const all = await listStored(store, owner);
  const names = all.filter((name) => made.has(store.locate(name)));
  return { names, others: all.length - names.length };
}

/**
 * Deletes all backups of an owner that are older than the newest `keep` verified ones.
 * @param now milliseconds since 1970
 * @returns the names of the deleted backups
 */
export async function removeOldBackups(
  store: BackupStore,
  options: { readonly owner: string; readonly keep: number; readonly now: number; readonly made: MadeBackups },
): Promise<string[]> {
  const { keep, now, made } = options;
  const { names } = await listMade(store, options);
  // The names of the future were given while the clock was ahead. If they counted as the newest ones, each new backup
  // would be deleted at once.
  const isAhead = (name: string) => (parseBackupName(name)?.startedAt ?? 0) > now;
  const sorted = [...names.filter(isAhead), ...names.filter((name) => !isAhead(name))];
  const verified = sorted.filter((name) => made.get(store.locate(name))?.is_verified === true);
  const [oldestKept] = verified.slice(-keep);
  const old = verified.length < keep ? [] : sorted.slice(0, sorted.indexOf(oldestKept ?? ''));
  for (const name of old) await store.remove(name);
  return old;
}
