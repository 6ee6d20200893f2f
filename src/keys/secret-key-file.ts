import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writePrivateFile } from '../lib/private-file.js';

/** The part of the configuration that contains or locates the secret keys. */
export interface SecretKeySource {
  readonly DATA_DIR: string;
  readonly SECRET_KEY?: readonly { reveal(): string }[] | undefined;
}

/** The file in DATA_DIR with the keys, one in each line, if SECRET_KEY is not set. It belongs to the embedded database in the same folder. */
export const secretKeyFile = 'secret-key';

const keyBytes = 48;
const minKeyLength = 32;

/**
 * Reads the secret keys of SECRET_KEY or, if it is not set, those in DATA_DIR. The current key is the first. Creates
 * the file if it is missing. Processes that start at the same time get the same key.
 */
export async function readSecretKeys(source: SecretKeySource): Promise<string[]> {
  const existingKeys = await findSecretKeys(source);
  if (existingKeys !== undefined) return existingKeys;
  const path = join(source.DATA_DIR, secretKeyFile);
  const newKey = randomBytes(keyBytes).toString('base64url');
  const isWritten = await writePrivateFile(path, `${newKey}\n`, { replace: false });
  return isWritten ? [newKey] : parseKeys(await readFile(path, 'utf8'), path);
}

/** Reads the secret keys, which must exist. @throws SecretKeyError */
export async function needSecretKeys(source: SecretKeySource): Promise<string[]> {
  const known = await findSecretKeys(source);
  if (known !== undefined) return known;
  const path = join(source.DATA_DIR, secretKeyFile);
  throw new SecretKeyError(
    `There is no ${path}: check DATA_DIR, set SECRET_KEY, or run \`postern serve\` once, which creates it.`,
  );
}

/**
 * Reads the secret keys. Creates nothing.
 * @returns undefined if there are none
 * @throws SecretKeyError if their file is damaged
 */
export async function findSecretKeys({ SECRET_KEY, DATA_DIR }: SecretKeySource): Promise<string[] | undefined> {
  if (SECRET_KEY !== undefined) return SECRET_KEY.map((key) => key.reveal());
  const path = join(DATA_DIR, secretKeyFile);
  const content = await readIfPresent(path);
  return content === undefined ? undefined : parseKeys(content, path);
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The keys in a file: one in each line, the current one first. A damaged key must not be replaced silently: everything that
 * was hashed or encrypted with it would be lost.
 */
function parseKeys(text: string, path: string): string[] {
  const keys = text.split('\n').flatMap((line) => line.trim() || []);
  if (keys.length > 0 && keys.every((key) => key.length >= minKeyLength)) return keys;
  throw new SecretKeyError(`${path} holds no key: restore it, or set SECRET_KEY to the key that was in it`);
}

/** The secret key cannot be read. The message says what to do. */
export class SecretKeyError extends Error {}
