import { existsSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addKeyToFile, removeOldKeysFromFile } from '../../src/keys/key-file.js';
import { readSecretKeys } from '../../src/keys/secret-key-file.js';
import { createKeyId } from '../../src/lib/crypto/secret-keys.js';

let DATA_DIR: string;
beforeAll(async () => {
  DATA_DIR = await mkdtemp(join(tmpdir(), 'postern-keys-'));
});
afterAll(() => rm(DATA_DIR, { recursive: true }));

const fromEnvironment = [{ reveal: () => 'k'.repeat(40) }];

describe('the keys in DATA_DIR', () => {
  it('are the new key and the old keys, until the old keys are removed', async () => {
    const [old = ''] = await readSecretKeys({ DATA_DIR });
    const ids = await addKeyToFile({ DATA_DIR });
    const keys = await readSecretKeys({ DATA_DIR });
    expect(keys).toEqual([expect.not.stringContaining(old), old]);
    expect(ids).toEqual(keys.map(createKeyId));
    expect((await stat(join(DATA_DIR, 'secret-key'))).mode & 0o777).toBe(0o600);

    expect(await removeOldKeysFromFile({ DATA_DIR }, ids)).toEqual([createKeyId(old)]);
    expect(await readFile(join(DATA_DIR, 'secret-key'), 'utf8')).toBe(`${keys[0]}\n`);
    expect(await removeOldKeysFromFile({ DATA_DIR }, ids.slice(0, 1))).toEqual([]);
  });

  it('keep their owner if root rotates and removes them', async () => {
    const path = join(DATA_DIR, 'secret-key');
    if (process.getuid?.() === 0) await chown(path, 65534, 65534);
    const { uid, gid } = await stat(path);
    const ids = await addKeyToFile({ DATA_DIR });
    expect(await stat(path)).toMatchObject({ uid, gid });
    await removeOldKeysFromFile({ DATA_DIR }, ids);
    expect(await stat(path)).toMatchObject({ uid, gid });
  });

  it('are not removed if they were rotated after the check of their values', async () => {
    const checked = await addKeyToFile({ DATA_DIR });
    await addKeyToFile({ DATA_DIR });
    const before = await readFile(join(DATA_DIR, 'secret-key'), 'utf8');
    await expect(removeOldKeysFromFile({ DATA_DIR }, checked)).rejects.toThrow('The keys were changed');
    expect(await readFile(join(DATA_DIR, 'secret-key'), 'utf8')).toBe(before);
  });

  it('are not changed if SECRET_KEY is set', async () => {
    const before = await readFile(join(DATA_DIR, 'secret-key'), 'utf8');
    const source = { DATA_DIR, SECRET_KEY: fromEnvironment };
    await expect(addKeyToFile(source)).rejects.toThrow('SECRET_KEY is set');
    await expect(removeOldKeysFromFile(source, [])).rejects.toThrow('SECRET_KEY is set');
    expect(await readFile(join(DATA_DIR, 'secret-key'), 'utf8')).toBe(before);
  });

  it('include the new key of each of several rotations at the same time', async () => {
    const before = (await readSecretKeys({ DATA_DIR })).map(createKeyId);
    const rotations = await Promise.all(Array.from({ length: 3 }, () => addKeyToFile({ DATA_DIR })));
    const ids = (await readSecretKeys({ DATA_DIR })).map(createKeyId);
    expect(ids.slice(3)).toEqual(before);
    expect(ids.slice(0, 3).toSorted()).toEqual(rotations.map(([added]) => added).toSorted());
    expect(existsSync(join(DATA_DIR, 'secret-key.lock'))).toBe(false);
  });

  it('are not changed while another command changes them', async () => {
    const before = await readFile(join(DATA_DIR, 'secret-key'), 'utf8');
    const lock = join(DATA_DIR, 'secret-key.lock');
    await writeFile(lock, '');
    await expect(addKeyToFile({ DATA_DIR })).rejects.toThrow(`${lock} exists`);
    expect(await readFile(join(DATA_DIR, 'secret-key'), 'utf8')).toBe(before);
    await rm(lock);
  });

  it('are not created by a rotation', async () => {
    await expect(addKeyToFile({ DATA_DIR: join(DATA_DIR, 'missing') })).rejects.toThrow('There is no');
  });
});
