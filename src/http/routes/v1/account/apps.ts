import { type Static, Type } from 'typebox';
import { Id, Time } from '../../../../contract/common.js';
import type { PageApps } from '../../../../login/pages/page-apps.js';
import { type App, sessionOf } from '../../../requests/route.js';

const PageApp = Type.Object(
  {
    id: Id,
    redirect_uri: Type.String({ description: 'The entry of REDIRECT_URIS.', examples: ['https://app.example.com/'] }),
    allowed_at: Time,
  },
  { title: 'PageApp' },
);
export type PageApp = Static<typeof PageApp>;

/** Routes for the apps that may use the login of the pages. They exist with PAGES=on. */
export function accountAppRoutes(app: App, { pageApps }: { pageApps: PageApps }): void {
  app.route({
    method: 'GET',
    url: '/v1/account/apps',
    schema: {
      operationId: 'listApps',
      summary: 'List the apps that sign you in without a question',
      description: 'With PAGES=on: the apps that you have let use your login at the sign-in page.',
      response: { 200: Type.Array(PageApp, { description: 'Newest first.' }) },
    },
    config: { access: 'session' },
    handler: async (request) => [...(await pageApps.list(sessionOf(request).user_id))],
  });

  app.route({
    method: 'DELETE',
    url: '/v1/account/apps/:id',
    schema: {
      operationId: 'removeApp',
      summary: 'Let an app ask again',
      description:
        'The app asks again the next time that you sign in there with the login of the sign-in page. The logins that it has stay: end them with their devices.',
      params: Type.Object({ id: Type.String({ description: 'The id of the entry.' }) }),
      response: { 204: Type.Null({ description: 'The app asks again.' }) },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request, reply) {
      await pageApps.remove(sessionOf(request).user_id, request.params.id);
      return reply.code(204).send(null);
    },
  });
}
