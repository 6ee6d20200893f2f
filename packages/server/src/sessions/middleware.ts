import type { MaybePromise } from '@postern/client';
import { UsageError } from '@postern/client/internal';
import type { LocalSession } from '../access-tokens/local.js';
import type { Session } from '../wire.js';
import { type Refusal, readOnlyRefusalOf, refusalOf } from './answers.js';
import { createStepUpCheck, type StepUpOptions } from './step-up.js';
import type { HeadersLike, RequestLike } from './tokens.js';
import type { VerifyOptions } from './verify.js';

export interface SessionMiddlewareOptions extends Omit<VerifyOptions, 'signal'>, StepUpOptions {
  /** Whether requests without a valid session reach the route: `findSession` is then null. False by default: they get 401. */
  readonly optional?: boolean | undefined;
}

/** A client of `createPosternServer`, or what a test has in place of it. */
export interface Verifier {
  verify(request: RequestLike, options?: VerifyOptions): Promise<Session | LocalSession | null>;
}

// A separate map: the requests themselves are not changed.
const sessions = new WeakMap<object, Session | LocalSession | null>();

/** Checks a request. @returns the refusal to answer; undefined to call the route */
type Guard = (
  request: RequestLike & { readonly method?: string | undefined },
  keys: readonly object[],
) => Promise<Refusal | undefined>;

function createGuard(
  { verify }: Verifier,
  { optional = false, maxAge, local = false, ...stepUp }: SessionMiddlewareOptions,
): Guard {
  const checkStepUp = createStepUpCheck(stepUp);
  return async (request, keys) => {
    try {
      const session = await verify(request, local ? { local } : { maxAge });
      if (session === null && !optional) return refusalOf(session);
      const insufficient =
        session === null ? undefined : (readOnlyRefusalOf(session, request.method) ?? checkStepUp(session));
      if (insufficient !== undefined) return insufficient;
      for (const key of keys) sessions.set(key, session);
      return undefined;
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined) throw error;
      return refusal;
    }
  };
}

interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}
interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

/**
 * A middleware for Express, Connect and `node:http`. Requests without a valid session get 401. If Postern is unavailable, they get
 * 503. An operator who uses the session only to look (`act.write` is false) gets 403 for all methods except GET and HEAD.
 *
 * @example
 * ```ts
 * import { createPosternServer, expressSession, sessionOf } from '@postern/server';
 * import express from 'express';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * const app = express();
 * app.use('/api', expressSession(postern));
 * app.get('/api/me', (request, response) => {
 *   response.json({ user_id: sessionOf(request).user_id });
 * });
 * // Only shortly after a login or a proof, with a second factor. Otherwise 401 `insufficient_user_authentication` (RFC 9470).
 * app.post('/api/payments', expressSession(postern, { within: '10m', factor: true }));
 * ```
 */
export function expressSession(
  postern: Verifier,
  options: SessionMiddlewareOptions = {},
): (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void {
  const guard = createGuard(postern, options);
  return (request, response, next) => {
    guard(request, [request]).then((refusal) => {
      if (refusal === undefined) return next();
      response.statusCode = refusal.status;
      for (const [name, value] of Object.entries(refusal.headers)) response.setHeader(name, value);
      response.end(refusal.body);
    }, next);
  };
}

interface FastifyReplyLike {
  code(status: number): { headers(values: Readonly<Record<string, string>>): { send(body: string): unknown } };
}

/**
 * A hook for Fastify. It answers as `expressSession` does.
 *
 * @example
 * ```ts
 * import { createPosternServer, fastifySession, sessionOf } from '@postern/server';
 * import { fastify } from 'fastify';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * const app = fastify();
 * app.addHook('onRequest', fastifySession(postern));
 * app.get('/me', async (request) => ({ user_id: sessionOf(request).user_id }));
 * ```
 */
export function fastifySession(
  postern: Verifier,
  options: SessionMiddlewareOptions = {},
): (request: NodeRequest, reply: FastifyReplyLike) => Promise<unknown> {
  const guard = createGuard(postern, options);
  return async (request, reply) => {
    const refusal = await guard(request, [request]);
    if (refusal === undefined) return undefined;
    reply.code(refusal.status).headers(refusal.headers).send(refusal.body);
    return reply;
  };
}

interface HonoContext {
  readonly req: { readonly raw: { readonly headers: HeadersLike; readonly method?: string | undefined } };
}

/**
 * A middleware for Hono. It answers as `expressSession` does. `sessionOf` takes the context.
 *
 * @example
 * ```ts
 * import { createPosternServer, honoSession, sessionOf } from '@postern/server';
 * import { Hono } from 'hono';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * const app = new Hono();
 * app.use(honoSession(postern));
 * app.get('/me', (context) => context.json({ user_id: sessionOf(context).user_id }));
 * ```
 */
export function honoSession(
  postern: Verifier,
  options: SessionMiddlewareOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  const guard = createGuard(postern, options);
  return async (context, next) => {
    const { req } = context;
    const refusal = await guard(req.raw, [context, req, req.raw]);
    if (refusal !== undefined) return new Response(refusal.body, refusal);
    await next();
    return undefined;
  };
}

/**
 * Wraps a `fetch` handler: it runs with the session of the request. It answers as `expressSession` does.
 *
 * @example
 * ```ts
 * import { createPosternServer, withSession } from '@postern/server';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * export const GET = withSession(postern, (request, session) => Response.json({ user_id: session.user_id }));
 * ```
 */
export function withSession<A extends readonly unknown[]>(
  postern: Verifier,
  handler: (request: Request, session: Session, ...rest: A) => MaybePromise<Response>,
  options: Omit<SessionMiddlewareOptions, 'optional'> = {},
): (request: Request, ...rest: A) => Promise<Response> {
  const guard = createGuard(postern, options);
  return async (request, ...rest) => {
    const refusal = await guard(request, [request]);
    if (refusal !== undefined) return new Response(refusal.body, refusal);
    return handler(request, sessionOf(request), ...rest);
  };
}

/**
 * The session that a middleware has found for a request.
 *
 * @example
 * ```ts
 * import { sessionOf } from '@postern/server';
 *
 * export const whoIs = (request: object) => sessionOf(request).user_id;
 * ```
 * Behind a middleware with `local`: `sessionOf<LocalSession>(request)`.
 *
 * @throws UsageError if no middleware has checked the request, so a route without its guard fails
 */
export function sessionOf<S extends Session | LocalSession = Session>(request: object): S {
  const session = findSession<S>(request);
  if (session === null)
    throw new UsageError('This request has no session: use findSession behind an optional middleware.');
  return session;
}

/**
 * As `sessionOf`, behind a middleware with `optional`. Null for a request without a valid session.
 *
 * @example
 * ```ts
 * import { findSession } from '@postern/server';
 *
 * export const greeting = (request: object) => (findSession(request) === null ? 'Hello' : 'Welcome back');
 * ```
 * @throws UsageError if no middleware has checked the request
 */
export function findSession<S extends Session | LocalSession = Session>(request: object): S | null {
  const session = sessions.get(request);
  if (session === undefined) {
    throw new UsageError(
      'No middleware has checked this request. Mount expressSession, fastifySession or honoSession.',
    );
  }
  return session as S | null;
}
