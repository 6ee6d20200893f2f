import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { ListQuery, PageOf } from '../../contract/common.js';
import type { ErrorCode } from '../../contract/errors/problems.js';
import type { Page } from '../../database/listing.js';
import type { FilterFields } from '../../lib/filter/fields.js';
import { prefersEventStream } from '../../lib/http-headers.js';
import { addVary } from '../requests/event-stream.js';
import { IdParams, pathId } from '../requests/parameters.js';
import type { Access, App } from '../requests/route.js';
import { envelopeOf, type KeysetQuery, readListQuery, sendEnvelope, sendPage } from './keyset-list.js';
import type { QueryParameters, ReadSearch } from './list-query.js';

/** A list: its path, its schema and its query. */
export interface ListRoute {
  /** The path without `/page`. It may have one parameter, `:id`. */
  readonly url: string;
  /** The ids of the two operations: with a bare array, and with an envelope. */
  readonly operationIds: readonly [string, string];
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly problems?: readonly ErrorCode[];
  readonly item: TSchema;
  /** The name of the envelope's schema. */
  readonly pageTitle: string;
  /** The first field is the default order, newest first. */
  readonly sortable: readonly [string, ...string[]];
  readonly filterFields: FilterFields;
  readonly filterExample: string;
  /** For a list with the parameter `search`: its description and its reader. */
  readonly search?: { readonly description: string; readonly read: ReadSearch };
  readonly read: (query: KeysetQuery, request: FastifyRequest) => Promise<Page<object>>;
  /** Answers `Accept: text/event-stream` at the path without `/page`. */
  readonly stream?: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

const streamProblems = ['too_many_streams', 'shutting_down'] as const;
const order = 'Newest first unless sorted otherwise.';

/** Registers a list as a bare array, and at `/page` below it with an envelope that has the next cursor. */
export function listRoutes(app: App, list: ListRoute): void {
  const [arrayId, envelopeId] = list.operationIds;
  const { item, summary, description } = list;
  const querystring = queryOf(list);
  listRoute(app, list, {
    url: list.url,
    schema: {
      operationId: arrayId,
      summary,
      ...(description !== undefined && { description }),
      querystring,
      response: { 200: Type.Array(item, { description: order }) },
    },
    send: sendPage,
    ...(list.stream !== undefined && { stream: list.stream }),
  });
  listRoute(app, list, {
    url: `${list.url}/page`,
    schema: {
      operationId: envelopeId,
      summary: `${summary}, with an envelope`,
      description: `The same list as GET ${list.url.replace(':id', '{id}')}, as an object. Send \`next_cursor\` as \`cursor\` to get the next page.`,
      querystring,
      response: { 200: { ...PageOf(item, list.pageTitle), description: order } },
    },
    send: sendEnvelope,
  });
}

function queryOf({ sortable, filterExample, search }: ListRoute): TSchema {
  const query = ListQuery(sortable, filterExample);
  if (search === undefined) return query;
  const parameter = Type.String({ description: search.description, examples: ['ada'] });
  return Type.Object({ search: Type.Optional(parameter), ...query.properties });
}

/**
 * Registers a list whose parameters stand in the body, as POST `/find` below its path. URLs are written to logs of proxies and
 * to histories, and a search or a filter can contain an address.
 */
export function findRoute(app: App, list: ListRoute, operationId: string): void {
  const parameters = { ...queryOf(list), title: list.pageTitle.replace('Page', 'Search') };
  const page = PageOf(list.item, list.pageTitle);
  const read = (body: object) => {
    const query = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
    return readListQuery(list.url, query, list.sortable, list.filterFields, list.search?.read);
  };
  app.route({
    method: 'POST',
    url: `${list.url}/find`,
    schema: {
      operationId,
      summary: `${list.summary}, with the parameters in the body`,
      description: `The same list as GET ${list.url}/page. No search and no filter stands in a URL, which proxies and browsers store.`,
      body: parameters,
      response: { 200: { ...page, description: order } },
    },
    config: { access: list.access, recentProof: 'not-needed', problems: list.problems ?? [], optionalBody: true },
    async handler(request) {
      const query = read((request.body ?? {}) as object);
      return envelopeOf(query, await list.read(query, request));
    },
  });
}

interface ListForm {
  readonly url: string;
  readonly schema: {
    readonly operationId: string;
    readonly summary: string;
    readonly description?: string;
    readonly querystring: TSchema;
    readonly response: { readonly 200: TSchema };
  };
  readonly send: typeof sendPage<object>;
  readonly stream?: NonNullable<ListRoute['stream']>;
}

function listRoute(app: App, list: ListRoute, { url, schema, send, stream }: ListForm): void {
  const { sortable, filterFields, access, problems = [] } = list;
  const hasId = url.includes('/:id/');
  const readQuery = (query: QueryParameters) =>
    readListQuery(list.url, query, sortable, filterFields, list.search?.read);
  app.route({
    method: 'GET',
    url,
    schema: {
      ...schema,
      ...(hasId && { params: IdParams }),
    },
    config: { access, problems: [...problems, ...(stream === undefined ? [] : streamProblems)], checkQuery: readQuery },
    async handler(request, reply) {
      if (stream !== undefined) {
        addVary(reply, 'Accept');
        if (request.method !== 'HEAD' && prefersEventStream(request.headers.accept)) return stream(request, reply);
      }
      const path = hasId ? url.replace(':id', pathId(request.params as { readonly id: string })) : url;
      const query = readQuery(request.query as QueryParameters);
      return send(reply, path, query, await list.read(query, request));
    },
  });
}
