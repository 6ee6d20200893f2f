import { type TSchema, Type } from 'typebox';
import { type Devices, deviceFilterFields } from '../../../authentication/devices/devices.js';
import { type Activity, eventFilterFields } from '../../../authentication/events/activity.js';
import type { ListRequest, Page } from '../../../authentication/listing.js';
import { sessionFilterFields, tokenFilterFields, type UserDetails } from '../../../authentication/users/details.js';
import type { Users } from '../../../authentication/users/users.js';
import { Event, UserDevice, UserSession, UserToken } from '../../../contract/administration.js';
import { ListQuery } from '../../../contract/common.js';
import type { FilterFields } from '../../../lib/filter/fields.js';
import { readListQuery, sendPage } from '../../admin-list.js';
import type { QueryParameters } from '../../list-query.js';
import { IdParams, pathId } from '../../path-id.js';
import type { App } from '../../route.js';

/** One list of what belongs to a user. */
interface DetailList {
  /** The last segment of the path. */
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly item: TSchema;
  readonly sortable: readonly [string, ...string[]];
  readonly filterFields: FilterFields;
  readonly filterExample: string;
  readonly read: (userId: string, request: ListRequest) => Promise<Page<object>>;
}

/** What support looks at: a user's devices, tokens, sessions and activity. They differ in nothing but these. */
export function adminUserDetailRoutes(
  app: App,
  parts: { users: Users; devices: Devices; userDetails: UserDetails; activity: Activity },
): void {
  const { users, devices, userDetails, activity } = parts;
  const lists: readonly DetailList[] = [
    {
      name: 'devices',
      operationId: 'listUserDevices',
      summary: "List a user's devices",
      item: UserDevice,
      sortable: ['updated_at', 'created_at'],
      filterFields: deviceFilterFields,
      filterExample: 'os_name:iOS',
      read: devices.list,
    },
    {
      name: 'tokens',
      operationId: 'listUserTokens',
      summary: "List a user's logins and their authentication tokens",
      item: UserToken,
      sortable: ['created_at', 'updated_at'],
      filterFields: tokenFilterFields,
      filterExample: 'status:approved',
      read: userDetails.tokens,
    },
    {
      name: 'sessions',
      operationId: 'listUserSessions',
      summary: "List a user's sessions that are good right now",
      item: UserSession,
      sortable: ['created_at', 'expires_at'],
      filterFields: sessionFilterFields,
      filterExample: 'device_id:582a5abb-1335-4794-4855-11e067b8c55e',
      read: userDetails.sessions,
    },
    {
      name: 'activity',
      operationId: 'listUserActivity',
      summary: 'List what happened to a user',
      item: Event,
      sortable: ['created_at'],
      filterFields: eventFilterFields,
      filterExample: 'type:in:login.approved;login.rejected',
      read: activity.ofUser,
    },
  ];
  for (const list of lists) detailRoute(app, users, list);
}

function detailRoute(app: App, users: Users, list: DetailList): void {
  const { name, sortable, filterFields } = list;
  const readQuery = (query: QueryParameters) => readListQuery(query, sortable, filterFields);
  app.route({
    method: 'GET',
    url: `/admin/v1/users/:id/${name}`,
    schema: {
      operationId: list.operationId,
      summary: list.summary,
      tags: ['Administration'],
      params: IdParams,
      querystring: ListQuery(sortable, list.filterExample),
      response: { 200: Type.Array(list.item, { description: 'Newest first unless sorted otherwise.' }) },
    },
    config: { access: { scope: 'users:read' }, problems: ['not_found'], checkQuery: readQuery },
    async handler(request, reply) {
      const id = pathId(request.params);
      const query = readQuery(request.query);
      // Of an unknown user every list would be empty, as if there were such a user.
      await users.get(id);
      return sendPage(reply, `/admin/v1/users/${id}/${name}`, query, await list.read(id, query));
    },
  });
}
