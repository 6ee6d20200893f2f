import { IssuedSetUpLink, NewSetUpLinkRequest } from '../../../contract/console/set-up.js';
import type { SetUpLinks } from '../../../sessions/setup-links.js';
import { type App, originOf } from '../../requests/route.js';

/** A route that invites a new person to administer Postern. */
export function adminSetUpLinkRoutes(app: App, { setUpLinks }: { setUpLinks: SetUpLinks }): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/set-up-links',
    schema: {
      operationId: 'createSetUpLink',
      summary: 'Invite a person to administer Postern',
      description:
        'Creates a link to the console. The person who opens it creates their own user with the role, a password and a second factor. The link is valid for 30 minutes and one user. With `CONSOLE=off` there are no such links: 404. To give a role to an existing user, use `POST /admin/v1/users/{id}/enrollment-links`.',
      body: NewSetUpLinkRequest,
      response: { 201: { ...IssuedSetUpLink, description: 'The link, shown once.' } },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      return reply.code(201).send(await setUpLinks.create(request.body.role, originOf(request)));
    },
  });
}
