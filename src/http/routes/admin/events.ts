import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { eventFilterFields } from '../../../audit/event-list.js';
import type { EventStreams } from '../../../audit/stream/event-streams.js';
import { parsePosition } from '../../../audit/stream/position.js';
import { Event } from '../../../contract/administration.js';
import { ListQuery } from '../../../contract/common.js';
import { throwIfErrors } from '../../../lib/problem.js';
import type { Activity } from '../../../users/activity.js';
import { readListQuery } from '../../lists/keyset-list.js';
import type { QueryParameters } from '../../lists/list-query.js';
import { listRoutes } from '../../lists/list-routes.js';
import { connectEventStream } from '../../requests/event-stream.js';
import { type App, callerOf } from '../../requests/route.js';

const url = '/admin/v1/events';
const filterExample = 'type:user.locked';

const StreamQuery = Type.Object({ filter: ListQuery(['created_at'], filterExample).properties.filter });

const EventStream = {
  description: 'Events, until the API key or the session loses its right.',
  content: {
    'text/event-stream': {
      schema: Type.String({
        description:
          'Each `data` is an Event, without an event name. `reset`: events may be missing since the last id, so list again. Send the last `id` as Last-Event-ID to continue.',
      }),
    },
  },
};

/** Routes that list and stream audit events. They show the actions of operators and keys, so they need `admin`. */
export function adminEventRoutes(
  app: App,
  { activity, eventStreams }: { activity: Activity; eventStreams: EventStreams },
): void {
  // The streams end in the hook preClose, because after this hook the server waits for open connections.
  app.addHook('preClose', () => eventStreams.close());
  const readStreamQuery = ({ filter }: QueryParameters) =>
    readListQuery(url, { filter }, ['created_at'], eventFilterFields);

  async function sendStream(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { filter } = readStreamQuery(request.query as QueryParameters);
    await eventStreams.open({
      caller: callerOf(request).name,
      filter,
      after: positionOf(request),
      recheck: async () => request.authorized.recheck?.(),
      connect: () => connectEventStream(reply),
    });
    return reply;
  }

  listRoutes(app, {
    url,
    operationIds: ['listEvents', 'getEventPage'],
    summary: 'List audit events',
    description:
      'Events of all accounts, deleted ones included, and of API keys. With `Accept: text/event-stream` the response is that of GET /admin/v1/events/stream.',
    access: { scope: 'admin' },
    item: Event,
    pageTitle: 'AuditEventPage',
    sortable: ['created_at'],
    filterFields: eventFilterFields,
    filterExample,
    read: activity.list,
    stream: sendStream,
  });

  app.route({
    method: 'GET',
    url: `${url}/stream`,
    // The response has no end.
    exposeHeadRoute: false,
    schema: {
      operationId: 'streamEvents',
      summary: 'Stream audit events',
      description:
        'Server-sent events for audit events that match `filter`: those after `Last-Event-ID`, or only new ones without it. Each event is sent once, after its transaction has committed, so events that are written at the same time can arrive in another order than that of `created_at`. Events can be resumed for at least two minutes.',
      querystring: StreamQuery,
      response: { 200: EventStream },
    },
    config: {
      access: { scope: 'admin' },
      hasNoHandlerTimer: true,
      problems: ['validation_failed', 'too_many_streams', 'shutting_down'],
      checkQuery: readStreamQuery,
    },
    async handler(request, reply) {
      await sendStream(request, reply);
      return reply;
    },
  });
}

/** @throws Problem `validation_failed` */
function positionOf({ headers }: FastifyRequest) {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  const position = typeof id === 'string' ? parsePosition(id) : undefined;
  if (position === undefined) throwIfErrors([{ field: 'Last-Event-ID', code: 'invalid_format' }]);
  return position;
}
