import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isNearlyFull } from '../../../src/app/base/disks.js';
import { checkDisks, diskFindings, migrationFindings } from '../../../src/app/doctor/disks.js';
import { readConfig } from '../../../src/config/config.js';

test.each([
  ['a small disk with a tenth', 20e9, 2e9, false],
  ['a small disk with less than a tenth', 20e9, 1.9e9, true],
  ['a large disk with 5 GB', 2e12, 5e9, false],
  ['a large disk with less than 5 GB', 2e12, 4.9e9, true],
  ['a full disk', 20e9, 0, true],
])('%s free is nearly full or not', (_, bytes, free, expected) => {
  expect(isNearlyFull(bytes, free)).toBe(expected);
});

test('each disk that is nearly full is named with what Postern writes there', () => {
  const disk = { bytes: 20e9, free_bytes: 1.5e9, is_nearly_full: true } as const;
  const findings = diskFindings([
    { ...disk, used_for: 'data' },
    { ...disk, used_for: 'images', free_bytes: 15e9, is_nearly_full: false },
    { ...disk, used_for: 'log_archive' },
  ]);
  expect(findings.map(({ level, detail }) => `${level} ${detail}`)).toEqual([
    'warn 1.50 of 20.00 GB are free for the data (DATA_DIR): make space before writes fail',
    'warn 1.50 of 20.00 GB are free for the log archive (BACKUP_TO): make space before writes fail',
  ]);
});

test('the disks of folders that do not exist yet are examined, and buckets are not', async () => {
  const DATA_DIR = join(tmpdir(), 'postern-no-such-folder', 'data');
  const check = async (env: Readonly<Record<string, string>>) =>
    (await checkDisks(readConfig({ DATA_DIR, ...env }))).map(({ detail }) => detail).join();
  const detail = await check({ BACKUP_TO: join(DATA_DIR, 'backups'), BACKUP_CONTINUOUS: 'true' });
  for (const name of ['DATA_DIR', 'images', 'backups', 'log archive']) expect(detail).toContain(name);
  const s3 = { BACKUP_S3_ACCESS_KEY_ID: 'A'.repeat(20), BACKUP_S3_SECRET_ACCESS_KEY: 'b'.repeat(40) };
  expect(await check({ BACKUP_TO: 's3://bucket/backups', ...s3 })).not.toContain('backups');
});

test('a disk with less room than the database needs for a migration is named', () => {
  const disk = { used_for: 'data', bytes: 20e9, free_bytes: 8e9, is_nearly_full: false } as const;
  expect(migrationFindings(disk, 8e9)).toEqual([]);
  expect(migrationFindings(disk, 8.01e9)).toEqual([
    {
      level: 'warn',
      what: 'disk',
      detail:
        '8.00 of 20.00 GB are free for the data (DATA_DIR), and the database has 8.01 GB: a migration of large tables may need more',
    },
  ]);
});
