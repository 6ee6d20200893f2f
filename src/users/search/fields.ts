import { userFieldsWith } from '../../contract/user-fields.js';
import type { Queryable } from '../../database/database.js';
import { filterCondition, likePattern } from '../../database/listing.js';
import { bound, identifier, join, type Sql, sql, statement } from '../../database/sql.js';
import { lockHolds } from '../../identities/accounts.js';
import { canonicalEntry, type DirectoryType, directoryTypes, identityDigest } from '../../identities/identity.js';
import type { FilterClause } from '../../lib/filter/fields.js';
import { isGuessLocked, isNotGuessLocked } from '../../limits/guess-locks.js';
import { searchText } from '../../schema/late-indexes.js';

/** The filter fields of lists of users. */
export const userFilterFields = userFieldsWith('filter');

/** SQL: the last login of the user `u` on a device that is not removed; null without one. */
export const lastLogin = sql`(select max(d.last_login_at) from devices d where d.user_id = u.id)`;

const hasTotp = sql`exists (select from totp t where t.user_id = u.id)`;
const hasPasskey = sql`exists (select from passkeys p where p.user_id = u.id)`;
/** SQL: whether the user `u` has a proven address of the type. */
function isVerified(type: 'email' | 'phone'): Sql {
  return sql`(u.${identifier(type)} is not null and u.${identifier(`${type}_verified`)})`;
}
/** An index contains only the users with a lock. The first part of the condition lets the planner use this index. */
const isLocked = sql`(u.lock_kind is not null and ${lockHolds})`;

/** SQL: the conditions of the values of fields that are no columns. */
const computed: Readonly<Record<string, Readonly<Record<string, Sql>>>> = {
  email_verified: { true: isVerified('email'), false: sql`not ${isVerified('email')}` },
  phone_verified: { true: isVerified('phone'), false: sql`not ${isVerified('phone')}` },
  is_guest: { true: sql`u.is_guest`, false: sql`not u.is_guest` },
  locked: { true: isLocked, false: sql`not ${isLocked}` },
  guess_locked: { true: isGuessLocked, false: isNotGuessLocked },
  factor: { totp: hasTotp, passkey: hasPasskey, none: sql`not (${hasTotp} or ${hasPasskey})` },
};

/** The fields whose values are part of the search text. */
const searched = ['username', 'email', 'phone', 'name'];

/** SQL: the condition of a filter on the user `u`. The identities are resolved, see `resolveIdentities`. */
export function userCondition(filter: readonly FilterClause[]): Sql {
  const conditions = filter.map((clause) => {
    const values = computed[clause.name];
    if (values !== undefined) return computedCondition(clause, values);
    if (clause.name === 'roles') return rolesCondition(clause);
    if (clause.name === 'topic') return topicCondition(clause);
    return sql`${filterCondition([clause], columns)}${hintOf(clause)}`;
  });
  return conditions.length === 0 ? sql`true` : join(conditions, ' and ');
}

/** SQL: the columns of the other fields. */
const columns: Readonly<Record<string, Sql>> = {
  ...Object.fromEntries(Object.keys(userFieldsWith('isColumn')).map((name) => [name, sql`u.${identifier(name)}`])),
  last_login_at: lastLogin,
};

/** Whether the user has one of the roles. The first part lets the planner use the index, which has only users with roles. */
function rolesCondition({ operator, values }: FilterClause): Sql {
  const hasOne = sql`(u.roles <> '[]' and u.roles ?| ${bound(values)}::text[])`;
  return operator === 'neq' ? sql`not ${hasOne}` : hasOne;
}

/** Whether the user is subscribed to one of the topics. */
function topicCondition({ operator, values }: FilterClause): Sql {
  const topics = sql`array(select id from topics where key = any (${bound(values)}::text[]))`;
  const isIn = sql`u.id in (select s.user_id from subscriptions s where s.topic_id = any (${topics}))`;
  return operator === 'neq' ? sql`not (${isIn})` : isIn;
}

function computedCondition({ operator, values }: FilterClause, conditions: Readonly<Record<string, Sql>>): Sql {
  const alternatives = values.flatMap((value) => conditions[value] ?? []);
  const anyAlternative = sql`(${join(alternatives, ' or ')})`;
  return operator === 'neq' ? sql`not ${anyAlternative}` : anyAlternative;
}

/** A condition that a clause implies, and that the index of searches can answer. */
function hintOf({ name, operator, values: [value = '', ...more] }: FilterClause): Sql {
  const isHinted = searched.includes(name) && (operator === 'like' || operator === 'eq') && more.length === 0;
  return isHinted ? sql` and ${searchText} like lower(${bound(likePattern(value))}::text)` : sql``;
}

const findOwners = statement<{ digests: readonly Buffer[] }, { user_id: string }>(
  'identity_owners',
  (p) => sql`select user_id from identities where digest = any(${p.digests})`,
);

/**
 * Replaces conditions such as `email:eq:…` by conditions on the id of the user with this identity. The condition then
 * accepts every spelling that a login accepts, and needs no scan of the users.
 */
export async function resolveIdentities(
  handle: Queryable,
  filter: readonly FilterClause[],
  defaultRegion: string | undefined,
): Promise<FilterClause[]> {
  return Promise.all(
    filter.map(async (clause) => {
      const type = directoryTypes.find((candidate) => candidate === clause.name);
      if (type === undefined || clause.operator !== 'eq') return clause;
      const values = await ownersOf(handle, type, clause.values, defaultRegion);
      return { ...clause, name: 'id', field: { kind: 'id' }, values };
    }),
  );
}

/** The ids of the users who have one of these identities, in any spelling, or one of these external ids. */
export async function ownersOf(
  handle: Queryable,
  type: DirectoryType,
  values: readonly string[],
  defaultRegion: string | undefined,
): Promise<string[]> {
  const identities = values.flatMap((value) => canonicalEntry(type, value, defaultRegion) ?? []);
  if (identities.length === 0) return [];
  const owners = await handle.query(findOwners({ digests: identities.map(identityDigest) }));
  return owners.map((owner) => owner.user_id);
}
