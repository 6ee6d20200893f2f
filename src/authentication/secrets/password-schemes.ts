import { type Database, prepared, type Queryable } from '../../database/database.js';
import { standInFor } from './hashes/registry.js';
import { type PasswordHasher, schemeOf, todaysScheme } from './passwords.js';

/**
 * The ways of hashing that were ever imported beside today's. Where imported hashes cost more, a failed login would tell by its
 * time which accounts have one, so every failed login does the work of every scheme: whoever fails, pays the same.
 */
export interface PasswordSchemes {
  /** Does the work of every scheme but the one that was verified already. */
  payForOthers(verified: string | undefined): Promise<void>;
}

/** Schemes beside today's: with what each may cost, the bound of what a failed login costs. */
export const mostSchemes = 8;

const readSchemes = prepared('password_schemes', 'select scheme from password_schemes order by scheme');

const noteAll = prepared('password_schemes_note', 'select note_password_schemes($1, $2) as refused');

/** The schemes that were imported so far. */
export async function importedSchemes(handle: Queryable): Promise<string[]> {
  return (await handle.query<{ scheme: string }>(readSchemes)).map(({ scheme }) => scheme);
}

/**
 * Notes the schemes of hashes that are imported, in the transaction that stores them.
 * @param schemes in the order of their importance
 * @returns those that are too many, of which nothing may be stored
 */
export async function noteSchemes(tx: Queryable, schemes: Iterable<string>): Promise<ReadonlySet<string>> {
  const noted = [...new Set(schemes)].filter((scheme) => scheme !== todaysScheme);
  if (noted.length === 0) return new Set();
  const [row] = await tx.query<{ refused: string[] }>(noteAll, [noted, mostSchemes]);
  return new Set(row?.refused);
}

export function createPasswordSchemes(database: Database, hasher: PasswordHasher): PasswordSchemes {
  return {
    async payForOthers(verified) {
      const own = verified === undefined ? todaysScheme : schemeOf(verified);
      // Who has one of the others has not paid for today's yet.
      if (own !== todaysScheme) await hasher.verify(undefined, '');
      // Read anew each time: a list that lags behind an import would tell who was imported meanwhile.
      for (const scheme of await importedSchemes(database)) {
        if (scheme !== own) await hasher.verify(standInFor(scheme), '');
      }
    },
  };
}
