import { LoginOptions } from '../../../contract/authentication.js';
import type { App } from '../../requests/route.js';

/** A route that shows how users can log in to this installation. */
export function loginOptionRoutes(app: App, { loginOptions }: { loginOptions: LoginOptions }): void {
  app.route({
    method: 'GET',
    url: '/v1/login-options',
    schema: {
      operationId: 'getLoginOptions',
      summary: 'Get the ways to log in',
      description:
        'What a login page needs to know: the authenticators, the rules for PINs and passwords, and whether people can register. It follows from the configuration and says nothing about users.',
      response: { 200: { ...LoginOptions, description: 'The ways to log in.' } },
    },
    config: { access: 'public' },
    handler: (_request, reply) => {
      // The configuration changes with a restart only.
      reply.header('cache-control', 'public, max-age=60').send(loginOptions);
    },
  });
}
