import type { App } from '../route.js';

/** What pages of other origins may read. */
const exposedHeaders = [
  ...['Link', 'X-Total-Count', 'X-Total-Count-Capped', 'Preference-Applied', 'Request-ID', 'ETag', 'Retry-After'],
  ...['Idempotency-Key', 'Idempotent-Replayed'],
].join(', ');
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Seconds for which a browser may keep the answer to a preflight. */
const maxAge = '600';

/** Where pages of other origins may call: what every answer says, whoever asks. */
export const corsHeaders = { vary: 'Origin' };

/**
 * CORS (fetch.spec.whatwg.org, 3.3) for pages of these origins. It answers their preflights, whatever the path. An OPTIONS
 * that is no preflight, or one of another origin, goes on as it does without CORS.
 */
export function corsPlugin(app: App, origins: readonly string[]): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(corsHeaders);
    const {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': asked,
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
      ...(asked !== undefined && { 'access-control-allow-headers': asked }),
    });
    reply.code(204).send();
  });
}
