import type { IncomingMessage, ServerResponse } from 'node:http';
import type { App } from './requests/route.js';

/**
 * Answers `Expect: 100-continue` with `100 Continue` when a route is about to read the body. Node.js would answer at once, and
 * the client would send a large body for a request that is refused.
 */
export function continueWhenRead(app: App): void {
  const waiting = new WeakSet<IncomingMessage>();
  app.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    app.server.emit('request', request, response);
  });
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (waiting.delete(request.raw)) reply.raw.writeContinue();
    done(null, payload);
  });
}
