import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Problem } from '../problem.js';

/**
 * The purpose of a derived key. Each purpose has its own key, so no value of one purpose is valid for another. `seal` is
 * for encryption. Stored values depend on these names.
 */
export type KeyPurpose =
  | 'identity'
  | 'code'
  | 'pin'
  | 'recovery'
  | 'idempotency'
  | 'limit'
  | 'human_check'
  | 'dpop'
  | 'address'
  | 'unsubscribe'
  | 'seal';

/**
 * The operations that use `SECRET_KEY`. During a rotation there are several keys: the first one creates new values, and
 * all of them can read existing values.
 */
export interface SecretKeys {
  /** HMAC-SHA256 with the current key. */
  digest(purpose: KeyPurpose, data: string): Buffer;
  /** HMAC-SHA256 with every key, the current one first. */
  digests(purpose: KeyPurpose, data: string): Buffer[];
  /** Compares in constant time with the digest of each key. */
  matches(purpose: KeyPurpose, data: string, digest: Buffer): boolean;
  /** Encrypts with AES-256-GCM and the current key: key id, nonce, tag, ciphertext. `context` is the associated data. */
  encrypt(plain: string, context: string): Buffer;
  /** Decrypts. Undefined when no key decrypts the value with this `context`. */
  decrypt(encrypted: Buffer, context: string): string | undefined;
  /**
   * The id of the missing key that a value needs.
   * @returns undefined if these keys include it, or if the value is older than key ids
   */
  missingKeyOf(encrypted: Buffer): string | undefined;
  /** The ids of the keys, the current one first. */
  readonly ids: readonly string[];
  /** Whether the current key encrypted a value. False for a value that is older than key ids. */
  isCurrent(encrypted: Buffer): boolean;
}

const nonceBytes = 12;
const tagBytes = 16;
const idBytes = 4;
/** The first bytes of an encrypted value, before the id of its key. Values of older releases begin with their nonce. */
export const encryptedPrefix = Buffer.from('PSv1');
/** The length of the head of an encrypted value, which identifies its key. */
export const encryptedHeadBytes = encryptedPrefix.length + idBytes;

/**
 * The id of a key for logs and encrypted values. It is derived with a one-way function, so it does not reveal the key.
 */
export function createKeyId(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'postern key id', idBytes)).toString('hex');
}

/** The names of the keys in the hashes of PINs: `k` and eight hexadecimal digits. The current one first. */
export function pinKeyNames(keys: SecretKeys): string[] {
  return keys.digests('pin', 'fingerprint').map((digest) => `k${digest.toString('hex').slice(0, 8)}`);
}

/** A message for the log: no configured key decrypts a stored value. Names the missing key. */
export function describeUnreadable(keys: SecretKeys, encrypted: Buffer, label: string): string {
  const missing = keys.missingKeyOf(encrypted);
  const reason =
    missing === undefined
      ? 'no key of SECRET_KEY decrypts it'
      : `the key with the id ${missing} is missing from SECRET_KEY`;
  return `${label} cannot be decrypted: ${reason}`;
}

/** The problem for a request that needs a stored value which no configured key decrypts. */
export function unreadableProblem(keys: SecretKeys, encrypted: Buffer, label: string): Problem {
  return new Problem('secret_unreadable', {
    retryAfter: retryAfterSeconds,
    cause: new Error(describeUnreadable(keys, encrypted, label)),
  });
}

/** Seconds. An operator has to restart Postern first. */
const retryAfterSeconds = 60;

/** @param secrets at least one secret of at least 32 characters, the current one first. */
export function createSecretKeys(secrets: readonly string[]): SecretKeys {
  const derive = (secret: string, purpose: KeyPurpose) =>
    Buffer.from(hkdfSync('sha256', secret, '', `postern ${purpose}`, 32));
  const keys = (purpose: KeyPurpose) => secrets.map((secret) => derive(secret, purpose));
  const derived = {
    identity: keys('identity'),
    code: keys('code'),
    pin: keys('pin'),
    recovery: keys('recovery'),
    idempotency: keys('idempotency'),
    limit: keys('limit'),
    human_check: keys('human_check'),
    dpop: keys('dpop'),
    address: keys('address'),
    unsubscribe: keys('unsubscribe'),
    seal: keys('seal'),
  };
  const ids = secrets.map(createKeyId);
  const keyIdOf = (encrypted: Buffer) =>
    encrypted.subarray(0, encryptedPrefix.length).equals(encryptedPrefix)
      ? encrypted.toString('hex', encryptedPrefix.length, encryptedHeadBytes)
      : undefined;
  const hmac = (key: Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const currentKey = (purpose: KeyPurpose): Buffer => {
    const key = derived[purpose][0];
    if (key === undefined) throw new Error('SECRET_KEY contains no key');
    return key;
  };

  return {
    ids,
    isCurrent: (encrypted) => keyIdOf(encrypted) === ids[0],
    digest: (purpose, data) => hmac(currentKey(purpose), data),
    digests: (purpose, data) => derived[purpose].map((key) => hmac(key, data)),
    matches(purpose, data, digest) {
      return derived[purpose].map((key) => hmac(key, data)).some((computed) => equalBytes(computed, digest));
    },
    encrypt(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', currentKey('seal'), nonce).setAAD(Buffer.from(context));
      const encrypted = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const id = Buffer.from(ids[0] ?? '', 'hex');
      return Buffer.concat([encryptedPrefix, id, nonce, cipher.getAuthTag(), encrypted]);
    },
    decrypt(encrypted, context) {
      // The nonce of an older value may begin with the same bytes as the head, so both formats are tried.
      for (const body of keyIdOf(encrypted) === undefined
        ? [encrypted]
        : [encrypted.subarray(encryptedHeadBytes), encrypted]) {
        for (const key of derived.seal) {
          const decrypted = tryDecrypt(key, body, context);
          if (decrypted !== undefined) return decrypted;
        }
      }
      return undefined;
    },
    missingKeyOf(encrypted) {
      const id = keyIdOf(encrypted);
      return id === undefined || ids.includes(id) ? undefined : id;
    },
  };
}

function tryDecrypt(key: Buffer, encrypted: Buffer, context: string): string | undefined {
  if (encrypted.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(encrypted.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(nonceBytes + tagBytes)), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    // Another key encrypted it, or it was changed.
    return undefined;
  }
}

/** Compares in constant time. Values of different lengths are not equal. */
export function equalBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
