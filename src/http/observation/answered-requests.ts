import type { RequestObserver } from '../../statistics/meters.js';
import type { App } from '../requests/route.js';

/** The status in the metrics, the access log and the traces of a request whose client was gone before its answer. As nginx writes it. */
export const clientGone = 499;

/**
 * Calls the observer for each answered request. `verify-handler.ts` does so for the requests that it answers. Not in an
 * `onResponse` hook: Fastify does not call it for an answer that the client did not read to its end, such as a stream.
 */
export function answeredRequestsPlugin(app: App, observe: RequestObserver): void {
  app.addHook('onRequest', (request, reply, done) => {
    const since = performance.now();
    const { raw: response } = reply;
    response.once('close', () => {
      const status = response.headersSent ? response.statusCode : clientGone;
      observe({
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'unmatched',
        status,
        duration: performance.now() - since,
        isStream: status === 200 && request.headers.accept?.includes('text/event-stream') === true,
        userId: request.authorized?.session?.user_id,
      });
    });
    done();
  });
}
