import { isDeepStrictEqual } from 'node:util';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Scope } from '../../contract/administration.js';
import type { ErrorCode } from '../../contract/errors/problems.js';
import type { Session } from '../../contract/session.js';
import type { User } from '../../contract/user.js';
import type { ParsedToken } from '../../lib/crypto/token-strings.js';
import { headerValues } from '../../lib/http-headers.js';
import { isJsonObject } from '../../lib/json-object.js';
import type { Origin } from '../../lib/origin.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import type { TokenUse } from '../../sessions/dpop/dpop-verifier.js';
import type { Operator } from '../../sessions/operators.js';
import type { HashedFor, SecretsFrom } from '../../users/validation.js';
import { bareAddress } from '../admission/client-address.js';
import type { QueryParameters } from './parameters.js';

/** A Fastify instance whose handlers are typed by their route's schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * The credentials that a route demands. Every route needs one of these: otherwise the server does not start.
 * - `public`: none.
 * - `authentication-token`: `Authorization: Basic`, base64 of an authentication token. The handler verifies the token.
 * - `session`: `Authorization: Bearer`, a valid session token.
 * - `{ scope }`: `Authorization: Bearer`, an API key with this scope, or a session of a user whose role has it. In this
 *   case, the login of the session must have used a second factor.
 */
export type Access = 'public' | 'authentication-token' | 'session' | { readonly scope: Scope };

/**
 * Whether a request with a session needs a login or a proof that is not older than ADMIN_PROOF_MAX_AGE. API keys never need
 * one: they belong to no person. Demand it for an action that gives lasting access or rights, that cannot be undone, or that
 * reaches many users. A condition may be called with a body that is not validated yet.
 */
export type RecentProof =
  | 'needed'
  | 'not-needed'
  | {
      /** Completes the sentence "needs a recent proof if …", for the OpenAPI document. */
      readonly when: string;
      applies(request: FastifyRequest): boolean;
    };

/** The caller of a route of the administration. The facts about an operator are absent for an API key. `isStale` decides about `RecentProof`. */
export interface Caller extends Partial<Pick<Operator, 'userId' | 'sessionId' | 'isStale'>> {
  /**
   * The name of the caller in audit events and for idempotency: `key:<id>`, `key:environment` for ADMIN_API_KEY, or
   * `user:<id>`.
   */
  readonly name: string;
  readonly scopes: readonly Scope[];
}

/** Who chose the secrets in a request: an operator with a session, or a backend with an API key. */
export const secretsFrom = ({ name }: Caller): SecretsFrom & HashedFor => ({
  operator: name.startsWith('user:'),
  client: null,
});

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Calls `onBlocked` when the address is blocked, at most once.
     * @returns a function that ends the wait
     */
    whenBlocked(address: string, onBlocked: () => void): () => void;
  }
  interface FastifyContextConfig {
    access?: Access;
    /** A route of the administration that does more than read must have one: otherwise the server does not start. */
    recentProof?: RecentProof;
    /**
     * Codes of the problems that this route can answer, in addition to the problems that its access, body and
     * parameters imply.
     */
    problems?: readonly ErrorCode[];
    /** The route is a probe, such as `/livez`: neither blocks nor limits apply. */
    isProbe?: boolean;
    /** The route honours Idempotency-Key. */
    idempotent?: boolean;
    /**
     * The work of the route has its own, shorter limits, so its handler has no timer. A timer takes up to a tenth of
     * the time of the smallest request.
     */
    hasNoHandlerTimer?: boolean;
    /**
     * Parses the query as the handler does, and throws the errors of the query, so that one answer reports them
     * together with other errors.
     */
    checkQuery?: (query: QueryParameters) => unknown;
    /**
     * Checks rules that the schema cannot express, so that one answer reports their errors together with those of the
     * schema. The body may not fit the schema. `faults` are the errors of the schema.
     */
    checkBody?: (body: unknown, faults: readonly FieldError[]) => Promise<FieldError[]>;
    /** The same, but called only for a body that does not fit the schema. */
    checkFaultyBody?: (
      body: unknown,
      context: { readonly faults: readonly FieldError[]; readonly request: FastifyRequest },
    ) => Promise<FieldError[]>;
    /**
     * If a request is repeated with the same Idempotency-Key, the route approves the login again. It stores no
     * response.
     */
    canRepeatApproval?: boolean;
    /** The route honours `Prefer: count=exact`. */
    countsExactly?: boolean;
    /** The route also takes requests without a body. */
    optionalBody?: boolean;
    /** Keeps the text of the body as `request.rawBody`, for exact numbers. */
    keepRawBody?: boolean;
    /**
     * The schema of one line, if the route also takes `application/x-ndjson`. The handler gets such a body as a stream.
     */
    ndjson?: object;
    /** The schema for the OpenAPI document, if the route takes or answers more than one form. */
    document?: {
      readonly body?: object;
      readonly querystring?: object;
      readonly response?: Readonly<Record<number, object | undefined>>;
    };
  }
  interface FastifyRequest {
    rawBody?: string;
    /** The address of a backend's client. The backend has sent an API key that allows this. */
    forwardedClient?: string;
    /** Removes the limit on the time in which the request must arrive. The handler must set another limit. */
    removeReceiveTimeout(): void;
    /** Set by the authorization plugin, according to the route's access. */
    authorized: {
      session?: Session;
      caller?: Caller;
      /**
       * Checks the credentials and the recent proof again, for long requests.
       * @throws Problem `invalid_api_key`, `invalid_session_token`, `fresh_proof_required`
       */
      recheck?: () => Promise<void>;
      authenticationToken?: ParsedToken;
    };
  }
}

/** Whether a route only reads: its methods are safe (RFC 9110, 9.2.1). */
export const onlyReads = (method: string | readonly string[]): boolean =>
  [method].flat().every((one) => one === 'GET' || one === 'HEAD');

/** The session that the route's access demanded. */
export function sessionOf(request: FastifyRequest): Session {
  const { session } = request.authorized;
  if (session === undefined) throw new Error(`${request.routeOptions.url} does not demand a session`);
  return session;
}

/** The API key or operator that the route's access demanded. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request.authorized;
  if (caller === undefined) throw new Error(`${request.routeOptions.url} does not demand an API key`);
  return caller;
}

/** The owner of the request's Idempotency-Key: the API key, the user of the session, or the support login. */
export function requesterOf(request: FastifyRequest): string {
  const { session } = request.authorized;
  if (session === undefined) return callerOf(request).name;
  return session.act === undefined ? `user:${session.user_id}` : `support:${session.device_id}`;
}

/** Whether the caller has a scope. `admin` contains all of them. */
export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes.includes(scope) || scopes.includes('admin');
}

/** For actions that need more than the scope of the route. @throws Problem `insufficient_scope` */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!hasScope(caller, scope)) throw new Problem('insufficient_scope', { params: { scope } });
}

/**
 * For changes to a user. A caller that can change an operator's account can log in as that operator, or lock the
 * operator out.
 * @throws Problem `insufficient_scope` if the user has a role and the caller does not have the scope `admin`
 */
export function requireRightToChange(caller: Caller, { role }: { readonly role: string }): void {
  if (role !== 'user') requireScope(caller, 'admin');
}

/**
 * Call it before you answer a request that may have changed nothing: such a request only reads the user.
 * @throws Problem `insufficient_scope` if the user is as before and the caller does not have the scope `users:read`
 */
export function requireRightToSee(caller: Caller, before: User, after: User): void {
  const isUnchanged = isDeepStrictEqual({ ...before, updated_at: '' }, { ...after, updated_at: '' });
  if (isUnchanged) requireScope(caller, 'users:read');
}

/** The member of a body that is not validated yet. */
export function memberOf({ body }: Pick<FastifyRequest, 'body'>, name: string): unknown {
  return isJsonObject(body) ? body[name] : undefined;
}

/** The authentication token that the route's access demanded: well formed, but not verified yet. */
export function authenticationTokenOf(request: FastifyRequest): ParsedToken {
  const { authenticationToken } = request.authorized;
  if (authenticationToken === undefined) throw new Problem('missing_credentials');
  return authenticationToken;
}

/** The origin of a request, for audit events. */
export function originOf(request: FastifyRequest): Origin {
  return {
    actor: request.authorized.caller?.name ?? actorOf(request.authorized.session),
    clientAddress: clientAddress(request),
    requestId: request.id,
  };
}

/** In a support login the operator acts, not the user. */
const actorOf = (session: Session | undefined) => (session?.act === undefined ? 'user' : `user:${session.act.sub}`);

/** How a request uses the authentication token that it sends. */
export function tokenUseOf(request: FastifyRequest): TokenUse {
  const { method, protocol, host, routeOptions } = request;
  const headers = headerValues(request.raw.rawHeaders, 'dpop');
  const dpopProof = { headers, method, origin: `${protocol}://${host}`, path: routeOptions.url ?? '' };
  return { origin: originOf(request), dpopProof, userAgent: request.headers['user-agent'] };
}

/**
 * The client's address. If a backend has named its client, this is the address that the backend has named. Otherwise it
 * is the address that trusted proxies name or, without them, the address of the connection.
 */
export function clientAddress(request: FastifyRequest): string {
  return request.forwardedClient ?? callerAddress(request);
}

/**
 * The address of the client that sent the request. If a backend has named its own client, this is the address of the
 * backend.
 */
export function callerAddress({ ip, socket }: FastifyRequest): string {
  return bareAddress(ip, socket.remoteAddress ?? '0.0.0.0');
}
