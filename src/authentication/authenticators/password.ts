import { type Database, prepared } from '../../database/database.js';
import { Problem } from '../../lib/problem.js';
import { createPasswordSchemes } from '../secrets/password-schemes.js';
import { isRenewable, type PasswordHasher } from '../secrets/passwords.js';
import type { SingleStep } from './authenticator.js';

/** Only over the hash that was verified: a password that was changed meanwhile stays changed. */
const replaceHash = prepared(
  'password_rehash',
  'update users set password_hash = $3 where id = $1 and password_hash = $2',
);

/** A password, in one step. Hashes made in another way than today's are renewed when their owner logs in. */
export function passwordAuthenticator(database: Database, hasher: PasswordHasher): SingleStep {
  const schemes = createPasswordSchemes(database, hasher);
  return {
    name: 'password',
    steps: 1,
    verify: (candidate, secret) => hasher.verify(candidate?.passwordHash, secret),
    refused: (candidate) => schemes.payForOthers(candidate?.passwordHash),
    async approved({ userId, passwordHash }, secret) {
      if (passwordHash === undefined || !isRenewable(passwordHash, secret)) return;
      try {
        await database.query(replaceHash, [userId, passwordHash, await hasher.hash(secret)]);
      } catch (error) {
        // The login is approved already, and its answer must not get lost for this: the next one can renew the hash.
        if (!(error instanceof Problem && error.code === 'overloaded')) throw error;
      }
    },
  };
}
