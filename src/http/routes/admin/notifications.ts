import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { Notification, NotificationChange, NotificationInput } from '../../../contract/notification.js';
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
import { NotificationListAnswers, NotificationListQuery, readInboxQuery, sendInbox } from '../../notification-list.js';
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
const Published = Type.Unsafe<Notification | Notification[]>({
  ...Notification,
  type: ['object', 'array'],
  items: Notification,
  description: 'The notification; an array of them for an array or for user_ids, in the order of the request.',
});

/** Publishing notifications, correcting them, and looking into a user's inbox. */
export function adminNotificationRoutes(
  app: App,
  services: {
    notifications: Notifications;
    push: Push;
    idempotent: Idempotent;
    database: Pick<Database, 'transaction'>;
    pacer: Pacer;
  },
): void {
  publishRoute(app, services);
  changeRoutes(app, services);
  inboxRoute(app, services);
}

const dryRunOrLines = {
  description: `With dry_run=true: who would get it and where. Nothing was written. ${publishedLines.description}`,
  content: { 'application/json': { schema: DryRun }, ...publishedLines.content },
};

function publishRoute(
  app: App,
  services: {
    notifications: Notifications;
    push: Push;
    idempotent: Idempotent;
    database: Pick<Database, 'transaction'>;
    pacer: Pacer;
  },
): void {
  const { notifications, push, idempotent } = services;
  const publishLines = createLinePublisher(app, services);
  app.route({
    method: 'POST',
    url: '/admin/v1/notifications',
    bodyLimit: maxBodyBytes,
    schema: {
      operationId: 'publishNotifications',
      summary: 'Publish notifications',
      description:
        'One object or an array of up to 1000, each for a user_id or for user_ids; 10,000 deliveries at most. All of them are made, or none. As application/x-ndjson any number, one a line, each made or refused by itself, with a line of result for each.',
      tags: ['Administration'],
      querystring: dryRunQuery('Check everything and say who would get it and where, but write nothing.'),
      body: PublishRequest,
      response: { 200: dryRunOrLines, 201: Published },
    },
    config: {
      access: { scope: 'notifications:write' },
      idempotent: true,
      keepRawBody: true,
      ndjson: NotificationInput,
      checkQuery: readDryRun,
    },
    preValidation: async (request, reply) => {
      if (isNdjson(request)) await publishLines(request, reply);
      else refuseExcess(request.body);
    },
    async handler(request, reply) {
      const { body } = request;
      const isOne = !Array.isArray(body) && body.user_ids === undefined;
      const numbers = writtenNumbers(request.rawBody);
      if (readDryRun(request.query)) {
        return reply.code(200).send(await push.dryRun(await notifications.tryPublish(body, numbers)));
      }
      if (isOne && request.headers['idempotency-key'] === undefined) {
        return reply.code(201).send(await notifications.publishOne(body, numbers));
      }
      const publish: IdempotentWork = (commit) =>
        commit(async (tx) => {
          if (isOne) return { status: 201, body: (await notifications.publish(tx, body, numbers))[0] };
          const json = jsonInParts(reply);
          await notifications.publish(tx, body, numbers, json.add);
          return { status: 201, body: json.all() };
        });
      return idempotent(request, reply, publish, isOne && !Array.isArray(body) ? body.user_id : undefined);
    },
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

function inboxRoute(app: App, { notifications }: { notifications: Notifications }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/users/:id/notifications',
    schema: {
      operationId: 'listUserNotifications',
      summary: "List a user's notifications",
      description: 'What the user sees with GET /v1/notifications, with the same parameters.',
      tags: ['Administration'],
      params: Params,
      querystring: NotificationListQuery,
      response: NotificationListAnswers,
    },
    config: {
      access: { scope: 'users:read' },
      problems: ['not_found'],
      checkQuery: (query) => readInboxQuery({ query, headers: {} }, notifications),
    },
    async handler(request, reply) {
      const id = idOf(request.params);
      const path = `/admin/v1/users/${id}/notifications`;
      const isSent = await sendInbox(request, reply, { notifications, list: notifications.list, userId: id, path });
      if (!isSent) throw new Problem('not_found');
      return reply;
    },
  });
}

/** A text that is no id names nothing. */
function idOf(params: { id: string }): string {
  const id = parseId(params.id);
  if (id === undefined) throw new Problem('not_found');
  return id;
}
