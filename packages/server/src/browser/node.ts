import type { BrowserSession } from './session.js';

/** A request of `node:http`. */
interface IncomingMessage extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headersDistinct: Readonly<Record<string, readonly string[] | undefined>>;
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean | undefined };
}

/** An answer of `node:http`. */
interface ServerResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  setHeader(name: string, value: string | readonly string[]): unknown;
  flushHeaders(): void;
  write(part: Uint8Array): boolean;
  end(body?: string): unknown;
  destroy(): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
}

/** The path with its query, as the client sent it: Express shortens `url` below a mounted path. */
const pathOf = (request: IncomingMessage & { readonly originalUrl?: string | undefined }) =>
  request.originalUrl ?? request.url ?? '/';

/**
 * A browser session as a middleware of Express, Connect or `node:http`. Mount it before parsers of bodies.
 *
 * @example
 * ```ts
 * import { createBrowserSession, createPosternServer, expressHandler } from '@postern/server';
 * import express from 'express';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * express().use(expressHandler(createBrowserSession(postern, { basePath: '/auth' })));
 * ```
 */
export function expressHandler(
  session: BrowserSession,
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    if (!pathOf(request).startsWith(`${session.basePath}/`)) return next();
    answer(session, request, response).catch(next);
  };
}

interface FastifyLike {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    type: string,
    parser: (request: object, payload: object, done: (error: null) => void) => void,
  ): unknown;
  route(options: {
    readonly method: ('GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE')[];
    readonly url: string;
    readonly exposeHeadRoute: false;
    readonly handler: (
      request: { readonly raw: IncomingMessage; readonly log: { error(error: unknown): void } },
      reply: { hijack(): unknown; readonly raw: ServerResponse },
    ) => Promise<unknown>;
  }): unknown;
}

/**
 * A browser session as a plugin of Fastify.
 *
 * @example
 * ```ts
 * import { createBrowserSession, createPosternServer, fastifyHandler } from '@postern/server';
 * import { fastify } from 'fastify';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * fastify().register(fastifyHandler(createBrowserSession(postern, { basePath: '/auth' })));
 * ```
 */
export function fastifyHandler(session: BrowserSession): (app: FastifyLike) => Promise<void> {
  return async (app) => {
    // The handler forwards unparsed bodies. This affects only the routes of this plugin.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', (_request, _payload, done) => done(null));
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: `${session.basePath}/*`,
      exposeHeadRoute: false,
      async handler(request, reply) {
        reply.hijack();
        // Fastify no longer answers this request, so its error handler does not see the error.
        await answer(session, request.raw, reply.raw).catch((error: unknown) => {
          request.log.error(error);
          if (reply.raw.headersSent) return reply.raw.destroy();
          reply.raw.statusCode = 500;
          return reply.raw.end('Internal Server Error');
        });
        return reply;
      },
    });
  };
}

async function answer(session: BrowserSession, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once('close', close);
  try {
    const result = await session.handler(toRequest(session, request, closed.signal), {
      address: request.socket.remoteAddress,
    });
    response.statusCode = result.status;
    for (const [name, value] of result.headers) if (name !== 'set-cookie') response.setHeader(name, value);
    const cookies = result.headers.getSetCookie();
    if (cookies.length > 0) response.setHeader('set-cookie', cookies);
    // The start of a stream must not wait for its first event.
    response.flushHeaders();
    if (result.body !== null) await copyBody(result.body, response, closed.signal);
    response.end();
  } catch (error) {
    // The client has closed the connection.
    if (closed.signal.aborted) response.destroy();
    else throw error;
  } finally {
    response.off('close', close);
  }
}

function toRequest({ origin }: BrowserSession, request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const requestOrigin = `${request.socket.encrypted === true ? 'https' : 'http'}://${headers.get('host') ?? 'localhost'}`;
  const { method = 'GET' } = request;
  const hasBody =
    method !== 'GET' && method !== 'HEAD' && (headers.has('content-length') || headers.has('transfer-encoding'));
  const init: RequestInit & { duplex?: 'half' } = { method, headers, signal };
  return new Request(
    `${origin ?? requestOrigin}${pathOf(request)}`,
    hasBody ? { ...init, body: toStream(request), duplex: 'half' } : init,
  );
}

function toStream(request: AsyncIterable<unknown>): ReadableStream<Uint8Array> {
  const parts = request[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array);
    },
    async cancel() {
      await parts.return?.();
    },
  });
}

async function copyBody(
  body: ReadableStream<Uint8Array>,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!response.write(value)) await drained(response);
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      response.off('drain', end);
      response.off('close', end);
      resolve();
    };
    response.once('drain', end);
    response.once('close', end);
  });
}
