import { expect, it } from 'vitest';
import { isImageOrKey } from '../../../src/backups/base/extract.js';
import { isServerData } from '../../../src/backups/base/server-files.js';

it.each([
  ...['PG_VERSION', 'backup_label', 'global', 'global/pg_control', 'global/1262_fsm', 'global/pg_filenode.map'],
  ...['base', 'base/5', 'base/5/PG_VERSION', 'base/5/1259', 'base/5/1259_vm', 'base/5/16384.1', 'base/5/16384_init'],
  ...[
    'pg_xact/0000',
    'pg_commit_ts',
    'pg_multixact/members/0000',
    'pg_multixact/offsets',
    'pg_twophase/0000000000000300',
  ],
  ...['pg_logical/replorigin_checkpoint', 'pg_logical/snapshots/0-1A2B3C.snap', 'pg_logical/mappings', 'pg_tblspc'],
  ...['pg_stat/pgstat.stat', 'pg_wal', 'pg_wal/000000010000000000000001', 'pg_wal/00000002.history', 'pg_notify'],
])('%s is data of a server', (path) => {
  expect(isServerData(path)).toBe(true);
});

it.each([
  ...['postgresql.conf', 'postgresql.auto.conf', 'pg_hba.conf', 'pg_ident.conf', 'recovery.signal', 'standby.signal'],
  ...['tablespace_map', 'postmaster.pid', 'postmaster.opts', 'backup_manifest', 'current_logfiles', 'extra.conf'],
  ...[
    'PG_HBA.CONF',
    'RECOVERY.SIGNAL',
    'Base',
    'recovery.signal\n',
    'conf.d/x.conf',
    'server.key',
    '.s.PGSQL.5432.lock',
  ],
  ...['pg_tblspc/16400', 'pg_tblspc/16400/x', 'base/5/evil.so', 'base/5/t3_16400', 'base/5/pg_internal.init'],
  ...['base/pgsql_tmp', 'base/..', 'base/../../up', 'base/5/./1259', 'base//5/1259', 'base/5/', '/base/5', '../base'],
  ...['.', '..', '', 'base/5/1259\n', 'PG_VERSION\n', 'PG_VERSION/x', 'backup_label.old', 'backup_label/x'],
  ...['pg_wal/x', 'pg_wal/archive_status/x.ready', 'pg_wal/000000010000000000000001/x', 'pg_wal/RECOVERYXLOG'],
  ...['pg_replslot/slot/state', 'pg_notify/0000', 'pg_stat_tmp/x', 'pg_stat/../x.stat', 'global/pg_control/x'],
  ...['pg_logical/snapshots/../x.snap', 'pg_logical/mappings/x.conf', 'pg_xact/x', 'pg_dynshmem/mmap.1'],
])('%j is no data of a server', (path) => {
  expect(isServerData(path)).toBe(false);
});

it.each(['images', 'images/ab/cd/abcd/card.jpg', 'images/unsettled/abcd', 'secret-key'])(
  '%s is an image or the key',
  (path) => {
    expect(isImageOrKey(path)).toBe(true);
  },
);

it.each([
  ...['images/', 'images/..', 'images/../up', 'images/a/../../up', 'images/.ssh/x', 'images/a b', 'images//a'],
  ...['Images/x', 'images\\..\\up', 'images/-rf', 'secret-key/x', 'secret-key.lock', 'secret-key\n', 'installation'],
  ...['admin-key', '/etc/x', '../up', ''],
])('%j is neither an image nor the key', (path) => {
  expect(isImageOrKey(path)).toBe(false);
});
