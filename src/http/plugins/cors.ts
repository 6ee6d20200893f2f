import type { App } from '../requests/route.js';

/** The response headers that pages of other origins can read. */
const exposedHeaders = [
  'Link',
  'X-Total-Count',
  'X-Total-Count-Capped',
  'X-Partial',
  'Preference-Applied',
  'Request-ID',
  'ETag',
  'Retry-After',
  'Idempotency-Key',
  'Idempotent-Replayed',
  'WWW-Authenticate',
  'DPoP-Nonce',
  'RateLimit',
  'RateLimit-Policy',
].join(', ');
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** How long a browser may cache the response to a preflight, in seconds. */
const maxAge = '600';

/**
 * CORS (fetch.spec.whatwg.org, 3.3) for pages of these origins. It answers their preflights on every path. Any other
 * OPTIONS request is handled as without CORS.
 */
export function corsPlugin(app: App, origins: readonly string[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    const {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': requestedHeaders,
    } = request.headers;
    if (origin === undefined || !origins.includes(origin)) return done();
    reply.header('access-control-allow-origin', origin);
    if (request.method !== 'OPTIONS' || method === undefined) {
      reply.header('access-control-expose-headers', exposedHeaders);
      return done();
    }
    reply.headers({
      vary: 'Origin, Access-Control-Request-Headers',
      'access-control-allow-methods': methods,
      'access-control-max-age': maxAge,
      ...(requestedHeaders !== undefined && { 'access-control-allow-headers': requestedHeaders }),
    });
    reply.code(204).send();
  });
}
