import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  NewNotification,
  Notification,
  NotificationChange,
  NotificationInput,
} from '../../../contract/notification.js';
import { DryRun } from '../../../contract/push.js';
import type { Handle } from '../../../database/database.js';
import type { UserReferences } from '../../../identities/user-references.js';
import { isJsonObject } from '../../../lib/json-object.js';
import type { Pacer } from '../../../lib/pacing.js';
import { type FieldError, Problem, throwIfErrors } from '../../../lib/problem.js';
import type { DecideSteps } from '../../../notifications/deliveries/dry-run.js';
import { exactNumbers } from '../../../notifications/inbox/exact-numbers.js';
import type { Notifications } from '../../../notifications/notifications.js';
import { maxItems, sizeErrors } from '../../../notifications/publishing/limits.js';
import type { Push } from '../../../notifications/push/push.js';
import { isNdjson } from '../../plugins/ndjson-body.js';
import { errorsOfFaultyPublication } from '../../requests/faulty-publication.js';
import type { Idempotent, IdempotentWork } from '../../requests/idempotent.js';
import { jsonInParts } from '../../requests/json-parts.js';
import { dryRunQuery, pathId, type QueryParameters, readDryRun } from '../../requests/parameters.js';
import { namesExternally, withUserIds } from '../../requests/recipients.js';
import { type App, callerOf, type RecentProof, requireScope } from '../../requests/route.js';
import { createItemPublisher, publishedItems } from './notifications-ndjson.js';

const maxBodyBytes = 4 * 1024 * 1024;
const Params = Type.Object({ id: Type.String() });

/**
 * One notification or an array of them, in one schema: `properties` applies to objects, `items` to arrays. A union would
 * be validated twice and would also report the errors of the other branch.
 */
const PublishRequest = Type.Unsafe<NotificationInput | NotificationInput[]>({
  ...NotificationInput,
  type: ['object', 'array'],
  items: NotificationInput,
  minItems: 1,
  maxItems,
});
type PublishBody = NotificationInput | NotificationInput[];
const NotificationInputs = Type.Array(NotificationInput, { minItems: 1, maxItems });
const Published = Type.Unsafe<Notification | Notification[]>({
  ...Notification,
  type: ['object', 'array'],
  items: Notification,
});

/** The form of `POST /admin/v1/notifications` that the document describes. */
const oneNotification = {
  querystring: Type.Object({}),
  body: NewNotification,
  response: { 200: undefined, 201: { ...Notification, description: 'The notification.' } },
};

const PublishQuery = dryRunQuery('Validate the request and report the recipients, but write nothing.');

/** Routes that publish, change and delete notifications. */
export function adminNotificationRoutes(app: App, services: PublishServices): void {
  const publishLines = createItemPublisher(app, services);
  publishRoutes(app, services, publishLines);
  dryRunRoute(app, services);
  ndjsonRoute(app, publishLines);
  changeRoutes(app, services);
}

interface PublishServices {
  readonly notifications: Notifications;
  readonly push: Push;
  readonly decideSteps: DecideSteps;
  readonly userReferences: UserReferences;
  readonly idempotent: Idempotent;
  readonly database: Handle;
  readonly pacer: Pacer;
}

/** A mistake or a thief reaches many users at once. NDJSON may have any number of lines, and is not read yet. */
const whenToMany: RecentProof = {
  when: 'the request publishes to more than one user',
  applies: (request) => !readDryRun(request.query as QueryParameters) && (isNdjson(request) || isToMany(request.body)),
};

/** Whether a body, which is not validated yet, names more than one user. */
function isToMany(body: unknown): boolean {
  const users = [body].flat().flatMap((item) => {
    const { user_id: userId, user_ids: userIds } = isJsonObject(item) ? item : {};
    return [userId ?? [], userIds ?? []].flat();
  });
  return new Set(users).size > 1;
}

/** Shared options of the routes that publish. */
const publishing = {
  bodyLimit: maxBodyBytes,
  config: {
    access: { scope: 'notifications:write' as const },
    recentProof: whenToMany,
    idempotent: true,
    keepRawBody: true,
  },
};

type PublishLines = ReturnType<typeof createItemPublisher>;

/** The routes that publish JSON: the general one, and the one that is described for arrays. */
function publishRoutes(app: App, services: PublishServices, publishLines: PublishLines): void {
  const { notifications, push, decideSteps, idempotent, userReferences } = services;
  const publishJson = (request: FastifyRequest, reply: FastifyReply, body: PublishBody, isOne: boolean) => {
    const numbers = exactNumbers(request.rawBody);
    const publish: IdempotentWork = (commit) =>
      commit(async (tx) => {
        if (isOne) return { status: 201, body: (await notifications.publish(tx, body, numbers))[0] };
        const json = jsonInParts(reply);
        await notifications.publish(tx, body, numbers, json.add);
        return { status: 201, body: json.all() };
      });
    return idempotent(request, reply, publish, isOne && !Array.isArray(body) ? body.user_id : undefined);
  };

  app.route({
    method: 'POST',
    url: '/admin/v1/notifications',
    ...publishing,
    schema: {
      operationId: 'publishNotification',
      summary: 'Publish a notification',
      description:
        'Publishes one notification to one user. The same URL also accepts the requests of the other operations: an array of notifications, `user_ids`, `?dry_run=true` and application/x-ndjson.',
      querystring: PublishQuery,
      body: PublishRequest,
      response: { 200: DryRun, 201: Published },
    },
    config: {
      ...publishing.config,
      ndjson: NotificationInput,
      document: oneNotification,
      checkQuery: readDryRun,
      checkFaultyBody: faultyBodyCheck(services),
    },
    preValidation: async (request, reply) => {
      if (isNdjson(request)) await publishLines(request, reply);
      else throwIfErrors(sizeErrors(request.body));
    },
    async handler(request, reply) {
      const body = await identified(userReferences, request.body);
      const isOne = !Array.isArray(body) && body.user_ids === undefined;
      if (readDryRun(request.query)) {
        const planned = await notifications.planNotifications(body, exactNumbers(request.rawBody));
        return reply.code(200).send(await push.dryRun(planned, decideSteps));
      }
      if (isOne && request.headers['idempotency-key'] === undefined) {
        return reply.code(201).send(await notifications.publishOne(body, exactNumbers(request.rawBody)));
      }
      return publishJson(request, reply, body, isOne);
    },
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/notifications/batch',
    ...publishing,
    schema: {
      operationId: 'publishNotifications',
      summary: 'Publish several notifications',
      description:
        'Publishes up to 1000 notifications, each to one user or to several, and at most 10,000 in all. Postern publishes all of them or none.',
      body: NotificationInputs,
      response: { 201: Type.Array(Notification, { description: 'The notifications, in the order of the request.' }) },
    },
    config: { ...publishing.config, checkFaultyBody: faultyBodyCheck(services) },
    preValidation: async (request) => throwIfErrors(sizeErrors(request.body)),
    async handler(request, reply) {
      await publishJson(request, reply, await withUserIds(userReferences, request.body), false);
      return reply;
    },
  });
}

/** The errors in the meaning of a request that has errors of form. */
const faultyBodyCheck =
  ({ notifications, userReferences }: PublishServices) =>
  (body: unknown, { faults }: { readonly faults: readonly FieldError[] }) =>
    errorsOfFaultyPublication(body, faults, async (items) =>
      notifications.validateEach(await withUserIds(userReferences, items), []),
    );

function dryRunRoute(app: App, services: PublishServices): void {
  const { notifications, push, decideSteps, userReferences } = services;
  app.route({
    method: 'POST',
    url: '/admin/v1/notifications/dry-run',
    ...publishing,
    schema: {
      operationId: 'tryNotifications',
      summary: 'Publish without writing (dry run)',
      description:
        'Validates the notifications and returns the recipients, their devices, and what would happen to each step. Writes nothing.',
      body: NotificationInputs,
      response: { 200: { ...DryRun, description: 'What publishing would do.' } },
    },
    config: {
      ...publishing.config,
      recentProof: 'not-needed',
      idempotent: false,
      checkFaultyBody: faultyBodyCheck(services),
    },
    preValidation: async (request) => throwIfErrors(sizeErrors(request.body)),
    async handler(request) {
      const items = await withUserIds(userReferences, request.body);
      return push.dryRun(await notifications.planNotifications(items, exactNumbers(request.rawBody)), decideSteps);
    },
  });
}

function ndjsonRoute(app: App, publishLines: PublishLines): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/notifications/ndjson',
    schema: {
      operationId: 'publishNotificationsAsNdjson',
      summary: 'Publish any number of notifications',
      description: 'One JSON object per line. Each is published or refused separately and gets a result line.',
      querystring: PublishQuery,
      response: { 200: publishedItems },
    },
    config: {
      access: { scope: 'notifications:write' },
      recentProof: whenToMany,
      ndjson: NotificationInput,
      checkQuery: readDryRun,
    },
    preValidation: async (request, reply) => {
      if (!isNdjson(request)) throw new Problem('unsupported_media_type');
      await publishLines(request, reply);
    },
    handler: async (_request, reply) => reply,
  });
}

/** The body with the ids of users. It is the same object if the request names users by their ids only. */
async function identified<Body extends PublishBody>(references: UserReferences, body: Body): Promise<Body>;
async function identified(references: UserReferences, body: PublishBody): Promise<PublishBody> {
  if (Array.isArray(body)) return withUserIds(references, body);
  return namesExternally(body) ? ((await withUserIds(references, [body]))[0] ?? body) : body;
}

function changeRoutes(app: App, { notifications, database }: { notifications: Notifications; database: Handle }): void {
  app.route({
    method: 'PATCH',
    url: '/admin/v1/notifications/:id',
    schema: {
      operationId: 'changeNotification',
      summary: 'Change a notification',
      description:
        'Changes only the members that are present; null removes a value. The position in the inbox stays the same.',
      params: Params,
      body: NotificationChange,
      response: { 200: { ...Notification, description: 'The changed notification.' } },
    },
    config: {
      access: { scope: 'notifications:write' },
      recentProof: 'not-needed',
      problems: ['not_found'],
      keepRawBody: true,
    },
    async handler(request, reply) {
      const id = pathId(request.params);
      const numbers = exactNumbers(request.rawBody);
      const changed = await database.transaction(async (tx) => {
        const { notification, isChanged } = await notifications.change(tx, id, request.body, numbers);
        // A change of nothing only reads.
        if (!isChanged) requireScope(callerOf(request), 'users:read');
        return notification;
      });
      return reply.send(changed);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/notifications/:id',
    schema: {
      operationId: 'deleteNotification',
      summary: 'Delete a notification',
      params: Params,
      response: { 204: Type.Null({ description: 'The notification is deleted.' }) },
    },
    config: { access: { scope: 'notifications:write' }, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => notifications.remove(tx, id));
      return reply.code(204).send(null);
    },
  });
}
