import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { ListQuery } from '../../../contract/common.js';
import { Notification } from '../../../contract/notification.js';
import { Problem } from '../../../lib/problem.js';
import type { NotificationQuery } from '../../../notifications/list-queries.js';
import type { NotificationPage, Notifications } from '../../../notifications/notifications.js';
import { linkHeader } from '../../links.js';
import { type ListQuerySpec, parseListQuery, type QueryParameters } from '../../list-query.js';
import { type App, sessionOf } from '../../route.js';

const sortable = ['created_at', 'updated_at'] as const;

/** The parameters of a list of notifications. */
export const NotificationListQuery = Type.Object({
  ...ListQuery(sortable, 'notification_type:payment').properties,
  mark: Type.Optional(
    Type.String({ description: 'Stands in the links, so that pages do not shift when something arrives. Opaque.' }),
  ),
});

/** The schema of a list's answer. */
export const NotificationList = Type.Array(Notification, { description: 'Newest first unless sorted otherwise.' });

/** A user's own notifications. */
export function notificationRoutes(app: App, { notifications }: { notifications: Notifications }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications',
    schema: {
      operationId: 'listNotifications',
      summary: 'List notifications',
      description:
        'Newest first. Follow the links: then whatever arrives meanwhile, nothing is missed and nothing comes twice.',
      tags: ['Notifications'],
      querystring: NotificationListQuery,
      response: { 200: NotificationList },
    },
    config: { access: 'session' },
    async handler(request, reply) {
      const query = readQuery(request, notifications);
      const page = await notifications.list(sessionOf(request).user_id, query);
      // The user was deleted since the session was checked, and the session with the user.
      if (page === undefined) throw new Problem('invalid_session_token');
      return sendPage(reply, '/v1/notifications', query, page);
    },
  });
}

/** A query, and the parameters that its links keep. */
interface GivenQuery extends NotificationQuery {
  readonly given: Readonly<Record<string, string>>;
}

/** Of a request what its list depends on. A repeated parameter is an array, whatever the documented type says. */
interface ListRequest {
  readonly query: QueryParameters;
  readonly headers: IncomingHttpHeaders;
}

/** @throws Problem `validation_failed` that names the faulty parameters */
export function readQuery(request: ListRequest, { filterFields }: Notifications): GivenQuery {
  const spec: ListQuerySpec<(typeof sortable)[number]> = {
    sortable,
    defaultSort: [{ field: 'created_at', direction: 'desc' }],
    filterFields,
    maxLimit: 100,
    defaultLimit: 20,
  };
  const query: GivenQuery = {
    ...parseListQuery(request.query, spec),
    countsExactly: prefersExactCount(request.headers),
  };
  const { mark } = request.query;
  return mark === undefined ? query : { ...query, mark: readMark(mark) };
}

function readMark(mark: string | readonly string[]): number {
  if (typeof mark === 'string' && /^\d{1,15}$/.test(mark)) return Number(mark);
  throw new Problem('validation_failed', { errors: [{ field: 'mark', code: 'invalid_format' }] });
}

/** `Prefer: count=exact` (RFC 7240), alone or among others. */
function prefersExactCount({ prefer = '' }: IncomingHttpHeaders): boolean {
  return [prefer].flat().some((value) => /(?:^|,)\s*count\s*=\s*(?:exact|"exact")\s*(?:[,;]|$)/i.test(value));
}

/** Answers with a page: a bare array, everything about it in headers. `path` is where the list was asked for. */
export function sendPage(reply: FastifyReply, path: string, query: GivenQuery, page: NotificationPage): FastifyReply {
  reply.header('X-Total-Count', String(page.total));
  if (!page.totalIsExact) reply.header('X-Total-Count-Capped', 'true');
  if (query.countsExactly) reply.header('Preference-Applied', 'count=exact');
  reply.header('Link', linksOf(path, query, page));
  return reply.send(page.items);
}

function linksOf(path: string, query: GivenQuery, { mark, hasNext, total, totalIsExact }: NotificationPage): string {
  const last = totalIsExact ? Math.max(1, Math.ceil(total / query.limit)) : undefined;
  const to = (page: number) => ({ page: String(page), mark: String(mark) });
  return linkHeader({
    path,
    query: query.given,
    relations: {
      first: to(1),
      // From beyond the end back to where there is something.
      prev: query.page > 1 ? to(Math.min(query.page - 1, last ?? query.page)) : undefined,
      next: hasNext ? to(query.page + 1) : undefined,
      last: last === undefined ? undefined : to(last),
    },
  });
}
