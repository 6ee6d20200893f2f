import { Type } from 'typebox';
import { OwnTopic } from '../../../contract/topic.js';
import { type Topics, topicFilterFields } from '../../../notifications/topics/topics.js';
import { listRoutes } from '../../lists/list-routes.js';
import { type App, sessionOf } from '../../requests/route.js';

const Params = Type.Object({ key: Type.String({ maxLength: 255 }) });

/** Routes for the topics that a user sees. */
export function topicRoutes(app: App, { topics }: { readonly topics: Topics }): void {
  listRoutes(app, {
    url: '/v1/topics',
    operationIds: ['listOwnTopics', 'getOwnTopicPage'],
    summary: 'List your topics',
    description: 'Open topics, and those to which you are subscribed.',
    access: 'session',
    item: OwnTopic,
    pageTitle: 'OwnTopicPage',
    sortable: ['created_at', 'updated_at'],
    filterFields: topicFilterFields,
    filterExample: 'is_open:true',
    read: (query, request) => topics.listOwn(sessionOf(request).user_id, query),
  });

  app.route({
    method: 'PUT',
    url: '/v1/topics/:key/subscription',
    schema: {
      operationId: 'joinTopic',
      summary: 'Join a topic',
      description: 'A topic that is not open gives the same answer as one that does not exist.',
      params: Params,
      response: { 204: Type.Null({ description: 'You are subscribed.' }) },
    },
    config: { access: 'session', problems: ['unknown_topic', 'too_many_requests'] },
    async handler(request, reply) {
      await topics.join(sessionOf(request).user_id, request.params.key);
      return reply.code(204).send(null);
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/topics/:key/subscription',
    schema: {
      operationId: 'leaveTopic',
      summary: 'Leave a topic',
      description: 'You can leave any topic, also one that an operator has subscribed you to.',
      params: Params,
      response: { 204: Type.Null({ description: 'You are not subscribed.' }) },
    },
    config: { access: 'session', problems: ['unknown_topic', 'too_many_requests'] },
    async handler(request, reply) {
      await topics.leave(sessionOf(request).user_id, request.params.key);
      return reply.code(204).send(null);
    },
  });
}
