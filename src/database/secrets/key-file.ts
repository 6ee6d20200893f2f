import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createKeyId } from '../../lib/crypto/secret-keys.js';
import { writePrivateFile } from '../../lib/private-file.js';
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
  const keys = [newKey, ...(await needSecretKeys(source))];
  await writeKeys(source, keys);
  return keys.map(createKeyId);
}

/**
 * Removes all keys but the current one from the file in DATA_DIR.
 * @param checked the ids of the keys for which no value needs an old key
 * @returns the ids of the removed keys
 * @throws SecretKeyError if the keys have changed
 */
export async function removeOldKeysFromFile(source: SecretKeySource, checked: readonly string[]): Promise<string[]> {
  const keys = await needSecretKeys(source);
  const [current, ...old] = keys;
  if (source.SECRET_KEY !== undefined) {
    throw new SecretKeyError('SECRET_KEY is set: remove the keys after the first one there, on every instance.');
  }
  // The check may take minutes. After a rotation in this time, all values need a key that would be removed.
  if (keys.map(createKeyId).join() !== checked.join()) {
    throw new SecretKeyError('The keys were changed while the command ran, so it removed none: run it again.');
  }
  if (current !== undefined && old.length > 0) await writeKeys(source, [current]);
  return old.map(createKeyId);
}

async function writeKeys({ DATA_DIR }: SecretKeySource, keys: readonly string[]): Promise<void> {
  await writePrivateFile(join(DATA_DIR, secretKeyFile), keys.map((key) => `${key}\n`).join(''), { replace: true });
}
