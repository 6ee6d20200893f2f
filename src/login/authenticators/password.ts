import { createPasswordSchemes } from '../../credentials/password-schemes.js';
import { isReadableHash, needsRehash, type PasswordHasher } from '../../credentials/passwords.js';
import type { Database } from '../../database/database.js';
import { sql, statement } from '../../database/sql.js';
import type { SingleStep } from './authenticator.js';

/** Replaces only the hash that was verified, so that it does not undo a change of the password in the meantime. */
const replaceHash = statement<{ userId: string; verified: string; hash: string }>(
  'password_rehash',
  (p) => sql`update users set password_hash = ${p.hash} where id = ${p.userId} and password_hash = ${p.verified}`,
);

/** A password, in one step. A hash of another scheme is replaced after the next login. */
export function passwordAuthenticator(database: Database, hasher: PasswordHasher): SingleStep {
  const schemes = createPasswordSchemes(database, hasher);
  return {
    name: 'password',
    steps: 1,
    hashesSecret: true,
    verify: (candidate, { secret, origin }) => hasher.verify(candidate?.passwordHash, secret, origin),
    async findMissing({ passwordHash }) {
      if (passwordHash === undefined) return 'password';
      return isReadableHash(passwordHash) ? undefined : 'readable_password_hash';
    },
    afterFailure: (candidate, { secret, origin }) =>
      schemes.verifyOtherSchemes(candidate?.passwordHash, secret, origin),
    async afterApproval({ userId, passwordHash }, { secret, origin }) {
      if (passwordHash === undefined || !needsRehash(passwordHash, secret)) return;
      const hash = await hasher.hash(secret, origin);
      await database.user(userId).query(replaceHash({ userId, verified: passwordHash, hash }));
    },
  };
}
