import type { IncomingMessage, RequestListener } from 'node:http';
import type { Span, Tracing } from '../../lib/tracing.js';
import type { App } from '../requests/route.js';
import { clientGone } from './answered-requests.js';

/** Records each request as a span. */
export interface RequestTracing {
  /** Wraps the listener of all requests. */
  listener(next: RequestListener): RequestListener;
  /** Names the span after the route. `verify-handler.ts` calls it for the requests that it answers. */
  matched(request: IncomingMessage, route: string, requestId: string): void;
  plugin(app: App): void;
}

/**
 * Creates the spans of requests. A span has the method, the template of the route, the status and the request id. With
 * this id, you can find the line of the request in the access log.
 */
export function createRequestTracing(tracing: Tracing): RequestTracing {
  const spans = new WeakMap<IncomingMessage, Span>();

  function matched(request: IncomingMessage, route: string, requestId: string): void {
    const span = spans.get(request);
    span?.rename(`${request.method} ${route}`);
    span?.set({ 'http.route': route, 'postern.request_id': requestId });
  }

  return {
    matched,
    listener: (next) => (request, response) => {
      const { traceparent, tracestate } = request.headers;
      const headers = { traceparent: single(traceparent), tracestate: single(tracestate) };
      const span = tracing.startRequest(request.method ?? '', headers);
      spans.set(request, span);
      response.once('close', () => {
        const status = response.headersSent ? response.statusCode : clientGone;
        span.set({ 'http.response.status_code': status });
        if (status >= 500) span.fail(String(status));
        span.end();
      });
      tracing.runIn(span, () => next(request, response));
    },
    plugin(app) {
      app.addHook('onRequest', (request, _reply, done) => {
        const { url: route } = request.routeOptions;
        if (route !== undefined) matched(request.raw, route, request.id);
        done();
      });
      // Runs the later hooks in the span again: Node.js emits the events of a request's body outside of the listener,
      // and so outside of the span.
      app.addHook('preValidation', (request, _reply, done) => {
        const span = spans.get(request.raw);
        if (span === undefined) done();
        else tracing.runIn(span, done);
      });
    },
  };
}

const single = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(',') : value);
