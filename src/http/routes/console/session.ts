import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { ConsoleEntry, ConsoleSignIn } from '../../../contract/console/session.js';
import { NewSession } from '../../../contract/session.js';
import { type ParsedToken, parseToken } from '../../../lib/crypto/token-strings.js';
import { Problem } from '../../../lib/problem.js';
import type { RequestLimits } from '../../../limits/request-limits.js';
import type { Tokens } from '../../../login/tokens.js';
import type { Sessions } from '../../../sessions/sessions.js';
import type { Verifiers } from '../../plugins/authorization.js';
import { type App, originOf, tokenUseOf } from '../../requests/route.js';
import { type ConsoleCookies, setCookie } from './cookies.js';

/** The services of the console's sign-in. */
export interface ConsoleSessionServices {
  readonly sessions: Pick<Sessions, 'create'>;
  readonly tokens: Pick<Tokens, 'removeHeld'>;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress'>;
  readonly verifiers: Pick<Verifiers, 'verifyOperator'>;
  /** Gives a new session the last re-authentication in an earlier session of the same login. */
  readonly takeOverProof: (session: ParsedToken) => Promise<void>;
}

/** What the routes of the console share. */
export interface ConsoleRouteOptions {
  readonly cookies: ConsoleCookies;
  readonly installation: Omit<ConsoleEntry, 'device_id'>;
  readonly refuseOtherSites: (request: FastifyRequest) => Promise<void>;
}

/** Routes that sign in to the console and out of it. */
export function consoleSessionRoutes(
  app: App,
  { sessions, tokens, limits, verifiers, takeOverProof }: ConsoleSessionServices,
  { cookies, installation, refuseOtherSites: onRequest }: ConsoleRouteOptions,
): void {
  /** Creates a session. @throws Problem unless the user has an active role and has logged in with a second factor */
  async function createConsoleSession(text: string, request: FastifyRequest): Promise<NewSession> {
    const token = parseToken('authentication', text);
    if (token === undefined) throw new Problem('invalid_authentication_token');
    const { session } = await sessions.create(token, tokenUseOf(request));
    const parsed = parseToken('session', session.token);
    const operator = parsed && (await verifiers.verifyOperator(parsed));
    if (parsed === undefined || operator === undefined) throw new Problem('role_required');
    await takeOverProof(parsed);
    return session;
  }

  app.route({
    method: 'GET',
    url: '/console/sign-in',
    schema: {
      operationId: 'getConsoleEntry',
      summary: 'Get what the console needs before a login',
      response: { 200: { ...ConsoleEntry, description: 'For the page, before a login.' } },
    },
    config: { access: 'public' },
    handler: async (request) => ({ ...installation, device_id: cookies.device(request) ?? null }),
  });

  app.route({
    method: 'POST',
    url: '/console/session',
    schema: {
      operationId: 'createConsoleSession',
      summary: 'Sign in to the console, or renew the session',
      description:
        'With an authentication token, Postern keeps the token in a cookie that scripts cannot read. Without a body, it uses the token of the cookie. Both answer with a new session token, as POST /v1/sessions does. The user must have an active role, and the login must have used a second factor. Only pages of this service may send it.',
      body: Type.Unsafe<ConsoleSignIn | null>({ ...ConsoleSignIn, type: ['object', 'null'] }),
      response: { 201: { ...NewSession, headers: setCookie, description: 'A session with its token.' } },
    },
    config: {
      access: 'public',
      optionalBody: true,
      document: { body: ConsoleSignIn },
      problems: [
        ...(['invalid_authentication_token', 'account_unusable', 'account_locked', 'role_required'] as const),
        ...(['invalid_dpop_proof', 'use_dpop_nonce'] as const),
        ...(['role_not_active', 'second_factor_required', 'cross_site_request'] as const),
      ],
    },
    onRequest,
    async handler(request, reply) {
      if (request.body === null || request.body === undefined) {
        return reply.code(201).send(await createConsoleSession(cookies.token(request) ?? '', request));
      }
      const { authentication_token: token } = request.body;
      const session = await createConsoleSession(token, request);
      cookies.store(request, reply, { token, deviceId: session.device_id });
      return reply.code(201).send(session);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/console/session',
    schema: {
      operationId: 'deleteConsoleSession',
      summary: 'Sign out of the console',
      description:
        'Ends the login of the cookie with its sessions, and removes the cookie. If the browser sends several such cookies, it ends the login of each of the first four. The answer is the same without a login. Only pages of this service may send it.',
      response: { 204: { ...Type.Null({ description: 'Signed out.' }), headers: setCookie } },
    },
    config: {
      access: 'public',
      problems: ['cross_site_request', 'too_many_requests', 'invalid_dpop_proof', 'use_dpop_nonce'],
    },
    onRequest,
    async handler(request, reply) {
      cookies.clear(request, reply);
      const own = cookies.token(request);
      const all = cookies.allTokens(request);
      // One token is as cheap as `DELETE /v1/tokens`, and a logout must not fail for the logins of others at the same address.
      if (all.length > 1) await limits.countLoginByAddress(originOf(request).clientAddress);
      for (const text of all) {
        const token = parseToken('authentication', text);
        if (token === undefined) continue;
        await tokens.removeHeld(token, tokenUseOf(request)).catch(text === own ? ignoreEnded : ignoreRefused);
      }
      return reply.code(204).send(null);
    },
  });
}

/** Ignores that only its own key can end a token that another host has set. Throws any other error. */
function ignoreRefused(error: unknown): void {
  const isRefused = error instanceof Problem && ['invalid_dpop_proof', 'use_dpop_nonce'].includes(error.code);
  if (!isRefused) ignoreEnded(error);
}

/** Ignores that the login has already ended. Throws any other error. */
function ignoreEnded(error: unknown): void {
  if (!(error instanceof Problem && error.code === 'no_active_token')) throw error;
}
