import type { FastifyRequest } from 'fastify';
import type { CallingSession } from '../../account/proofs.js';
import type { ErrorCode } from '../../contract/errors/problems.js';
import { originOf, sessionOf } from './route.js';

/** The session that calls the route, with the origin of the request. */
export function callingSessionOf(request: FastifyRequest): CallingSession {
  const { id, user_id, device_id } = sessionOf(request);
  return { userId: user_id, sessionId: id, deviceId: device_id, origin: { ...originOf(request), deviceId: device_id } };
}

/** The proof that a route demands, for its description in the OpenAPI document. */
export const freshProof =
  're-authentication: a proof of type password, code, passkey or provider. With a second factor: totp or passkey.';

/** The codes of the problems that a route with a proof can answer. */
export const proofProblems: readonly ErrorCode[] = [
  'proof_rejected',
  'account_locked',
  'account_temporarily_locked',
  'too_many_requests',
  'secret_unreadable',
];
