import { randomBytes } from 'node:crypto';
import { chown, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { syncFolder } from '../../lib/files.js';
import { parseJsonObject } from '../../lib/json-object.js';
import { createPrivateFolder } from '../../lib/private-file.js';
import { manifestPath, type ReadEntry } from '../container/archive.js';
import { BackupError } from '../container/error.js';

/** The list of a backup's files, and what a restored copy must contain. */
export const Manifest = Type.Object({
  /** The number of rows of each table shortly before the end of the backup. */
  rows: Type.Record(Type.String(), Type.Number()),
  /** Whether the counts must be exact: nothing was written between the counts and the end of the backup. */
  is_quiet: Type.Boolean(),
  files: Type.Array(Type.Object({ path: Type.String(), size: Type.Number(), sha256: Type.String() })),
});
export type Manifest = Static<typeof Manifest>;

/** Bytes. Node cannot hold a longer text. */
const maxManifestBytes = 500_000_000;

/** Whether a path is that of an image file or one of its folders, or of the secret key. */
export const isImageOrKey = (path: string): boolean => /^(?:images(?:\/\w[\w.-]*)*|secret-key)$/.test(path);

/** Refuses a folder or file that exists. @throws BackupError */
export async function refuseExisting(target: string): Promise<void> {
  const status = await lstat(target).catch(() => undefined);
  if (status === undefined) return;
  throw new BackupError(
    `${target} exists, and a restore never changes existing data: name a folder that does not exist.`,
  );
}

/**
 * Creates a folder with the files that `fill` writes. The folder gets its final name when `fill` has ended.
 * @param entries the files of the backup. They are closed at the end
 * @param target must not exist
 * @param fill gets the folder under its temporary name, and the whole path of the target
 * @throws BackupError
 */
export async function withNewFolder<T>(
  entries: AsyncGenerator<ReadEntry>,
  target: string,
  fill: (staging: string, folder: string) => Promise<T>,
): Promise<T> {
  const folder = resolve(target);
  const staging = join(dirname(folder), `.${basename(folder)}.restoring-${randomBytes(6).toString('hex')}`);
  try {
    await refuseExisting(folder);
    await createPrivateFolder(staging);
    const result = await fill(staging, folder);
    await refuseExisting(folder);
    await rename(staging, folder);
    await syncFolder(dirname(folder));
    return result;
  } finally {
    await entries.return(undefined);
    await rm(staging, { recursive: true, force: true });
  }
}

/**
 * Writes all files, and reads the backup to its end, which checks it.
 * @returns its manifest
 * @throws BackupError
 */
export async function extract<T extends TSchema>(
  entries: AsyncIterable<ReadEntry>,
  folder: string,
  options: {
    readonly isAllowed: (path: string) => boolean;
    readonly schema: T;
    /** The account that must own the server's files, if it is not this process's own. */
    readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  },
): Promise<Static<T>> {
  const { isAllowed, schema, account } = options;
  let text: Buffer | undefined;
  const paths = new Set<string>();
  for await (const entry of entries) {
    if (paths.has(entry.path)) throw new BackupError(`The backup contains ${entry.path} twice.`);
    paths.add(entry.path);
    if (entry.path === manifestPath) {
      if (entry.size > maxManifestBytes) throw new BackupError('The list of files in the backup is too long.');
      text = await buffer(entry.content);
      continue;
    }
    if (!isAllowed(entry.path)) throw new BackupError(`The backup contains the unexpected file ${entry.path}.`);
    const path = join(folder, entry.path);
    if (entry.type === 'folder') await mkdir(path, { mode: 0o700 });
    else await writeFile(path, entry);
    if (account !== undefined && entry.path.startsWith('postgres')) await chown(path, account.uid, account.gid);
  }
  // Only now the origin of the list is known. Objects can take many times the memory of their text.
  const manifest: unknown = text && parseJsonObject(text.toString());
  if (!Value.Check(schema, manifest)) throw new BackupError('The backup has no list of its files: it is damaged.');
  return manifest;
}

async function writeFile(path: string, { content, path: name }: ReadEntry): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const part of content) await file.writeFile(part);
    // PostgreSQL syncs its own files to the disk when it starts on them.
    if (!name.startsWith('postgres/')) await file.sync();
  } finally {
    await file.close();
  }
}
