import type { Chore } from '../../database/chores.js';
import { type Database, prepared, type Queryable, sql } from '../../database/database.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import { standInFor } from './hashes/registry.js';
import { type PasswordHasher, schemeOf, todaysScheme } from './passwords.js';
import { costOfAll, schemeCost } from './scheme-cost.js';

/**
 * The schemes that imported hashes have beside today's: algorithm and parameters. Where imported hashes cost more, a failed
 * login would tell by its time which accounts have one, so every failed login does the work of every scheme in use.
 */
export interface PasswordSchemes {
  /** Does the work of every scheme but the one that was verified already. */
  payForOthers(verified: string | undefined): Promise<void>;
}

/** Schemes beside today's at most. */
const mostSchemes = 8;

/** What decides whether a hash with a new scheme may be stored. */
export interface SchemeRules {
  /** What all schemes may cost together, in verifications of today's hash. */
  readonly costLimit: number;
  /** Whether the caller may add a scheme: each makes every failed login slower. */
  readonly mayAdd: boolean;
}

/** Held until commit by who adds a scheme, so that two do not add up to too many, and tried by who drops some. */
const addingLock = 7_203_415_024;
/** Milliseconds from one look for unused schemes to the next. */
const rest = 5000;

const readSchemes = prepared('password_schemes', 'select scheme from password_schemes order by scheme');
/** Those that are in use stay so until the transaction ends. */
const holdSchemes = prepared(
  'password_schemes_hold',
  'select scheme from password_schemes where scheme = any ($1::text[]) order by scheme for key share',
);
const waitToAdd = prepared('password_schemes_wait', `select pg_advisory_xact_lock(${addingLock})`);
const addSchemes = prepared(
  'password_schemes_add',
  'insert into password_schemes (scheme) select unnest($1::text[]) on conflict do nothing',
);
const dropUnused = sql(`select drop_unused_schemes(${addingLock}) as dropped`);
const countUsers = sql(
  `select s.scheme, (select count(*) from imported_hashes h where h.scheme = s.scheme)::float8 as users
   from password_schemes s order by s.scheme`,
);

/** The schemes in use. */
export async function importedSchemes(handle: Queryable): Promise<string[]> {
  return (await handle.query<{ scheme: string }>(readSchemes)).map(({ scheme }) => scheme);
}

/** A scheme in use: what it adds to every failed login, and how many users have such a hash. */
export interface SchemeInUse {
  readonly scheme: string;
  /** In verifications of today's hash. */
  readonly cost: number;
  readonly users: number;
}

/** Reads an entry of an index for each user with an imported hash: for operators, not for requests. */
export async function listSchemes(handle: Queryable): Promise<SchemeInUse[]> {
  const rows = await handle.query<{ scheme: string; users: number }>(countUsers);
  return rows.map(({ scheme, users }) => ({ scheme, cost: schemeCost(scheme), users }));
}

/** Why a hash with this scheme may not be stored; undefined: it may. */
export function refuseScheme(
  scheme: string,
  inUse: ReadonlySet<string>,
  { costLimit, mayAdd }: SchemeRules,
): Problem | undefined {
  if (scheme === todaysScheme || inUse.has(scheme)) return undefined;
  if (!mayAdd) return new Problem('insufficient_scope', { params: { scope: 'admin' } });
  if (inUse.size >= mostSchemes) return fault({ code: 'too_many_schemes', params: { max: mostSchemes } });
  const [cost, sum] = [schemeCost(scheme), costOfAll([...inUse, scheme])];
  return sum > costLimit ? fault({ code: 'schemes_too_expensive', params: { cost, sum, max: costLimit } }) : undefined;
}

function fault(error: FieldError): Problem {
  return new Problem('validation_failed', { errors: [{ field: 'password_hash', ...error }] });
}

/**
 * Notes the schemes of hashes in the transaction that stores them, before it locks anything else.
 * @param schemes in the order of their importance
 * @returns why one of them may not be stored: then nothing is noted, and the transaction must not store any
 */
export async function noteSchemes(
  tx: Queryable,
  schemes: Iterable<string>,
  rules: SchemeRules,
): Promise<Problem | undefined> {
  const noted = [...new Set(schemes)].filter((scheme) => scheme !== todaysScheme);
  if (noted.length === 0) return undefined;
  const held = new Set((await tx.query<{ scheme: string }>(holdSchemes, [noted])).map(({ scheme }) => scheme));
  const missing = noted.filter((scheme) => !held.has(scheme));
  if (missing.length === 0) return undefined;
  if (rules.mayAdd) await tx.query(waitToAdd);
  const inUse = new Set(rules.mayAdd ? await importedSchemes(tx) : held);
  for (const scheme of missing) {
    const refusal = refuseScheme(scheme, inUse, rules);
    if (refusal !== undefined) return refusal;
    inUse.add(scheme);
  }
  await tx.query(addSchemes, [missing]);
  return undefined;
}

/** Drops schemes that no user has any more: failed logins stop doing their work, on every instance. */
export const unusedSchemesChore: Chore = {
  name: 'drop unused password schemes',
  rest,
  async step(tx) {
    const [row] = await tx.query<{ dropped: number }>(dropUnused);
    return { removed: row?.dropped ?? 0 };
  },
};

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
