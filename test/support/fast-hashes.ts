import { createHash, randomBytes } from 'node:crypto';
import { type Options, verify } from '@node-rs/argon2';
import type { StartOptions } from '../../src/app/main.js';
import type { HashThreads } from '../../src/credentials/hash-threads.js';

/** The first bytes of the salts of fast hashes. */
const marker = 'fast';
/** The salt of the hash that is verified when there is no user. Nobody knows its password. */
const dummySalt = 'postern-nobody!!';

const base64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
const digest = (salt: Buffer, password: string) => base64(createHash('sha256').update(salt).update(password).digest());

/**
 * Computes SHA-256 in place of argon2id, so that hundreds of users and logins take no time. The strings look the same,
 * with a marked salt. Other hashes, such as those of an import, are verified as in the service.
 */
export const fastHashes: HashThreads = {
  async hash(password, { memoryCost, timeCost, parallelism }: Options) {
    const salt = Buffer.concat([Buffer.from(marker), randomBytes(12)]);
    return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${base64(salt)}$${digest(salt, password)}`;
  },
  async verify(stored, password) {
    const [salted = '', hashed] = stored.split('$').slice(-2);
    const salt = Buffer.from(salted, 'base64');
    if (salt.toString() === dummySalt) return false;
    return salt.subarray(0, marker.length).toString() === marker
      ? digest(salt, password) === hashed
      : verify(stored, password);
  },
  runInPool: (compute) => compute(),
};

/** Options of a test service that computes the hashes of a real one, because they are what the test is about. */
export const realHashes: StartOptions = { hashThreads: undefined };
