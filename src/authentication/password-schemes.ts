import { randomBytes } from 'node:crypto';
import { type Database, prepared, type Queryable } from '../database/database.js';
import { isOutdated, type PasswordHasher } from './passwords.js';

/**
 * The ways of hashing that were ever imported beside today's. Where imported hashes cost more, a failed login would tell by its
 * time which accounts have one, so every failed login does the work of every scheme: whoever fails, pays the same.
 */
export interface PasswordSchemes {
  /** Does the work of every scheme but the one that was verified already. */
  payForOthers(verified: string | undefined): Promise<void>;
}

const readSchemes = prepared('password_schemes', 'select scheme from password_schemes order by scheme');

const addScheme = prepared(
  'password_scheme_add',
  'insert into password_schemes (scheme) values ($1) on conflict do nothing',
);

/** Notes the scheme of a hash that is imported, in the transaction that stores it. */
export async function noteScheme(tx: Queryable, stored: string): Promise<void> {
  if (isOutdated(stored)) await tx.query(addScheme, [schemeOf(stored)]);
}

export function createPasswordSchemes(database: Database, hasher: PasswordHasher): PasswordSchemes {
  return {
    async payForOthers(verified) {
      const own = verified !== undefined && isOutdated(verified) ? schemeOf(verified) : undefined;
      // Who has one of the others has not paid for today's yet.
      if (own !== undefined) await hasher.verify(undefined, '');
      // Read anew each time: a list that lags behind an import would tell who was imported meanwhile.
      for (const { scheme } of await database.query<{ scheme: string }>(readSchemes)) {
        if (scheme !== own) await hasher.verify(standIn(scheme), '');
      }
    },
  };
}

/** A PHC string up to its salt: the algorithm and what it costs. */
function schemeOf(stored: string): string {
  return stored.split('$').slice(0, 4).join('$');
}

/** A hash of this scheme that no password has. */
function standIn(scheme: string): string {
  const random = (bytes: number) => randomBytes(bytes).toString('base64').replace(/=+$/, '');
  return `${scheme}$${random(16)}$${random(32)}`;
}
