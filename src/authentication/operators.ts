import type { Scope } from '../contract/administration.js';
import type { roles } from '../contract/user.js';
import { type Database, prepared, type Queryable } from '../database/database.js';
import { Problem } from '../lib/problem.js';
import type { ParsedToken } from '../lib/token-strings.js';
import { sessionsThatHold } from './session-checks.js';

/** Who administers with a session instead of an API key. */
export interface Operator {
  /** `user:<id>` */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Whether the login, and every proof made in this session, is older than ADMIN_PROOF_MAX_AGE. */
  readonly isStale: boolean;
}

/**
 * What a session's user may do of administration, by role. Undefined: nothing, as most users.
 * @throws Problem `invalid_session_token`; `role_not_active` where no second factor was enrolled through a link;
 * `second_factor_required` where the login used one factor only.
 */
export type VerifyOperator = (token: ParsedToken) => Promise<Operator | undefined>;

/** Support helps users; only operators make operators, keys and rules. */
const scopesOf: Readonly<Record<(typeof roles)[number], readonly Scope[]>> = {
  user: [],
  support: ['users:read', 'users:write', 'notifications:write'],
  operator: ['admin'],
};

interface OperatorRow {
  role: (typeof roles)[number];
  is_active: boolean;
  used_second_factor: boolean;
  is_fresh: boolean;
}

/** SQL: whether a time is at most `$4` milliseconds ago. One from after a step back of the clock is of unknown age. */
const isFresh = (time: string) => `${time} between db_now() - $4 * interval '1 ms' and db_now() + interval '5 s'`;

const findOperator = prepared(
  'session_operator',
  `select u.role, u.role_active_since is not null as is_active, a.second_factor is not null as used_second_factor,
          (${isFresh('a.approved_at')} or ${isFresh('s.proven_at')}) is true as is_fresh
   from ${sessionsThatHold} and s.user_id = $1 and s.id = $2 and s.token_digest = $3`,
);

/** @param maxAge milliseconds: ADMIN_PROOF_MAX_AGE */
export function createVerifyOperator(database: Database, maxAge: number): VerifyOperator {
  return async ({ ids: [userId = '', id], digest }) => {
    const [row] = await database.query<OperatorRow>(findOperator, [userId, id, digest, maxAge]);
    if (row === undefined) throw new Problem('invalid_session_token');
    const scopes = scopesOf[row.role];
    if (scopes.length === 0) return undefined;
    if (!row.is_active) throw new Problem('role_not_active');
    if (!row.used_second_factor) throw new Problem('second_factor_required');
    return { name: `user:${userId}`, scopes, isStale: !row.is_fresh };
  };
}

const recordProof = prepared(
  'session_prove',
  `update sessions set proven_at = db_now() where user_id = $1 and id = $2
   returning proven_at, least(proven_at + $3 * interval '1 ms', expires_at) as expires_at`,
);

/** A fresh proof as it is recorded for a session, and until when it counts. */
export interface RecordedProof {
  readonly proven_at: string;
  readonly expires_at: string;
}

/** Records that a fresh proof was made in a session. @param maxAge milliseconds: ADMIN_PROOF_MAX_AGE */
export async function recordSessionProof(
  tx: Queryable,
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  maxAge: number,
): Promise<RecordedProof> {
  const [recorded] = await tx.query<RecordedProof & object>(recordProof, [userId, sessionId, maxAge]);
  if (recorded === undefined) throw new Problem('invalid_session_token');
  return recorded;
}
