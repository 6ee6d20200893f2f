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

/** Removes all keys but the current one from the file in DATA_DIR. @returns the ids of the removed keys */
export async function removeOldKeysFromFile(source: SecretKeySource): Promise<string[]> {
  const [current, ...old] = await needSecretKeys(source);
  if (source.SECRET_KEY !== undefined) {
    throw new SecretKeyError('SECRET_KEY is set: remove the keys after the first one there, on every instance.');
  }
  if (current !== undefined && old.length > 0) await writeKeys(source, [current]);
  return old.map(createKeyId);
}

async function writeKeys({ DATA_DIR }: SecretKeySource, keys: readonly string[]): Promise<void> {
  await writePrivateFile(join(DATA_DIR, secretKeyFile), keys.map((key) => `${key}\n`).join(''), { replace: true });
}
