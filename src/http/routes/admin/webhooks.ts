import { Type } from 'typebox';
import {
  IssuedWebhook,
  NewWebhook,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookReplay,
  WebhookReplayRequest,
  WebhookSecret,
  WebhookTest,
  WebhookTestRequest,
} from '../../../contract/webhooks.js';
import type { Handle } from '../../../database/database.js';
import { deliveryFilterFields, type WebhookDeliveries } from '../../../webhooks/deliveries.js';
import { type Webhooks, webhookListFields } from '../../../webhooks/endpoints.js';
import type { TestWebhook } from '../../../webhooks/test-event.js';
import { listRoutes } from '../../lists/list-routes.js';
import type { Idempotent } from '../../requests/idempotent.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

/** The services of the routes for webhooks. */
export interface WebhookServices {
  readonly webhooks: Webhooks;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly testWebhook: TestWebhook;
}

const access = { scope: 'webhooks:write' } as const;

type RouteServices = WebhookServices & { readonly idempotent: Idempotent; readonly database: Handle };

/** Routes for outgoing webhooks. A receiver learns what users do, so changes of an endpoint need a recent proof. */
export function adminWebhookRoutes(app: App, services: RouteServices): void {
  endpointRoutes(app, services);
  testRoute(app, services);
  secretRoute(app, services);
  deliveryRoutes(app, services);
}

function endpointRoutes(app: App, { webhooks, idempotent, database }: RouteServices): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/webhooks',
    schema: {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description: 'Only this response and `…/rotate-secret` show a secret.',
      body: NewWebhook,
      response: { 201: { ...IssuedWebhook, description: 'The new webhook, with its secret.' } },
    },
    config: { access, idempotent: true, recentProof: 'needed', problems: ['too_many_webhooks'] },
    async handler(request, reply) {
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => ({ status: 201, body: await webhooks.create(tx, request.body, originOf(request)) })),
      );
    },
  });

  listRoutes(app, {
    url: '/admin/v1/webhooks',
    operationIds: ['listWebhooks', 'getWebhookPage'],
    summary: 'List webhooks',
    description: 'All webhooks with the state of their deliveries, without secrets.',
    access,
    item: Webhook,
    pageTitle: 'WebhookPage',
    sortable: ['created_at', 'updated_at'],
    filterFields: webhookListFields,
    filterExample: 'enabled:false',
    read: webhooks.list,
  });

  app.route({
    method: 'GET',
    url: '/admin/v1/webhooks/:id',
    schema: {
      operationId: 'getWebhook',
      summary: 'Read a webhook',
      params: IdParams,
      response: { 200: { ...Webhook, description: 'The webhook.' } },
    },
    config: { access, problems: ['not_found'] },
    handler: async (request) => webhooks.get(pathId(request.params)),
  });

  app.route({
    method: 'PATCH',
    url: '/admin/v1/webhooks/:id',
    schema: {
      operationId: 'changeWebhook',
      summary: 'Change a webhook',
      description:
        'Changes only the members that are present. `enabled: true` also enables a webhook that was disabled after failures.',
      params: IdParams,
      body: WebhookChange,
      response: { 200: { ...Webhook, description: 'The changed webhook.' } },
    },
    config: { access, recentProof: 'needed', problems: ['not_found'] },
    async handler(request) {
      const id = pathId(request.params);
      await database.transaction((tx) => webhooks.change(tx, id, request.body, originOf(request)));
      return webhooks.get(id);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/admin/v1/webhooks/:id',
    schema: {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Pending deliveries are dropped.',
      params: IdParams,
      response: { 204: Type.Null({ description: 'The webhook is deleted.' }) },
    },
    config: { access, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      await database.transaction((tx) => webhooks.remove(tx, id, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}

function testRoute(app: App, { testWebhook }: RouteServices): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/webhooks/:id/test',
    schema: {
      operationId: 'testWebhook',
      summary: 'Send a test event',
      description:
        'Sends the example of an event once, and returns the result. Its `data` has `is_test: true` and the sequence 0.',
      params: IdParams,
      body: Type.Unsafe<WebhookTestRequest | null>({ ...WebhookTestRequest, type: ['object', 'null'] }),
      response: { 200: { ...WebhookTest, description: 'What the endpoint answered.' } },
    },
    config: {
      access,
      recentProof: 'not-needed',
      problems: ['not_found'],
      optionalBody: true,
      document: { body: WebhookTestRequest },
    },
    handler: async (request) => testWebhook(pathId(request.params), request.body?.type ?? 'user.created'),
  });
}

function secretRoute(app: App, { webhooks, idempotent }: RouteServices): void {
  app.route({
    method: 'POST',
    url: '/admin/v1/webhooks/:id/rotate-secret',
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a webhook',
      description:
        'For 24 hours, requests are also signed with the previous secret. Another replacement ends this at once.',
      params: IdParams,
      response: { 200: { ...WebhookSecret, description: 'The new secret.' } },
    },
    config: { access, idempotent: true, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const id = pathId(request.params);
      return idempotent(request, reply, (commit) =>
        commit(async (tx) => ({
          status: 200,
          body: { secret: await webhooks.rotateSecret(tx, id, originOf(request)) },
        })),
      );
    },
  });
}

function deliveryRoutes(app: App, { webhookDeliveries }: RouteServices): void {
  listRoutes(app, {
    url: '/admin/v1/webhooks/:id/deliveries',
    operationIds: ['listWebhookDeliveries', 'getWebhookDeliveryPage'],
    summary: 'List deliveries of a webhook',
    description: 'Deliveries of the last 30 days, each with its request and its last answer.',
    access,
    problems: ['not_found'],
    item: WebhookDelivery,
    pageTitle: 'WebhookDeliveryPage',
    sortable: ['created_at'],
    filterFields: deliveryFilterFields,
    filterExample: 'state:failed',
    read: (query, request) => webhookDeliveries.list(pathId(request.params as { readonly id: string }), query),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/webhooks/:id/replay',
    schema: {
      operationId: 'replayWebhook',
      summary: 'Send events again',
      description:
        'Events of the last 30 days: those from a time on that match the webhook, or those of some of its deliveries. They have the same `webhook-id` as before.',
      params: IdParams,
      body: WebhookReplayRequest,
      response: { 202: { ...WebhookReplay, description: 'The events will be delivered.' } },
    },
    config: { access, recentProof: 'needed', problems: ['not_found'] },
    async handler(request, reply) {
      const replay = await webhookDeliveries.replay(pathId(request.params), request.body, originOf(request));
      return reply.code(202).send(replay);
    },
  });
}
