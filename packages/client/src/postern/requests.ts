import type { Core } from '../core.js';
import { isProblem, isUnauthorized, SignedOutError } from '../errors.js';
import { type Call, loadPart, type Owner } from '../transport.js';
import { getSession } from './get-session.js';
import { withRetry } from './retry.js';

/** Sends with a session, and once more with a new one of the same user after a 401. */
export type WithSession = <T>(
  owner: Owner,
  signal: AbortSignal | undefined,
  send: (bearer: string) => Promise<T>,
  mustRepeat?: (result: T) => Promise<boolean>,
) => Promise<T>;

/** Does what `WithSession` says, with the sessions of a client. */
export async function withSession<T>(
  core: Core,
  owner: Owner,
  signal: AbortSignal | undefined,
  send: (bearer: string) => Promise<T>,
  mustRepeat?: (result: T) => Promise<boolean>,
): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    const session = await getSession(core, { signal });
    // A request of one user must not continue as another user.
    owner.id ??= session?.user_id;
    if (!session || session.user_id !== owner.id) throw new SignedOutError();
    try {
      const result = await send(`Bearer ${session.token}`);
      if (!isFirst || !(await mustRepeat?.(result))) return result;
    } catch (error) {
      if (!isFirst || !isUnauthorized(error)) throw error;
    }
    // The service has refused it.
    if (core.held.cached?.session === session) core.held.cached = undefined;
  }
}

/** Sends a request to Postern with a session, by `json` or `raw` of the transport. */
export function callWithSession<T>(core: Core, request: Call, send: (call: Call) => Promise<T>): Promise<T> {
  const { owner = {}, signal } = request;
  const attempt = () =>
    // `send` throws at a 401, so no result means that the request must be repeated.
    withSession<T>(core, owner, signal, (authorization) => send({ ...request, authorization }));
  // A change may have taken effect although its answer was lost, so only the caller can decide to repeat it.
  return request.method === undefined ? withRetry(attempt, core.isClosed, signal) : attempt();
}

/** Sends a request, and again with a solution if the service asks for one. */
export const withHumanCheck = <T>(core: Core, request: Call, send: (call: Call) => Promise<T>): Promise<T> =>
  send(request).catch(async (error) => {
    if (!isProblem(error, 'human_check_required')) throw error;
    const { repeat } = await loadPart(() => import('../human-check/human-check.js'));
    return repeat(error.human_check, request, send, core);
  });
