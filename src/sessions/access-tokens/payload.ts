import { randomUUID } from 'node:crypto';
import type { Audience } from '../../contract/access-token.js';
import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';

/** The most bytes of the JSON in a token: some gateways take headers of 4 KiB and less. */
export const maxPayloadBytes = 1024;

export const sizeOf = (payload: object): number => Buffer.byteLength(JSON.stringify(payload));

type Claims = Readonly<Record<string, unknown>>;

/** Those of the claims that an audience gets. */
export function claimsOf(claims: Claims, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(claims, name) ? [[name, claims[name]]] : [])));
}

interface UserRow {
  readonly id: string;
  readonly roles: readonly string[];
  readonly claims: Claims;
}

/** How many users are looked at, how many of these are read, and how many are named. */
const [maxUsers, maxRead, maxNamed] = [10_000, 200, 10];

/** The users with the most roles and claims among those that were changed last. An index has this order. */
const findLargest = statement<{ least: number }, UserRow>(
  'audience_largest_users',
  (p) => sql`
  select id, roles, claims from (
    select id, roles, claims from users order by updated_at desc, id desc limit ${literal(maxUsers)}) latest
  where octet_length(roles::text) + octet_length(claims::text) > ${p.least}::integer
  order by octet_length(roles::text) + octet_length(claims::text) desc, id limit ${literal(maxRead)}`,
);

/**
 * The ids of users whose roles and claims do not fit into a token for an audience, with all members that a token can have. It looks
 * at a bounded number of users, so it may miss some.
 * @param issuer what tokens have in `iss`
 */
export async function usersTooLargeFor(
  handle: Queryable,
  { uri, roles: hasRoles, claims: names }: Audience,
  issuer: string,
): Promise<string[]> {
  if (!hasRoles && names.length === 0) return [];
  const [id, time] = [randomUUID(), 2_000_000_000];
  const common = {
    ...{ iss: issuer, aud: uri, client_id: 'postern', jti: id, sub: id, sid: id, iat: time, exp: time },
    ...{ auth_time: time, amr: ['pwd', 'otp', 'mfa'], proven_at: time },
  };
  const users = await handle.query(findLargest({ least: Math.max(0, maxPayloadBytes - sizeOf(common) - 100) }));
  return users
    .filter(({ roles, claims }) => {
      const held = { ...(hasRoles && { roles }), ...(names.length > 0 && { claims: claimsOf(claims, names) }) };
      return sizeOf({ ...common, ...held }) > maxPayloadBytes;
    })
    .slice(0, maxNamed)
    .map((user) => user.id);
}
