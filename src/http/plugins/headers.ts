import { headerValues } from '../../lib/http-headers.js';
import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

/** Names are in lower case, as they are sent: other names would be converted for each response. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  // Any response can contain a secret or personal data unless its route says otherwise.
  'cache-control': 'no-store',
};
const oneYear = 31_536_000;

/**
 * The headers of every response that do not depend on the request: one list for the routes and for the fast path of
 * session checks (`verify-handler.ts`). `cors`: whether pages of other origins may call.
 */
export function alwaysHeaders(options: {
  readonly behindTls: boolean;
  readonly cors: boolean;
}): Record<string, string> {
  return {
    ...securityHeaders,
    ...(options.behindTls && { 'strict-transport-security': `max-age=${oneYear}; includeSubDomains` }),
    ...(options.cors && { vary: 'Origin' }),
  };
}

/** Sets `always` and the request id on every response, also on errors, and checks Host and Idempotency-Key. */
export function headersPlugin(app: App, always: Readonly<Record<string, string>>): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(always);
    reply.header('request-id', request.id);
    const { httpVersion, rawHeaders } = request.raw;
    // RFC 9112, 3.2: exactly one.
    const hosts = headerValues(rawHeaders, 'host').length;
    if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) throw new Problem('malformed_request');
    const keys = headerValues(rawHeaders, 'idempotency-key');
    if (keys.length > 0) reply.header('Idempotency-Key', checkIdempotencyKey(keys));
    done();
  });
}

/** @throws Problem `malformed_request` unless there is exactly one key, of 1 to 255 printable ASCII characters */
function checkIdempotencyKey(keys: readonly string[]): string {
  const [key = ''] = keys;
  if (keys.length !== 1 || !/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) {
    throw new Problem('malformed_request', { errors: [{ field: 'Idempotency-Key', code: 'malformed_request' }] });
  }
  return key;
}
