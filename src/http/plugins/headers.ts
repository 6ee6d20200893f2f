import { Problem } from '../../lib/problem.js';
import { headerValues } from '../raw-headers.js';
import type { App } from '../route.js';

/** By names in lower case, as they are sent: any others are written anew for each answer. */
const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  // Every answer could hold a secret or a person's data unless its route says otherwise.
  'cache-control': 'no-store',
};
const oneYear = 31_536_000;

/** Those that do not depend on the request. */
export function alwaysHeaders({ behindTls }: { readonly behindTls: boolean }): Record<string, string> {
  if (!behindTls) return securityHeaders;
  return { ...securityHeaders, 'strict-transport-security': `max-age=${oneYear}; includeSubDomains` };
}

/** Headers that every answer carries, errors included. */
export function headersPlugin(app: App, options: { readonly behindTls: boolean }): void {
  const always = alwaysHeaders(options);
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

/** One key of 1 to 255 printable ASCII characters, or a 400. */
function checkIdempotencyKey(keys: readonly string[]): string {
  const [key = ''] = keys;
  if (keys.length !== 1 || !/^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) {
    throw new Problem('malformed_request', { errors: [{ field: 'Idempotency-Key', code: 'malformed_request' }] });
  }
  return key;
}
