import { Type } from 'typebox';
import type { ErrorCode } from '../../../../contract/errors/problems.js';
import { IssuedSupportLogin, NewSupportLogin, SupportLogin } from '../../../../contract/support-login.js';
import type { Database } from '../../../../database/database.js';
import { Problem } from '../../../../lib/problem.js';
import {
  type ActingOperator,
  type SupportLogins,
  supportLoginFilterFields,
} from '../../../../sessions/support-logins.js';
import type { Users } from '../../../../users/users.js';
import { listRoutes } from '../../../lists/list-routes.js';
import { IdParams, pathId } from '../../../requests/parameters.js';
import { type App, callerOf, originOf } from '../../../requests/route.js';

interface SupportLoginServices {
  readonly supportLogins: SupportLogins;
  readonly users: Pick<Users, 'get'>;
  readonly database: Pick<Database, 'user'>;
}

const Params = Type.Object({
  id: Type.String(),
  login_id: Type.String({ description: 'The id of the support login.' }),
});

const url = '/admin/v1/users/:id/support-logins';
const issueProblems: ErrorCode[] = [
  'not_found',
  'has_role',
  'account_unusable',
  'account_locked',
  'upgrade_in_progress',
];

/** Routes with which an operator logs in as a user. */
export function adminSupportLoginRoutes(app: App, { supportLogins, users, database }: SupportLoginServices): void {
  app.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'createSupportLogin',
      summary: 'Log in as a user',
      description:
        'For an operator who helps a user. Answers with an authentication token of the user that lasts 30 minutes, and notifies the user, who can end it. With SUPPORT_CONSENT=on it answers 202 without a token: the user has 24 hours to allow it, and the operator then gets the token with GET. It only reads, unless the request has `write`. It never changes credentials, addresses, factors or devices. The former support login of this operator for this user ends. Needs the session of an operator, not an API key.',
      params: IdParams,
      body: NewSupportLogin,
      response: {
        201: { ...IssuedSupportLogin, description: 'The login with its token, which is shown once.' },
        202: { ...IssuedSupportLogin, description: 'The user has to allow it. There is no token yet.' },
      },
    },
    config: {
      access: { scope: 'admin' },
      recentProof: 'needed',
      problems: ['session_required', ...issueProblems],
    },
    async preValidation(request) {
      requireActingOperator(request);
    },
    async handler(request, reply) {
      const operator = requireActingOperator(request);
      const userId = pathId(request.params);
      const login = await database
        .user(userId)
        .transaction((tx) => supportLogins.create(tx, { userId, input: request.body, operator }));
      return reply.code(login.token === undefined ? 202 : 201).send(login);
    },
  });

  listRoutes(app, {
    url,
    operationIds: ['listUserSupportLogins', 'getUserSupportLoginPage'],
    summary: 'List the support logins of a user',
    description: 'Those of the last 31 days. The audit events stay longer.',
    access: { scope: 'users:read' },
    problems: ['not_found'],
    item: SupportLogin,
    pageTitle: 'SupportLoginPage',
    sortable: ['created_at'],
    filterFields: supportLoginFilterFields,
    filterExample: 'created_at:gt:2026-01-01T00\\:00\\:00Z',
    async read(query, request) {
      const id = pathId(request.params as { readonly id: string });
      // Throws `not_found` for an unknown user. Without this, the answer would be an empty list.
      await users.get(id);
      return supportLogins.list(id, query);
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:login_id`,
    schema: {
      operationId: 'getUserSupportLogin',
      summary: 'Get a support login, and its token once',
      description:
        'After the user has allowed it, the first request of the operator who asked has the token. Requests of others never have it. HEAD takes no token.',
      params: Params,
      response: { 200: { ...IssuedSupportLogin, description: 'The support login.' } },
    },
    config: { access: { scope: 'admin' }, recentProof: 'needed', problems: issueProblems },
    async handler(request) {
      const key = keyOf(request.params);
      const operator = request.method === 'HEAD' ? undefined : actingOperatorOf(request);
      return database.user(key.userId).transaction((tx) => supportLogins.take(tx, key, operator));
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:login_id`,
    schema: {
      operationId: 'endUserSupportLogin',
      summary: 'End a support login',
      description: 'Also withdraws one that waits for the user. The answer is the same if it has ended already.',
      params: Params,
      response: { 204: Type.Null({ description: 'It has ended, with its sessions and streams.' }) },
    },
    config: { access: { scope: 'admin' }, recentProof: 'not-needed', problems: ['not_found'] },
    async handler(request, reply) {
      const key = keyOf(request.params);
      await database.user(key.userId).transaction((tx) => supportLogins.end(tx, key, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}

const keyOf = ({ id, login_id }: { readonly id: string; readonly login_id: string }) => ({
  userId: pathId({ id }),
  id: pathId({ id: login_id }),
});

/** Undefined for an API key. */
function actingOperatorOf(request: Parameters<typeof callerOf>[0]): ActingOperator | undefined {
  const { userId, sessionId } = callerOf(request);
  return userId === undefined || sessionId === undefined ? undefined : { userId, sessionId, origin: originOf(request) };
}

function requireActingOperator(request: Parameters<typeof callerOf>[0]): ActingOperator {
  const operator = actingOperatorOf(request);
  if (operator === undefined) throw new Problem('session_required');
  return operator;
}
