import { isPosternError } from '@postern/client';

/** The answer that a middleware sends instead of the route. */
export interface Refusal {
  readonly status: 401 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

const refusal = (status: Refusal['status'], code: string, title: string, header: [string, string]): Refusal => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store', [header[0]]: header[1] },
  body: JSON.stringify({ type: `urn:postern:problem:${code}`, title, status, detail: title, errors: [{ code }] }),
});

/** There is no valid session. The code is that of Postern, so `postern.fetch` of the client gets a new session and retries. */
export const noSession = refusal(401, 'invalid_session_token', 'This needs a valid session.', [
  'www-authenticate',
  'Bearer',
]);

const uncheckedSession = refusal(503, 'storage_unavailable', 'The session cannot be checked right now.', [
  'retry-after',
  '1',
]);

/** The answer if Postern could not check the session. Undefined for other errors, which are bugs. */
export function refusalOf(error: unknown): Refusal | undefined {
  return isPosternError(error) && error.kind !== 'usage' ? uncheckedSession : undefined;
}

export const toResponse = ({ status, headers, body }: Refusal): Response => new Response(body, { status, headers });
