import { openBackup } from '../base/open.js';
import { parseLsn } from '../base/positions.js';
import { type BackupStore, listMade, type MadeBackups } from '../places/place.js';
import { archiveFolder, listParts } from './parts.js';

/**
 * Removes the parts of log archives that no backup in the store needs, and the files that interrupted writes left.
 * @param current the archive that is being written
 * @throws BackupError if a backup cannot be read; nothing was removed then
 */
export async function removeOldParts(
  store: BackupStore,
  options: {
    readonly owner: string;
    readonly current: string | null;
    readonly passphrase: string | undefined;
    readonly made: MadeBackups;
  },
): Promise<void> {
  const { owner, current, passphrase } = options;
  const needed = new Map<string, number>();
  for (const name of (await listMade(store, options)).names) {
    // Only the header is read, so the origin is not checked. An attacker who can replace a backup can also replace the
    // parts that it needs.
    const keys = { passphrase, secretKeys: [], acceptsUnauthenticated: true };
    const { header, entries } = await openBackup(store.read(name), keys, { name });
    await entries.return(undefined);
    if (header.archive === undefined) continue;
    const folder = archiveFolder(owner, header.archive.id);
    needed.set(folder, Math.min(needed.get(folder) ?? Number.POSITIVE_INFINITY, parseLsn(header.archive.lsn)));
  }
  // A bucket lists the names of all parts. A folder lists only the names of its subfolders.
  const names = await store.list(archiveFolder(owner, ''));
  for (const folder of new Set(names.map((name) => name.split('/')[0] ?? name))) {
    // The names of the folders of a restored copy also begin with the owner of the original.
    if (folder.slice(archiveFolder(owner, '').length).includes('-')) continue;
    await store.removeAbandoned(`${folder}/`);
    const from = needed.get(folder);
    if (from === undefined && current !== null && folder === archiveFolder(owner, current)) continue;
    const parts = await listParts(store, folder);
    for (const { name, end } of parts) if (end <= (from ?? Number.POSITIVE_INFINITY)) await store.remove(name);
    if (from === undefined) await store.remove(folder);
  }
}
