import { WebhookPublicKeys } from '../../contract/webhooks.js';
import type { Webhooks } from '../../webhooks/endpoints.js';
import type { App } from '../requests/route.js';

/** The public keys of webhooks, for receivers that check the signature `v1a`. */
export function webhookKeyRoutes(app: App, { webhooks }: { readonly webhooks: Pick<Webhooks, 'publicKeys'> }): void {
  app.route({
    method: 'GET',
    url: '/.well-known/jwks.json',
    schema: {
      operationId: 'getWebhookKeys',
      summary: 'Read the public keys of webhooks',
      description: 'The Ed25519 keys of the signatures `v1a`. There are none before the first webhook.',
      tags: ['Webhooks'],
      response: { 200: { ...WebhookPublicKeys, description: 'A JSON Web Key Set.' } },
    },
    config: { access: 'public' },
    async handler(_request, reply) {
      reply.header('Cache-Control', 'public, max-age=300');
      return { keys: await webhooks.publicKeys() };
    },
  });
}
