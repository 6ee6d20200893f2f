import { isIP } from 'node:net';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Scope } from '../contract/administration.js';
import type { ErrorCode } from '../contract/errors.js';
import type { Session } from '../contract/session.js';
import type { Origin } from '../lib/origin.js';
import { Problem } from '../lib/problem.js';
import type { ParsedToken } from '../lib/token-strings.js';
import type { QueryParameters } from './list-query.js';

/** A Fastify instance whose handlers are typed by their route's schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * Who may call a route. Every route says so; one that does not is refused when the server is built.
 * - `public`: anybody.
 * - `authentication-token`: `Authorization: Basic`, base64 of an authentication token; the handler decides what it is worth.
 * - `session`: `Authorization: Bearer`, a session token that is valid right now.
 * - `{ scope }`: `Authorization: Bearer`, an API key with that scope, or a session of a user whose role has it, of a login
 *   with a second factor.
 */
export type Access = 'public' | 'authentication-token' | 'session' | { readonly scope: Scope };

/** Who administers, as far as a route needs to know. */
export interface Caller {
  /** `key:<id>`, `key:environment` for ADMIN_API_KEY, or `user:<id>` of an operator: what the audit trail and idempotency call it. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Of a session whose login and proofs are too old for what opens an account or the service to others. */
  readonly isStale?: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Codes of the problems that this route answers with beyond those its access, body and parameters imply. */
    problems?: readonly ErrorCode[];
    /** The route honours Idempotency-Key. */
    idempotent?: boolean;
    /**
     * What the route waits for has limits of its own that are shorter than a handler's: it does without a timer, which
     * costs as much as a tenth of the least that there is to a request.
     */
    isBounded?: boolean;
    /** Reads the query as the handler does and throws what is wrong with it, so that it is told beside other faults. */
    checkQuery?: (query: QueryParameters) => unknown;
    /** Keeps the body's text as `request.rawBody`, for exact numbers. */
    keepRawBody?: boolean;
    /** The route takes `application/x-ndjson` too: the schema of one line. Such a body arrives as the stream itself. */
    ndjson?: object;
    /** What the OpenAPI document shows instead, where the route takes or answers more than one form. */
    document?: {
      readonly body?: object;
      readonly querystring?: object;
      readonly response?: Readonly<Record<number, object | undefined>>;
    };
  }
  interface FastifyRequest {
    rawBody?: string;
    /** Lifts the bound on how long the request may take to arrive whole. The handler must set another. */
    unhurry(): void;
    /** Set by the authorization plugin, according to the route's access. */
    authorized: {
      session?: Session;
      caller?: Caller;
      /** For requests that last: whether the credentials are still good. @throws Problem `invalid_api_key`, `invalid_session_token` */
      recheck?: () => Promise<void>;
      authenticationToken?: ParsedToken;
    };
  }
}

/** The session that the route's access demanded. */
export function sessionOf(request: FastifyRequest): Session {
  const { session } = request.authorized;
  if (session === undefined) throw new Error(`${request.routeOptions.url} does not demand a session`);
  return session;
}

/** Who administers, as the route's access demanded. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request.authorized;
  if (caller === undefined) throw new Error(`${request.routeOptions.url} does not demand an API key`);
  return caller;
}

/** Who asks, as idempotency calls it: the holder of the API key, or the session's user. */
export function requesterOf(request: FastifyRequest): string {
  const { session } = request.authorized;
  return session === undefined ? callerOf(request).name : `user:${session.user_id}`;
}

/** For what needs more than the route's own scope. @throws Problem `insufficient_scope` */
export function demandScope({ scopes }: Caller, scope: Scope): void {
  if (!scopes.includes(scope) && !scopes.includes('admin')) {
    throw new Problem('insufficient_scope', { params: { scope } });
  }
}

/**
 * Whoever may lock out, change or delete an operator can be one, or put one out of the way.
 * @throws Problem `insufficient_scope` unless the user is a mere user, or the caller has the scope `admin`.
 */
export function demandReach(caller: Caller, { role }: { readonly role: string }): void {
  if (role !== 'user') demandScope(caller, 'admin');
}

/**
 * For what would let a thief of a session stay: keys, roles, and others' secrets and factors. API keys are always fresh.
 * @throws Problem `fresh_proof_required`
 */
export function demandFreshness({ isStale }: Caller): void {
  if (isStale === true) throw new Problem('fresh_proof_required');
}

/** The authentication token that the route's access demanded: well formed, but not looked up yet. */
export function authenticationTokenOf(request: FastifyRequest): ParsedToken {
  const { authenticationToken } = request.authorized;
  if (authenticationToken === undefined) throw new Problem('missing_credentials');
  return authenticationToken;
}

/** Where a request came from, for the audit trail. */
export function originOf(request: FastifyRequest): Origin {
  return { actor: request.authorized.caller?.name ?? 'user', address: clientAddress(request), requestId: request.id };
}

/**
 * The client's address. A trusted proxy may hand on a port or a zone with it, which is no part of it, or something that
 * is no address at all: then the proxy's own counts.
 */
function clientAddress({ ip, socket }: FastifyRequest): string {
  const bare = ip
    .replace(/^\[([^\]]+)\](?::\d+)?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
    .replace(/%.*$/, '');
  const own = (socket.remoteAddress ?? '0.0.0.0').replace(/%.*$/, '');
  return isIP(bare) === 0 ? own : bare;
}
