import { EnrollmentLink } from '../../../../contract/user.js';
import type { Database } from '../../../../database/database.js';
import type { EnrollmentLinks } from '../../../../users/enrollment-links.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, originOf } from '../../../requests/route.js';

/** A route that creates enrollment links, with which roles take effect. */
export function adminEnrollmentLinkRoutes(
  app: App,
  { enrollmentLinks, database }: { enrollmentLinks: EnrollmentLinks; database: Pick<Database, 'user'> },
): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/users/:id/enrollment-links',
    schema: {
      operationId: 'createEnrollmentLink',
      summary: 'Create a link that activates a role',
      description:
        'The user logs in and enrols a second factor with the secret of the link, or re-authenticates with an existing one. The link is valid for 30 minutes and one enrolment. A new link replaces the earlier one.',
      params: IdParams,
      response: { 201: { ...EnrollmentLink, description: 'The link, shown once.' } },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed', problems: ['not_found', 'validation_failed'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const link = await database.user(id).transaction((tx) => enrollmentLinks.create(tx, id, originOf(request)));
      return reply.code(201).send(link);
    },
  });
}
