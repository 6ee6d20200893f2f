import { randomBytes } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createKeyId } from '../lib/crypto/secret-keys.js';
import { writePrivateFile } from '../lib/private-file.js';
import { needSecretKeys, SecretKeyError, type SecretKeySource, secretKeyFile } from './secret-key-file.js';

const keyBytes = 48;

/** Puts a new key before the keys in DATA_DIR. @returns the ids of the keys, the new one first. @throws SecretKeyError */
export async function addKeyToFile(source: SecretKeySource): Promise<string[]> {
  const newKey = randomBytes(keyBytes).toString('base64url');
  if (source.SECRET_KEY !== undefined) {
    throw new SecretKeyError(
      'SECRET_KEY is set, so the keys are not in DATA_DIR: put a new key before the others, joined by a comma, on every ' +
        `instance. This is a new key: ${newKey}`,
    );
  }
  return withKeyFile(source, async (known) => {
    const keys = [newKey, ...known];
    await writeKeys(source, keys);
    return keys.map(createKeyId);
  });
}

/**
 * Removes all keys but the current one from the file in DATA_DIR.
 * @param checked the ids of the keys for which no value needs an old key
 * @returns the ids of the removed keys
 * @throws SecretKeyError if the keys have changed
 */
export async function removeOldKeysFromFile(source: SecretKeySource, checked: readonly string[]): Promise<string[]> {
  if (source.SECRET_KEY !== undefined) {
    throw new SecretKeyError('SECRET_KEY is set: remove the keys after the first one there, on every instance.');
  }
  return withKeyFile(source, async (keys) => {
    // The check may take minutes. After a rotation in this time, all values need a key that would be removed.
    if (keys.map(createKeyId).join() !== checked.join()) {
      throw new SecretKeyError('The keys were changed while the command ran, so it removed none: run it again.');
    }
    const [current, ...old] = keys;
    if (current !== undefined && old.length > 0) await writeKeys(source, [current]);
    return old.map(createKeyId);
  });
}

/** Milliseconds. A change of the file takes a few. */
const [lockWaitMs, pauseMs] = [5000, 10];

/**
 * Reads the keys in DATA_DIR, and changes them while no other command does so. Otherwise one of two new keys would be lost.
 * @throws SecretKeyError
 */
async function withKeyFile<T>(source: SecretKeySource, change: (keys: readonly string[]) => Promise<T>): Promise<T> {
  // Without keys there is nothing to lock, and perhaps no folder.
  await needSecretKeys(source);
  const lock = join(source.DATA_DIR, `${secretKeyFile}.lock`);
  const deadline = performance.now() + lockWaitMs;
  while (!(await isCreated(lock))) {
    if (performance.now() > deadline) {
      throw new SecretKeyError(
        `${lock} exists, so another command is changing the keys: wait for its end. If it was killed, remove this file.`,
      );
    }
    await wait(pauseMs);
  }
  try {
    return await change(await needSecretKeys(source));
  } finally {
    await rm(lock, { force: true });
  }
}

/** Creates an empty file. @returns false if it exists */
async function isCreated(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function writeKeys({ DATA_DIR }: SecretKeySource, keys: readonly string[]): Promise<void> {
  await writePrivateFile(join(DATA_DIR, secretKeyFile), keys.map((key) => `${key}\n`).join(''), { replace: true });
}
