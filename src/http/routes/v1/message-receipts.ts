import type { FastifyRequest } from 'fastify';
import type { Receipts } from '../../../messages/providers/receipts.js';
import type { App } from '../../requests/route.js';

/**
 * A route for the delivery receipts of SMS providers. It is not part of the API for clients. The signature of the provider
 * is the credential.
 */
export function messageReceiptRoutes(app: App, { receipts }: { receipts: Receipts }): void {
  // A separate Fastify scope: only this route takes forms. The signature is about the text of the body.
  app.register(async (scope: App) => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      if (scope.hasContentTypeParser(type)) scope.removeContentTypeParser(type);
      scope.addContentTypeParser(type, { parseAs: 'string' }, async (_request: FastifyRequest, body: string) => body);
    }
    scope.route<{ Params: { provider: string }; Querystring: { message?: unknown } }>({
      method: 'POST',
      url: '/v1/message-receipts/:provider',
      schema: { hide: true },
      config: { access: 'public', problems: ['not_found', 'invalid_receipt_signature'] },
      async handler(request, reply) {
        const { params, query, headers, body } = request;
        await receipts.accept(params.provider, {
          headers,
          messageId: typeof query.message === 'string' ? query.message : undefined,
          body: typeof body === 'string' ? body : '',
        });
        return reply.code(204).send();
      },
    });
  });
}
