import type { RouteHandlerMethod } from 'fastify';
import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

/**
 * Answers 503 if a handler has not answered within the limit. If the response has started by then, it closes the
 * connection. The framework's own limit, `handlerTimeout`, takes a tenth of the time of a small request: only routes
 * that set it themselves use it.
 */
export function handlerLimitPlugin(app: App, milliseconds: number): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.hasNoHandlerTimer === true || route.handlerTimeout !== undefined) return;
    route.handler = limited(route.handler, milliseconds);
  });
}

function limited(handler: RouteHandlerMethod, milliseconds: number): RouteHandlerMethod {
  return function (request, reply) {
    const answer: unknown = handler.call(this, request, reply);
    if (!(answer instanceof Promise)) return answer;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (reply.sent) return;
        const cause = new Error(`a handler has not answered within ${milliseconds} ms`);
        if (reply.raw.headersSent) reply.raw.destroy(cause);
        else reject(new Problem('overloaded', { cause }));
      }, milliseconds);
      answer.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  };
}
