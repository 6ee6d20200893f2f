import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from './requests/route.js';

/**
 * Answers `Expect: 100-continue` with `100 Continue` when a route is about to read the body. Node.js would answer at once, and the client
 * would send a large body for a request that is refused. A connection is closed if the body was not requested: the next bytes may be the
 * body or another request.
 */
export function continueWhenRead(app: App): void {
  /** The requests that wait, and whether their connection may be used again. */
  const waiting = new WeakMap<IncomingMessage, boolean>();
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response.shouldKeepAlive);
    response.shouldKeepAlive = false;
    app.server.emit('request', request, response);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    const keepsAlive = waiting.get(request.raw);
    if (keepsAlive !== undefined) {
      waiting.delete(request.raw);
      reply.raw.shouldKeepAlive = keepsAlive;
      reply.raw.writeContinue();
    }
    done(null, payload);
  });
}
