import { AccessToken, AccessTokenRequest } from '../../../contract/access-token.js';
import type { AccessTokens } from '../../../sessions/access-tokens/access-tokens.js';
import { type App, sessionOf } from '../../requests/route.js';

/** The route that issues access tokens for other services. */
export function accessTokenRoutes(app: App, { accessTokens }: { accessTokens: AccessTokens }): void {
  app.route({
    method: 'POST',
    url: '/v1/access-tokens',
    schema: {
      operationId: 'createAccessToken',
      summary: 'Get an access token',
      description:
        'A signed token (RFC 9068) about this login, for a service that an operator has listed as an audience. The service checks it with the keys at /.well-known/jwks.json. Postern itself does not accept it: a token stays valid until it expires, also after a logout.',
      body: AccessTokenRequest,
      response: { 201: { ...AccessToken, description: 'The token.' } },
    },
    config: {
      access: 'session',
      problems: ['unknown_audience', 'ttl_out_of_range', 'claims_too_large', 'not_for_support_logins'],
    },
    async handler(request, reply) {
      return reply.code(201).send(await accessTokens.issue(sessionOf(request), request.body));
    },
  });
}
