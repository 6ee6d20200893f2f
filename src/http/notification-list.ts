import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { ListQuery } from '../contract/common.js';
import { Notification, NotificationPage } from '../contract/notification.js';
import { choiceFault, type FieldError, refuseFaults } from '../lib/problem.js';
import { type Cursor, decodeCursor, encodeCursor } from '../notifications/cursor.js';
import type { NotificationQuery } from '../notifications/list-queries.js';
import type { ListedPage, Notifications } from '../notifications/notifications.js';
import { isUnchanged } from './conditional.js';
import { type ListQuerySpec, parseListQuery, type QueryParameters } from './list-query.js';
import { describePage } from './pages.js';

const sortable = ['created_at', 'updated_at'] as const;

/** The parameters of a list of notifications. */
export const NotificationListQuery = Type.Object({
  ...ListQuery(sortable, 'notification_type:payment').properties,
  cursor: Type.Optional(
    Type.String({
      description:
        'Where a walk goes on: it stands in the links, and in the envelope as `next_cursor`. Opaque, and good for the same sort alone. Beside it `page` does not count.',
    }),
  ),
  envelope: Type.Optional(
    Type.Unsafe<string>({
      type: 'boolean',
      default: false,
      description: 'true: an object with `data` and `page` instead of the bare array.',
    }),
  ),
});

const { envelope: _, ...ofEveryForm } = NotificationListQuery.properties;
const FormQuery = Type.Object(ofEveryForm);

const NotModified = Type.Null({
  description: 'Nothing was created, changed or deleted since the answer with that ETag.',
});

/** What a list answers, by status: an array, or with `envelope=true` what the path below it answers. */
export const NotificationListAnswers = {
  200: Type.Unsafe<Notification[] | NotificationPage>({
    ...NotificationPage,
    type: ['array', 'object'],
    items: Notification,
  }),
  304: NotModified,
};

/** The document describes one form of answer for each path. */
export const arrayForm = {
  querystring: FormQuery,
  response: { 200: Type.Array(Notification, { description: 'Newest first unless sorted otherwise.' }) },
};
export const envelopeForm = {
  querystring: FormQuery,
  response: {
    200: { ...NotificationPage, description: 'Newest first unless sorted otherwise.' },
    304: NotModified,
  },
};

/** A list's query, and how it is to be answered. */
interface GivenQuery extends NotificationQuery {
  /** The parameters that its links keep. */
  readonly given: Readonly<Record<string, string>>;
  readonly isEnveloped: boolean;
}

/** Of a request what its list depends on. A repeated parameter is an array, whatever the documented type says. */
interface ListRequest {
  readonly query: QueryParameters;
  readonly headers: IncomingHttpHeaders;
}

/** Whose inbox is sent, and how it is read. */
export interface InboxToSend {
  readonly notifications: Pick<Notifications, 'changeSequence' | 'filterFields'>;
  readonly list: Notifications['list'];
  readonly userId: string;
  /** Where the list was asked for. */
  readonly path: string;
  /** Answers with the envelope even if the request does not ask for it. */
  readonly isEnveloped?: boolean;
}

/**
 * Answers with a page of a user's inbox, or with 304 when nothing has changed since the client's ETag: that costs one
 * look-up by primary key.
 *
 * @returns false, and nothing is sent, when there is no such inbox. (Not the reply: awaited, that is undefined.)
 * @throws Problem `validation_failed` that names the faulty parameters
 */
export async function sendInbox(
  request: ListRequest,
  reply: FastifyReply,
  { notifications, list, userId, path, isEnveloped = false }: InboxToSend,
): Promise<boolean> {
  const query = readInboxQuery(request, notifications);
  const known = request.headers['if-none-match'];
  if (known !== undefined) {
    const changeSequence = await notifications.changeSequence(userId);
    if (changeSequence !== undefined && isUnchanged(known, etag(userId, changeSequence))) {
      describeState(reply, userId, changeSequence).code(304).send();
      return true;
    }
  }
  const page = await list(userId, query);
  if (page === undefined) return false;
  describeState(reply, userId, page.changeSequence);
  if (query.countsExactly) reply.header('Preference-Applied', 'count=exact');
  describePage(reply, { path, ...query, ...page }, (number, relation) => ({
    cursor: encodeCursor(query.sort, cursorTo(number, relation, page)),
  }));
  reply.send(isEnveloped || query.isEnveloped ? envelope(query, page) : page.items);
  return true;
}

/** What a request asks of an inbox. @throws Problem `validation_failed` */
export function readInboxQuery(
  request: ListRequest,
  { filterFields }: Pick<Notifications, 'filterFields'>,
): GivenQuery {
  const spec: ListQuerySpec<(typeof sortable)[number]> = {
    sortable,
    defaultSort: [{ field: 'created_at', direction: 'desc' }],
    filterFields,
    maxLimit: 100,
    defaultLimit: 20,
  };
  const { sort: keys, ...query } = parseListQuery(request.query, spec);
  // No two notifications of a user share a time: the first key decides.
  const sort = keys[0] ?? { field: 'created_at', direction: 'desc' };
  const faults: FieldError[] = [];
  const { cursor: cursorText, envelope: envelopeText } = request.query;
  const cursor = typeof cursorText === 'string' ? decodeCursor(cursorText, sort) : undefined;
  if (cursorText !== undefined && cursor === undefined) faults.push({ field: 'cursor', code: 'invalid_cursor' });
  if (envelopeText !== undefined && envelopeText !== 'true' && envelopeText !== 'false') {
    faults.push(choiceFault('envelope', ['true', 'false']));
  }
  refuseFaults(faults);
  const given = { ...query.given, ...(typeof envelopeText === 'string' && { envelope: envelopeText }) };
  return {
    ...query,
    // A cursor names its page. A number beside it does not count: a client that sends the same one each time would not get on.
    ...cursor,
    sort,
    given,
    isEnveloped: envelopeText === 'true',
    countsExactly: prefersExactCount(request.headers),
  };
}

/** The neighbours are told by the page's own rows, all others by their number. */
function cursorTo(page: number, relation: 'first' | 'prev' | 'next' | 'last', { mark, places }: ListedPage): Cursor {
  if (relation === 'next' && places !== undefined) return { mark, page, anchor: { side: 'after', place: places.last } };
  if (relation === 'prev' && places !== undefined)
    return { mark, page, anchor: { side: 'before', place: places.first } };
  return { mark, page };
}

function envelope(query: GivenQuery, page: ListedPage): NotificationPage {
  const { hasNext, total, totalIsExact } = page;
  const next = hasNext ? encodeCursor(query.sort, cursorTo(query.page + 1, 'next', page)) : null;
  return {
    data: page.items,
    page: { number: query.page, limit: query.limit, total, total_is_exact: totalIsExact, next_cursor: next },
  };
}

/** The state of an inbox, and not of one page: whatever is created, changed or deleted gives it another. */
function etag(userId: string, changeSequence: number): string {
  return `W/"${userId.slice(0, 8)}-${changeSequence}"`;
}

function describeState(reply: FastifyReply, userId: string, changeSequence: number): FastifyReply {
  return reply.headers({ ETag: etag(userId, changeSequence), 'Cache-Control': 'private, no-cache' });
}

/** `Prefer: count=exact` (RFC 7240), alone or among others. */
function prefersExactCount({ prefer = '' }: IncomingHttpHeaders): boolean {
  return [prefer].flat().some((value) => /(?:^|,)\s*count\s*=\s*(?:exact|"exact")\s*(?:[,;]|$)/i.test(value));
}
