import type { OwnAccount } from '../authentication/account.js';
import type { Activity } from '../authentication/activity.js';
import type { ApiKeys } from '../authentication/api-keys.js';
import type { Devices } from '../authentication/devices.js';
import type { Login } from '../authentication/login.js';
import type { Outbox } from '../authentication/outbox.js';
import type { OwnAddresses } from '../authentication/own-addresses.js';
import type { Proofs } from '../authentication/proofs.js';
import type { DevicePushTokens } from '../authentication/push-tokens.js';
import type { Sessions } from '../authentication/sessions.js';
import type { Tokens } from '../authentication/tokens.js';
import type { UserDetails } from '../authentication/user-details.js';
import type { Users } from '../authentication/users.js';
import type { Database } from '../database/database.js';
import type { Images } from '../notifications/images/images.js';
import type { Markers } from '../notifications/marker.js';
import type { Notifications } from '../notifications/notifications.js';
import type { Push } from '../notifications/push/push.js';
import type { Streams } from '../notifications/stream/streams.js';
import type { Idempotent } from './idempotent.js';
import type { Verifiers } from './plugins/authorization.js';
import type { App } from './route.js';
import { adminEventRoutes } from './routes/admin/events.js';
import { adminKeyRoutes } from './routes/admin/keys.js';
import { adminNotificationRoutes } from './routes/admin/notifications.js';
import { adminOutboxRoutes } from './routes/admin/outbox.js';
import { adminUsersRoutes } from './routes/admin/users.js';
import { adminUserDetailRoutes } from './routes/admin/users-details.js';
import { adminUserDeviceRoutes } from './routes/admin/users-devices.js';
import { adminUserRoutes } from './routes/admin/users-id.js';
import { adminUserLockRoutes } from './routes/admin/users-lock.js';
import { imageFileRoutes } from './routes/images.js';
import { operationRoutes, type Readiness } from './routes/operation.js';
import { accountRoutes } from './routes/v1/account.js';
import { accountAddressRoutes } from './routes/v1/account-addresses.js';
import { accountProofRoutes } from './routes/v1/account-proofs.js';
import { accountSecretRoutes } from './routes/v1/account-secrets.js';
import { deviceRoutes } from './routes/v1/devices.js';
import { deviceTokenRoutes } from './routes/v1/devices-tokens.js';
import { imageRoutes } from './routes/v1/images.js';
import { markerRoutes } from './routes/v1/marker.js';
import { changesRoutes } from './routes/v1/notification-changes.js';
import { notificationRoutes } from './routes/v1/notifications.js';
import { notificationPushRoutes } from './routes/v1/notifications-push.js';
import { sessionRoutes } from './routes/v1/sessions.js';
import { tokenRoutes } from './routes/v1/tokens.js';

/** What the routes call. `main.ts` puts it together. */
export interface Services {
  readonly verifiers: Verifiers;
  /** For routes whose work is one transaction. */
  readonly database: Pick<Database, 'transaction' | 'lane'>;
  readonly readiness: Readiness;
  readonly idempotent: Idempotent;
  readonly login: Login;
  /** Whether step 2 of a login needs a PIN. */
  readonly pinIsRequired: boolean;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly notifications: Notifications;
  readonly streams: Streams;
  readonly markers: Markers;
  readonly images: Images;
  readonly push: Push;
  readonly pushTokens: DevicePushTokens;
  readonly proofs: Proofs;
  readonly account: OwnAccount;
  readonly addresses: OwnAddresses;
  readonly users: Users;
  readonly userDetails: UserDetails;
  readonly activity: Activity;
  readonly apiKeys: ApiKeys;
  readonly outbox: Outbox;
}

/** Every route of the service, in the order of the documentation. */
export function registerRoutes(app: App, services: Services): void {
  tokenRoutes(app, services);
  sessionRoutes(app, services);
  deviceRoutes(app, services);
  accountRoutes(app, services);
  accountSecretRoutes(app, services);
  accountAddressRoutes(app, services);
  accountProofRoutes(app, services);
  notificationRoutes(app, services);
  changesRoutes(app, services);
  markerRoutes(app, services);
  imageRoutes(app, services);
  imageFileRoutes(app, services);
  notificationPushRoutes(app, services);
  deviceTokenRoutes(app, services);
  adminUsersRoutes(app, services);
  adminUserRoutes(app, services);
  adminUserLockRoutes(app, services);
  adminUserDetailRoutes(app, services);
  adminUserDeviceRoutes(app, services);
  adminNotificationRoutes(app, services);
  adminOutboxRoutes(app, services);
  adminEventRoutes(app, services);
  adminKeyRoutes(app, services);
  operationRoutes(app, services);
}
