import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { textEntry } from '../../../src/backups/container/archive.js';
import type { EmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { createKeyId } from '../../../src/lib/crypto/secret-keys.js';
import { type BackupChange, forgeBackup, isOfTables } from '../../backups/forged-backup.js';
import { query } from '../../embedded/embedded-postern.js';
import { startBackupPostgres } from '../../support/cluster.js';
import { type Environment, runCommand, temporaryFolder } from '../command.js';

// The attacker of these tests can write to the store of the backups, and knows neither the secret key nor the passphrase.

const secretKey = 'a secret key of forty characters or more';
const otherKey = 'another secret key of forty characters..';
const passphrase = 'correct horse battery';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: EmbeddedPostgres;
/** A folder with one backup, and the path of this backup. */
let store: string;
let backup: string;
/** A copy without the tables, which is read in a tenth of the time. */
let small: string;

/** The signature names the right key, whatever key it was made with. */
const signer = (key: string) => ({ id: createKeyId(secretKey), key });
const isServerFile = (path: string) => path.startsWith('postgres/');

const pathOf = (name: string) => join(folder.path, name);
const postern = (line: string, more: Environment = {}) =>
  runCommand(line.split(' '), { DATA_DIR: pathOf('data'), ...more });

/** Writes a copy of a backup whose checksums are right, but whose files are others. */
async function forge(name: string, change: BackupChange, from = small): Promise<string> {
  await forgeBackup(from, pathOf(name), change);
  return pathOf(name);
}

beforeAll(async () => {
  folder = await temporaryFolder();
  server = await startBackupPostgres(pathOf('data'));
  await query(server, "alter system set application_name = 'edited by the operator'");
  await writeFile(join(pathOf('data'), 'secret-key'), `${secretKey}\n`, { mode: 0o600 });
  await mkdir(pathOf('data/images/ab/cd/image'), { recursive: true });
  await writeFile(pathOf('data/images/ab/cd/image/card.jpg'), 'a picture');
  store = pathOf('store');
  await mkdir(store);
  expect(await postern(`backup create --to ${store}`)).toMatchObject({ code: 0, stderr: '' });
  backup = join(store, (await readdir(store))[0] ?? '');
  small = pathOf('small.tar');
  await forgeBackup(backup, small, { drops: isOfTables, signedWith: signer(secretKey) });
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

describe('a backup that somebody else has written', () => {
  it.each([
    ['without a signature', undefined],
    ['signed with another key', otherKey],
  ])('runs no command at verify and restore (%s)', async (_title, key) => {
    const marker = pathOf('ran');
    // A server could start on it.
    const path = await forge(
      'commands.tar',
      {
        adds: [
          textEntry('postgres/postgresql.auto.conf', `restore_command = 'touch ${marker}; false'\n`),
          textEntry('postgres/recovery.signal', ''),
        ],
        ...(key !== undefined && { signedWith: signer(key) }),
      },
      backup,
    );
    const [verify, restore] = [`backup verify ${path}`, `backup restore ${path} --to ${pathOf('never')}`];
    const refused: readonly (readonly [line: string, env?: Environment])[] =
      key === undefined
        ? [[verify], [restore, { BACKUP_PASSPHRASE: passphrase }], [`${verify} --unauthenticated`]]
        : [[restore], [verify, { SECRET_KEY: otherKey.toUpperCase() }], [`${restore} --unauthenticated`]];
    for (const [line, env] of refused) {
      expect((await postern(line, env)).code, `${line} ${JSON.stringify(env)}`).toBe(1);
      expect(existsSync(marker), line).toBe(false);
    }
    expect(existsSync(pathOf('never'))).toBe(false);
  });

  it('is refused when nothing in it shows that it was changed', async () => {
    const path = await forge('header.tar', {
      drops: isServerFile,
      header: (text) => text.replace('"has_secret_key": false', '"has_secret_key": true'),
    });
    const { code, stderr } = await postern(`backup restore ${path} --to ${pathOf('never')}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('no signature')]);
    const signed = await forge('signed.tar', { signedWith: signer(otherKey), drops: isServerFile });
    expect((await postern(`backup verify ${signed}`)).stderr).toContain('signature is wrong');
    const genuine = await forge('genuine.tar', { signedWith: signer(secretKey) }, backup);
    expect(await postern(`backup verify ${genuine}`)).toMatchObject({ code: 0, stderr: '' });
  });

  it('is refused unencrypted with a passphrase, even with the right signature', async () => {
    for (const line of [`backup verify ${backup}`, `backup restore ${backup} --to ${pathOf('never')}`]) {
      const { code, stderr } = await postern(line, { BACKUP_PASSPHRASE: passphrase });
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not encrypted')]);
    }
  });

  it('is skipped in a folder that also has a good one', async () => {
    const place = pathOf('planted');
    await mkdir(place);
    const name = backup.slice(store.length + 1);
    const newer = (year: string) => join(place, name.replace(/-\d{4}(?=\d{4}T)/, `-${year}`));
    await copyFile(backup, join(place, name));
    await writeFile(newer('2997'), 'not a backup');
    await copyFile(small, newer('2998'));
    const header = (text: string) => text.replace(/"created_at": "\d{4}/, '"created_at": "2999');
    await copyFile(
      await forge('newest.tar', { signedWith: signer(otherKey), header, drops: isServerFile }),
      newer('2999'),
    );
    await mkdir(newer('3000'));
    for (const line of [`backup verify ${place}`, `backup restore ${place} --to ${pathOf('older')}`]) {
      const { code, stderr } = await postern(line);
      expect(code, stderr).toBe(0);
      const lines = stderr.trim().split('\n');
      for (const [index, year] of ['2999', '2998', '2997'].entries())
        expect(lines[index]).toContain(`Skipped ${newer(year)}: `);
      const warnings = line.includes('restore')
        ? [expect.stringContaining(`WARNING: ${newer('2999')} and 2 more cannot be used, so this is an older state.`)]
        : [];
      expect(lines.slice(3)).toEqual(warnings);
    }
  });

  it('is refused under the name of another backup', async () => {
    const place = pathOf('swapped');
    await mkdir(place);
    await copyFile(backup, join(place, backup.slice(store.length + 1).replace(/-\d{4}(?=\d{4}T)/, '-2999')));
    for (const line of [`backup verify ${place}`, `backup restore ${place} --to ${pathOf('never')}`]) {
      const { code, stderr } = await postern(line);
      expect([code, stderr]).toEqual([1, expect.stringContaining('is not the backup of its name')]);
    }
  });

  it.each(['postgres/recovery.signal', 'postgres/postgresql.auto.conf', 'images/../up', '/etc/x'])(
    'with %s is refused even if its signature is right',
    async (path) => {
      const forged = await forge('path.tar', {
        adds: [textEntry(path, 'x')],
        signedWith: signer(secretKey),
        drops: isServerFile,
      });
      const before = await readdir(folder.path);
      const { code, stderr } = await postern(`backup restore ${forged} --to ${pathOf('never')}`);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`the unexpected file ${path}`)]);
      expect(await readdir(folder.path)).toEqual(before);
    },
  );

  it('with the same file twice is refused', async () => {
    const twice = textEntry('images/one', 'x');
    const path = await forge('twice.tar', { adds: [twice, twice], signedWith: signer(secretKey), drops: isServerFile });
    const { code, stderr } = await postern(`backup restore ${path} --to ${pathOf('never')}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('contains images/one twice')]);
  });
});

describe('a backup on a machine without its key', () => {
  it('is restored only if the operator trusts the file, with settings that Postern writes', async () => {
    const line = `backup restore ${small} --to ${pathOf('trusted')}`;
    const elsewhere = { DATA_DIR: pathOf('elsewhere') };
    const refused = await postern(line, elsewhere);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`SECRET_KEY to the key with the id ${createKeyId(secretKey)}`),
    ]);
    expect(refused.stderr).toContain('--unauthenticated');
    expect(await postern(`${line} --unauthenticated`, elsewhere)).toMatchObject({ code: 0 });
    expect(await readFile(pathOf('trusted/postgres/postgresql.auto.conf'), 'utf8')).not.toContain('edited');
    expect(await postern(`backup verify ${backup} --unauthenticated`, elsewhere)).toMatchObject({ code: 0 });
    // With the key in SECRET_KEY, the next test verifies it.
  });
});

describe('a verification without DATA_DIR', () => {
  it("leaves other programs' folders in the temporary directory", async () => {
    const temporary = pathOf('tmp');
    const previous = process.env.TMPDIR;
    onTestFinished(() => {
      if (previous === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = previous;
    });
    process.env.TMPDIR = temporary;
    for (const [name, mode] of [
      ['verify-others', 0o755],
      ['verify-mine', 0o700],
    ] as const) {
      await mkdir(join(temporary, name), { recursive: true, mode });
      await utimes(join(temporary, name), new Date(0), new Date(0));
    }
    const { code, stderr } = await postern(`backup verify ${backup}`, {
      DATA_DIR: pathOf('nowhere'),
      SECRET_KEY: secretKey,
    });
    expect([code, stderr]).toEqual([0, '']);
    expect((await readdir(temporary)).filter((name) => name.includes('verify'))).toEqual([
      'verify-mine',
      'verify-others',
    ]);
  });
});
