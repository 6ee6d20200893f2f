import { Type } from 'typebox';
import { NewPublication, Publication, PublicationChange, PublicationEstimate } from '../../../contract/publication.js';
import type { Database } from '../../../database/database.js';
import { allowsChange } from '../../../lib/http-headers.js';
import { Problem } from '../../../lib/problem.js';
import {
  type PublicationMove,
  type Publications,
  publicationFilterFields,
} from '../../../notifications/publications/publications.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { Idempotent } from '../../requests/idempotent.js';
import { dryRunQuery, IdParams, pathId, type QueryParameters, readDryRun } from '../../requests/parameters.js';
import {
  type App,
  type Caller,
  callerOf,
  hasScope,
  originOf,
  type RecentProof,
  requireScope,
} from '../../requests/route.js';

const url = '/admin/v1/publications';
const access = { scope: 'notifications:write' } as const;
const maxBodyBytes = 4 * 1024 * 1024;

interface PublicationServices {
  readonly publications: Publications;
  readonly database: Database;
  readonly idempotent: Idempotent;
}

/** Routes that publish to many users in the background. */
export function adminPublicationRoutes(app: App, services: PublicationServices): void {
  createRoute(app, services);
  dryRunRoute(app, services);
  readRoutes(app, services);
  changeRoute(app, services);
  for (const move of moves) moveRoute(app, services, move);
}

/** The headers of an answer with one publication. */
const headers = { ETag: { type: 'string', description: 'Send it as If-Match with a change.' } };

/** @throws Problem `insufficient_scope` if the target needs more than the scope of the routes */
function requireTarget(caller: Caller, to: object): void {
  if ('users' in to || 'everyone' in to) requireScope(caller, 'notifications:broadcast');
}

/** The number that a filter matches shows what users are like. @throws Problem `insufficient_scope` */
function requireCount(caller: Caller, to: object): void {
  requireTarget(caller, to);
  if ('users' in to) requireScope(caller, 'users:read');
}

/** A publication as the caller may see it: a filter can contain addresses. */
function visible(caller: Caller, publication: Publication): Publication {
  const isHidden =
    'users' in publication.to && !(hasScope(caller, 'notifications:broadcast') && hasScope(caller, 'users:read'));
  return isHidden ? { ...publication, to: { users: null } } : publication;
}

const unlessDryRun: RecentProof = {
  when: 'it is no dry run',
  applies: (request) => !readDryRun(request.query as QueryParameters),
};

function createRoute(app: App, { publications, idempotent }: PublicationServices): void {
  const created = { ...Publication, description: 'The publication. It is scheduled, also without send_at.', headers };
  app.route({
    method: 'POST',
    url,
    bodyLimit: maxBodyBytes,
    schema: {
      operationId: 'createPublication',
      summary: 'Publish to many users',
      description:
        'Creates the notifications in the background, each once, at a time and as fast as you want. You can follow, pause, cancel and recall it. The same URL also accepts ?dry_run=true.',
      querystring: dryRunQuery('Answer with the number of recipients, and create nothing.'),
      body: NewPublication,
      response: { 200: PublicationEstimate, 201: created },
    },
    config: {
      access,
      recentProof: unlessDryRun,
      idempotent: true,
      problems: ['insufficient_scope'],
      document: { querystring: Type.Object({}), response: { 200: undefined, 201: created } },
      checkQuery: readDryRun,
      checkBody: publications.errorsOf,
    },
    async handler(request, reply) {
      requireTarget(callerOf(request), request.body.to);
      if (readDryRun(request.query)) {
        requireCount(callerOf(request), request.body.to);
        return reply.code(200).send({ recipients: await publications.estimate(request.body.to) });
      }
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => {
          const { publication, tag } = await publications.create(tx, request.body, originOf(request));
          return { status: 201, body: publication, headers: { ETag: tag } };
        }),
      );
    },
  });
}

/** The answer to `?dry_run=true` at a path of its own: two kinds of answers of one operation confuse generated clients. */
function dryRunRoute(app: App, { publications }: PublicationServices): void {
  app.route({
    method: 'POST',
    url: `${url}/dry-run`,
    bodyLimit: maxBodyBytes,
    schema: {
      operationId: 'tryPublication',
      summary: 'Count the recipients of a publication (dry run)',
      description: 'Checks the publication as its creation does, and creates nothing.',
      body: NewPublication,
      response: { 200: { ...PublicationEstimate, description: 'The number of recipients.' } },
    },
    config: { access, recentProof: 'not-needed', problems: ['insufficient_scope'], checkBody: publications.errorsOf },
    async handler(request) {
      requireCount(callerOf(request), request.body.to);
      return { recipients: await publications.estimate(request.body.to) };
    },
  });
}

function readRoutes(app: App, { publications, database }: PublicationServices): void {
  listRoutes(app, {
    url,
    operationIds: ['listPublications', 'getPublicationPage'],
    summary: 'List publications',
    description:
      'Those that have not ended, and those of the last 30 days. Without the scopes notifications:broadcast and users:read, the text of a filter is null.',
    access,
    item: Publication,
    pageTitle: 'PublicationPage',
    sortable: ['created_at', 'updated_at'],
    filterFields: publicationFilterFields,
    filterExample: 'status:running',
    async read(query, request) {
      const page = await publications.list(query);
      return { ...page, items: page.items.map((item) => visible(callerOf(request), item)) };
    },
  });

  app.route({
    method: 'GET',
    url: `${url}/:id`,
    schema: {
      operationId: 'getPublication',
      summary: 'Get a publication',
      description: 'Without the scopes notifications:broadcast and users:read, the text of a filter is null.',
      params: IdParams,
      response: { 200: { ...Publication, description: 'The publication.', headers } },
    },
    config: { access, problems: ['not_found'] },
    async handler(request, reply) {
      const { publication, tag } = await publications.find(database, pathId(request.params));
      return reply.header('ETag', tag).send(visible(callerOf(request), publication));
    },
  });
}

function changeRoute(app: App, { publications, database }: PublicationServices): void {
  app.route({
    method: 'PATCH',
    url: `${url}/:id`,
    bodyLimit: maxBodyBytes,
    schema: {
      operationId: 'changePublication',
      summary: 'Change a publication before it starts',
      description:
        'Replaces the members that are present; the notification as a whole. Needs If-Match with the ETag of what you change.',
      params: IdParams,
      body: PublicationChange,
      response: { 200: { ...Publication, description: 'The changed publication.' } },
    },
    config: {
      access,
      recentProof: 'needed',
      problems: [
        'not_found',
        'precondition_required',
        'precondition_failed',
        'publication_started',
        'insufficient_scope',
      ],
      checkBody: publications.errorsOf,
    },
    async handler(request, reply) {
      const { 'if-match': ifMatch } = request.headers;
      if (ifMatch === undefined) throw new Problem('precondition_required');
      const caller = callerOf(request);
      const input = request.body;
      requireTarget(caller, input.to ?? {});
      const { publication, tag } = await database.transaction((tx) =>
        publications.change(tx, pathId(request.params), input, {
          origin: originOf(request),
          isExpected: (current) => allowsChange(ifMatch, current),
          checkTarget: (target) => requireTarget(caller, target),
        }),
      );
      return reply.header('ETag', tag).send(visible(caller, publication));
    },
  });
}

interface MoveRoute {
  readonly move: PublicationMove;
  readonly summary: string;
  readonly description: string;
  readonly recentProof: 'needed' | 'not-needed';
}

const moves: readonly MoveRoute[] = [
  {
    move: 'pause',
    summary: 'Pause a publication',
    description: 'After the answer, nothing more is created until it is resumed.',
    recentProof: 'not-needed',
  },
  {
    move: 'resume',
    summary: 'Resume a publication',
    description: 'It goes on where it was paused.',
    recentProof: 'not-needed',
  },
  {
    move: 'cancel',
    summary: 'Cancel a publication',
    description:
      'After the answer, nothing more is created. What was created stays: to remove it, recall the publication.',
    recentProof: 'not-needed',
  },
  {
    move: 'recall',
    summary: 'Recall a publication',
    description:
      'Cancels it, and deletes in the background all that it has created, read or not. Clients learn it with the changes of the inbox, also those that were offline.',
    recentProof: 'needed',
  },
];

function moveRoute(
  app: App,
  { publications, database }: PublicationServices,
  { move, summary, description, recentProof }: MoveRoute,
): void {
  app.route({
    method: 'POST',
    url: `${url}/:id/${move}`,
    schema: {
      operationId: `${move}Publication`,
      summary,
      description: `${description} To repeat it changes nothing. It needs the scopes that the target needs.`,
      params: IdParams,
      response: {
        200: {
          ...Publication,
          description: move === 'recall' ? 'It was recalled before.' : 'The publication.',
          headers,
        },
        ...(move === 'recall' && { 202: { ...Publication, description: 'The publication.', headers } }),
      },
    },
    config: { access, recentProof, problems: ['not_found', 'publication_state', 'insufficient_scope'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      const { publication, tag, isRepeat } = await database.transaction((tx) =>
        publications.move(tx, id, move, {
          origin: originOf(request),
          checkTarget: (target) => requireTarget(callerOf(request), target),
        }),
      );
      return reply
        .code(move === 'recall' && !isRepeat ? 202 : 200)
        .header('ETag', tag)
        .send(visible(callerOf(request), publication));
    },
  });
}
