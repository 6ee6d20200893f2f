import type { Core, SendWithProof } from '../core.js';
import { UsageError } from '../errors.js';
import { partsOf, platform } from '../platform.js';
import type { PosternOptions } from '../types.js';
import type { WithSession } from './requests.js';

/**
 * `postern.fetch`: sends a request of the app with the session, to trusted origins only.
 *
 * @throws UsageError for other origins
 */
export async function fetchWithSession(
  { base, stepUp }: Pick<Core, 'base' | 'stepUp'>,
  { fetch, trustedOrigins = [] }: Pick<PosternOptions, 'fetch' | 'trustedOrigins'>,
  withSession: WithSession,
  input: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const request = input instanceof Request ? input : undefined;
  const page = platform().location;
  const address = request?.url ?? `${input}`;
  const origin = partsOf(address, page?.href)?.[1];
  if (!origin || ![partsOf(base)?.[1], page?.origin, ...trustedOrigins].includes(origin)) {
    throw new UsageError(`postern.fetch sends no session to ${origin || address}: add it to \`trustedOrigins\`.`);
  }
  // React Native has no `ReadableStream` to compare with.
  const canRepeat = !(init.body as { readonly getReader?: unknown } | undefined)?.getReader;
  const attempt = (authorization: string) => {
    const headers = new Headers(init.headers ?? request?.headers);
    headers.set('authorization', authorization);
    return (fetch ?? globalThis.fetch)(request?.clone() ?? input, { ...init, headers });
  };
  const owner = {};
  const send: SendWithProof = (isMissing) =>
    withSession(
      owner,
      init.signal ?? request?.signal,
      attempt,
      async (answer) => answer.status === 401 && canRepeat && !(await isMissing?.(answer)),
    );
  return stepUp ? stepUp(send, owner, input, init) : send();
}
