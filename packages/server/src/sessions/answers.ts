import { isPosternError } from '@postern/client';
import type { Session } from '../wire.js';

/** The answer to a request whose session is missing, is not enough, or cannot be checked: `new Response(refusal.body, refusal)`. */
export interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** @param more further members of the problem */
export const refusal = (
  status: Refusal['status'],
  code: string,
  title: string,
  header: [string, string],
  more: Readonly<Record<string, unknown>> = {},
): Refusal => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', [header[0]]: header[1] },
  body: JSON.stringify({
    type: `urn:postern:problem:${code}`,
    title,
    status,
    detail: title,
    errors: [{ code }],
    ...more,
  }),
});

/** There is no valid session. The code is that of Postern, so `postern.fetch` of the client gets a new session and retries. */
const noSession = refusal(401, 'invalid_session_token', 'This needs a valid session.', ['www-authenticate', 'Bearer']);

const readOnly = refusal(403, 'read_only_session', 'An operator uses this login to look, so it changes nothing.', [
  'www-authenticate',
  'Bearer error="insufficient_scope"',
]);

/**
 * The answer of the middlewares to a support login that only reads (`act.write` is false), for routes that call `verify` themselves.
 * Undefined for GET and HEAD, and for all other sessions.
 *
 * @example
 * ```ts
 * import { createPosternServer, readOnlyRefusalOf, refusalOf } from '@postern/server';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * export async function rename(request: Request): Promise<Response> {
 *   const session = await postern.verify(request);
 *   const refusal = session === null ? refusalOf(null) : readOnlyRefusalOf(session, request.method);
 *   return refusal === undefined ? Response.json({ renamed: true }) : new Response(refusal.body, refusal);
 * }
 * ```
 */
export function readOnlyRefusalOf({ act }: Pick<Session, 'act'>, method: string | undefined): Refusal | undefined {
  return act?.write === false && method !== 'GET' && method !== 'HEAD' ? readOnly : undefined;
}

const uncheckedSession = refusal(503, 'storage_unavailable', 'The session cannot be checked right now.', [
  'retry-after',
  '1',
]);

/**
 * The answer that the middlewares of this package send for a result of `verify`: 401 for null, which is no session, and 503 for an
 * error after which Postern could not check the session. Undefined for other errors, which are bugs: throw them again.
 *
 * @example
 * ```ts
 * import { createPosternServer, refusalOf } from '@postern/server';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * export async function me(request: Request): Promise<Response> {
 *   try {
 *     const session = await postern.verify(request);
 *     if (session !== null) return Response.json({ user_id: session.user_id });
 *     throw session;
 *   } catch (error) {
 *     const refusal = refusalOf(error);
 *     if (refusal === undefined) throw error;
 *     return new Response(refusal.body, refusal);
 *   }
 * }
 * ```
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error === null) return noSession;
  return isPosternError(error) && error.kind !== 'usage' ? uncheckedSession : undefined;
}
