import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.js';

/** What a derived key is for. Each purpose has a key of its own, so no value of one can pass as another's. */
export type KeyPurpose = 'identity' | 'code' | 'pin' | 'recovery' | 'idempotency' | 'limit' | 'seal';

/**
 * The server's secret, `SECRET_KEY`, as the operations that need it. Several keys may be given while one is rotated:
 * the first makes new values, all of them check old ones.
 */
export interface SecretKeys {
  /** HMAC-SHA256 under the current key. */
  digest(purpose: KeyPurpose, data: string): Buffer;
  /** The same under every key, the current one first. */
  digests(purpose: KeyPurpose, data: string): Buffer[];
  /** Compares in constant time against the digest under each key. */
  matches(purpose: KeyPurpose, data: string, digest: Buffer): boolean;
  /** AES-256-GCM under the current key: its id, nonce, tag and ciphertext. `context` must be given again to open it. */
  seal(plain: string, context: string): Buffer;
  /** The plain text, or undefined when no key opens it. */
  open(sealed: Buffer, context: string): string | undefined;
  /**
   * The id of the key that a value needs, when it is none of these keys.
   * @returns undefined for a value that these keys can open, as far as its first bytes tell
   */
  missingKeyOf(sealed: Buffer): string | undefined;
}

const nonceBytes = 12;
const tagBytes = 16;
const idBytes = 4;
/** What a sealed value begins with, before the id of its key. Values of before begin with their nonce. */
export const sealedMark = Buffer.from('PSv1');
/** Bytes of a sealed value that tell which key it needs. */
export const sealedHeadBytes = sealedMark.length + idBytes;

/** Tells a key from others in logs and in the head of sealed values. Derived: it says nothing of the key. */
export function createKeyId(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'postern key id', idBytes)).toString('hex');
}

/** That no configured key opens a stored value, for logs: it names the key that is missing. */
export function describeUnreadable(keys: SecretKeys, sealed: Buffer, what: string): string {
  const missing = keys.missingKeyOf(sealed);
  const reason =
    missing === undefined
      ? 'no key of SECRET_KEY opens it'
      : `the key with the id ${missing} is missing from SECRET_KEY`;
  return `${what} cannot be decrypted: ${reason}`;
}

/** The refusal of what needs a stored value that no configured key opens. */
export function unreadable(keys: SecretKeys, sealed: Buffer, what: string): Problem {
  return new Problem('secret_unreadable', {
    retryAfter: unreadableRetry,
    cause: new Error(describeUnreadable(keys, sealed, what)),
  });
}

/** Seconds: an operator has to restart Postern first. */
const unreadableRetry = 60;

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
    seal: keys('seal'),
  };
  const ids = secrets.map(createKeyId);
  const idOf = (sealed: Buffer) =>
    sealed.subarray(0, sealedMark.length).equals(sealedMark)
      ? sealed.toString('hex', sealedMark.length, sealedHeadBytes)
      : undefined;
  const hmac = (key: Buffer, data: string) => createHmac('sha256', key).update(data).digest();
  const current = (purpose: KeyPurpose): Buffer => {
    const key = derived[purpose][0];
    if (key === undefined) throw new Error('SECRET_KEY holds no key');
    return key;
  };

  return {
    digest: (purpose, data) => hmac(current(purpose), data),
    digests: (purpose, data) => derived[purpose].map((key) => hmac(key, data)),
    matches(purpose, data, digest) {
      return derived[purpose].map((key) => hmac(key, data)).some((own) => equalBytes(own, digest));
    },
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', current('seal'), nonce).setAAD(Buffer.from(context));
      const encrypted = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      const id = Buffer.from(ids[0] ?? '', 'hex');
      return Buffer.concat([sealedMark, id, nonce, cipher.getAuthTag(), encrypted]);
    },
    open(sealed, context) {
      // A nonce of an older release may begin like the mark: what does not open as one is tried as the other.
      for (const body of idOf(sealed) === undefined ? [sealed] : [sealed.subarray(sealedHeadBytes), sealed]) {
        for (const key of derived.seal) {
          const opened = tryOpen(key, body, context);
          if (opened !== undefined) return opened;
        }
      }
      return undefined;
    },
    missingKeyOf(sealed) {
      const id = idOf(sealed);
      return id === undefined || ids.includes(id) ? undefined : id;
    },
  };
}

function tryOpen(key: Buffer, sealed: Buffer, context: string): string | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(context))
    .setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    // Another key sealed it, or it was changed: both mean "not ours to open".
    return undefined;
  }
}

/** Equality in constant time; unequal lengths are unequal. */
export function equalBytes(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
