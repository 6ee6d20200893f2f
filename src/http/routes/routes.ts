import type { OwnAccount } from '../../account/account.js';
import type { GuestMerge } from '../../account/guest-merge.js';
import type { LogOutEverywhere } from '../../account/logout-everywhere.js';
import type { OperatorSetUp } from '../../account/operator-setup.js';
import type { OwnAddresses } from '../../account/own-addresses.js';
import type { OwnExternalIdentities } from '../../account/own-external-identities.js';
import type { OwnPasskeys } from '../../account/own-passkeys.js';
import type { OwnTotp } from '../../account/own-totp.js';
import type { PasswordCodes } from '../../account/password-codes.js';
import type { PinRecoveries } from '../../account/pin-recoveries.js';
import type { Proofs } from '../../account/proofs.js';
import type { Recoveries } from '../../account/recoveries.js';
import type { Registrations } from '../../account/registrations.js';
import type { EventStreams } from '../../audit/stream/event-streams.js';
import type { LoginOptions } from '../../contract/authentication.js';
import type { TestIdentities } from '../../credentials/test-identities/test-identities.js';
import type { Database } from '../../database/database.js';
import type { Devices } from '../../devices/devices.js';
import type { DevicePushTokens } from '../../devices/push-tokens.js';
import type { UserReferences } from '../../identities/user-references.js';
import type { Pacer } from '../../lib/pacing.js';
import type { Admission } from '../../limits/admission/admission.js';
import type { Blocks } from '../../limits/admission/blocks.js';
import type { RequestLimits } from '../../limits/request-limits.js';
import type { LoginDiagnoses } from '../../login/diagnosis/diagnosis.js';
import type { Login } from '../../login/login.js';
import type { LoginProviders } from '../../login/providers/login-providers.js';
import type { Redirects } from '../../login/providers/redirects.js';
import type { Tokens } from '../../login/tokens.js';
import type { Outbox } from '../../messages/outbox.js';
import type { Receipts } from '../../messages/providers/receipts.js';
import type { Images } from '../../notifications/images/images.js';
import type { ItemStates } from '../../notifications/inbox/item-states.js';
import type { ReadPositions } from '../../notifications/inbox/read-position.js';
import type { Notifications } from '../../notifications/notifications.js';
import type { Push } from '../../notifications/push/push.js';
import type { Streams } from '../../notifications/stream/streams.js';
import type { ApiKeys } from '../../sessions/api-keys.js';
import type { DpopVerifier } from '../../sessions/dpop/dpop-verifier.js';
import type { Sessions } from '../../sessions/sessions.js';
import type { SetUpLinks } from '../../sessions/setup-links.js';
import type { Counters } from '../../statistics/counters.js';
import type { Meters } from '../../statistics/meters.js';
import type { Statistics } from '../../statistics/statistics.js';
import type { Activity } from '../../users/activity.js';
import type { UserBulk } from '../../users/bulk.js';
import type { UserDetails } from '../../users/details.js';
import type { EnrollmentLinks } from '../../users/enrollment-links.js';
import type { Exports } from '../../users/export.js';
import type { ExternalIdentities } from '../../users/external-identities.js';
import type { UserImport } from '../../users/import.js';
import type { Users } from '../../users/users.js';
import type { SendInbox } from '../lists/notification-list.js';
import type { Verifiers } from '../plugins/authorization.js';
import type { Idempotent } from '../requests/idempotent.js';
import type { App } from '../requests/route.js';
import { adminBackupRoutes, type Backups } from './admin/backups.js';
import { adminBlockRoutes } from './admin/blocks.js';
import { adminEventRoutes } from './admin/events.js';
import { adminKeyRoutes } from './admin/keys.js';
import { adminLoginDiagnosisRoutes } from './admin/login-diagnosis.js';
import { adminLoginProviderRoutes } from './admin/login-providers.js';
import { adminNotificationRoutes } from './admin/notifications.js';
import { adminOutboxRoutes } from './admin/outbox.js';
import { adminSetUpLinkRoutes } from './admin/set-up-links.js';
import { adminStatisticsRoutes } from './admin/stats.js';
import { adminSystemRoutes, type SystemInformation } from './admin/system.js';
import { adminTestIdentityRoutes } from './admin/test-identities.js';
import { adminUserBulkRoutes } from './admin/users/bulk.js';
import { adminUserDetailRoutes } from './admin/users/details.js';
import { adminUserDeviceRoutes } from './admin/users/devices.js';
import { adminEnrollmentLinkRoutes } from './admin/users/enrollment-links.js';
import { adminUserExportRoutes } from './admin/users/export.js';
import { adminExternalIdentityRoutes } from './admin/users/external-identities.js';
import { adminUserFactorRoutes } from './admin/users/factors.js';
import { adminUserRoutes } from './admin/users/id.js';
import { adminUserImportRoutes } from './admin/users/import.js';
import { adminUserLockRoutes } from './admin/users/lock.js';
import { adminUserNotificationRoutes } from './admin/users/notifications.js';
import { adminPasswordCodeRoutes } from './admin/users/password-codes.js';
import { adminUserPinRoutes } from './admin/users/pin.js';
import { adminUsersRoutes } from './admin/users/users.js';
import { adminWebhookRoutes, type WebhookServices } from './admin/webhooks.js';
import { type ConsoleOptions, consoleRoutes } from './console/console.js';
import type { ConsoleSessionServices } from './console/session.js';
import { imageFileRoutes } from './images.js';
import { linkRoutes } from './link.js';
import { operationRoutes, type Readiness } from './operation.js';
import { redirectRoutes } from './redirects.js';
import { accountRoutes } from './v1/account/account.js';
import { accountAddressRoutes } from './v1/account/addresses.js';
import { accountExternalIdentityRoutes } from './v1/account/external-identities.js';
import { accountGuestRoutes } from './v1/account/guest.js';
import { accountLogoutRoutes } from './v1/account/logout-everywhere.js';
import { accountPasskeyRoutes } from './v1/account/passkeys.js';
import { accountPinRecoveryRoutes } from './v1/account/pin-recovery.js';
import { accountProofRoutes } from './v1/account/proofs.js';
import { accountRecordRoutes } from './v1/account/records.js';
import { accountRoleRoutes } from './v1/account/role.js';
import { accountSecretRoutes } from './v1/account/secrets.js';
import { accountTotpRoutes } from './v1/account/totp.js';
import { deviceRoutes } from './v1/devices.js';
import { deviceTokenRoutes } from './v1/devices-tokens.js';
import { imageRoutes } from './v1/images.js';
import { loginOptionRoutes } from './v1/login-options.js';
import { markerRoutes } from './v1/marker.js';
import { messageReceiptRoutes } from './v1/message-receipts.js';
import { changesRoutes } from './v1/notification-changes.js';
import { notificationStateRoutes } from './v1/notification-states.js';
import { notificationRoutes } from './v1/notifications.js';
import { notificationPushRoutes } from './v1/notifications-push.js';
import { recoveryRoutes } from './v1/recoveries.js';
import { recoveryCancellationRoutes } from './v1/recovery-cancellations.js';
import { registrationRoutes } from './v1/registrations.js';
import { sessionRoutes } from './v1/sessions.js';
import { loginRoutes, tokenRoutes } from './v1/tokens.js';
import { webhookKeyRoutes } from './webhook-keys.js';

/** The services that the routes call. `app/services.ts` creates them. */
export interface Services extends WebhookServices {
  readonly verifiers: Verifiers;
  readonly takeOverProof: ConsoleSessionServices['takeOverProof'];
  /** The database, for routes that do their work in one transaction. */
  readonly database: Database;
  readonly readiness: Readiness;
  /** Pauses long loops over the input of clients. */
  readonly pacer: Pacer;
  readonly idempotent: Idempotent;
  readonly counters: Counters;
  /** Undefined without metrics. */
  readonly meters: Meters | undefined;
  readonly statistics: Statistics;
  readonly system: SystemInformation;
  readonly backups: Backups;
  readonly login: Login;
  /** Whether step 2 of a login needs a PIN. */
  readonly pinIsRequired: boolean;
  readonly loginOptions: LoginOptions;
  readonly tokens: Tokens;
  readonly redirects: Redirects;
  /** Without a slash at the end. */
  readonly publicUrl: string | undefined;
  readonly redirectLimits: Pick<RequestLimits, 'countLoginByAddress'>;
  readonly sessions: Sessions;
  readonly dpopVerifier: DpopVerifier;
  readonly devices: Devices;
  readonly notifications: Notifications;
  readonly sendInbox: SendInbox;
  readonly streams: Streams;
  readonly markers: ReadPositions;
  readonly states: ItemStates;
  readonly images: Images;
  readonly push: Push;
  readonly pushTokens: DevicePushTokens;
  readonly proofs: Proofs;
  readonly account: OwnAccount;
  readonly logOutEverywhere: LogOutEverywhere;
  readonly guestMerge: GuestMerge;
  readonly addresses: OwnAddresses;
  readonly ownExternalIdentities: OwnExternalIdentities;
  readonly recoveries: Recoveries;
  readonly passwordCodes: PasswordCodes;
  readonly pinRecoveries: PinRecoveries;
  readonly registrations: Registrations;
  readonly exports: Exports;
  readonly ownTotp: OwnTotp;
  readonly ownPasskeys: OwnPasskeys;
  readonly operatorSetUp: OperatorSetUp;
  readonly users: Users;
  readonly userReferences: UserReferences;
  readonly userImport: UserImport;
  readonly userBulk: UserBulk;
  readonly enrollmentLinks: EnrollmentLinks;
  readonly setUpLinks: SetUpLinks;
  readonly loginDiagnoses: LoginDiagnoses;
  readonly loginProviders: LoginProviders;
  readonly userDetails: UserDetails;
  readonly activity: Activity;
  readonly eventStreams: EventStreams;
  readonly externalIdentities: ExternalIdentities;
  readonly apiKeys: ApiKeys;
  readonly receipts: Receipts;
  readonly admission: Admission;
  readonly blocks: Blocks;
  readonly testIdentities: TestIdentities;
  readonly outbox: Outbox;
}

/** Which routes a server has. Every server has the routes for users and the probes. */
export interface ServedRoutes {
  /** Whether the server has `/admin/v1`. */
  readonly administration: boolean;
  /** Undefined: without the console. */
  readonly console: ConsoleOptions | undefined;
}

/** The routes of a server, in the order of the documentation. */
export function registerRoutes(
  app: App,
  services: Services,
  { administration, console, apiDocs }: ServedRoutes & { readonly apiDocs: boolean },
): void {
  loginRoutes(app, services);
  tokenRoutes(app, services);
  redirectRoutes(app, services);
  linkRoutes(app);
  loginOptionRoutes(app, services);
  sessionRoutes(app, services);
  deviceRoutes(app, services);
  accountRoutes(app, services);
  accountSecretRoutes(app, services);
  accountLogoutRoutes(app, services);
  accountGuestRoutes(app, services);
  accountPinRecoveryRoutes(app, services);
  accountAddressRoutes(app, services);
  accountExternalIdentityRoutes(app, services);
  accountProofRoutes(app, services);
  accountRoleRoutes(app, services);
  accountRecordRoutes(app, services);
  recoveryRoutes(app, services);
  recoveryCancellationRoutes(app, services);
  registrationRoutes(app, services);
  accountTotpRoutes(app, services);
  accountPasskeyRoutes(app, services);
  notificationRoutes(app, services);
  changesRoutes(app, services);
  markerRoutes(app, services);
  notificationStateRoutes(app, services);
  imageRoutes(app, services);
  imageFileRoutes(app, services);
  notificationPushRoutes(app, services);
  deviceTokenRoutes(app, services);
  messageReceiptRoutes(app, services);
  if (administration) adminRoutes(app, services);
  if (console !== undefined) consoleRoutes(app, services, console);
  webhookKeyRoutes(app, services);
  operationRoutes(app, services, apiDocs);
}

function adminRoutes(app: App, services: Services): void {
  adminUsersRoutes(app, services);
  adminUserImportRoutes(app, services);
  adminUserBulkRoutes(app, services);
  adminUserRoutes(app, services);
  adminUserLockRoutes(app, services);
  adminLoginDiagnosisRoutes(app, services);
  adminUserDetailRoutes(app, services);
  adminUserDeviceRoutes(app, services);
  adminUserExportRoutes(app, services);
  adminUserFactorRoutes(app, services);
  adminPasswordCodeRoutes(app, services);
  adminUserPinRoutes(app, services);
  adminEnrollmentLinkRoutes(app, services);
  adminSetUpLinkRoutes(app, services);
  adminExternalIdentityRoutes(app, services);
  adminLoginProviderRoutes(app, services);
  adminNotificationRoutes(app, services);
  adminUserNotificationRoutes(app, services);
  adminOutboxRoutes(app, services);
  adminEventRoutes(app, services);
  adminStatisticsRoutes(app, services);
  adminSystemRoutes(app, services);
  adminBackupRoutes(app, services);
  adminKeyRoutes(app, services);
  adminWebhookRoutes(app, services);
  adminBlockRoutes(app, services);
  adminTestIdentityRoutes(app, services);
}
