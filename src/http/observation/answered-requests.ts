import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { RequestObserver } from '../../statistics/meters.js';
import { type App, callerAddress } from '../requests/route.js';

/**
 * The status that the metrics, the access log and the traces show if the client disconnected before it got an answer.
 * nginx uses the same number.
 */
export const clientGone = 499;

/**
 * Calls the observer for each answered request. `verify-handler.ts` does the same for the requests that it answers.
 * This plugin does not use the hook `onResponse`: Fastify does not call that hook if the client does not read the
 * answer to its end, as with streams.
 * @param running the connections whose request is counted here when it ends
 */
export function answeredRequestsPlugin(app: App, observe: RequestObserver, running: WeakSet<Socket>): void {
  app.addHook('onRequest', (request, reply, done) => {
    const since = performance.now();
    const { raw: response } = reply;
    const { socket } = request.raw;
    running.add(socket);
    // A closed connection has no address any more.
    const address = callerAddress(request);
    response.once('close', () => {
      running.delete(socket);
      const status = response.headersSent ? response.statusCode : clientGone;
      observe({
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? 'unmatched',
        status,
        duration: performance.now() - since,
        isStream: status === 200 && request.headers.accept?.includes('text/event-stream') === true,
        userId: request.authorized?.session?.user_id ?? nameAfter('user:', request),
        keyId: nameAfter('key:', request),
        address: request.forwardedClient ?? address,
      });
    });
    done();
  });
}

/** The rest of the caller's name, which says whether it is a key or an operator. */
function nameAfter(kind: 'key:' | 'user:', { authorized }: FastifyRequest): string | undefined {
  const name = authorized?.caller?.name;
  return name?.startsWith(kind) === true ? name.slice(kind.length) : undefined;
}
