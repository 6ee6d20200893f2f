import { randomUUID } from 'node:crypto';
import type { Audience } from '../../contract/access-token.js';
import { authenticationMethods } from '../../contract/session.js';
import type { Queryable } from '../../database/database.js';
import { literal, sql, statement } from '../../database/sql.js';

/** The most bytes of the JSON in a token: some gateways take headers of 4 KiB and less. */
export const maxPayloadBytes = 1024;

const sizeOf = (payload: object): number => Buffer.byteLength(JSON.stringify(payload));

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

/** The bytes of the largest token for an audience, without roles and claims. A support login has proven nothing, but names its operator. */
function largestOf({ uri, support }: Pick<Audience, 'uri' | 'support'>, { issuer, clientIds }: TokenMembers): number {
  const [id, time] = [randomUUID(), 2_000_000_000];
  const common = { iss: issuer, aud: uri, jti: id, sub: id, sid: id, iat: time, exp: time, auth_time: time };
  const own = ['postern', ...clientIds].map((client_id) => ({
    ...common,
    client_id,
    amr: authenticationMethods,
    proven_at: time,
  }));
  const supported = { ...common, client_id: 'postern', amr: [], act: { sub: id, write: false } };
  return Math.max(...[...own, ...(support ? [supported] : [])].map(sizeOf));
}

/** What the tokens of this installation contain. */
export interface TokenMembers {
  /** PUBLIC_URL: `iss`. */
  readonly issuer: string;
  /** REDIRECT_URIS: the values of `client_id` beside `postern`. */
  readonly clientIds: readonly string[];
}

/**
 * The ids of users whose roles and claims do not fit into every token that an audience can get. It looks at a bounded number of users,
 * so it may miss some.
 */
export async function usersTooLargeFor(
  handle: Queryable,
  audience: Audience,
  members: TokenMembers,
): Promise<string[]> {
  const { roles: hasRoles, claims: names } = audience;
  if (!hasRoles && names.length === 0) return [];
  const size = largestOf(audience, members);
  const users = await handle.query(findLargest({ least: Math.max(0, maxPayloadBytes - size - 100) }));
  return users
    .filter(({ roles, claims }) => {
      const held = { ...(hasRoles && { roles }), ...(names.length > 0 && { claims: claimsOf(claims, names) }) };
      // Without its braces and with the comma before it.
      return size + sizeOf(held) - 1 > maxPayloadBytes;
    })
    .slice(0, maxNamed)
    .map((user) => user.id);
}
