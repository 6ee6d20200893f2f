import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Recipient } from '../../../contract/common.js';
import { SubscriptionLine, SubscriptionResult, Topic, TopicInput } from '../../../contract/topic.js';
import type { Database } from '../../../database/database.js';
import type { UserReferences } from '../../../identities/user-references.js';
import { preferredLanguage } from '../../../lib/language.js';
import type { Pacer } from '../../../lib/pacing.js';
import { Problem } from '../../../lib/problem.js';
import { type Topics, topicFilterFields } from '../../../notifications/topics/topics.js';
import { listRoutes } from '../../lists/list-routes.js';
import { createNdjsonHandler } from '../../ndjson/exchange.js';
import { isNdjson } from '../../plugins/ndjson-body.js';
import { problemBody } from '../../plugins/problems.js';
import { type App, originOf } from '../../requests/route.js';

const url = '/admin/v1/topics';
const access = { scope: 'notifications:configure' } as const;
const Params = Type.Object({ key: Type.String({ maxLength: 255 }) });
const SubscriptionParams = Type.Object({ key: Type.String({ maxLength: 255 }), user: Recipient });
/** The limits of one transaction. */
const chunk = { lines: 1000, weight: 1000, bytes: 1024 * 1024 };

interface TopicServices {
  readonly topics: Topics;
  readonly database: Database;
  readonly userReferences: UserReferences;
  readonly pacer: Pacer;
}

/** Routes for topics and their subscriptions. */
export function adminTopicRoutes(app: App, services: TopicServices): void {
  topicRoutes(app, services);
  subscriptionRoutes(app, services);
  linesRoute(app, services);
}

function topicRoutes(app: App, { topics, database }: TopicServices): void {
  listRoutes(app, {
    url,
    operationIds: ['listTopics', 'getTopicPage'],
    summary: 'List topics',
    access,
    item: Topic,
    pageTitle: 'TopicPage',
    sortable: ['created_at', 'updated_at'],
    filterFields: topicFilterFields,
    filterExample: 'is_open:true',
    read: topics.list,
  });

  app.route({
    method: 'GET',
    url: `${url}/:key`,
    schema: {
      operationId: 'getTopic',
      summary: 'Get a topic',
      params: Params,
      response: { 200: { ...Topic, description: 'The topic.' } },
    },
    config: { access, problems: ['unknown_topic'] },
    handler: async (request) => topics.find(database, request.params.key),
  });

  app.route({
    method: 'PUT',
    url: `${url}/:key`,
    schema: {
      operationId: 'putTopic',
      summary: 'Create or change a topic',
      description: 'Users may join an open topic by themselves. The subscriptions stay.',
      params: Params,
      body: TopicInput,
      response: {
        200: { ...Topic, description: 'The topic.' },
        201: { ...Topic, description: 'The new topic.' },
      },
    },
    config: { access, recentProof: 'not-needed', problems: ['too_many_topics'] },
    async handler(request, reply) {
      const { topic, isNew } = await database.transaction((tx) =>
        topics.put(tx, request.params.key, request.body, originOf(request)),
      );
      return reply.code(isNew ? 201 : 200).send(topic);
    },
  });

  app.route({
    method: 'DELETE',
    url: `${url}/:key`,
    schema: {
      operationId: 'deleteTopic',
      summary: 'Delete a topic',
      description: 'Its subscriptions end. Notifications that were published to it stay.',
      params: Params,
      response: { 204: Type.Null({ description: 'The topic is deleted.' }) },
    },
    config: { access, recentProof: 'needed', problems: ['unknown_topic', 'topic_in_use'] },
    async handler(request, reply) {
      await database.transaction((tx) => topics.remove(tx, request.params.key, originOf(request)));
      return reply.code(204).send(null);
    },
  });
}

/** The routes for one subscription. */
function subscriptionRoutes(app: App, { topics, database, userReferences }: TopicServices): void {
  const change = async (request: FastifyRequest, key: string, reference: string, isRemoved: boolean) => {
    const userId = (await userReferences.findRecipients([reference])).get(reference);
    if (userId === undefined) throw new Problem('not_found');
    const unknown = await database.transaction((tx) =>
      topics.changeSubscriptions(tx, key, [{ userId, isRemoved }], originOf(request)),
    );
    if (unknown.size > 0) throw new Problem('not_found');
  };
  const shared = {
    url: `${url}/:key/subscriptions/:user`,
    config: { access, recentProof: 'not-needed' as const, problems: ['unknown_topic', 'not_found'] as const },
  };

  app.route({
    ...shared,
    method: 'PUT',
    schema: {
      operationId: 'putSubscription',
      summary: 'Subscribe a user to a topic',
      params: SubscriptionParams,
      response: { 204: Type.Null({ description: 'The user is subscribed.' }) },
    },
    async handler(request, reply) {
      await change(request, request.params.key, request.params.user, false);
      return reply.code(204).send(null);
    },
  });

  app.route({
    ...shared,
    method: 'DELETE',
    schema: {
      operationId: 'deleteSubscription',
      summary: 'End the subscription of a user to a topic',
      params: SubscriptionParams,
      response: { 204: Type.Null({ description: 'The user is not subscribed.' }) },
    },
    async handler(request, reply) {
      await change(request, request.params.key, request.params.user, true);
      return reply.code(204).send(null);
    },
  });
}

/** Subscriptions of any number. */
function linesRoute(app: App, { topics, database, userReferences, pacer }: TopicServices): void {
  const changeLines = createNdjsonHandler<SubscriptionLine>(app, pacer, async (request) => {
    const { key } = request.params as { readonly key: string };
    // Before the answer begins, so that an unknown topic has the status 404.
    await topics.find(database, key);
    const language = preferredLanguage(request.headers['accept-language']);
    const refusal = (problem: Problem) => {
      const { status, errors } = problemBody(problem, request.id, language);
      return { status, errors };
    };
    const unknownUser = () => refusal(new Problem('validation_failed', { errors: [unknown] }));
    return {
      chunk,
      toItem: (input) => input as SubscriptionLine,
      weightOf: () => 1,
      async process(entries) {
        const lines = entries.flatMap(({ parsed }) => (parsed instanceof Problem ? [] : parsed));
        const ids = await userReferences.findRecipients(lines.map(({ user_id: userId }) => userId));
        const changes = lines.flatMap(({ user_id: reference, remove = false }) => {
          const userId = ids.get(reference);
          return userId === undefined ? [] : [{ userId, isRemoved: remove }];
        });
        const missing = await database.transaction((tx) =>
          topics.changeSubscriptions(tx, key, changes, originOf(request)),
        );
        return entries.map(({ line, parsed }) => {
          if (parsed instanceof Problem) return { line, ...refusal(parsed) };
          const userId = ids.get(parsed.user_id);
          return userId === undefined || missing.has(userId) ? { line, ...unknownUser() } : { line, status: 200 };
        });
      },
    };
  });

  app.route({
    method: 'POST',
    url: `${url}/:key/subscriptions`,
    schema: {
      operationId: 'changeSubscriptions',
      summary: 'Change any number of subscriptions',
      description:
        'One JSON object per line: with remove, a subscription ends, else the user is subscribed. Each line gets a result line, and a line with an error changes nothing else. To send lines again is no error.',
      params: Params,
      response: {
        200: {
          description: 'One result per line, sent when its transaction has committed. Read the results while you send.',
          content: { 'application/x-ndjson': { schema: SubscriptionResult } },
        },
      },
    },
    config: { access, recentProof: 'not-needed', problems: ['unknown_topic'], ndjson: SubscriptionLine },
    async preValidation(request, reply) {
      if (!isNdjson(request)) throw new Problem('unsupported_media_type');
      await changeLines(request, reply);
    },
    handler: async (_request, reply) => reply,
  });
}

const unknown = { field: 'user_id', code: 'unknown_user' } as const;
