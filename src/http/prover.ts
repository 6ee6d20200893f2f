import type { FastifyRequest } from 'fastify';
import type { Prover } from '../authentication/self-service/proofs.js';
import type { ErrorCode } from '../contract/errors.js';
import { originOf, sessionOf } from './route.js';

/** Who a fresh proof is asked of: the session that the route demanded. */
export function proverOf(request: FastifyRequest): Prover {
  const { id, user_id, device_id } = sessionOf(request);
  return { userId: user_id, sessionId: id, deviceId: device_id, origin: { ...originOf(request), deviceId: device_id } };
}

/** The proof that a route demands, as its description in the OpenAPI document says it. */
export const freshProof = 'a fresh proof: password, code or passkey; with a second factor, totp or passkey.';

/** What a route that demands a proof can answer. */
export const proofProblems: readonly ErrorCode[] = [
  'proof_rejected',
  'account_locked',
  'account_temporarily_locked',
  'too_many_requests',
  'secret_unreadable',
];
