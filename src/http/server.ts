import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { answerBrokenRequest, answerUnmetExpectation } from './broken-requests.js';
import { createExpressLane } from './express-lane.js';
import { adminRequestsPlugin } from './plugins/admin-requests.js';
import { authorizationPlugin } from './plugins/authorization.js';
import { corsHeaders, corsPlugin } from './plugins/cors.js';
import { handlerLimitPlugin } from './plugins/handler-limit.js';
import { alwaysHeaders, headersPlugin } from './plugins/headers.js';
import { jsonBodyPlugin } from './plugins/json-body.js';
import { ndjsonBodyPlugin } from './plugins/ndjson-body.js';
import { notFoundPlugin } from './plugins/not-found.js';
import { openApiPlugin } from './plugins/openapi.js';
import { asProblem, problemsPlugin, sendProblem } from './plugins/problems.js';
import { validationPlugin } from './plugins/validation.js';
import type { App } from './route.js';
import { registerRoutes, type Services } from './routes.js';

export interface ServerOptions {
  readonly services: Services;
  readonly log: FastifyBaseLogger;
  readonly version: string;
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: number | readonly string[] | undefined;
}

/** Milliseconds. `request`: until a request has arrived whole; `handler`: from then on until it is answered. */
const timeouts = { connection: 10_000, request: 12_000, handler: 15_000, keepAlive: 72_000 };
/** Milliseconds: how long a closing server waits for a request on a connection that has brought none. */
const patience = 1000;
const maxHeaderBytes = 16 * 1024;
const maxBodyBytes = 64 * 1024;

/** The HTTP server with all its routes, not yet listening. Plugins run in the order they stand here. */
export async function buildServer(options: ServerOptions): Promise<App> {
  const { services } = options;
  const behindTls = options.publicUrl?.startsWith('https:') === true;
  const logsRequests = options.log.level === 'debug' || options.log.level === 'trace';
  const lane = createExpressLane(services.verifiers, {
    headers: { ...alwaysHeaders({ behindTls }), ...(options.corsOrigins.length > 0 && corsHeaders) },
    isOpen: !logsRequests,
  });
  const unhurried = new WeakSet<Socket>();
  const app: App = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // One for each request would cost more than most of them do: what is logged of a request names its `request_id`.
    childLoggerFactory: (log) => log,
    bodyLimit: maxBodyBytes,
    trustProxy: trustedProxies(options.trustProxy),
    serverFactory: (routes) =>
      createServer(
        {
          maxHeaderSize: maxHeaderBytes,
          headersTimeout: timeouts.connection,
          requestTimeout: timeouts.request,
          keepAliveTimeout: timeouts.keepAlive,
          connectionsCheckingInterval: 2000,
          // `headersPlugin` does, and answers with a problem.
          requireHostHeader: false,
        },
        lane.listener(routes),
      ),
    // An id of any length names nothing; the length of the URL is bounded by that of the headers.
    routerOptions: { maxParamLength: maxHeaderBytes },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      // Node tells that a request's time is up and leaves it at that: what becomes of the request is decided here.
      const mayGoOn = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket);
      if (!mayGoOn) answerBrokenRequest(error, socket);
    },
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...alwaysHeaders({ behindTls }), 'Request-ID': request.id });
      void sendProblem(asProblem(error), request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // What a hook or a header does for every request from here on, `express-lane.ts` has to know of.
  handlerLimitPlugin(app, timeouts.handler);
  problemsPlugin(app);
  headersPlugin(app, { behindTls });
  if (options.corsOrigins.length > 0) corsPlugin(app, options.corsOrigins);
  notFoundPlugin(app);
  await openApiPlugin(app, options);
  adminRequestsPlugin(app);
  validationPlugin(app);
  jsonBodyPlugin(app);
  ndjsonBodyPlugin(app, unhurried);
  authorizationPlugin(app, { ...services.verifiers, checkOf: lane.checkOf });
  if (logsRequests) logRequests(app);
  app.addHook('preClose', async () => lane.close());
  app.server.on('checkExpectation', answerUnmetExpectation);
  closeDrainedConnections(app);
  registerRoutes(app, services);
  await app.ready();
  return app;
}

/**
 * While closing, connections whose last request was answered are closed at once instead of being kept for another, and
 * after a moment those that have not brought a request at all: Node no longer watches their time, and would wait for them.
 */
function closeDrainedConnections(app: App): void {
  const silent = new Set<Socket>();
  app.server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', ({ socket }) => silent.delete(socket));
  let timer: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    const since = performance.now();
    timer = setInterval(() => {
      app.server.closeIdleConnections();
      if (performance.now() - since > patience) for (const socket of silent) socket.destroy();
    }, 100);
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

/** One line a request. The audit trail and the log of failures do without it, and it costs as much as a small request. */
function logRequests(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, id, ip } = request;
    // The route's pattern, never the URL: a client may have put anything there.
    const line = {
      request_id: id,
      method,
      route: routeOptions.url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      ip,
    };
    request.log.debug(line, 'request');
  });
}

/** A number of hops counts from this server outwards. */
function trustedProxies(
  trust: ServerOptions['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  return trust === undefined ? false : [...trust];
}
