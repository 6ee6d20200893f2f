import { identityTypes } from '../../contract/authentication.js';
import { roles, userStatuses } from '../../contract/user.js';
import { prepared, type Queryable } from '../../database/database.js';
import type { FilterClause, FilterFields } from '../../lib/filter/fields.js';
import { isGuessLocked, isNotGuessLocked } from '../guess-locks.js';
import { canonicalIdentity } from '../identities/identity.js';
import { identityDigest } from '../identities/identity-digest.js';

/** What users can be listed by. */
export const userFilterFields: FilterFields = {
  id: { kind: 'id' },
  username: { kind: 'string', like: true },
  email: { kind: 'string', like: true },
  phone: { kind: 'string', like: true },
  name: { kind: 'string', like: true },
  locale: { kind: 'key' },
  status: { kind: 'enum', values: userStatuses },
  role: { kind: 'enum', values: roles },
  /** Read by `splitGuessLocks`. */
  guess_locked: { kind: 'enum', values: ['true', 'false'] },
  created_at: { kind: 'time' },
  updated_at: { kind: 'time' },
};

/** Takes the conditions on `guess_locked` out of a filter: no column holds it. `where` is what they ask of `users u`. */
export function splitGuessLocks(filter: readonly FilterClause[]): { filter: FilterClause[]; where: string } {
  const conditions = filter.filter(({ name }) => name === 'guess_locked').flatMap(guessLockConditions);
  return {
    filter: filter.filter(({ name }) => name !== 'guess_locked'),
    where: conditions.length === 0 ? 'true' : conditions.join(' and '),
  };
}

function guessLockConditions({ operator, values }: FilterClause): string[] {
  const matches = (value: string) => values.includes(value) === (operator === 'eq');
  return [...(matches('false') ? [] : [isGuessLocked]), ...(matches('true') ? [] : [isNotGuessLocked])];
}

const findOwners = prepared('identity_owners', 'select user_id from identities where digest = any($1)');

/**
 * A filter whose conditions `username:`, `email:` and `phone:` name users as a login does: in any spelling, and found by key
 * however many users there are.
 */
export async function resolveIdentities(
  handle: Queryable,
  filter: readonly FilterClause[],
  defaultRegion: string | undefined,
): Promise<FilterClause[]> {
  return Promise.all(
    filter.map(async (clause) => {
      const type = identityTypes.find((candidate) => candidate === clause.name);
      if (type === undefined || clause.operator !== 'eq') return clause;
      const identities = clause.values.flatMap((value) => canonicalIdentity(type, value, defaultRegion) ?? []);
      const owners = await handle.query<{ user_id: string }>(findOwners, [identities.map(identityDigest)]);
      return { ...clause, field: { kind: 'id', column: 'id' }, values: owners.map((owner) => owner.user_id) };
    }),
  );
}
