import type { FastifyRequest } from 'fastify';
import { isExternalReference, type UserReferences } from '../../identities/user-references.js';
import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

const urlOfUser = /^\/admin\/v1\/users\/:id(?:\/|$)/;

/**
 * Lets every path below `/admin/v1/users/:id` name the user as `external:<external id>`. It replaces this parameter by the
 * id of the user, so that handlers get only ids. It runs after the authorization. A path with an id takes no query.
 */
export function userReferencesPlugin(app: App, references: UserReferences): void {
  app.addHook('onRoute', (route) => {
    if (!urlOfUser.test(route.url)) return;
    const resolve = (request: FastifyRequest) => resolveUser(references, request.params as { id: string });
    route.preHandler = [...[route.preHandler ?? []].flat(), resolve];
  });
}

/** @throws Problem `not_found` */
async function resolveUser(references: UserReferences, params: { id: string }): Promise<void> {
  if (!isExternalReference(params.id)) return;
  const id = await references.find(params.id);
  if (id === undefined) throw new Problem('not_found');
  params.id = id;
}
