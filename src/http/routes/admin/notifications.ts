import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  NewNotification,
  Notification,
  NotificationChange,
  NotificationInput,
} from '../../../contract/notification.js';
import { DryRun } from '../../../contract/push.js';
import type { Database } from '../../../database/database.js';
import { parseId } from '../../../lib/ids.js';
import type { Pacer } from '../../../lib/pacing.js';
import { Problem, refuseFaults } from '../../../lib/problem.js';
import type { Notifications } from '../../../notifications/notifications.js';
import { maxDeliveries } from '../../../notifications/publish.js';
import type { Push } from '../../../notifications/push/push.js';
import { writtenNumbers } from '../../../notifications/written-numbers.js';
import { dryRunQuery, readDryRun } from '../../dry-run.js';
import type { Idempotent, IdempotentWork } from '../../idempotent.js';
import {
  arrayForm,
  envelopeForm,
  NotificationListAnswers,
  NotificationListQuery,
  readInboxQuery,
  type SendInbox,
} from '../../notification-list.js';
import { isNdjson } from '../../plugins/ndjson-body.js';
import type { App } from '../../route.js';
import { createLinePublisher, publishedLines } from './notifications-ndjson.js';

const maxBodyBytes = 4 * 1024 * 1024;
const maxItems = 1000;
/** Of all that one request publishes, for the answer holds it too: what is in an item counts once for each of its users. */
const maxPublishedBytes = 64 * 1024 * 1024;
const Params = Type.Object({ id: Type.String() });

/**
 * One or several in one schema: `properties` speaks of objects and `items` of arrays. A union of two schemas would be
 * checked twice, and name the faults of the branch that was not meant.
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

/** The form of the general URL that the document describes. */
const oneNotification = {
  querystring: Type.Object({}),
  body: NewNotification,
  response: { 200: undefined, 201: { ...Notification, description: 'The notification.' } },
};

const PublishQuery = dryRunQuery('Check everything and say who would get it and where, but write nothing.');

/** Publishing notifications, correcting them, and looking into a user's inbox. */
export function adminNotificationRoutes(app: App, services: PublishServices): void {
  publishRoute(app, services);
  changeRoutes(app, services);
  inboxRoute(app, services);
}

interface PublishServices {
  readonly notifications: Notifications;
  readonly push: Push;
  readonly idempotent: Idempotent;
  readonly database: Pick<Database, 'transaction'>;
  readonly pacer: Pacer;
  readonly sendInbox: SendInbox;
}

/** What the ways to publish share. */
const publishing = {
  bodyLimit: maxBodyBytes,
  config: { access: { scope: 'notifications:write' as const }, idempotent: true, keepRawBody: true },
};

/** Publishes what the body holds: one notification, or an array of them. */
function publishRoute(app: App, services: PublishServices): void {
  const { notifications, push, idempotent } = services;
  const publishLines = createLinePublisher(app, services);
  const publishJson = (request: FastifyRequest, reply: FastifyReply, body: PublishBody, isOne: boolean) => {
    const numbers = writtenNumbers(request.rawBody);
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
        'Publishes one notification to one user. The same URL also takes what the other operations take: an array of notifications, `user_ids`, `?dry_run=true` and application/x-ndjson.',
      tags: ['Administration'],
      querystring: PublishQuery,
      body: PublishRequest,
      response: { 200: DryRun, 201: Published },
    },
    config: { ...publishing.config, ndjson: NotificationInput, document: oneNotification, checkQuery: readDryRun },
    preValidation: async (request, reply) => {
      if (isNdjson(request)) await publishLines(request, reply);
      else refuseExcess(request.body);
    },
    async handler(request, reply) {
      const { body } = request;
      const isOne = !Array.isArray(body) && body.user_ids === undefined;
      if (readDryRun(request.query)) {
        return reply
          .code(200)
          .send(await push.dryRun(await notifications.tryPublish(body, writtenNumbers(request.rawBody))));
      }
      if (isOne && request.headers['idempotency-key'] === undefined) {
        return reply.code(201).send(await notifications.publishOne(body, writtenNumbers(request.rawBody)));
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
      tags: ['Administration'],
      body: NotificationInputs,
      response: { 201: Type.Array(Notification, { description: 'The notifications, in the order of the request.' }) },
    },
    preValidation: async (request) => refuseExcess(request.body),
    async handler(request, reply) {
      await publishJson(request, reply, request.body, false);
      return reply;
    },
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/notifications/dry-run',
    ...publishing,
    schema: {
      operationId: 'tryNotifications',
      summary: 'Check what publishing would do',
      description: 'Checks the notifications and answers who would get them, and on which devices. Writes nothing.',
      tags: ['Administration'],
      body: NotificationInputs,
      response: { 200: { ...DryRun, description: 'What publishing would do.' } },
    },
    config: { ...publishing.config, idempotent: false },
    preValidation: async (request) => refuseExcess(request.body),
    handler: async (request) =>
      push.dryRun(await notifications.tryPublish(request.body, writtenNumbers(request.rawBody))),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/notifications/ndjson',
    schema: {
      operationId: 'publishNotificationsAsNdjson',
      summary: 'Publish any number of notifications',
      description: 'One JSON object a line. Each is published or refused by itself, and gets a line of result.',
      tags: ['Administration'],
      querystring: PublishQuery,
      response: { 200: publishedLines },
    },
    config: { access: { scope: 'notifications:write' }, ndjson: NotificationInput, checkQuery: readDryRun },
    preValidation: async (request, reply) => {
      if (!isNdjson(request)) throw new Problem('unsupported_media_type');
      await publishLines(request, reply);
    },
    handler: async (_request, reply) => reply,
  });
}

/** The JSON of an array of which parts come one after the other: each is made while the next is still to come. */
function jsonInParts(reply: FastifyReply): { add(part: readonly unknown[]): void; all(): Buffer } {
  // That of what is published, whatever is answered meanwhile: the limit of handlers may pass first.
  const serialize = reply.getSerializationFunction('201') as ((part: readonly unknown[]) => string) | undefined;
  if (serialize === undefined) throw new Error('the answer has no schema');
  const parts = [Buffer.from('[')];
  return {
    add(part) {
      parts.push(Buffer.from(`${parts.length === 1 ? '' : ','}${serialize(part).slice(1, -1)}`));
    },
    all: () => Buffer.concat([...parts, Buffer.from(']')]),
  };
}

/**
 * Refuses far too much before the schema is applied: that names every fault, and 4 MiB hold two million faulty items.
 * @throws Problem `validation_failed`
 */
function refuseExcess(body: unknown): void {
  const items: unknown[] = Array.isArray(body) ? body : [body];
  if (items.length > maxItems) refuseFaults([{ code: 'too_many_items', params: { max: maxItems } }]);
  const deliveries = items.reduce<number>((sum, item) => sum + countUsers(item), 0);
  if (deliveries > maxDeliveries) refuseFaults([{ code: 'too_many_deliveries', params: { max: maxDeliveries } }]);
  const bytes = items.reduce<number>((sum, item) => sum + bytesForMany(item), 0);
  if (bytes > maxPublishedBytes) {
    refuseFaults([{ code: 'too_much_published', params: { max: maxPublishedBytes / 2 ** 20 } }]);
  }
}

/** What is for one user is bounded by the body. */
function bytesForMany(item: unknown): number {
  const users = countUsers(item);
  return users < 2 ? 0 : users * Buffer.byteLength(JSON.stringify({ ...Object(item), user_ids: undefined }));
}

function countUsers(item: unknown): number {
  if (typeof item !== 'object' || item === null || !('user_ids' in item)) return 1;
  const { user_ids: userIds } = item;
  return Array.isArray(userIds) ? userIds.length : 1;
}

function changeRoutes(
  app: App,
  { notifications, database }: { notifications: Notifications; database: Pick<Database, 'transaction'> },
): void {
  app.route({
    method: 'PATCH',
    url: '/admin/v1/notifications/:id',
    schema: {
      operationId: 'changeNotification',
      summary: 'Change a notification',
      description: 'Only the members that are present change; null removes. Its place in the inbox stays.',
      tags: ['Administration'],
      params: Params,
      body: NotificationChange,
      response: { 200: { ...Notification, description: 'The notification as it is now.' } },
    },
    config: { access: { scope: 'notifications:write' }, problems: ['not_found'], keepRawBody: true },
    async handler(request, reply) {
      const id = idOf(request.params);
      const numbers = writtenNumbers(request.rawBody);
      return reply.send(await database.transaction((tx) => notifications.change(tx, id, request.body, numbers)));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/notifications/:id',
    schema: {
      operationId: 'deleteNotification',
      summary: 'Delete a notification',
      tags: ['Administration'],
      params: Params,
      response: { 204: Type.Null({ description: 'It is gone.' }) },
    },
    config: { access: { scope: 'notifications:write' }, problems: ['not_found'] },
    async handler(request, reply) {
      const id = idOf(request.params);
      await database.transaction((tx) => notifications.remove(tx, id));
      return reply.code(204).send(null);
    },
  });
}

function inboxRoute(
  app: App,
  { notifications, sendInbox }: Pick<PublishServices, 'notifications' | 'sendInbox'>,
): void {
  const forms = [
    { below: '', operationId: 'listUserNotifications', with: '', form: arrayForm, isEnveloped: false },
    {
      below: '/page',
      operationId: 'getUserNotificationPage',
      with: ' with an envelope',
      form: envelopeForm,
      isEnveloped: true,
    },
  ] as const;
  for (const { below, operationId, with: withWhat, form, isEnveloped } of forms) {
    app.route({
      method: 'GET',
      url: `/admin/v1/users/:id/notifications${below}`,
      schema: {
        operationId,
        summary: `List a user's notifications${withWhat}`,
        description: `What the user sees with GET /v1/notifications${below}, with the same parameters.`,
        tags: ['Administration'],
        params: Params,
        querystring: NotificationListQuery,
        response: NotificationListAnswers,
      },
      config: {
        access: { scope: 'users:read' },
        problems: ['not_found'],
        document: form,
        checkQuery: (query) => readInboxQuery({ query, headers: {} }, notifications),
      },
      async handler(request, reply) {
        const id = idOf(request.params);
        const path = `/admin/v1/users/${id}/notifications${below}`;
        const isSent = await sendInbox(request, reply, {
          ...{ list: notifications.list, userId: id, path, isEnveloped },
        });
        if (!isSent) throw new Problem('not_found');
        return reply;
      },
    });
  }
}

/** A text that is no id names nothing. */
function idOf(params: { id: string }): string {
  const id = parseId(params.id);
  if (id === undefined) throw new Problem('not_found');
  return id;
}
