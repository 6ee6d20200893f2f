import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startArchiver } from '../../../src/backups/log-archive/archiver.js';
import { createBackupFolder } from '../../../src/backups/places/folder.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { encryptAge, isAgeFile } from '../../../src/lib/crypto/age.js';
import { createKeyId } from '../../../src/lib/crypto/secret-keys.js';
import { forgeBackup, isOfTables } from '../../backups/forged-backup.js';
import { accessKeyId, secretAccessKey, startStore } from '../../delivery/storage/s3-fake.js';
import { query } from '../../embedded/embedded-postern.js';
import { sharedBuffers, startBackupPostgres } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { type Environment, runCommand, startCommand, temporaryFolder } from '../command.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const secretKey = 'a secret key of forty characters or more';
const passphrase = 'correct horse battery';
const image = join('ab', 'cd', 'image', 'card.jpg');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let dataDir: string;
let env: Environment;
let server: EmbeddedPostgres;
/** A backup with the secret key, and a copy of it without the tables, which is read in a tenth of the time. */
let backup: string;
let small: string;

const pathOf = (name: string) => join(folder.path, name);
const postern = (line: string, more: Environment = {}) => runCommand(line.split(' '), { ...env, ...more });

/** Writes a changed copy of the small backup. @returns its path */
async function writeChanged(name: string, change: (bytes: Buffer) => Buffer): Promise<string> {
  await writeFile(pathOf(name), change(await readFile(small)));
  return pathOf(name);
}

function flipped(bytes: Buffer, position: number): Buffer {
  const place = Math.floor(position);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  return bytes;
}

const withFormat = (bytes: Buffer, format: number) =>
  Buffer.from(bytes.toString('latin1').replace('"format": 1', `"format": ${format}`), 'latin1');

/** Runs statements on a restored copy. */
async function queryCopy(copy: string, text: string): Promise<Record<string, unknown>[]> {
  const restored = await startEmbeddedPostgres({ dataDir: copy, log: silent, sharedBuffers });
  try {
    return await query(restored, text);
  } finally {
    await restored.stop();
  }
}

beforeAll(async () => {
  folder = await temporaryFolder();
  dataDir = pathOf('data');
  env = { DATA_DIR: dataDir };
  server = await startBackupPostgres(dataDir);
  await query(server, 'create table kept (id bigserial primary key, value text)');
  await query(server, "insert into kept (value) select 'row ' || n from generate_series(1, 2000) n");
  await writeFile(join(dataDir, 'secret-key'), `${secretKey}\n`, { mode: 0o600 });
  await mkdir(join(dataDir, 'images', 'ab', 'cd', 'image'), { recursive: true });
  await writeFile(join(dataDir, 'images', image), 'a picture');
  backup = pathOf('first.tar');
  expect(await postern(`backup create --to ${backup} --with-secret-key`)).toMatchObject({ code: 0, stderr: '' });
  small = pathOf('small.tar');
  await forgeBackup(backup, small, { drops: isOfTables, signedWith: { id: createKeyId(secretKey), key: secretKey } });
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

describe('postern backup', () => {
  it('create writes a file that only its owner can read, and never over another one', async () => {
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    const again = await postern(`backup create --to ${backup}`);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain(`${backup} exists already`);
    const [row] = await query(server, 'select location, bytes, error from backups where error is null');
    expect(row).toMatchObject({ location: backup, bytes: String((await stat(backup)).size) });
    expect((await readdir(folder.path)).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('verify reports what it has found in a restored copy, and removes the copy', async () => {
    const { code, stdout, stderr } = await postern(`backup verify ${backup}`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      / is good: the database \d+ of .+ PostgreSQL 18.+ \d+ files, \d+ tables, \d+ rows and \d+ intact indexes/,
    );
    expect((await readdir(dataDir)).filter((name) => name.startsWith('verify-'))).toEqual([]);
  });

  it.each([
    ['verify', '', () => readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, 'data', 'postgres')))],
    ['restore', '--to interrupted', () => readdirSync(folder.path).some((name) => name.includes('restoring'))],
  ])('%s leaves nothing when it is interrupted', async (command, more, hasBegun) => {
    const [before, beforeInData] = [readdirSync(folder.path), readdirSync(dataDir)];
    const target = more.replace('interrupted', pathOf('interrupted'));
    const running = startCommand(['backup', command, backup, ...target.split(' ').filter(Boolean)], env);
    await eventually('a copy', async () => (hasBegun() ? true : undefined));
    running.signal('SIGINT');
    const { code, stderr } = await running.done;
    expect([code, stderr]).toEqual([1, expect.stringContaining('Stopped. What was written is removed.')]);
    expect([readdirSync(folder.path), readdirSync(dataDir)]).toEqual([before, beforeInData]);
    expect(running.listeners()).toBe(0);
  });

  it('restore creates a folder with the rows, the image and the key, and names the next command', async () => {
    const copy = pathOf('restored');
    const { code, stdout } = await postern(`backup restore ${backup} --to ${copy}`);
    expect(code).toBe(0);
    expect(stdout).toContain(`Start it with: DATA_DIR=${copy} postern serve`);
    expect(await readFile(join(copy, 'secret-key'), 'utf8')).toBe(`${secretKey}\n`);
    expect(await readFile(join(copy, 'images', image), 'utf8')).toBe('a picture');
    expect(await queryCopy(copy, 'select count(*)::int as rows from kept')).toEqual([{ rows: 2000 }]);
  });

  it('restore never changes an existing folder, not even an empty one', async () => {
    const existing = pathOf('existing');
    await mkdir(existing);
    for (const target of [existing, dataDir]) {
      const before = await readdir(target);
      const { code, stderr } = await postern(`backup restore ${backup} --to ${target}`);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${target} exists, and a restore never changes`)]);
      expect(await readdir(target)).toEqual(before);
    }
  });

  // app/domains/backups.test.ts restores an encrypted backup.
  it('create encrypts with BACKUP_PASSPHRASE, and verify and restore need it', async () => {
    const secret = { BACKUP_PASSPHRASE: passphrase };
    const written = pathOf('encrypted.age');
    expect(await postern(`backup create --to ${written} --with-secret-key`, secret)).toMatchObject({ code: 0 });
    const bytes = await readFile(written);
    expect([bytes.includes(secretKey), isAgeFile(bytes)]).toEqual([false, true]);
    expect((await postern(`backup verify ${written}`)).stderr).toContain('encrypted: set BACKUP_PASSPHRASE');
    // A file names the cost of its key. The others cost less.
    const path = pathOf('cheap.age');
    await writeFile(path, encryptAge(passphrase, createReadStream(small), 10));
    const wrong = await postern(`backup verify ${path}`, { BACKUP_PASSPHRASE: 'another passphrase' });
    expect(wrong.stderr).toContain('is not the passphrase');
    await writeFile(path, (await readFile(path)).subarray(0, -70_000));
    const cut = await postern(`backup restore ${path} --to ${pathOf('cut')}`, secret);
    expect(cut.stderr).toContain('cut, changed or damaged');
    expect(await readdir(folder.path)).not.toContain('cut');
  });

  it.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, 1_000_000), 'its end is missing'],
    ['changed', (bytes: Buffer) => flipped(bytes, bytes.length / 2), 'was changed or is damaged'],
    ['foreign', () => Buffer.from('something else '.repeat(1000)), 'is not a backup of Postern'],
    // The format is in the first file.
    ['older', (bytes: Buffer) => withFormat(bytes.subarray(0, 100_000), 0), 'the old format 0'],
    ['newer', (bytes: Buffer) => withFormat(bytes.subarray(0, 100_000), 2), 'the format 2, which a newer release'],
  ])('a %s file is refused with a sentence, and nothing is left', async (name, change, sentence) => {
    const path = await writeChanged(`${name}.tar`, change);
    const before = await readdir(folder.path);
    const { code, stdout, stderr } = await postern(`backup restore ${path} --to ${pathOf('never')}`);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(sentence)]);
    expect(await readdir(folder.path)).toEqual(before);
  });

  it('verify refuses a truncated file, and removes its copy', async () => {
    const path = await writeChanged('cut-again.tar', (bytes) => bytes.subarray(0, -2000));
    expect((await postern(`backup verify ${path}`)).stderr).toContain('its end is missing');
    expect((await readdir(dataDir)).filter((entry) => entry.startsWith('verify-'))).toEqual([]);
  });

  it('a backup whose files belong to another database than its header says is refused', async () => {
    const [own] = await query(server, 'select system_identifier::text as id from pg_control_system()');
    // The changed digest at the end is right: the archive is complete, but its parts do not belong together.
    const path = pathOf('mixed.tar');
    await forgeBackup(small, path, {
      header: (text) => text.replace(String(own?.id), '7000000000000000000'),
      drops: (name) => /^postgres\/(?!global$|global\/pg_control$|backup_label$)/.test(name),
      signedWith: { id: createKeyId(secretKey), key: secretKey },
    });
    const { code, stderr } = await postern(`backup restore ${path} --to ${pathOf('never')}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('belong to another database')]);
  });

  it('a key in the URL of a bucket is not printed', async () => {
    for (const place of [
      's3://AKIA:sesame@bucket/x',
      's3://AKIA:sesame@bucket',
      's3://bucket?secret=sesame',
      's3://sesame:',
      ...['S3://AKIA:sesame@bucket', 's3:/AKIA:sesame@bucket', 's3:AKIA:sesame@bucket', 's3:\\\\AKIA:sesame@bucket'],
      ...['"s3://AKIA:sesame@bucket"', "'s3://AKIA:sesame@bucket'", '\ufeffs3://AKIA:sesame@bucket', '=s3:sesame'],
      ...['https://AKIA:sesame@bucket.s3.example', 'backups/s3://AKIA:sesame@bucket', '\u00a0s3://AKIA:sesame@b'],
    ]) {
      for (const command of [`create --to ${place}`, `verify ${place}`, `restore ${place} --to ${pathOf('never')}`]) {
        const { code, stdout, stderr } = await postern(`backup ${command}`);
        expect([code, stderr]).toEqual([1, expect.stringContaining('must be s3://bucket or s3://bucket/prefix')]);
        expect(stdout + stderr).not.toContain('sesame');
      }
    }
  });

  it('a bucket can hold backups, which say which key they need, and an error of the bucket is printed as a sentence', async () => {
    const store = await startStore();
    onTestFinished(() => store.close());
    const place = 's3://bucket-of-tests/backups';
    const access = {
      BACKUP_S3_ENDPOINT: store.url,
      BACKUP_S3_REGION: 'eu-west-1',
      BACKUP_S3_ACCESS_KEY_ID: accessKeyId,
    };
    const keys = { ...access, BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey };
    expect((await postern(`backup create --to ${place}`)).stderr).toContain('needs an access key');
    expect(await postern(`backup create --to ${place}`, keys)).toMatchObject({ code: 0, stderr: '' });
    const [key = ''] = store.objects.keys();
    expect(key).toMatch(/^bucket-of-tests\/backups\/postern-\d+-\d{8}T\d{6}Z\.tar$/);
    const { code, stdout, stderr } = await postern(`backup restore s3://${key} --to ${pathOf('from-bucket')}`, keys);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/no secret key\. It needs the key with the id [0-9a-f]{8}: copy it to .+secret-key/);
    expect(await readdir(pathOf('from-bucket'))).toEqual(['images', 'installation', 'postgres']);
    store.objects.set(key, (store.objects.get(key) ?? Buffer.alloc(0)).subarray(0, 1_000_000));
    const cut = await postern(`backup verify ${place}`, keys);
    expect(cut).toMatchObject({ code: 1, stderr: expect.stringContaining('its end is missing') });
    const refused = await postern(`backup verify ${place}`, { ...keys, BACKUP_S3_SECRET_ACCESS_KEY: 'wrong secret' });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('403 SignatureDoesNotMatch') });
    expect((await postern(`backup verify ${place}/none`, keys)).stderr).toContain(
      `There is no backup in ${place}/none`,
    );
  });

  it('restore --at needs a time with its zone, and a backup with a log archive', async () => {
    const { stderr } = await postern(`backup restore ${backup} --at yesterday --to ${pathOf('never')}`);
    expect(stderr).toContain('--at must be latest, or a time with its zone');
    const plain = await postern(`backup restore ${small} --at latest --to ${pathOf('never')}`);
    expect(plain).toMatchObject({ code: 1, stderr: expect.stringContaining('made without BACKUP_CONTINUOUS') });
  });

  it('restore --at says that a later rotation needs a newer key than the backup', async () => {
    const place = pathOf('continuous');
    const archiver = startArchiver({
      ...{ target: server.address, serverFolder: join(dataDir, 'postgres'), store: createBackupFolder(place) },
      ...{
        passphrase: undefined,
        secretKeys: [{ id: createKeyId(secretKey), key: secretKey }],
        log: silent,
        pauseMs: 20,
      },
    });
    try {
      await eventually('the archive', async () => (existsSync(place) ? true : undefined));
      expect(await postern(`backup create --to ${place}/ --with-secret-key`)).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await archiver.stop();
    }
    const { code, stdout } = await postern(`backup restore ${place} --at latest --to ${pathOf('to-latest')}`);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/was rotated between \S+Z and \S+Z, it also needs the new key/),
    ]);
  });

  it('create reports that there is no database', async () => {
    const { code, stderr } = await postern(`backup create --to ${pathOf('none.tar')}`, { DATA_DIR: pathOf('nowhere') });
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no database in')]);
  });
});
