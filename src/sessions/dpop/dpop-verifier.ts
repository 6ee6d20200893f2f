import type { ProblemHint } from '../../contract/errors/hints.js';
import type { Database } from '../../database/database.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import type { Origin } from '../../lib/origin.js';
import { Problem } from '../../lib/problem.js';
import { type DpopProofState, readDpopProofState } from './dpop-proof-queries.js';
import type { DpopNonces } from './nonces.js';
import {
  type DpopService,
  type PresentedDpopProof,
  type ReadDpopProof,
  readPresentedDpopProof,
} from './presented-dpop-proof.js';
import type { ReportToken } from './token-reports.js';

/** How a request uses an authentication token. */
export interface TokenUse {
  readonly origin: Origin;
  readonly dpopProof: PresentedDpopProof;
  readonly userAgent: string | undefined;
}

/** Checks the proof of possession: a token that is bound to a key works only with a DPoP proof that this key has signed (RFC 9449). */
export interface DpopVerifier {
  /** Reads the DPoP proof of a request, as far as this is possible without the database. */
  read(token: ParsedToken, dpopProof: PresentedDpopProof): ReadDpopProof;
  /**
   * Refuses a request without a valid DPoP proof, if the token is bound. For operations that end the token: they need
   * not store that the DPoP proof was used.
   * @throws Problem `invalid_dpop_proof`, `use_dpop_nonce`
   */
  requireDpopProof(token: ParsedToken, use: TokenUse): Promise<void>;
  /**
   * The problem of a request with a bound token and without a valid DPoP proof. Records an event, unless the client
   * only needs a new nonce. If the cause suggests that somebody copied the token, the user also gets a notice.
   */
  refusal(token: ParsedToken, use: TokenUse, read: ReadDpopProof, state: DpopProofState): Promise<Problem>;
  /** The nonce for the user's next DPoP proof. @param time seconds since 1970, by the clock of the database */
  nonceAt(userId: string, time: number): string;
}

/** A refused DPoP proof. */
interface Refused {
  readonly hint: ProblemHint;
  /** The cause in the audit event. */
  readonly cause: 'no_proof' | 'wrong_key' | 'invalid_proof' | 'used_proof';
}

/** The causes that suggest a copied token: a client that has the key produces them only if it has a bug. */
const causesOfCopying: readonly Refused['cause'][] = ['no_proof', 'wrong_key', 'used_proof'];

/** Creates the checks of DPoP proofs. */
export function createDpopVerifier(options: {
  readonly database: Database;
  readonly nonces: DpopNonces;
  readonly urls: DpopService['urls'];
  readonly report: ReportToken;
}): DpopVerifier {
  const { database, nonces, report } = options;

  const dpopVerifier: DpopVerifier = {
    read: (token, dpopProof) => readPresentedDpopProof(options, token, dpopProof),
    async requireDpopProof(token, use) {
      const read = dpopVerifier.read(token, use.dpopProof);
      const [userId = '', authenticationId = ''] = token.ids;
      const tokenKey = { userId, authenticationId, authenticationDigest: token.digest };
      const values = 'values' in read ? read.values : undefined;
      const state = await readDpopProofState(database.user(userId), tokenKey, values);
      if (state === undefined || state.key_thumbprint === null) return;
      if (values === undefined || !isAccepted(state)) throw await dpopVerifier.refusal(token, use, read, state);
    },
    async refusal(token, use, read, state) {
      const headers = { 'DPoP-Nonce': nonces.create(token.ids[0] ?? '', state.now) };
      const refusal = refusedBy(read, state);
      if (refusal === undefined) return new Problem('use_dpop_nonce', { headers });
      const { cause } = refusal;
      await report(token, use.origin, {
        type: 'token.misused',
        data: { cause },
        isNotified: causesOfCopying.includes(cause),
      });
      const url = 'fault' in read ? read.fault.url : undefined;
      return new Problem('invalid_dpop_proof', {
        headers,
        hint: refusal.hint,
        ...(url !== undefined && { params: { url } }),
      });
    },
    nonceAt: nonces.create,
  };
  return dpopVerifier;
}

const isAccepted = ({ key_fits, nonce_fits, time_fits, is_used }: DpopProofState) =>
  key_fits && nonce_fits && time_fits && !is_used;

/** Why a DPoP proof is refused. Undefined if the client needs a new nonce, which is part of normal use. */
function refusedBy(read: ReadDpopProof, state: DpopProofState): Refused | undefined {
  if ('fault' in read) {
    const { hint, thumbprint } = read.fault;
    if (hint === 'dpop_missing') return { hint, cause: 'no_proof' };
    // No key has signed this DPoP proof.
    if (thumbprint === undefined) return { hint, cause: 'wrong_key' };
    if (thumbprint !== state.key_thumbprint) return { hint: 'dpop_other_key', cause: 'wrong_key' };
    return { hint, cause: 'invalid_proof' };
  }
  if (!state.key_fits) return { hint: 'dpop_other_key', cause: 'wrong_key' };
  if (state.is_used) return { hint: 'dpop_used', cause: 'used_proof' };
  if (!state.nonce_fits) return undefined;
  if (!state.time_fits) return { hint: 'dpop_time', cause: 'invalid_proof' };
  // A parallel request was first with the same DPoP proof.
  return { hint: 'dpop_used', cause: 'used_proof' };
}
