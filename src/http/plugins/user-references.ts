import type { FastifyRequest } from 'fastify';
import { isExternalReference, type UserReferences } from '../../identities/user-references.js';
import { Problem } from '../../lib/problem.js';
import { withUserIdsInFilter } from '../requests/filter-users.js';
import type { App } from '../requests/route.js';

const urlOfAdministration = /^\/admin\/v1\//;
const urlOfUser = /^\/admin\/v1\/users\/:id(?:\/|$)/;

/**
 * Lets every path below `/admin/v1/users/:id`, and every filter of `user_id`, name the user as `external:<external
 * id>`. It replaces the external id by the id of the user, so that handlers get only ids. It runs after the
 * authorization. A request that contains only ids needs no query.
 */
export function userReferencesPlugin(app: App, references: UserReferences): void {
  app.addHook('onRoute', (route) => {
    if (!urlOfAdministration.test(route.url)) return;
    const resolve = async ({ params, query, body }: FastifyRequest) => {
      if (urlOfUser.test(route.url)) await resolveUser(references, params as { id: string });
      await resolveFilter(references, query);
      await resolveFilter(references, body);
    };
    route.preHandler = [...[route.preHandler ?? []].flat(), resolve];
  });
}

/** @throws Problem `validation_failed` */
async function resolveFilter(references: UserReferences, values: unknown): Promise<void> {
  if (typeof values !== 'object' || values === null || !('filter' in values)) return;
  if (typeof values.filter !== 'string' || !values.filter.includes('external')) return;
  values.filter = await withUserIdsInFilter(references, values.filter);
}

/** @throws Problem `not_found` */
async function resolveUser(references: UserReferences, params: { id: string }): Promise<void> {
  if (!isExternalReference(params.id)) return;
  const id = await references.find(params.id);
  if (id === undefined) throw new Problem('not_found');
  params.id = id;
}
