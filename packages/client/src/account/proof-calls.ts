import type { Core } from '../core.js';
import { CancelledError, isProblem, UsageError } from '../errors.js';
import { type Abortable, throwIfAborted } from '../platform.js';
import type { Call, Owner } from '../transport.js';
import { type AccountOperation, bodyOf, isProof } from './proof.js';
import { choicesFor, type ProofRequest, type Prover } from './proofs.js';

export type ProofOptions = Abortable & { readonly proof?: unknown; readonly owner?: Owner };

/** A guest can do these without a proof. */
const firstCredential = /^(set_email|set_phone|add_passkey|link_identity)$/;
/** The first address of a user with only accounts at providers may need no proof. */
const address = /^(set_email|set_phone)$/;

/**
 * Creates the function that sends a request with a proof, and asks again while the proof is wrong.
 * @param prove asks the user, unless the call has a proof
 */
export function createProofCalls(core: Core, prove: Prover | undefined) {
  return async function callWithProof<T>(
    operation: AccountOperation,
    call: Pick<Call, 'path' | 'method'> & { readonly body?: object },
    { proof = prove, signal, owner = {} }: ProofOptions = {},
    sendCall: (call: Call) => Promise<T> = core.call,
  ): Promise<T> {
    const send = (candidate: unknown) => {
      if (!isProof(candidate)) {
        throw new UsageError(
          `\`proof\` must be made by passwordProof, totpProof, pinProof or a choice of the request.`,
        );
      }
      return sendCall({ ...call, body: { ...call.body, proof: bodyOf(candidate) }, signal, owner });
    };
    if (typeof proof !== 'function') return send(proof);
    let problem: ProofRequest['problem'] = null;
    for (;;) {
      const choices = await choicesFor(core, operation, { signal, owner });
      const onlyProviders = choices.every(({ type }) => type === 'provider');
      // A guest has nothing to prove, and a login at a provider may be proof enough.
      if (choices.length === 0 ? firstCredential.test(operation) : onlyProviders && address.test(operation)) {
        try {
          return await sendCall({ ...call, signal, owner });
        } catch (error) {
          if (!isProblem(error, 'validation_failed') || !error.field('proof')) throw error;
        }
      }
      const candidate: unknown = await proof({ operation, choices, problem });
      throwIfAborted(signal);
      if (candidate === null) throw new CancelledError();
      try {
        return await send(candidate);
      } catch (error) {
        if (!isProblem(error, 'proof_rejected', 'account_temporarily_locked')) throw error;
        // Another proof would not help.
        if (error.errors.some(({ field }) => field === 'current_password')) throw error;
        problem = error;
      }
    }
  };
}
