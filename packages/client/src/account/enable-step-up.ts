import { coreOf, type StepUp } from '../core.js';
import { SignedOutError } from '../errors.js';
import type { Unsubscribe } from '../platform.js';
import { loadPart } from '../transport.js';
import type { Postern } from '../types.js';
import type { Prover } from './proofs.js';

/**
 * From now on, `postern.fetch` asks `prove` if your API answers 401 with `insufficient_user_authentication` (RFC 9470), as the middlewares
 * of `@postern/server` do for `within` and `factor`. Then it repeats the request once. Requests at the same time share one proof. If there
 * is none, the request rejects as `stepUp` does, and also if another user has logged in meanwhile. A request whose body is a stream cannot
 * be repeated: it gets the 401.
 *
 * The code that asks is loaded with the first such answer.
 *
 * @example
 * ```ts
 * import { enableStepUp, type Postern, passwordProof } from '@postern/client';
 * declare const postern: Postern;
 * declare function askForPassword(message: string): Promise<string | null>;
 *
 * enableStepUp(postern, {
 *   async prove({ problem }) {
 *     const password = await askForPassword(problem?.detail ?? 'Your password, please');
 *     return password === null ? null : passwordProof(password);
 *   },
 * });
 * await postern.fetch('/api/payments', { method: 'POST' });
 * ```
 * @returns a function that ends it
 * @throws UsageError if the argument is not a client
 */
export function enableStepUp(postern: Postern, { prove }: { readonly prove: Prover }): Unsubscribe {
  const core = coreOf(postern);
  /** How often the user has given a proof. */
  let count = 0;
  const isMissing = async (answer: Response) => (await missingProof(answer)) !== undefined;
  const own: StepUp = async (send, owner, input, { body, signal } = {}) => {
    for (;;) {
      const before = count;
      const answer = await send(isMissing);
      const missing = await missingProof(answer);
      // A stream cannot be sent again.
      if (missing === undefined || isStream(body)) return answer;
      // Otherwise, the user gave a proof after this request was sent.
      if (before === count) {
        const { stepUp } = await loadPart(() => import('./step-up.js'));
        // If another user has logged in since, a proof would not help, and `send` rejects.
        if (core.held.login?.user_id !== owner.id) throw new SignedOutError();
        const ofCaller = signal ?? (input instanceof Request ? input.signal : undefined);
        await stepUp(postern, { prove, factor: missing.factor, signal: ofCaller });
        count += 1;
        return send(isMissing);
      }
    }
  };
  core.stepUp = own;
  return () => {
    if (core.stepUp === own) core.stepUp = undefined;
  };
}

// React Native has no `ReadableStream` to compare with.
const isStream = (body: unknown) =>
  (body as { readonly getReader?: unknown } | null | undefined)?.getReader !== undefined;

/** The proof that the app's API requires (RFC 9470). Undefined if the answer requires none. */
async function missingProof(answer: Response): Promise<{ readonly factor: boolean } | undefined> {
  if (answer.status !== 401) return undefined;
  // Another origin may not expose the header, so the problem in the body counts too. Only the problem says whether a factor is required.
  const body = (await answer
    .clone()
    .json()
    .catch(() => undefined)) as { readonly type?: unknown; readonly factor?: unknown } | null | undefined;
  const isMissing = /\binsufficient_user_authentication\b/.test(
    `${answer.headers.get('www-authenticate')} ${body?.type}`,
  );
  return isMissing ? { factor: body?.factor === true } : undefined;
}
