import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { createBytePace } from '../lib/byte-pace.js';
import type { LogAddress } from '../lib/log-address.js';
import type { Tracing } from '../lib/tracing.js';
import { pathOf } from '../lib/urls.js';
import { createVerifyHandler } from '../sessions/fast-path/verify-handler.js';
import type { RequestObserver } from '../statistics/meters.js';
import { createAddressReader, trustedProxies } from './admission/client-address.js';
import { createRequestAdmission } from './admission/request-admission.js';
import { answerBrokenRequest, answerUnmetExpectation, observeRefused } from './broken-requests.js';
import { drainConnections } from './drain.js';
import { continueWhenRead } from './expectations.js';
import { answeredRequestsPlugin } from './observation/answered-requests.js';
import { createRequestTracing } from './observation/traced-requests.js';
import { openApiPlugin } from './openapi/routes.js';
import { adminRequestsPlugin } from './plugins/admin-requests.js';
import { admissionPlugin, countRefused, sessionLimitPlugin } from './plugins/admission.js';
import { authorizationPlugin } from './plugins/authorization.js';
import { compressionPlugin } from './plugins/compression.js';
import { corsPlugin } from './plugins/cors.js';
import { forwardedHeadersPlugin } from './plugins/forwarded-headers.js';
import { handlerLimitPlugin } from './plugins/handler-limit.js';
import { alwaysHeaders, headersPlugin } from './plugins/headers.js';
import { httpsPlugin } from './plugins/https.js';
import { jsonBodyPlugin } from './plugins/json-body.js';
import { ndjsonBodyPlugin } from './plugins/ndjson-body.js';
import { notFoundPlugin } from './plugins/not-found.js';
import { asProblem, problemsPlugin, sendProblem } from './plugins/problems.js';
import { publicPathPlugin, withoutPublicPath } from './plugins/public-path.js';
import { requestTargetsPlugin, withOriginForm } from './plugins/request-targets.js';
import { securityEventsPlugin } from './plugins/security-events.js';
import { serializationPlugin } from './plugins/serialization.js';
import { userReferencesPlugin } from './plugins/user-references.js';
import { validationPlugin } from './plugins/validation.js';
import type { App } from './requests/route.js';
import { registerRoutes, type ServedRoutes, type Services } from './routes/routes.js';
import { withUnreadBodies } from './unread-bodies.js';

export interface ServerOptions {
  readonly services: Services;
  readonly log: FastifyBaseLogger;
  /** An address as the log may show it, see LOG_ADDRESSES. */
  readonly logAddress: LogAddress;
  readonly version: string;
  readonly publicUrl: string | undefined;
  /** Whether PUBLIC_URL is https. */
  readonly behindTls: boolean;
  readonly corsOrigins: readonly string[];
  readonly trustProxy: number | readonly string[] | undefined;
  readonly serves: ServedRoutes;
  /** Whether `/docs` and `/openapi.json` are served. */
  readonly apiDocs: boolean;
  /** Sees each request before anything else. Undefined: nothing needs to. */
  readonly onRequest: ((request: IncomingMessage) => void) | undefined;
  /** Called for every answered request. Undefined without metrics and without an access log. */
  readonly onAnswered: RequestObserver | undefined;
  /** Undefined: requests are not traced. */
  readonly tracing: Tracing | undefined;
}

/**
 * Milliseconds. `connection`: until the headers have arrived. `request`: until the whole request has arrived. `handler`: from then until
 * its response. `keepAlive`: how long an idle connection stays open.
 */
const timeouts = { connection: 10_000, request: 12_000, handler: 15_000, keepAlive: 72_000 };
const maxHeaderBytes = 16 * 1024;
const maxBodyBytes = 64 * 1024;
/**
 * How fast bodies that no route wants are discarded: bytes per second and at once, for each address (IPv6: each /64). See
 * `withUnreadBodies`.
 */
const unreadBodies = { rate: 2 * 1024 * 1024, burst: 1024 * 1024 };

/** Builds the HTTP server with all its routes. It does not listen yet. Plugins run in the order of this function. */
export async function buildServer(options: ServerOptions): Promise<App> {
  const { services, behindTls } = options;
  const publicPath = pathOf(options.publicUrl);
  const logsRequests = options.log.level === 'debug' || options.log.level === 'trace';
  const headers = alwaysHeaders({ behindTls, cors: options.corsOrigins.length > 0 });
  const isTrusted = trustedProxies(options.trustProxy);
  const addressOf = createAddressReader(isTrusted);
  const admission = createRequestAdmission(services.admission, addressOf);
  const requestTracing = options.tracing && createRequestTracing(options.tracing);
  const traced = (listener: RequestListener) => requestTracing?.listener(listener) ?? listener;
  const verifyHandler = createVerifyHandler(
    { verify: services.verifiers.verifySession },
    {
      headers,
      admission,
      // A line for each request is written by a plugin, which this handler would bypass.
      isOpen: !logsRequests,
      counters: services.counters,
      meters: services.meters,
      onAnswered: options.onAnswered,
      onMatched: requestTracing?.matched,
      addressOf,
      demandsHttps: behindTls && isTrusted !== false,
    },
  );
  const sockets: Sockets = { withoutReceiveTimeout: new WeakSet(), running: new WeakSet() };
  const unread = { pace: createBytePace(unreadBodies), addressOf };
  const app = createApp(options, {
    headers,
    isTrusted,
    sockets,
    // The outermost runs first.
    listenerOf: (routes) =>
      watched(
        withOriginForm(withoutPublicPath(publicPath, traced(verifyHandler.listener(withUnreadBodies(routes, unread))))),
        options.onRequest,
      ),
  });

  // The handler of session checks (`createVerifyHandler`) bypasses these plugins. What they do for all requests, it does itself.
  requestTracing?.plugin(app);
  if (options.onAnswered !== undefined) answeredRequestsPlugin(app, options.onAnswered, sockets.running);
  handlerLimitPlugin(app, timeouts.handler);
  serializationPlugin(app);
  problemsPlugin(app);
  headersPlugin(app, headers);
  requestTargetsPlugin(app);
  if (behindTls && isTrusted !== false) httpsPlugin(app, { publicUrl: options.publicUrl, isTrusted });
  if (publicPath !== '') publicPathPlugin(app, publicPath);
  forwardedHeadersPlugin(app, options.log, options.logAddress);
  securityEventsPlugin(app, options.log, options.logAddress);
  if (options.corsOrigins.length > 0) corsPlugin(app, options.corsOrigins);
  admissionPlugin(app, { admission, verifyApiKey: services.verifiers.verifyApiKey });
  notFoundPlugin(app);
  await openApiPlugin(app, options);
  adminRequestsPlugin(app);
  compressionPlugin(app);
  userReferencesPlugin(app, services.userReferences);
  validationPlugin(app);
  jsonBodyPlugin(app);
  ndjsonBodyPlugin(app, sockets.withoutReceiveTimeout);
  authorizationPlugin(app, {
    ...services.verifiers,
    checkOf: verifyHandler.checkOf,
    meters: services.meters,
    onRefused: (request, reply) => countRefused(admission, request, reply),
  });
  sessionLimitPlugin(app, admission);
  if (logsRequests) logRequests(app, options.logAddress);
  app.addHook('preClose', async () => verifyHandler.close());
  continueWhenRead(app);
  app.server.on('checkExpectation', answerUnmetExpectation(headers, observeRefused(options.onAnswered)));
  drainConnections(app, sockets.withoutReceiveTimeout, options.logAddress);
  registerRoutes(app, services, { ...options.serves, apiDocs: options.apiDocs });
  await app.ready();
  return app;
}

/** What plugins know about a connection, for the errors that Node.js reports. */
interface Sockets {
  /** Those whose request may take any time to arrive. */
  readonly withoutReceiveTimeout: WeakSet<Socket>;
  /** Those whose request is counted when it ends. */
  readonly running: WeakSet<Socket>;
}

interface AppParts {
  readonly headers: ReturnType<typeof alwaysHeaders>;
  readonly isTrusted: ReturnType<typeof trustedProxies>;
  readonly sockets: Sockets;
  /** What answers a request before the routes, or else passes it to them. */
  readonly listenerOf: (routes: RequestListener) => RequestListener;
}

/** Creates the framework's server without plugins and routes: its limits, its log, and its answers to broken requests. */
function createApp(
  { log, onAnswered }: Pick<ServerOptions, 'log' | 'onAnswered'>,
  { headers, isTrusted, sockets, listenerOf }: AppParts,
): App {
  return Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    // Fastify would create a logger for each request, which costs more than most requests. Log lines of a request
    // contain its `request_id` instead (decision 45).
    childLoggerFactory: (logger) => logger,
    bodyLimit: maxBodyBytes,
    trustProxy: isTrusted,
    serverFactory: (routes) =>
      createServer(
        {
          maxHeaderSize: maxHeaderBytes,
          headersTimeout: timeouts.connection,
          requestTimeout: timeouts.request,
          keepAliveTimeout: timeouts.keepAlive,
          connectionsCheckingInterval: 2000,
          // `headersPlugin` checks it, and answers with a problem.
          requireHostHeader: false,
        },
        listenerOf(routes),
      ),
    // Fastify would give up a start in which a plug-in takes longer than ten seconds, as on a machine that is very busy.
    pluginTimeout: 0,
    // An id that is too long gets 404 like any unknown id. The limit of the headers also limits the URL.
    routerOptions: { maxParamLength: maxHeaderBytes },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => {
      // Node only reports that the time of a request is over. This handler decides what happens to the request.
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && sockets.withoutReceiveTimeout.has(socket)) return;
      const observe = sockets.running.has(socket) ? () => {} : observeRefused(onAnswered);
      answerBrokenRequest(error, socket, headers, observe);
    },
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...headers, 'Request-ID': request.id });
      void sendProblem(asProblem(error), request, reply);
      observeRefused(onAnswered, request.method)(request.id, reply.statusCode);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
}

/** A listener that reports each request before it does anything else. */
function watched(listener: RequestListener, onRequest: ServerOptions['onRequest']): RequestListener {
  if (onRequest === undefined) return listener;
  return (request, response) => {
    onRequest(request);
    listener(request, response);
  };
}

/** Logs one line for each request. Only at debug level: a line costs as much as a small request (decision 34). */
function logRequests(app: App, logAddress: LogAddress): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, id, ip } = request;
    // The pattern of the route, not the URL: a URL may contain secrets.
    const line = {
      request_id: id,
      method,
      route: routeOptions.url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      ip: logAddress(ip),
    };
    request.log.debug(line, 'request');
  });
}
