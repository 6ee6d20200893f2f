import { Type } from 'typebox';
import { OwnSupportLogin } from '../../../../contract/support-login.js';
import type { Database } from '../../../../database/database.js';
import { type SupportLogins, supportLoginFilterFields } from '../../../../sessions/support-logins.js';
import { listRoutes } from '../../../lists/list-routes.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, originOf, sessionOf } from '../../../requests/route.js';

interface OwnSupportLoginServices {
  readonly supportLogins: SupportLogins;
  readonly database: Pick<Database, 'user'>;
}

const url = '/v1/account/support-logins';

/** Routes with which a user sees the logins of operators as this user, answers to them, and ends them. */
export function accountSupportLoginRoutes(app: App, { supportLogins, database }: OwnSupportLoginServices): void {
  listRoutes(app, {
    url,
    operationIds: ['listSupportLogins', 'getSupportLoginPage'],
    summary: 'List the logins of operators as you',
    description: 'Those of the last 31 days, and those that wait for your answer.',
    access: 'session',
    item: OwnSupportLogin,
    pageTitle: 'OwnSupportLoginPage',
    sortable: ['created_at'],
    filterFields: supportLoginFilterFields,
    filterExample: 'created_at:gt:2026-01-01T00\\:00\\:00Z',
    read: (query, request) => supportLogins.listOwn(sessionOf(request).user_id, query),
  });

  app.route({
    method: 'PUT',
    url: `${url}/:id`,
    schema: {
      operationId: 'allowSupportLogin',
      summary: 'Let an operator log in as you',
      description:
        'The login lasts 30 minutes from now on. It never changes credentials, addresses, factors or devices.',
      params: IdParams,
      response: { 200: { ...OwnSupportLogin, description: 'The operator may log in.' } },
    },
    config: { access: 'session', problems: ['not_found', 'support_login_ended'] },
    async handler(request) {
      const key = { userId: sessionOf(request).user_id, id: pathId(request.params) };
      return database.user(key.userId).transaction((tx) => supportLogins.allow(tx, key, originOf(request)));
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    schema: {
      operationId: 'endSupportLogin',
      summary: 'Refuse or end a login of an operator as you',
      description: 'It ends with its sessions and streams. The answer is the same if it has ended already.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'It has ended.' }) },
    },
    config: { access: 'session', problems: ['not_found'] },
    async handler(request, reply) {
      const { user_id: userId, act } = sessionOf(request);
      const key = { userId, id: pathId(request.params) };
      const end = act === undefined ? supportLogins.endOwn : supportLogins.end;
      await database.user(userId).transaction((tx) => end(tx, key, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}
