import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSecretKeys, SecretKeyError } from '../../src/keys/secret-key-file.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-secret-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('readSecretKeys', () => {
  it('uses the keys of SECRET_KEY in their order, and creates no file', async () => {
    const SECRET_KEY = ['new', 'old'].map((key) => ({ reveal: () => key }));
    expect(await readSecretKeys({ SECRET_KEY, DATA_DIR: folder })).toEqual(['new', 'old']);
    expect(await readdir(folder)).toEqual([]);
  });

  it('creates a key of 48 random bytes that only its owner can read, and keeps it', async () => {
    const DATA_DIR = join(folder, 'data');
    const [key] = await readSecretKeys({ DATA_DIR });
    expect(key).toMatch(/^[A-Za-z0-9_-]{64}$/);
    expect((await stat(join(DATA_DIR, 'secret-key'))).mode & 0o777).toBe(0o600);
    expect((await stat(DATA_DIR)).mode & 0o777).toBe(0o700);
    expect(await readSecretKeys({ DATA_DIR })).toEqual([key]);
  });

  it('gives the same key to all processes that start at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      const DATA_DIR = join(folder, String(round));
      const keys = await Promise.all(Array.from({ length: 8 }, () => readSecretKeys({ DATA_DIR })));
      expect(new Set(keys.flat()).size).toBe(1);
      expect(await readdir(DATA_DIR)).toEqual(['secret-key']);
    }
  });

  it('refuses a damaged file and does not create another key', async () => {
    const file = join(folder, 'secret-key');
    await writeFile(file, 'short\n');
    await expect(readSecretKeys({ DATA_DIR: folder })).rejects.toThrow(SecretKeyError);
    expect(await readFile(file, 'utf8')).toBe('short\n');
  });
});
