import type { EnrollmentLinks } from '../../../authentication/users/enrollment-links.js';
import { EnrollmentLink } from '../../../contract/user.js';
import type { Database } from '../../../database/database.js';
import { IdParams, pathId } from '../../path-id.js';
import { type App, callerOf, demandFreshness, originOf } from '../../route.js';

/** Links by which roles take effect. */
export function adminEnrollmentLinkRoutes(
  app: App,
  { enrollmentLinks, database }: { enrollmentLinks: EnrollmentLinks; database: Pick<Database, 'lane'> },
): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/users/:id/enrollment-links',
    schema: {
      operationId: 'createEnrollmentLink',
      summary: 'Create a link by which a role takes effect',
      description:
        'Its holder logs in and enrols a second factor with the secret of the link, or shows the one that there is. Good for 30 minutes and one enrolment; a further link replaces it.',
      tags: ['Administration'],
      params: IdParams,
      response: { 201: { ...EnrollmentLink, description: 'The link, shown this once.' } },
    },
    config: { access: { scope: 'admin' }, problems: ['not_found', 'validation_failed', 'fresh_proof_required'] },
    async handler(request, reply) {
      demandFreshness(callerOf(request));
      const id = pathId(request.params);
      const link = await database.lane(id).transaction((tx) => enrollmentLinks.create(tx, id, originOf(request)));
      return reply.code(201).send(link);
    },
  });
}
