import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest, preValidationHookHandler } from 'fastify';
import type { Scope } from '../../contract/administration.js';
import type { ProblemHint } from '../../contract/errors/hints.js';
import { errors } from '../../contract/errors/problems.js';
import type { Session } from '../../contract/session.js';
import { type ParsedToken, parseToken } from '../../lib/crypto/token-strings.js';
import { headerValues, maxCredentials } from '../../lib/http-headers.js';
import { Problem } from '../../lib/problem.js';
import type { Meters } from '../../statistics/meters.js';
import { type Access, type App, type Caller, onlyReads, requireScope } from '../requests/route.js';
import { requireSupportRight, supportRefusal } from './support-rights.js';

/** The checks of credentials that the authorization of a request uses. */
export interface Verifiers {
  /** @throws Problem `invalid_session_token`, also for a text that is no session token */
  verifySession(token: string): Promise<Session>;
  verifyApiKey(token: string): Promise<Caller | undefined>;
  /** @throws Problem `invalid_session_token`, `role_not_active`, `second_factor_required` */
  verifyOperator(token: ParsedToken): Promise<Caller | undefined>;
}

/** The checks of credentials. A session check may have started before the route was known: `checkOf` returns it. */
export interface RequestVerifiers extends Verifiers {
  /** The check of the request's session if one has started already. */
  checkOf(request: IncomingMessage): Promise<Session> | undefined;
  /** Undefined without metrics. */
  readonly meters: Pick<Meters, 'sessionChecked'> | undefined;
  /** Called for each refused request. It may throw another problem. */
  onRefused(request: FastifyRequest, reply: FastifyReply): void;
}

/**
 * Checks the credentials that the route's `access` demands, before the body is read. A route must have `access`. Also checks
 * the recent proof that the route demands of a session.
 */
export function authorizationPlugin(app: App, verifiers: RequestVerifiers): void {
  app.decorateRequest('authorized');
  app.addHook('onRoute', (route) => {
    if (route.config?.access === undefined)
      throw new Error(`${route.method} ${route.url} does not say who may call it`);
    const { access, recentProof } = route.config;
    if (access === 'session' || access === 'authentication-token') requireSupportRight(route.method, route.url);
    if (recentProof === undefined && typeof access === 'object' && !onlyReads(route.method)) {
      throw new Error(`${route.method} ${route.url} does not say whether it needs a recent proof`);
    }
    if (typeof recentProof === 'object') {
      // Before the route's own handlers, because one of them may answer the request.
      const check: preValidationHookHandler = (request, _reply, done) => {
        if (request.authorized.caller?.isStale === true) requireRecentProof(request, request.authorized.caller);
        done();
      };
      route.preValidation = [check, ...[route.preValidation ?? []].flat()];
    }
  });
  app.addHook('onRequest', (request, reply, done) => {
    request.authorized = {};
    const access = request.routeOptions.config?.access;
    if (access === undefined || access === 'public') return done();
    const refuse = (error: Error) => {
      verifiers.onRefused(request, reply);
      throw error;
    };
    let authorizing: Promise<Authorized>;
    try {
      authorizing = authorize(verifiers, request, access);
    } catch (error) {
      return refuse(error as Error);
    }
    authorizing.catch(refuse).then((authorized) => {
      request.authorized = authorized;
      // A `recentProof` with a condition may need the body, so `preValidation` checks it.
      const isRefused = authorized.caller?.isStale === true && request.routeOptions.config.recentProof === 'needed';
      const { session } = authorized;
      const refusal = isRefused ? 'fresh_proof_required' : session?.act && supportRefusal(request, session);
      done(refusal && new Problem(refusal));
    }, done);
  });
}

type Authorized = FastifyRequest['authorized'];

/** @throws Problem `fresh_proof_required` */
function requireRecentProof(request: FastifyRequest, caller: Caller | undefined): void {
  const { recentProof } = request.routeOptions.config;
  if (caller?.isStale !== true) return;
  const isNeeded = typeof recentProof === 'object' ? recentProof.applies(request) : recentProof === 'needed';
  if (isNeeded) throw new Problem('fresh_proof_required');
}

/**
 * Not an async function: session checks are a hot path, and each further promise costs measurable time. So it may throw at
 * once or return a promise that rejects; the hook refuses the request in both cases.
 */
function authorize(
  verifiers: RequestVerifiers,
  request: FastifyRequest,
  access: Exclude<Access, 'public'>,
): Promise<Authorized> {
  if (access === 'session')
    return authorizeSession(verifiers, request, credentials(request, 'bearer', 'session_token'));
  if (access === 'authentication-token') return readAuthenticationToken(request);
  return authorizeCaller(verifiers, request, access.scope);
}

function authorizeSession(
  { verifySession, checkOf, meters }: RequestVerifiers,
  request: FastifyRequest,
  token: string,
): Promise<Authorized> {
  if (isOtherToken(token, 'pss_')) throw new Problem('invalid_session_token', { hint: 'session_token' });
  const check = checkOf(request.raw) ?? verifySession(token);
  if (meters !== undefined) check.then(() => meters.sessionChecked('valid'), countFailedCheck(meters));
  return check.then((session) => ({
    session,
    async recheck() {
      await verifySession(token);
    },
  }));
}

const countFailedCheck = (meters: Pick<Meters, 'sessionChecked'>) => (error: unknown) => {
  const isRefusal = error instanceof Problem && errors[error.code].status === 401;
  meters.sessionChecked(isRefusal ? 'invalid' : 'unavailable');
};

async function readAuthenticationToken(request: FastifyRequest): Promise<Authorized> {
  const token = basicCredentials(request);
  const authenticationToken = parseToken('authentication', token);
  if (authenticationToken === undefined) {
    const hint = isOtherToken(token, 'psa_') ? ({ hint: 'authentication_token' } as const) : {};
    throw new Problem('invalid_authentication_token', hint);
  }
  return { authenticationToken };
}

async function authorizeCaller(verifiers: Verifiers, request: FastifyRequest, scope: Scope): Promise<Authorized> {
  const key = credentials(request, 'bearer', 'api_key');
  const identify = () => identifyCaller(verifiers, key, scope);
  const initial = await identify();
  const authorized: Authorized = {
    caller: initial,
    async recheck() {
      const caller = await identify();
      // A caller that has lost a scope must not continue: the request may have made decisions that depend on this
      // scope.
      for (const held of initial.scopes) requireScope(caller, held);
      requireRecentProof(request, caller);
      authorized.caller = caller;
    },
  };
  return authorized;
}

async function identifyCaller(verifiers: Verifiers, token: string, scope: Scope): Promise<Caller> {
  if (token.startsWith('psa_')) throw new Problem('invalid_api_key', { hint: 'api_key' });
  const session = parseToken('session', token);
  const caller = session === undefined ? await verifiers.verifyApiKey(token) : await verifiers.verifyOperator(session);
  if (caller === undefined) throw new Problem('invalid_api_key', session === undefined ? {} : { hint: 'api_key' });
  requireScope(caller, scope);
  return caller;
}

/** Whether the text is a token of Postern, but not of the kind that the route demands. */
function isOtherToken(text: string, prefix: 'psa_' | 'pss_'): boolean {
  return /^ps[ask]_/.test(text) && !text.startsWith(prefix);
}

/**
 * The credentials after the scheme. Node silently keeps the first of several Authorization headers, so this counts them.
 * @throws Problem always with status 401: a proxy that calls `verify` treats any other refusal as a failure.
 */
function credentials(request: FastifyRequest, scheme: 'basic' | 'bearer', hint: ProblemHint): string {
  const headers = headerValues(request.raw.rawHeaders, 'authorization');
  if (headers.length > 1) throw new Problem('invalid_authorization_header');
  const [header = ''] = headers;
  const [ofScheme = ''] = header.split(' ', 1);
  if (ofScheme.toLowerCase() !== scheme) {
    throw new Problem('missing_credentials', /^[A-Za-z]+ +ps[ask]_/.test(header) ? { hint: hint } : {});
  }
  if (header.length > maxCredentials || !/^[A-Za-z]+ +[^\s]+$/.test(header)) {
    throw new Problem('invalid_authorization_header');
  }
  return header.slice(header.lastIndexOf(' ') + 1);
}

/** The token of Basic credentials: base64 of the token, or of `token:` (a user name with an empty password). */
function basicCredentials(request: FastifyRequest): string {
  const encoded = credentials(request, 'basic', 'authentication_token');
  const decoded = Buffer.from(encoded, 'base64');
  if (decoded.toString('base64') !== encoded) throw new Problem('invalid_authentication_token');
  const token = decoded.toString('latin1');
  return token.endsWith(':') ? token.slice(0, -1) : token;
}
