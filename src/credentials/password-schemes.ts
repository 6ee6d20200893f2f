import type { Database, Queryable } from '../database/database.js';
import type { MaintenanceTask } from '../database/maintenance/tasks.js';
import { compose, sql, statement } from '../database/sql.js';
import { nilId } from '../lib/ids.js';
import { type FieldError, Problem } from '../lib/problem.js';
import { dummyHashFor } from './hashes/registry.js';
import {
  currentScheme,
  type HashClient,
  isReadableHash,
  isUnwrappedScheme,
  type PasswordHasher,
  schemeOf,
} from './passwords.js';
import { schemeCost, totalSchemeCost } from './scheme-cost.js';

/**
 * The schemes of imported hashes, except the scheme of new hashes. A scheme is the algorithm and the parameters of a
 * hash. If some hashes cost more to verify, the time of a failed login would show which accounts have one. So each
 * failed login verifies one hash of every scheme.
 */
export interface PasswordSchemes {
  /**
   * Verifies a dummy hash of every scheme except the one that was verified already.
   * @param secret the typed text: the number of hashes and their time depend on it
   */
  verifyOtherSchemes(verified: string | undefined, secret: string, client: HashClient): Promise<void>;
}

/** The maximum number of schemes in addition to the current one. */
const maxSchemes = 8;

/** Decides whether a hash with a new scheme may be stored. */
export interface SchemeRules {
  /** The maximum cost of all schemes together, in verifications of the current hash. */
  readonly costLimit: number;
  /** Whether the caller may add a scheme: each one makes every failed login slower. */
  readonly canAddSchemes: boolean;
}

/**
 * The key of an advisory lock. A transaction that adds a scheme holds it until commit. So two transactions together
 * cannot exceed the limit. The task that drops schemes does not wait for this lock.
 */
const registrationLock = sql`7203415024`;
/** Milliseconds between two searches for unused schemes. */
const pauseMs = 5000;

const readSchemes = statement<object, { scheme: string }>(
  'password_schemes',
  () => sql`select scheme from password_schemes order by scheme`,
);
/** Locks schemes, so that no task drops them before the transaction ends. */
const lockSchemes = statement<{ schemes: readonly string[] }, { scheme: string }>(
  'password_schemes_lock',
  (p) => sql`
    select scheme from password_schemes where scheme = any (${p.schemes}::text[]) order by scheme for key share`,
);
const lockRegistration = statement<object>(
  'password_schemes_lock_adding',
  () => sql`select pg_advisory_xact_lock(${registrationLock})`,
);
const addSchemes = statement<{ schemes: readonly string[] }>(
  'password_schemes_add',
  (p) => sql`insert into password_schemes (scheme) select unnest(${p.schemes}::text[]) on conflict do nothing`,
);
const dropUnused = compose<{ dropped: number }>(sql`select drop_unused_schemes(${registrationLock}) as dropped`);
const countUsers = compose<{ scheme: string; users: number }>(
  sql`
    select s.scheme, (select count(*) from imported_hashes h where h.scheme = s.scheme)::float8 as users
    from password_schemes s order by s.scheme`,
);

/** The schemes in use. */
export async function importedSchemes(handle: Queryable): Promise<string[]> {
  return (await handle.query(readSchemes({}))).map(({ scheme }) => scheme);
}

/** A scheme in use: its cost for each failed login, and how many users have such a hash. */
export interface SchemeInUse {
  readonly scheme: string;
  /** The cost, in verifications of the current hash. */
  readonly cost: number;
  readonly users: number;
}

/** Lists the schemes with their users. Slow: it reads one index entry for each user with an imported hash. */
export async function countSchemeUsers(handle: Queryable): Promise<SchemeInUse[]> {
  const rows = await handle.query(countUsers);
  return rows.map(({ scheme, users }) => ({ scheme, cost: schemeCost(scheme), users }));
}

/** Returns why a hash with this scheme may not be stored; undefined if it may. */
export function schemeProblem(
  scheme: string,
  inUse: ReadonlySet<string>,
  { costLimit, canAddSchemes }: SchemeRules,
): Problem | undefined {
  if (scheme === currentScheme || inUse.has(scheme)) return undefined;
  if (!canAddSchemes) return new Problem('insufficient_scope', { params: { scope: 'admin' } });
  if (inUse.size >= maxSchemes) return validationProblem({ code: 'too_many_schemes', params: { max: maxSchemes } });
  const cost = schemeCost(scheme);
  const sum = totalSchemeCost([...inUse, scheme]);
  return sum > costLimit
    ? validationProblem({ code: 'schemes_too_expensive', params: { cost, sum, max: costLimit } })
    : undefined;
}

function validationProblem(error: FieldError): Problem {
  return new Problem('validation_failed', { errors: [{ field: 'password_hash', ...error }] });
}

/**
 * Registers the schemes of hashes. Call it in the transaction that stores the hashes, before the transaction takes
 * other locks.
 * @param schemes in order of priority
 * @returns why a hash may not be stored; undefined if all may. If it returns a reason, no scheme is registered, and the
 *   transaction must not store any hash
 */
export async function registerSchemes(
  tx: Queryable,
  schemes: Iterable<string>,
  rules: SchemeRules,
): Promise<Problem | undefined> {
  const importedOnly = [...new Set(schemes)].filter((scheme) => scheme !== currentScheme);
  if (importedOnly.length === 0) return undefined;
  const locked = new Set((await tx.query(lockSchemes({ schemes: importedOnly }))).map(({ scheme }) => scheme));
  const missing = importedOnly.filter((scheme) => !locked.has(scheme));
  if (missing.length === 0) return undefined;
  if (rules.canAddSchemes) await tx.query(lockRegistration({}));
  const inUse = new Set(rules.canAddSchemes ? await importedSchemes(tx) : locked);
  for (const scheme of missing) {
    const problem = schemeProblem(scheme, inUse, rules);
    if (problem !== undefined) return problem;
    inUse.add(scheme);
  }
  await tx.query(addSchemes({ schemes: missing }));
  return undefined;
}

/** Drops schemes that no user has. Failed logins stop verifying them, on every instance. */
export const unusedSchemesTask: MaintenanceTask = {
  name: 'drop unused password schemes',
  pauseMs,
  async step(tx) {
    const [row] = await tx.query(dropUnused);
    return { removed: row?.dropped ?? 0 };
  },
};

/** The number of hashes that one step wraps: about a tenth of a second of a core. */
const wrappedPerStep = 10;

const findUnwrapped = statement<
  { scheme: string; after: string; limit: number },
  { id: string; password_hash: string }
>(
  'password_schemes_find_unwrapped',
  (p) => sql`
    select u.id, u.password_hash from imported_hashes h join users u on u.id = h.user_id
    where h.scheme = ${p.scheme} and h.user_id > ${p.after}::uuid and imported_scheme(u.password_hash) = h.scheme
    order by h.user_id limit ${p.limit}`,
);
const replaceUnwrapped = statement<{ ids: readonly string[]; found: readonly string[]; wrapped: readonly string[] }>(
  'password_schemes_replace_unwrapped',
  (p) => sql`
    update users u set password_hash = n.wrapped
    from unnest(${p.ids}::uuid[], ${p.found}::text[], ${p.wrapped}::text[]) n (id, found, wrapped)
    where u.id = n.id and u.password_hash = n.found`,
);
const countOtherReleases = statement<{ version: string }, { count: number }>(
  'password_schemes_other_releases',
  (p) => sql`
    select count(*)::int as count from instances
    where version <> ${p.version} and seen_at > db_now() - interval '90 seconds'`,
);

/**
 * Wraps the weak hashes that an earlier release has imported, as an import does now. A change of the password in the
 * meantime is not undone. Hashes that this version cannot read stay. The task waits while an instance of another release
 * runs, because that release cannot verify wrapped hashes.
 */
export function wrapHashesTask(hasher: PasswordHasher, version: string): MaintenanceTask {
  return {
    name: 'wrap weak password hashes',
    pauseMs: 600_000,
    async step(tx, position) {
      const [others] = await tx.query(countOtherReleases({ version }));
      const schemes = (await importedSchemes(tx)).filter(isUnwrappedScheme);
      const scheme = schemes.find((each) => each >= (position?.scheme ?? ''));
      if (scheme === undefined || (others?.count ?? 0) > 0) return { removed: 0 };
      const after = scheme === position?.scheme && position.id !== undefined ? position.id : nilId;
      const rows = await tx.query(findUnwrapped({ scheme, after, limit: wrappedPerStep }));
      await wrap(
        tx,
        rows.filter(({ password_hash }) => isReadableHash(password_hash)),
      );
      const last = rows.at(-1);
      if (last !== undefined) return { removed: 0, next: { scheme, id: last.id } };
      const following = schemes[schemes.indexOf(scheme) + 1];
      return following === undefined ? { removed: 0 } : { removed: 0, next: { scheme: following, id: nilId } };
    },
  };

  /** The transaction holds only the lock of this task while it hashes. */
  async function wrap(tx: Queryable, rows: readonly { readonly id: string; readonly password_hash: string }[]) {
    const wrapped = await Promise.all(rows.map(({ password_hash }) => hasher.toStored(password_hash)));
    // Stored together with the hashes, so that failed logins do the work of the scheme from this moment on. It takes the
    // place of another scheme, so no limit applies.
    await tx.query(addSchemes({ schemes: [...new Set(wrapped.map(schemeOf))] }));
    const found = rows.map(({ password_hash }) => password_hash);
    await tx.query(replaceUnwrapped({ ids: rows.map(({ id }) => id), found, wrapped }));
  }
}

/** Creates the check that makes every failed login take the same time, whatever scheme the user's hash has. */
export function createPasswordSchemes(database: Database, hasher: PasswordHasher): PasswordSchemes {
  return {
    async verifyOtherSchemes(verifiedHash, secret, client) {
      const verifiedScheme = verifiedHash === undefined ? currentScheme : schemeOf(verifiedHash);
      // A login with an imported hash has not verified a hash with the current scheme yet.
      if (verifiedScheme !== currentScheme) await hasher.verify(undefined, secret, client);
      // The list is not cached: with an old list, the time would show which users were imported since the list was
      // read.
      for (const scheme of await importedSchemes(database)) {
        if (scheme !== verifiedScheme) await hasher.verify(dummyHashFor(scheme), secret, client);
      }
    },
  };
}
