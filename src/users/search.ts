import { identityTypes } from '../contract/authentication.js';
import { roles, userStatuses } from '../contract/user.js';
import type { Queryable } from '../database/database.js';
import { directoryStatement, join, type Sql, sql } from '../database/sql.js';
import { canonicalIdentity, identityDigest } from '../identities/identity.js';
import type { FilterClause, FilterFields } from '../lib/filter/fields.js';
import { isGuessLocked, isNotGuessLocked } from '../limits/guess-locks.js';

/** The filter fields of lists of users. */
export const userFilterFields: FilterFields = {
  id: { kind: 'id' },
  username: { kind: 'string', like: true },
  email: { kind: 'string', like: true },
  phone: { kind: 'string', like: true },
  name: { kind: 'string', like: true },
  locale: { kind: 'key' },
  status: { kind: 'enum', values: userStatuses },
  role: { kind: 'enum', values: roles },
  /** No column: see `extractGuessLockFilter`. */
  guess_locked: { kind: 'enum', values: ['true', 'false'] },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

/** Separates the conditions on `guess_locked` from a filter. `where` is their condition on `users u`. */
export function extractGuessLockFilter(filter: readonly FilterClause[]): { filter: FilterClause[]; where: Sql } {
  const conditions = filter.filter(({ name }) => name === 'guess_locked').flatMap(guessLockConditions);
  return {
    filter: filter.filter(({ name }) => name !== 'guess_locked'),
    where: conditions.length === 0 ? sql`true` : join(conditions, ' and '),
  };
}

function guessLockConditions({ operator, values }: FilterClause): Sql[] {
  const matches = (value: string) => values.includes(value) === (operator === 'eq');
  const conditions: Sql[] = [];
  if (!matches('false')) conditions.push(isGuessLocked);
  if (!matches('true')) conditions.push(isNotGuessLocked);
  return conditions;
}

const findOwners = directoryStatement<{ digests: readonly Buffer[] }, { user_id: string }>(
  'identity_owners',
  (p) => sql`select user_id from identities where digest = any(${p.digests})`,
);

/**
 * Replaces conditions such as `email:eq:…` by conditions on the id of the user with this identity. The condition then
 * accepts every spelling that a login accepts, and needs no scan of the users.
 */
export async function resolveIdentities(
  handle: Queryable<'directory'>,
  filter: readonly FilterClause[],
  defaultRegion: string | undefined,
): Promise<FilterClause[]> {
  return Promise.all(
    filter.map(async (clause) => {
      const type = identityTypes.find((candidate) => candidate === clause.name);
      if (type === undefined || clause.operator !== 'eq') return clause;
      const identities = clause.values.flatMap((value) => canonicalIdentity(type, value, defaultRegion) ?? []);
      const owners = await handle.query(findOwners({ digests: identities.map(identityDigest) }));
      return { ...clause, name: 'id', field: { kind: 'id' }, values: owners.map((owner) => owner.user_id) };
    }),
  );
}
