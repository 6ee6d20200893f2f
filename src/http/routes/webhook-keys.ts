import { WebhookPublicKeys } from '../../contract/webhooks.js';
import type { Database } from '../../database/database.js';
import { readPublicKeys } from '../../webhooks/secrets.js';
import type { App } from '../requests/route.js';

/** The public keys of webhooks, for receivers that check the signature `v1a`, and those of access tokens. */
export function webhookKeyRoutes(app: App, { database }: { readonly database: Database }): void {
  app.route({
    method: 'GET',
    url: '/.well-known/jwks.json',
    schema: {
      operationId: 'getWebhookKeys',
      summary: 'Read the public keys',
      description:
        'The keys of access tokens (ES256 and RS256), also the next ones, and the Ed25519 keys of the signatures `v1a` of webhooks. There are none before the first audience and the first webhook.',
      response: { 200: { ...WebhookPublicKeys, description: 'A JSON Web Key Set.' } },
    },
    config: { access: 'public' },
    async handler(_request, reply) {
      reply.header('Cache-Control', 'public, max-age=300');
      return { keys: await readPublicKeys(database) };
    },
  });
}
