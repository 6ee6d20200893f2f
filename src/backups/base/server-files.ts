import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const dataFile = String.raw`\d+(?:_(?:fsm|vm|init))?(?:\.\d+)?|pg_filenode\.map`;

/**
 * The files and folders of a data directory that contain data, relative to it. A backup has no others. Settings, access
 * rules, signal files and tablespaces can name commands and other folders, so a restore replaces or refuses them.
 */
const dataPaths = new RegExp(
  `^(?:${[
    'PG_VERSION|backup_label',
    `global(?:/(?:${dataFile}|pg_control))?`,
    String.raw`base(?:/\d+(?:/(?:${dataFile}|PG_VERSION))?)?`,
    'pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans|pg_tblspc',
    '(?:pg_xact|pg_commit_ts|pg_twophase)(?:/[0-9A-F]{4,16})?',
    'pg_multixact(?:/(?:members|offsets)(?:/[0-9A-F]{4,16})?)?',
    String.raw`pg_logical(?:/replorigin_checkpoint|/(?:mappings|snapshots)(?:/[\w-]+(?:\.snap)?)?)?`,
    String.raw`pg_stat(?:/\w+\.stat)?`,
    String.raw`pg_wal(?:/(?:[0-9A-F]{24}|[0-9A-F]{8}\.history))?`,
  ].join('|')})$`,
);

/** Whether a path, relative to the data directory, contains only data. */
export const isServerData = (path: string): boolean => dataPaths.test(path);

/**
 * The files that a restore writes. Each start of the service writes the access rules again, and gives all settings that
 * matter on the command line. initdb chooses the same configuration for texts.
 */
const written: Readonly<Record<string, string>> = {
  'postgresql.conf': "# Written by a restore of Postern.\ndefault_text_search_config = 'pg_catalog.english'\n",
  'postgresql.auto.conf': '',
  'pg_hba.conf': '# Written by a restore of Postern.\nlocal all all reject\n',
  'pg_ident.conf': '# Written by a restore of Postern.\n',
};

/** Writes the settings and access rules of a restored data directory. */
export async function writeServerSettings(
  folder: string,
  account: { readonly uid: number; readonly gid: number } | undefined,
): Promise<void> {
  for (const [name, text] of Object.entries(written)) {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    if (account !== undefined) await chown(path, account.uid, account.gid);
  }
}
