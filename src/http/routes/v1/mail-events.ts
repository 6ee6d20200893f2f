import type { FastifyRequest } from 'fastify';
import type { MailEvents } from '../../../messages/providers/mail-events.js';
import type { App } from '../../requests/route.js';

/**
 * A route for the reports of providers of mail. It is not part of the API for clients. The signature or the password of the
 * provider is the credential.
 */
export function mailEventRoutes(app: App, { mailEvents }: { mailEvents: MailEvents }): void {
  // A separate Fastify scope: signatures are about the text of the body, and Amazon SNS sends JSON as text.
  app.register(async (scope: App) => {
    for (const type of ['application/json', 'text/plain']) {
      if (scope.hasContentTypeParser(type)) scope.removeContentTypeParser(type);
      scope.addContentTypeParser(type, { parseAs: 'string' }, async (_request: FastifyRequest, body: string) => body);
    }
    scope.route<{ Params: { provider: string } }>({
      method: 'POST',
      url: '/v1/mail-events/:provider',
      schema: { hide: true },
      config: { access: 'public', problems: ['not_found', 'invalid_mail_event'] },
      async handler(request, reply) {
        const { params, headers, body } = request;
        await mailEvents.accept(params.provider, { headers, body: typeof body === 'string' ? body : '' });
        return reply.code(204).send();
      },
    });
  });
}
