import type { TSchema } from 'typebox';
import { eventFilterFields } from '../../../../audit/event-list.js';
import { Event, UserDevice, UserSession, UserToken } from '../../../../contract/administration.js';
import type { ListRequest, Page } from '../../../../database/listing.js';
import { type Devices, deviceFilterFields } from '../../../../devices/devices.js';
import type { FilterFields } from '../../../../lib/filter/fields.js';
import type { Activity } from '../../../../users/activity.js';
import { sessionFilterFields, tokenFilterFields, type UserDetails } from '../../../../users/details.js';
import type { Users } from '../../../../users/users.js';
import { listRoutes } from '../../../lists/list-routes.js';
import { pathId } from '../../../requests/parameters.js';
import type { App } from '../../../requests/route.js';

/** A list of one kind of data of a user. */
interface DetailList {
  /** The last segment of the path. */
  readonly name: string;
  readonly operationIds: readonly [string, string];
  readonly summary: string;
  readonly item: TSchema;
  readonly pageTitle: string;
  readonly sortable: readonly [string, ...string[]];
  readonly filterFields: FilterFields;
  readonly filterExample: string;
  readonly read: (userId: string, request: ListRequest) => Promise<Page<object>>;
}

/** Routes that list a user's devices, tokens, sessions and events, for support. */
export function adminUserDetailRoutes(
  app: App,
  services: { users: Users; devices: Devices; userDetails: UserDetails; activity: Activity },
): void {
  const { users, devices, userDetails, activity } = services;
  const lists: readonly DetailList[] = [
    {
      name: 'devices',
      operationIds: ['listUserDevices', 'getUserDevicePage'],
      summary: "List a user's devices",
      item: UserDevice,
      pageTitle: 'UserDevicePage',
      sortable: ['updated_at', 'created_at'],
      filterFields: deviceFilterFields,
      filterExample: 'os_name:iOS',
      read: devices.list,
    },
    {
      name: 'tokens',
      operationIds: ['listUserTokens', 'getUserTokenPage'],
      summary: "List a user's logins and their authentication tokens",
      item: UserToken,
      pageTitle: 'UserTokenPage',
      sortable: ['created_at', 'updated_at'],
      filterFields: tokenFilterFields,
      filterExample: 'status:approved',
      read: userDetails.tokens,
    },
    {
      name: 'sessions',
      operationIds: ['listUserSessions', 'getUserSessionPage'],
      summary: "List a user's active sessions",
      item: UserSession,
      pageTitle: 'UserSessionPage',
      sortable: ['created_at', 'expires_at'],
      filterFields: sessionFilterFields,
      filterExample: 'device_id:582a5abb-1335-4794-4855-11e067b8c55e',
      read: userDetails.sessions,
    },
    {
      name: 'activity',
      operationIds: ['listUserActivity', 'getUserActivityPage'],
      summary: "List a user's events",
      item: Event,
      pageTitle: 'UserActivityPage',
      sortable: ['created_at'],
      filterFields: eventFilterFields,
      filterExample: 'type:in:login.approved;login.rejected',
      read: activity.listOfUser,
    },
  ];
  for (const list of lists) detailRoutes(app, users, list);
}

function detailRoutes(app: App, users: Users, { name, read, ...list }: DetailList): void {
  listRoutes(app, {
    ...list,
    url: `/admin/v1/users/:id/${name}`,
    access: { scope: 'users:read' },
    problems: ['not_found'],
    async read(query, request) {
      const id = pathId(request.params as { readonly id: string });
      // Throws `not_found` for an unknown user. Without this, the answer would be an empty list.
      await users.get(id);
      return read(id, query);
    },
  });
}
