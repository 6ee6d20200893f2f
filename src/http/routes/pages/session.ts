import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { parseToken } from '../../../lib/crypto/token-strings.js';
import { Problem } from '../../../lib/problem.js';
import type { RequestLimits } from '../../../limits/request-limits.js';
import type { Tokens } from '../../../login/tokens.js';
import type { Sessions } from '../../../sessions/sessions.js';
import { type App, originOf, tokenUseOf } from '../../requests/route.js';
import type { PageCookies } from './cookies.js';

export interface PageSessionServices {
  readonly sessions: Pick<Sessions, 'create'>;
  readonly tokens: Pick<Tokens, 'removeHeld'>;
  readonly limits: Pick<RequestLimits, 'countLoginByAddress'>;
  /** Its device does not count toward MAX_DEVICES. @returns false for a token that cannot be the login of the pages */
  readonly markPageDevice: (token: NonNullable<ReturnType<typeof parseToken>>) => Promise<boolean>;
}

const Body = Type.Object({ authentication_token: Type.String({ minLength: 1, maxLength: 300 }) });

/** The problems that mean: there is no valid login. */
const endedCodes = ['invalid_authentication_token', 'account_unusable', 'account_locked', 'no_active_token'];
/** A token that another host has set may be bound to a key. */
const boundCodes = ['invalid_dpop_proof', 'use_dpop_nonce'];

/** Routes that keep the login of the pages in a cookie, and end it. */
export function pageSessionRoutes(
  app: App,
  { sessions, tokens, limits, markPageDevice }: PageSessionServices,
  {
    cookies,
    onRequest,
  }: { readonly cookies: PageCookies; readonly onRequest: (request: FastifyRequest) => Promise<void> },
): void {
  const config = { access: 'public', optionalBody: true } as const;
  const url = '/pages/session';

  const count = (request: FastifyRequest) => limits.countLoginByAddress(originOf(request).clientAddress);

  async function end(text: string, request: FastifyRequest): Promise<void> {
    const token = parseToken('authentication', text);
    if (token === undefined) return;
    await tokens.removeHeld(token, tokenUseOf(request)).catch((error: unknown) => {
      if (!(error instanceof Problem && [...endedCodes, ...boundCodes].includes(error.code))) throw error;
    });
  }

  app.route({
    method: 'POST',
    url,
    schema: { hide: true, body: Type.Unsafe<Static<typeof Body> | null>({ ...Body, type: ['object', 'null'] }) },
    config,
    onRequest,
    async handler(request, reply) {
      const given = request.body?.authentication_token;
      if (given !== undefined) await count(request);
      const text = given ?? cookies.token(request) ?? '';
      const token = parseToken('authentication', text);
      try {
        if (token === undefined) throw new Problem('invalid_authentication_token');
        if (given !== undefined && !(await markPageDevice(token))) throw new Problem('invalid_authentication_token');
        const { session } = await sessions.create(token, tokenUseOf(request));
        if (given !== undefined) {
          // The login that this browser had is that of another user, or has no other end.
          for (const former of cookies.allTokens(request)) if (former !== given) await end(former, request);
          cookies.store(reply, given);
        }
        return reply.code(201).send(session);
      } catch (error) {
        const isEnded = error instanceof Problem && [...endedCodes, ...boundCodes].includes(error.code);
        if (given !== undefined || !isEnded) throw error;
        // A page asks when it loads, and browsers show each 401 in their console as an error.
        return reply.code(200).send({ token: null });
      }
    },
  });

  app.route({
    method: 'DELETE',
    url,
    schema: { hide: true },
    config,
    onRequest,
    async handler(request, reply) {
      cookies.clear(reply);
      const all = cookies.allTokens(request);
      // One token is as cheap as `DELETE /v1/tokens`, and a logout must not fail for the logins of others at the same address.
      if (all.length > 1) await count(request);
      for (const text of all) await end(text, request);
      return reply.code(204).send(null);
    },
  });
}
