import { createConcurrencyLimiter } from '../lib/concurrency-limiter.js';
import { availableCores } from '../lib/machine.js';
import { createHashThreads, type HashThreads } from './hash-threads.js';
import { isWeak } from './hashes/minimum-cost.js';
import { matches } from './hashes/password-hash.js';
import { dummyHashFor, parseHash } from './hashes/registry.js';
import { outerInput, type StoredHash, wrappedScheme, wrappedText } from './hashes/wrapped.js';

/**
 * OWASP's parameters for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. RFC 9106 defines argon2.
 */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** The scheme of new hashes: algorithm and parameters. */
export const currentScheme = '$argon2id$v=19$m=19456,t=2,p=1';

/** A dummy hash with the current scheme: verifying it takes as long as a real hash. Nobody knows its password. */
const dummyHash = `${currentScheme}$cG9zdGVybi1ub2JvZHkhIQ$aHfMiSR78eLTHAAGBs7kh1WCAUt7cjYfGqRjVIVHvlA`;

/**
 * Who caused a hash. The hashes of one client address run one after another, so each hash that a client causes must name its
 * address. Null: an operator, a backend or the service itself. These hashes do not wait for others of an address.
 */
export type HashClient = { readonly clientAddress?: string | undefined } | null;

/** Hashes and verifies passwords, with bounded concurrency. */
export interface PasswordHasher {
  /**
   * @returns a PHC string
   * @throws Problem `overloaded` when a queue is full
   */
  hash(password: string, client: HashClient): Promise<string>;
  /**
   * Takes the same time with or without a stored hash. If there is none, it verifies a dummy hash and returns false. Another
   * system may have hashed another Unicode form of the password, so each form is verified (see `formsOf`).
   * @throws Problem `overloaded` when a queue is full
   */
  verify(stored: string | undefined, password: string, client: HashClient): Promise<boolean>;
  /**
   * The text to store for a hash of another system: as it is, or wrapped in argon2id if it costs less than OWASP
   * recommends.
   * @throws Error if this version cannot verify it
   */
  toStored(imported: string): Promise<string>;
  /** The number of hashes that wait for a thread. */
  waiting(): number;
}

export interface HasherOptions {
  /**
   * How many hashes run at a time. Each takes one core, 19 MiB, and 10 to 20 MB for its thread. The default is the number of
   * cores.
   */
  readonly concurrency?: number;
  /** How many hashes may wait. Further ones fail with `overloaded`. The default is 128. */
  readonly queue?: number;
  /** Called with the reason when a hashing thread was lost. No hash fails because of it. */
  readonly onThreadLost?: (error: Error) => void;
  /** Called with the seconds that a hash took, without its wait for a thread of this process. */
  readonly onHashed?: (seconds: number) => void;
  /** Runs the hashes of a client address when it is their turn. By default at once. */
  readonly inTurn?: <T>(clientAddress: string | undefined, work: () => Promise<T>) => Promise<T>;
  /** Computes the hashes with the current scheme. Tests replace it, because they need no slow hashes. */
  readonly threads?: HashThreads | undefined;
}

/** NIST SP 800-63B-4, 3.1.1.2: normalize Unicode before hashing. */
const normalise = (password: string) => password.normalize('NFC');

/**
 * The forms of a typed password that may have been hashed: as it was typed, NFC, and NFKC (RFC 8265 and many systems).
 * Only different forms are returned. All of them are verified, even after a match: so the number of hashes depends on the
 * typed text alone, and the time does not show how another system made the stored hash.
 */
function formsOf(password: string): readonly string[] {
  return [...new Set([password, normalise(password), password.normalize('NFKC')])];
}

/** The scheme of the text that `PasswordHasher.toStored` returns for a hash. */
export function schemeToStore(imported: string): string {
  const hash = readStored(imported);
  return mustBeWrapped(hash) ? wrappedScheme(currentScheme, hash.scheme) : hash.scheme;
}

/** Whether stored hashes of this scheme are not wrapped, but would be wrapped if they were imported today. */
export function isUnwrappedScheme(scheme: string): boolean {
  const hash = parseHash(dummyHashFor(scheme) ?? '');
  return hash !== undefined && mustBeWrapped(hash);
}

const mustBeWrapped = (hash: StoredHash) => hash.outer === undefined && isWeak(hash);

/** The scheme of a stored hash. */
export function schemeOf(stored: string): string {
  return readStored(stored).scheme;
}

/**
 * Whether a stored hash has another scheme, and can be replaced by a hash of the password that was just verified. It
 * cannot be replaced if the old algorithm ignored the end of the password, because the entered password may have
 * another end than the one that the user chose.
 */
export function needsRehash(stored: string, password: string): boolean {
  const { scheme, maxPasswordBytes = Number.POSITIVE_INFINITY } = readStored(stored);
  const longest = Math.max(...formsOf(password).map((form) => Buffer.byteLength(form)));
  return scheme !== currentScheme && longest < maxPasswordBytes;
}

/** Whether this version can verify a stored hash. False, for example, if somebody wrote an unknown hash to the database by SQL. */
export function isReadableHash(stored: string): boolean {
  return parseHash(stored) !== undefined;
}

/** @throws Error if this version cannot verify the hash */
function readStored(stored: string): StoredHash {
  const hash = parseHash(stored);
  if (hash === undefined) throw new Error('a stored password hash cannot be read');
  return hash;
}

/** Creates a hasher. `concurrency` limits the hashes that run at a time. */
export function createPasswordHasher(options: HasherOptions = {}): PasswordHasher {
  const { concurrency = availableCores(), queue = 128, onThreadLost: onLost, onHashed } = options;
  const threads = options.threads ?? createHashThreads({ count: concurrency, ...(onLost && { onLost }) });
  // Each thread runs one hash and queues one more.
  const queuedAtThreads = Math.min(concurrency, queue);
  const run = createConcurrencyLimiter({
    concurrency: concurrency + queuedAtThreads,
    maxWaiting: queue - queuedAtThreads,
  });
  const runInPoolLimited = createConcurrencyLimiter({ concurrency, maxWaiting: queuedAtThreads });
  const verifyStored = async (stored: string, password: string) => {
    const hash = readStored(stored);
    if (hash.scheme === currentScheme) return threads.verify(stored, password);
    // An imported hash can take much longer, and would delay the next hash of the same thread.
    const inPool = <T>(compute: () => Promise<T>) => threads.runInPool(() => runInPoolLimited(compute));
    if (hash.outer === undefined) return inPool(() => matches(hash, password));
    return threads.verify(hash.outer, outerInput(await inPool(() => hash.derive(password))));
  };
  let unfinished = 0;
  const runLimited = async <T>(work: () => Promise<T>): Promise<T> => {
    unfinished += 1;
    try {
      return await run(async () => {
        const startedAt = performance.now();
        const result = await work();
        onHashed?.((performance.now() - startedAt) / 1000);
        return result;
      });
    } finally {
      unfinished -= 1;
    }
  };
  const { inTurn = (_address, work) => work() } = options;
  const runFor = <T>(client: HashClient, work: () => Promise<T>): Promise<T> =>
    client === null ? work() : inTurn(client.clientAddress, work);
  async function verifyForms(stored: string | undefined, password: string): Promise<boolean> {
    let matches = false;
    for (const form of formsOf(password)) {
      if (await runLimited(() => verifyStored(stored ?? dummyHash, form))) matches = true;
    }
    return matches && stored !== undefined;
  }
  return {
    hash: (password, client) => runFor(client, () => runLimited(() => threads.hash(normalise(password), parameters))),
    verify: (stored, password, client) => runFor(client, () => verifyForms(stored, password)),
    async toStored(imported) {
      const hash = readStored(imported);
      if (!mustBeWrapped(hash)) return hash.stored;
      return wrappedText(hash, await runLimited(() => threads.hash(outerInput(hash.output), parameters)));
    },
    waiting: () => Math.max(0, unfinished - concurrency),
  };
}
