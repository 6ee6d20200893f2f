import { randomBytes } from 'node:crypto';
import type { Queryable } from '../database/database.js';
import { sql, statement } from '../database/sql.js';
import { createSecretKeys, type SecretKeys } from '../lib/crypto/secret-keys.js';
import { recordCurrentKey } from './old-keys.js';
import { findSecretKeys, readSecretKeys, SecretKeyError, type SecretKeySource } from './secret-key-file.js';
import { countUnreadable, describeCounts, describeMissingKeys, type Unreadable } from './unreadable.js';

const countRecorded = statement<{ ids: readonly string[] }, { count: number }>(
  'secret_keys_recorded',
  (p) => sql`select count(*)::int as count from secret_keys where id = any(${p.ids}::text[])`,
);

/** Unreadable values of each kind are counted up to this number: the error message needs no exact one. */
const maxRows = 1000;

/**
 * Reads the secret keys when the service starts, and records that this database uses the current one. Creates the file of
 * the keys if it is missing and no stored value needs another key. If a key is lost, the start must fail and not use a new one:
 * with the new key, right PINs would be refused as wrong ones.
 * @throws SecretKeyError if stored values need another key, and no operator has accepted their loss (`acceptNewKey`)
 */
export async function secretKeysForStart(handle: Queryable, source: SecretKeySource): Promise<SecretKeys> {
  const found = await findSecretKeys(source);
  // Without a file, a random key: it decrypts nothing, so every encrypted value counts as unreadable.
  const keys = createSecretKeys(found ?? [randomBytes(32).toString('hex')]);
  const [recorded] = await handle.query(countRecorded({ ids: found === undefined ? [] : keys.ids }));
  if (recorded?.count === 0) {
    const unreadable = await countUnreadable(handle, keys, maxRows);
    if (unreadable.length > 0) throw new SecretKeyError(describeLostKey(unreadable, source));
  }
  return recordedKeys(handle, source);
}

/**
 * Lets the service start with a new key although stored values need another one. Creates the file of the keys if it is
 * missing, and records that this database uses the current key.
 * @returns the id of the current key, and the values that no key decrypts
 */
export async function acceptNewKey(
  handle: Queryable,
  source: SecretKeySource,
): Promise<{ readonly id: string; readonly unreadable: readonly Unreadable[] }> {
  const keys = await recordedKeys(handle, source);
  return { id: keys.ids[0] ?? '', unreadable: await countUnreadable(handle, keys) };
}

async function recordedKeys(handle: Queryable, source: SecretKeySource): Promise<SecretKeys> {
  const keys = createSecretKeys(await readSecretKeys(source));
  await recordCurrentKey(handle, keys);
  return keys;
}

function describeLostKey(unreadable: readonly Unreadable[], { SECRET_KEY, DATA_DIR }: SecretKeySource): string {
  const cure =
    SECRET_KEY === undefined
      ? `Put the file secret-key back into ${DATA_DIR}, or set SECRET_KEY to the key that was in it.`
      : 'Add it to SECRET_KEY after the current key, joined by a comma.';
  return (
    `The database was used with another secret key. These values need it: ${describeCounts(unreadable)}. ` +
    `${describeMissingKeys(unreadable)} is missing. ${cure} If it is lost, run \`postern secret accept-new\`: ` +
    'then Postern starts with a new key, and these values never work again.'
  );
}
