import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { LogAddress } from '../lib/log-address.js';
import type { App } from './requests/route.js';

/** How long a closing server waits, in milliseconds. */
export interface DrainTimes {
  /** For the first request on a connection that has sent none. */
  readonly firstRequest: number;
  /** For the rest of a request: its headers or its body. */
  readonly body: number;
  /** For the end of all answers. */
  readonly answer: number;
}

/** What happened last on a connection. */
interface LastExchange {
  response: ServerResponse | undefined;
  /** Undefined before the framework has the request. It may be older than `response`. */
  request: FastifyRequest | undefined;
}

/**
 * `answer` is the time for a body plus the time limit of a handler. The rest of the 30 seconds of a stop is for the parts that
 * stop after the server.
 */
const defaultTimes: DrainTimes = { firstRequest: 1000, body: 5000, answer: 20_000 };

/**
 * While the server closes: closes each connection when its last request is answered, and cuts requests that take too long.
 * While Node closes a server, it no longer applies its timeouts, and would wait for each client that stops sending. Logs
 * each request that is cut.
 * @param mayTakeLonger the sockets of requests that end by themselves when the server closes: `body` is not for them
 */
export function drainConnections(
  app: App,
  mayTakeLonger: WeakSet<Socket>,
  logAddress: LogAddress,
  times: DrainTimes = defaultTimes,
): void {
  const connections = new Map<Socket, LastExchange>();
  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { response: undefined, request: undefined });
    socket.once('close', () => connections.delete(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const last = connections.get(socket);
    if (last !== undefined) last.response = response;
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const last = connections.get(request.raw.socket);
    if (last !== undefined) last.request = request;
    done();
  });

  function cut(socket: Socket, { req }: ServerResponse, reason: string): void {
    const last = connections.get(socket)?.request;
    const request = last?.raw === req ? last : undefined;
    // The pattern of the route, not the URL: a URL may contain secrets.
    const route = request?.routeOptions.url;
    const line = { request_id: request?.id, method: req.method, route, ip: request && logAddress(request.ip) };
    app.log.warn(line, `A request was cut because Postern stops: ${reason}`);
    socket.destroy();
  }

  function closeConnection(socket: Socket, response: ServerResponse | undefined, waited: number): void {
    if (response === undefined) {
      if (waited > times.firstRequest) socket.destroy();
    } else if (response.writableFinished) {
      // The client may have sent a part of its next request.
      if (waited > times.body) socket.destroy();
    } else if (waited > times.answer) {
      cut(socket, response, `it was not answered within ${times.answer} ms`);
    } else if (waited > times.body && !response.req.complete && !mayTakeLonger.has(socket)) {
      cut(socket, response, `the rest of its body did not arrive within ${times.body} ms`);
    }
  }

  let timer: NodeJS.Timeout | undefined;
  app.addHook('preClose', async () => {
    const since = performance.now();
    timer = setInterval(() => {
      app.server.closeIdleConnections();
      const waited = performance.now() - since;
      for (const [socket, { response }] of connections) closeConnection(socket, response, waited);
    }, 100);
  });
  app.addHook('onClose', async () => clearInterval(timer));
}
