import type { Queryable } from '../../database/database.js';
import { type Parameters, type Sql, sql, statement } from '../../database/sql.js';
import type { DpopProofValues } from './presented-dpop-proof.js';
import { rowHasToken, type TokenKey } from './token-reports.js';

/**
 * The database's part of the check of a DPoP proof: the key of the token, the time, and whether the DPoP proof was used
 * before.
 */

/** Seconds. A used DPoP proof is kept longer than its nonce is valid: see `database/maintenance/expiry.ts`. */
const nonceLifetime = sql`1800`;
/** Seconds by which `iat` may be before the time of the nonce, or after the time of the database. */
const issueTolerance = sql`300`;
/** Seconds by which a nonce may be ahead, after a small step back of the clock. */
const nonceTolerance = sql`60`;

/** What the database says about a DPoP proof. */
export interface DpopProofState {
  /** The key that the token is bound to. Null: it is not bound. */
  readonly key_thumbprint: string | null;
  readonly key_fits: boolean;
  readonly nonce_fits: boolean;
  readonly time_fits: boolean;
  readonly is_used: boolean;
  /** Seconds since 1970. */
  readonly now: number;
}

/** SQL: the columns of `DpopProofState` for a row `a` of `authentications`. */
export const dpopProofState = (p: Parameters<DpopProofValues & { readonly userId: string }>): Sql => sql`
  a.key_thumbprint, a.key_thumbprint is not distinct from ${p.thumbprint} as key_fits,
  coalesce(extract(epoch from db_now())::float8 - ${p.nonceTime}::float8
           between - ${nonceTolerance} and ${nonceLifetime}, false) as nonce_fits,
  coalesce(${p.issuedAt}::float8 between ${p.nonceTime}::float8 - ${issueTolerance}
           and extract(epoch from db_now())::float8 + ${issueTolerance}, false) as time_fits,
  exists (select from used_dpop_proofs u where u.user_id = ${p.userId} and u.digest = ${p.dpopDigest}) as is_used,
  extract(epoch from db_now())::float8 as now`;

/** SQL: the same columns of a request without a DPoP proof. */
export const noDpopProofState: Sql = sql`
  a.key_thumbprint, false as key_fits, false as nonce_fits, false as time_fits, false as is_used,
  extract(epoch from db_now())::float8 as now`;

const readState = statement<TokenKey & DpopProofValues, DpopProofState>(
  'token_dpop_proof_state',
  (p) => sql`select ${dpopProofState(p)} from authentications a where ${rowHasToken(p)}`,
);

/**
 * The state of a DPoP proof for a token that is not used for a session. Undefined: the token is unknown or has ended.
 */
export async function readDpopProofState(
  handle: Queryable,
  token: TokenKey,
  values: DpopProofValues | undefined,
): Promise<DpopProofState | undefined> {
  const none = { thumbprint: '', nonceTime: null, issuedAt: 0, dpopDigest: Buffer.alloc(0) };
  const [row] = await handle.query(readState({ ...token, ...(values ?? none) }));
  return row;
}
