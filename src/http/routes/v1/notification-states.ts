import { Type } from 'typebox';
import { TakenAction } from '../../../contract/notification.js';
import {
  ChangedStates,
  InboxCounts,
  InboxStates,
  SeenInput,
  StatesChange,
} from '../../../contract/notification-states.js';
import { choiceError, type FieldError, throwIfErrors } from '../../../lib/problem.js';
import { countGroups } from '../../../notifications/inbox/counts.js';
import type { ItemStates } from '../../../notifications/inbox/item-states.js';
import type { StatesQuery } from '../../../notifications/inbox/list-states.js';
import { parsePositionQuery, positionParameters, singleParameter } from '../../lists/position-query.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, sessionOf } from '../../requests/route.js';

const CountsQuery = Type.Object({
  by: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      enum: [...countGroups],
      description: 'Also counts each category or each notification type.',
    }),
  ),
});

const ActionParams = Type.Object({ ...IdParams.properties, key: Type.String() });

/** Routes for the states of single notifications and for the numbers of a badge. */
export function notificationStateRoutes(app: App, { states }: { states: ItemStates }): void {
  app.route({
    method: 'GET',
    url: '/v1/notifications/counts',
    schema: {
      operationId: 'getCounts',
      summary: 'Count unread notifications',
      description:
        'The numbers for a badge: unread notifications, and those that the user has not seen yet. Postern looks at the newest 1,000 notifications after the read position, and at those that were marked as unread.',
      querystring: CountsQuery,
      response: { 200: { ...InboxCounts, description: 'The counts.' } },
    },
    config: { access: 'session', problems: ['validation_failed'] },
    async handler(request, reply) {
      const errors: FieldError[] = [];
      const by = singleParameter(request.query, 'by', errors);
      const group = countGroups.find((each) => each === by);
      if (by !== undefined && group === undefined) errors.push(choiceError('by', countGroups));
      throwIfErrors(errors);
      return reply.send(await states.counts(sessionOf(request).user_id, group));
    },
  });

  app.route({
    method: 'PUT',
    url: '/v1/notifications/seen',
    schema: {
      operationId: 'moveSeen',
      summary: 'Mark notifications as seen',
      description:
        'The user has seen all notifications up to a sequence, on every device, for example by opening the inbox. It marks nothing as read, never moves back, and never beyond the last notification.',
      body: SeenInput,
      response: { 200: { ...InboxCounts, description: 'The counts after it.' } },
    },
    config: { access: 'session' },
    handler: async (request, reply) =>
      reply.send(await states.moveSeen(sessionOf(request).user_id, request.body.through)),
  });

  app.route({
    method: 'POST',
    url: '/v1/notifications/:id/actions/:key',
    schema: {
      operationId: 'takeAction',
      summary: 'Choose an action',
      description:
        'The user chooses an action of a notification, for example by its button. The notification is read then. A user chooses once: the same action again is answered alike, and another one is refused.',
      params: ActionParams,
      response: { 200: { ...TakenAction, description: 'The action that the user has chosen.' } },
    },
    config: { access: 'session', problems: ['not_found', 'action_taken', 'notification_expired'] },
    async handler(request, reply) {
      const { key } = request.params;
      return reply.send(await states.takeAction(sessionOf(request).user_id, pathId(request.params), key));
    },
  });

  app.route({
    method: 'PATCH',
    url: '/v1/notifications/states',
    schema: {
      operationId: 'changeStates',
      summary: 'Mark notifications as read, archived or snoozed',
      description:
        'Changes the notifications in `ids`, or those up to `through` that match `filter`. An empty filter with `read` moves the read position, and with `archived` it archives everything up to `through`. A snooze hides a notification until a time, and changes nothing else. The list of notifications itself does not change.',
      body: StatesChange,
      response: { 200: { ...ChangedStates, description: 'The counts after it.' } },
    },
    config: {
      access: 'session',
      problems: ['too_many_marks', 'too_many_requests'],
      checkFaultyBody: async (body) => states.errorsOf(body),
    },
    handler: async (request, reply) => reply.send(await states.change(sessionOf(request).user_id, request.body)),
  });

  app.route({
    method: 'GET',
    url: '/v1/notifications/states',
    schema: {
      operationId: 'listStates',
      summary: 'List states',
      description:
        'For clients that keep a copy of the inbox. It lists what was marked on its own, in the order of the last change, and the positions that decide about everything else. Store each state under its id, store `after`, and repeat while `has_more` is true.',
      querystring: Type.Object(positionParameters),
      response: { 200: { ...InboxStates, description: 'The states that changed since `after`.' } },
    },
    config: { access: 'session', problems: ['validation_failed'] },
    async handler(request, reply) {
      const errors: FieldError[] = [];
      const { first, second, limit } = parsePositionQuery(request.query, errors);
      throwIfErrors(errors);
      const query: StatesQuery = { version: first, ...(second !== undefined && { sequence: second }), limit };
      return reply.send(await states.list(sessionOf(request).user_id, query));
    },
  });
}
