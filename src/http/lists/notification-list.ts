import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { ListQuery } from '../../contract/common.js';
import { Notification, NotificationPage } from '../../contract/notification.js';
import { isUnchanged } from '../../lib/http-headers.js';
import { choiceError, type FieldError, throwIfErrors } from '../../lib/problem.js';
import { type Cursor, decodeCursor, encodeCursor } from '../../notifications/inbox/cursor.js';
import type { ExtraState } from '../../notifications/inbox/extras.js';
import type { InboxState, NotificationQuery } from '../../notifications/inbox/list-queries.js';
import type { InboxPage, Notifications } from '../../notifications/notifications.js';
import { includeParameter, readInclude, readView, viewParameter } from './include-query.js';
import { parseListQuery, type QueryParameters } from './list-query.js';
import { createPageCache, type StoredPage } from './page-cache.js';
import { describePage } from './pages.js';

const sortable = ['created_at', 'updated_at'] as const;

/** The parameters of a list of notifications. */
export const NotificationListQuery = Type.Object({
  ...ListQuery(sortable, 'notification_type:payment').properties,
  envelope: Type.Optional(
    Type.Unsafe<string>({
      type: 'boolean',
      default: false,
      description: 'true: an object with `data` and `page` instead of the bare array.',
    }),
  ),
  include: includeParameter,
  view: viewParameter,
});

const { envelope: _, ...commonParameters } = NotificationListQuery.properties;
const FormQuery = Type.Object(commonParameters);

const NotModified = Type.Null({
  description: 'Nothing was created, changed or deleted since the response with this ETag.',
});

/** The responses of a list, by status: an array, or with `envelope=true` the same envelope as at `/page`. */
export const notificationListResponses = {
  200: Type.Unsafe<Notification[] | NotificationPage>({
    ...NotificationPage,
    type: ['array', 'object'],
    items: Notification,
  }),
  304: NotModified,
};

/** The array form of the response. The OpenAPI document describes only one form for each path. */
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

/** The query of an inbox, and the form of its response. */
interface InboxListQuery extends NotificationQuery {
  /** The parameters that the links of the response keep. */
  readonly sentParameters: Readonly<Record<string, string>>;
  readonly isEnveloped: boolean;
  readonly includesExtra: boolean;
}

/** The parts of a request that the list depends on. A repeated parameter is an array, despite the documented type. */
interface ListRequest {
  readonly query: QueryParameters;
  readonly headers: IncomingHttpHeaders;
  readonly raw: { readonly url?: string | undefined };
}

/** The inbox to send, and how to read it. */
export interface InboxToSend {
  readonly list: Notifications['list'];
  readonly userId: string;
  /** The path of the list. */
  readonly path: string;
  /** Sends the envelope even without `envelope=true`. */
  readonly isEnveloped?: boolean;
}

/**
 * Sends a page of a user's inbox, or 304 if nothing has changed since the client's ETag. A 304 costs one look-up by
 * primary key, and so does a page that this process has sent before in the same state of the inbox (decision 47).
 *
 * @returns false if there is no such inbox; then nothing was sent. (It cannot return the reply, because `await` turns a
 *   reply into undefined.)
 * @throws Problem `validation_failed` with the invalid parameters
 */
export type SendInbox = (request: ListRequest, reply: FastifyReply, inbox: InboxToSend) => Promise<boolean>;

/** The maximum size of the page cache of a process, in bytes. */
const maxCacheBytes = 32 * 1024 * 1024;

/** Creates the function that sends inboxes, with a page cache of its own. */
export function createSendInbox(
  notifications: Pick<Notifications, 'state' | 'filterFields' | 'extraState'>,
): SendInbox {
  const pages = createPageCache(maxCacheBytes);

  /** Sends 304 if the client has this state of the inbox. @returns whether it did */
  function sendUnchanged(request: ListRequest, reply: FastifyReply, userId: string, state: InboxState | ExtraState) {
    if (!isUnchanged(request.headers['if-none-match'], etag(userId, state))) return false;
    reply.headers(describeState(userId, state)).code(304).send();
    return true;
  }

  /** Reads a page. Undefined: there is no such inbox. */
  async function readPage(
    reply: FastifyReply,
    { list, userId, path, isEnveloped }: InboxToSend,
    query: InboxListQuery,
  ) {
    const page = await list(userId, query);
    if (page === undefined) return undefined;
    const inEnvelope = isEnveloped === true || query.isEnveloped;
    return {
      response: responseOf(reply, { userId, path, query, page, isEnveloped: inEnvelope }),
      stamp: page.state.stamp,
    };
  }

  /** Sends a page with what `include=extra` asks for. It is not cached, because states change more often than the inbox. */
  async function sendWithExtras(request: ListRequest, reply: FastifyReply, inbox: InboxToSend): Promise<boolean> {
    const query = readInboxQuery(request, notifications);
    if (request.headers['if-none-match'] !== undefined) {
      const state = await notifications.extraState(inbox.userId);
      if (state !== undefined && sendUnchanged(request, reply, inbox.userId, state)) return true;
    }
    const page = await readPage(reply, inbox, query);
    if (page === undefined) return false;
    reply.headers(page.response.headers).send(page.response.body);
    return true;
  }

  return async (request, reply, inbox) => {
    if (request.query.include !== undefined) return sendWithExtras(request, reply, inbox);
    const { userId } = inbox;
    // This key, the user and the state of the inbox determine every byte of a page, because the configuration does not
    // change.
    const key = `${request.raw.url} ${prefersExactCount(request.headers)}`;
    const isCached = pages.has(userId, key);
    const query = isCached ? undefined : readInboxQuery(request, notifications);
    if (request.headers['if-none-match'] !== undefined || isCached) {
      const state = await notifications.state(userId);
      if (state !== undefined && sendUnchanged(request, reply, userId, state)) return true;
      const cachedPage = state && pages.find(userId, key, state.stamp);
      if (cachedPage !== undefined) {
        reply.headers(cachedPage.headers).send(cachedPage.body);
        return true;
      }
    }
    const page = await readPage(reply, inbox, query ?? readInboxQuery(request, notifications));
    if (page === undefined) return false;
    pages.store(userId, key, page.stamp, page.response);
    reply.headers(page.response.headers).send(page.response.body);
    return true;
  };
}

type Serialize = (answer: Notification[] | NotificationPage) => string;

function serializerOf(reply: FastifyReply): Serialize {
  const serialize = reply.getSerializationFunction('200');
  if (serialize === undefined) throw new Error('the answer has no schema');
  return serialize as Serialize;
}

/** The headers and the body of a page. */
function responseOf(
  reply: FastifyReply,
  options: {
    readonly userId: string;
    readonly path: string;
    readonly query: InboxListQuery;
    readonly page: InboxPage;
    readonly isEnveloped: boolean;
  },
): StoredPage {
  const { userId, path, query, page, isEnveloped } = options;
  const contentType = 'application/json; charset=utf-8';
  const headers = {
    ...describeState(userId, page.state),
    ...(query.countsExactly && { 'Preference-Applied': 'count=exact' }),
    ...describePage({ path, ...query, ...page }, (number, relation) => ({
      cursor: encodeCursor(query.sort, cursorTo(number, relation, page)),
    })),
    'content-type': contentType,
  };
  return { headers, body: serializerOf(reply)(isEnveloped ? envelope(query, page) : page.items) };
}

/** Parses the query of an inbox. @throws Problem `validation_failed` */
export function readInboxQuery(
  request: Pick<ListRequest, 'query' | 'headers'>,
  { filterFields }: Pick<Notifications, 'filterFields'>,
): InboxListQuery {
  const { sort: keys, ...query } = parseListQuery(request.query, { sortable, filterFields });
  // All times of a user's notifications are different, so only the first key matters.
  const sort = keys[0] ?? { field: 'created_at', direction: 'desc' };
  const errors: FieldError[] = [];
  const { cursor: cursorText, envelope: envelopeText } = request.query;
  const cursor = typeof cursorText === 'string' ? decodeCursor(cursorText, sort) : undefined;
  if (cursorText !== undefined && cursor === undefined) errors.push({ field: 'cursor', code: 'invalid_cursor' });
  if (envelopeText !== undefined && envelopeText !== 'true' && envelopeText !== 'false') {
    errors.push(choiceError('envelope', ['true', 'false']));
  }
  const includesExtra = readInclude(request.query, errors);
  const view = readView(request.query, includesExtra, errors);
  throwIfErrors(errors);
  const parameters = {
    ...query.sentParameters,
    ...(typeof envelopeText === 'string' && { envelope: envelopeText }),
    ...(includesExtra && { include: 'extra' }),
    ...(view !== undefined && { view }),
  };
  return {
    ...query,
    // A cursor overrides `page`: otherwise a client that always sends the same number would not get the next page.
    ...cursor,
    sort,
    sentParameters: parameters,
    isEnveloped: envelopeText === 'true',
    includesExtra,
    ...(view !== undefined && { view }),
    countsExactly: prefersExactCount(request.headers),
  };
}

/**
 * The cursors of neighbouring pages contain a row of this page. The cursors of all other pages contain only the page
 * number.
 */
function cursorTo(
  page: number,
  relation: 'first' | 'prev' | 'next' | 'last',
  { mark, places }: Pick<InboxPage, 'mark' | 'places'>,
): Cursor {
  if (relation === 'next' && places !== undefined) return { mark, page, anchor: { side: 'after', place: places.last } };
  if (relation === 'prev' && places !== undefined)
    return { mark, page, anchor: { side: 'before', place: places.first } };
  return { mark, page };
}

function envelope(query: InboxListQuery, page: Omit<InboxPage, 'state'>): NotificationPage {
  const { hasNext, total, totalIsExact } = page;
  const next = hasNext ? encodeCursor(query.sort, cursorTo(query.page + 1, 'next', page)) : null;
  return {
    data: page.items,
    page: { number: query.page, limit: query.limit, total, total_is_exact: totalIsExact, next_cursor: next },
  };
}

/**
 * An ETag for the state of the whole inbox: every creation, change and deletion changes it. Only with `include=extra`, also
 * every change of a state, and the end of a snooze or of a notification.
 */
function etag(userId: string, state: InboxState | ExtraState): string {
  const extras = 'extras' in state ? `-${state.extras}` : '';
  return `W/"${userId.slice(0, 8)}-${state.changeSequence}${extras}"`;
}

function describeState(userId: string, state: InboxState | ExtraState): { ETag: string; 'Cache-Control': string } {
  return { ETag: etag(userId, state), 'Cache-Control': 'private, no-cache' };
}

/** `Prefer: count=exact` (RFC 7240), alone or among others. */
function prefersExactCount({ prefer = '' }: IncomingHttpHeaders): boolean {
  return [prefer].flat().some((value) => /(?:^|,)\s*count\s*=\s*(?:exact|"exact")\s*(?:[,;]|$)/i.test(value));
}
