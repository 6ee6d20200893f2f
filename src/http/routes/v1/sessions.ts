import { Type } from 'typebox';
import { NewSession, nonceHeader, Session, sessionHeadersOf } from '../../../contract/session.js';
import type { Sessions } from '../../../sessions/sessions.js';
import type { Counters } from '../../../statistics/counters.js';
import { type App, authenticationTokenOf, sessionOf, tokenUseOf } from '../../requests/route.js';

/** Routes that create and check session tokens. */
export function sessionRoutes(app: App, { sessions, counters }: { sessions: Sessions; counters: Counters }): void {
  app.route({
    method: 'POST',
    url: '/v1/sessions',
    schema: {
      operationId: 'createSession',
      summary: 'Get a session token',
      description:
        "The first use of an authentication token ends the older tokens of the user's device. Until then, a new login has no effect on them. If the login sent `device.jwk`, the request needs a DPoP proof (RFC 9449) of that key.",
      response: { 201: { ...NewSession, headers: nonceHeader, description: 'A session with its token.' } },
    },
    config: {
      access: 'authentication-token',
      hasNoHandlerTimer: true,
      problems: ['account_unusable', 'account_locked', 'invalid_dpop_proof', 'use_dpop_nonce'],
    },
    async handler(request, reply) {
      const { session, nonce } = await sessions.create(authenticationTokenOf(request), tokenUseOf(request));
      if (nonce !== undefined) reply.header('DPoP-Nonce', nonce);
      return reply.code(201).send(session);
    },
  });

  const response = { ...Session, description: 'The session token is valid and active.' };
  const summary = 'Check a session token';
  const config = { access: 'session', hasNoHandlerTimer: true } as const;
  app.route({
    method: 'POST',
    url: '/v1/sessions/verify',
    schema: {
      operationId: 'verifySession',
      summary,
      description:
        'Every instance checks the token in the database, with the clock of the database. The roles and claims are those that the user has now.',
      response: { 200: response },
    },
    config,
    // The authorization has verified the session already.
    handler: (request, reply) => {
      counters.add('sessions.verified');
      reply.send(sessionOf(request));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sessions/verify',
    schema: {
      operationId: 'getSession',
      summary,
      description:
        'The same check, with the session in headers too. Reverse proxies can copy them to a request: nginx with auth_request, Caddy and Traefik with forward_auth, Envoy with a Lua filter. Let the proxy remove these headers from requests of clients first.',
      response: { 200: { ...response, headers: headerSchemas } },
    },
    config,
    handler: (request, reply) => {
      const session = sessionOf(request);
      counters.add('sessions.verified');
      reply.headers(sessionHeadersOf(session)).send(session);
    },
  });
}

const headerSchemas = {
  'Postern-User-Id': Type.String({ description: 'The `user_id` of the session.' }),
  'Postern-Device-Id': Type.String({ description: 'The `device_id` of the session.' }),
  'Postern-Session-Id': Type.String({ description: 'The `id` of the session.' }),
  'Postern-Session-Expires-At': Type.String({ description: 'The `expires_at` of the session.' }),
  'Postern-Roles': Type.String({ description: 'The `roles` of the session, joined by commas. Empty without a role.' }),
  'Postern-Act': Type.String({
    description:
      'For a support login: the id of the operator, and `;read` or `;write`. Empty if the user has logged in: set it in any case, so that clients cannot.',
  }),
};
