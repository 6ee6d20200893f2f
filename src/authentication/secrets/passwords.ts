import { availableCores } from '../../lib/machine.js';
import { createTurnstile } from '../../lib/turnstile.js';
import { createHashThreads } from './hash-threads.js';
import type { PasswordHash } from './hashes/password-hash.js';
import { parseHash } from './hashes/registry.js';

/** OWASP's parameters for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The scheme of what is hashed today. */
export const todaysScheme = '$argon2id$v=19$m=19456,t=2,p=1';

/** A PHC string of argon2id with these parameters, of a password that nobody knows. Costs as much as a real one. */
const nobodysHash = `${todaysScheme}$cG9zdGVybi1ub2JvZHkhIQ$aHfMiSR78eLTHAAGBs7kh1WCAUt7cjYfGqRjVIVHvlA`;

/** Hashes and verifies passwords, a bounded number at a time. */
export interface PasswordHasher {
  /** @returns a PHC string. */
  hash(password: string): Promise<string>;
  /**
   * Takes the same time whether there is a hash or not: without one a stand-in is verified, and the answer is no.
   * @throws Problem `overloaded` when too many wait already.
   */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

export interface HasherOptions {
  /** Hashes at a time; each takes a core, 19 MiB, and the 10 to 20 MB of a thread. */
  readonly concurrency?: number;
  /** Hashes that may wait; beyond them the answer is `overloaded`. */
  readonly queue?: number;
  /** Hears why a thread was lost that hashes. Nothing fails for that. */
  readonly onThreadLost?: (error: Error) => void;
}

/** Unicode in one form (NIST SP 800-63B-4, 3.1.1.2: normalise before hashing). */
const normalise = (password: string) => password.normalize('NFC');

/** The scheme of a stored hash. */
export function schemeOf(stored: string): string {
  return readStored(stored).scheme;
}

/**
 * Whether a stored hash was made in another way than today's, and the password that it was verified with may take its
 * place. One of which the hash has not seen the end may not: the password that was set is perhaps another.
 */
export function isRenewable(stored: string, password: string): boolean {
  const { scheme, readsBytes = Number.POSITIVE_INFINITY } = readStored(stored);
  return scheme !== todaysScheme && Buffer.byteLength(normalise(password)) < readsBytes;
}

/** @throws Error for what was not checked before it was stored */
function readStored(stored: string): PasswordHash {
  const hash = parseHash(stored);
  if (hash === undefined) throw new Error('a stored password hash cannot be read');
  return hash;
}

export function createPasswordHasher(options: HasherOptions = {}): PasswordHasher {
  const { concurrency = availableCores(), queue = 128, onThreadLost: onLost } = options;
  const threads = createHashThreads({ count: concurrency, ...(onLost && { onLost }) });
  // Of those that wait one waits at each thread.
  const ahead = Math.min(concurrency, queue);
  const turn = createTurnstile({
    width: concurrency + ahead,
    length: queue - ahead,
    // What a login does after its hash costs less where several do it one after the other (decision 55).
    company: { size: 6, patience: 40 },
  });
  const poolTurn = createTurnstile({ width: concurrency, length: ahead });
  const verifyStored = (stored: string, password: string) => {
    const read = readStored(stored);
    // One that was imported may take many times as long, and would hold up the next hash of its thread.
    if (read.scheme === todaysScheme) return threads.verify(stored, password);
    return threads.inPool(() => poolTurn(() => read.verify(password)));
  };
  return {
    hash: (password) => turn(() => threads.hash(normalise(password), parameters)),
    async verify(stored, password) {
      const matches = await turn(() => verifyStored(stored ?? nobodysHash, normalise(password)));
      return matches && stored !== undefined;
    },
  };
}
