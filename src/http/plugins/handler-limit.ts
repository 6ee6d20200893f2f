import type { RouteHandlerMethod } from 'fastify';
import { Problem } from '../../lib/problem.js';
import type { App } from '../route.js';

/**
 * Answers 503 where a handler has not answered within so many milliseconds, and cuts an answer that has begun but is not
 * written to its end by then.
 *
 * Not the framework's own limit: it makes an `AbortController` for each request and aborts it at the end, with an error
 * and its stack, which is a tenth of what a small request costs. Routes that set `handlerTimeout` themselves have that.
 */
export function handlerLimitPlugin(app: App, milliseconds: number): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.isBounded === true || route.handlerTimeout !== undefined) return;
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
