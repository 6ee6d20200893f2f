// Generated from docs/openapi.json and src/contract/webhook-events.ts by `npm run generate`.
import type {
  AuthenticationStatus,
  Claims,
  FieldError,
  IdentityType,
  MessageChannel,
  NotificationData,
  PinRecovery,
  PushChannel,
  Role,
  Scope,
  SecondFactor,
  SecondFactorType,
  StepReason,
} from '@postern/client/internal';

export type {
  ActivityEntry,
  DeliveryTrace,
  ExternalIdentity,
  Image,
  Marker,
  Notification,
  Scope,
  Session,
  UserDevice,
} from '@postern/client/internal';

/** The members of `data` that all events of webhooks have. */
export interface CommonEventData {
  /** All zeros for an event that concerns no user. */
  readonly user_id: string;
  /** Counts the events of the user, or those that concern no user. 0 in a test event. */
  readonly sequence: number;
  readonly changed_fields: readonly string[];
  /** Who caused the event. Null: it was not recorded. */
  readonly actor: string | null;
}

/** The member `data` of each event of webhooks, with the payload `thin`. */
export interface WebhookEventData {
  /** A user was created. */
  readonly 'user.created': CommonEventData;
  /** Fields of a user were changed. `changed_fields` names them. */
  readonly 'user.updated': CommonEventData;
  /** A user was deleted. */
  readonly 'user.deleted': CommonEventData;
  /** An operator locked a user. */
  readonly 'user.locked': CommonEventData;
  /** A lock of a user was removed. */
  readonly 'user.unlocked': CommonEventData;
  /** A user was deactivated. */
  readonly 'user.deactivated': CommonEventData;
  /** A user proved an email address or a phone number. */
  readonly 'identity.verified': CommonEventData & {
    readonly identity_type: string | null;
  };
  /** A login succeeded. */
  readonly 'login.approved': CommonEventData & {
    readonly authentication_id: string | null;
    readonly device_id: string | null;
    readonly authenticator: string | null;
    readonly second_factor: string | null;
  };
  /** A login of an existing user failed. */
  readonly 'login.rejected': CommonEventData & {
    readonly authentication_id: string | null;
    readonly device_id: string | null;
    readonly authenticator: string | null;
    readonly second_factor: string | null;
    readonly reason: 'rejected' | 'locked';
  };
  /** Wrong secrets locked the logins of a user. */
  readonly 'login.locked': CommonEventData & {
    readonly device_id: string | null;
  };
  /** A user logged in on a new device. */
  readonly 'device.added': WebhookEventData['login.locked'];
  /** A device was removed. */
  readonly 'device.removed': WebhookEventData['login.locked'];
  /** An authentication token ended: by a logout, a newer login on the device, a change of credentials, or because the device was removed or the user was deactivated or deleted. If `authentication_id` is null, all tokens of the user ended. */
  readonly 'token.ended': CommonEventData & {
    readonly authentication_id: string | null;
    readonly device_id: string | null;
  };
  /** A password, a PIN, a second factor or a linked account was changed. */
  readonly 'credential.changed': CommonEventData & {
    readonly credential: string;
    readonly change: 'changed' | 'added' | 'removed';
  };
  /** A user set a new password or PIN by account recovery. */
  readonly 'recovery.completed': CommonEventData & {
    readonly recovers: string | null;
  };
  /** A user completed a registration. */
  readonly 'registration.completed': CommonEventData;
  /** A user has taken over the inbox of a guest. The guest was deleted (`user.deleted`). */
  readonly 'guest.merged': CommonEventData & {
    readonly guest_id: string | null;
  };
  /** A notification was published. */
  readonly 'notification.created': CommonEventData & {
    readonly notification_id: string;
    readonly notification_sequence: number | null;
  };
  /** A notification was changed. */
  readonly 'notification.updated': WebhookEventData['notification.created'];
  /** A notification was deleted. */
  readonly 'notification.deleted': WebhookEventData['notification.created'];
  /** A user changed the states of notifications: one event for each request. The event names the notifications in `notification_ids`. If the request had a filter instead, `through` is the last sequence that it may have changed. A state that is null was not changed. */
  readonly 'notification.state_changed': CommonEventData & {
    readonly notification_ids: readonly string[] | null;
    readonly through: number | null;
    readonly read: boolean | null;
    readonly archived: boolean | null;
    readonly snoozed_until: string | null;
  };
  /** A user chose an action of a notification. It is read then, so that `notification.state_changed` comes too. */
  readonly 'notification.action': CommonEventData & {
    readonly notification_id: string;
    readonly notification_sequence: number | null;
    /** The key of the action. */
    readonly action: string;
  };
  /** The read position of a user moved: the user has read notifications. */
  readonly 'marker.moved': CommonEventData & {
    readonly last_read_sequence: number | null;
  };
  /** A provider accepted the push, the mail or the SMS of a notification. */
  readonly 'delivery.sent': CommonEventData & {
    /** Null: it ended before it was in the queue. */
    readonly delivery_id: string | null;
    /** Of a digest, the newest notification. */
    readonly notification_id: string;
    readonly channel: 'push' | 'email' | 'sms';
    /** The device of a push. */
    readonly device_id: string | null;
    /** Null: the notification was deleted. */
    readonly category: string | null;
    /** As in the deliveries of a notification. */
    readonly reason: string;
  };
  /** A mail or an SMS of a notification has arrived, as the provider reports. */
  readonly 'delivery.delivered': WebhookEventData['delivery.sent'];
  /** A mail or an SMS of a notification did not arrive: the provider or the mailbox returned it. */
  readonly 'delivery.bounced': WebhookEventData['delivery.sent'];
  /** The recipient reported a mail of a notification as spam. */
  readonly 'delivery.complained': WebhookEventData['delivery.sent'];
  /** No provider took the push, the mail or the SMS of a notification. It is not tried again. */
  readonly 'delivery.failed': WebhookEventData['delivery.sent'];
  /** The push, the mail or the SMS of a notification could not be sent in time. It is not tried again. */
  readonly 'delivery.expired': WebhookEventData['delivery.sent'];
  /** What a user wants to get was changed. `changed_fields` names the members of the preferences, such as `categories.billing.email`. */
  readonly 'preference.changed': CommonEventData;
  /** A topic was created. The event concerns no user: `user_id` is all zeros. */
  readonly 'topic.created': CommonEventData & {
    /** The key of the topic. */
    readonly topic: string;
  };
  /** A topic was changed. The event concerns no user. */
  readonly 'topic.updated': WebhookEventData['topic.created'];
  /** A topic was deleted with its subscriptions. The event concerns no user. */
  readonly 'topic.deleted': WebhookEventData['topic.created'];
  /** A user was subscribed to a topic. */
  readonly 'topic.subscribed': WebhookEventData['topic.created'];
  /** The subscription of a user to a topic ended. The deletion of the topic or of the user causes no such event. */
  readonly 'topic.unsubscribed': WebhookEventData['topic.created'];
  /** A publication started. The event concerns no user. */
  readonly 'publication.started': CommonEventData & {
    readonly publication_id: string | null;
  };
  /** A publication was paused. The event concerns no user. */
  readonly 'publication.paused': WebhookEventData['publication.started'];
  /** A publication goes on. The event concerns no user. */
  readonly 'publication.resumed': WebhookEventData['publication.started'];
  /** All notifications of a publication are created. The event concerns no user. */
  readonly 'publication.done': WebhookEventData['publication.started'];
  /** A publication was cancelled: it creates no more notifications. The event concerns no user. */
  readonly 'publication.cancelled': WebhookEventData['publication.started'];
  /** A publication ended because Postern can no longer create its notification, for example because the category was deleted. The event concerns no user. */
  readonly 'publication.failed': WebhookEventData['publication.started'];
  /** All notifications of a recalled publication are deleted. Each causes `notification.deleted` too. The event concerns no user. */
  readonly 'publication.recalled': WebhookEventData['publication.started'];
  /** An address gets no mail except codes any more. `user_id` is the user whose mail did not arrive, or all zeros if an operator added the address. */
  readonly 'suppression.created': CommonEventData & {
    readonly suppression_id: string;
    readonly reason: 'hard_bounce' | 'complaint' | 'soft_bounces' | 'manual';
  };
  /** A suppressed address gets mail again. The event concerns no user. */
  readonly 'suppression.deleted': WebhookEventData['suppression.created'];
  /** A message with a code or a notice was not sent, or did not arrive. */
  readonly 'message.failed': CommonEventData & {
    readonly message_id: string | null;
    readonly kind: string | null;
  };
  /** A push service refused the token of a device permanently, and Postern has removed the token. */
  readonly 'push.token_gone': CommonEventData & {
    readonly device_id: string | null;
    readonly channel: string | null;
  };
  /** Postern sealed the audit events of a day. The event concerns no user: `user_id` is all zeros. */
  readonly 'audit.sealed': CommonEventData & {
    /** In UTC. */
    readonly day: string;
    /** The number of audit events of the day. */
    readonly events: number;
    /** The anchor for `postern audit verify`. */
    readonly hash: string;
  };
}

export type AccountExport = {
  /** The account. */
  readonly account: ExportedRecord;
  /** The devices of the user. */
  readonly devices: readonly ExportedRecord[];
  /** The passkeys, without their keys. */
  readonly passkeys: readonly ExportedRecord[];
  /** The linked accounts at OpenID providers. */
  readonly external_identities: readonly ExportedRecord[];
  /** The apps that the user has allowed to sign in with the login of the pages. */
  readonly apps: readonly ExportedRecord[];
  /** The logins of operators as the user. */
  readonly support_logins: readonly ExportedRecord[];
  /** All stored logins. */
  readonly logins: readonly ExportedRecord[];
  /** All stored sessions. */
  readonly sessions: readonly ExportedRecord[];
  /** The events of the account. */
  readonly activity: readonly ExportedRecord[];
  /** The messages to the user, without codes. */
  readonly messages: readonly ExportedRecord[];
  /** What providers of mail reported about mails to the user. */
  readonly mail_reports: readonly ExportedRecord[];
  /** Why the mail address of the user gets no mail except codes, if so. */
  readonly suppressions: readonly ExportedRecord[];
  /** The inbox, oldest first. */
  readonly notifications: readonly ExportedRecord[];
  /** The read position. */
  readonly markers: readonly ExportedRecord[];
  /** The states of single notifications. */
  readonly notification_states: readonly ExportedRecord[];
  /** The mutes. */
  readonly mutes: readonly ExportedRecord[];
  /** The topics to which the user is subscribed. */
  readonly subscriptions: readonly ExportedRecord[];
  /** What the user has chosen about notifications, and when. */
  readonly preferences: readonly ExportedRecord[];
  /** Which notifications count for the caps of their categories. */
  readonly category_caps: readonly ExportedRecord[];
  /** The digests of the user: where each begins, and when it is sent. */
  readonly digests: readonly ExportedRecord[];
  /** Recent pushes. */
  readonly pushes: readonly ExportedRecord[];
  /** Mails and SMS of notifications. */
  readonly notification_messages: readonly ExportedRecord[];
  /** The user's uploads. */
  readonly images: readonly ExportedRecord[];
};

export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly created_at: string;
};

export type AuditEvent = {
  readonly id: string;
  /** All zeros for an event that concerns no user. */
  readonly user_id: string;
  /** What the user was called at that time: the name, else the username, mail address or phone number. Null for a deleted user. */
  readonly user_name: string | null;
  readonly type: string;
  /** user (the user of the event), user:<id>, system, cli, or key:<id>. */
  readonly actor: string;
  /** The name of the actor: of a user at that time, or of an API key. Null for all others. */
  readonly actor_name: string | null;
  readonly address: string | null;
  readonly request_id: string | null;
  /** The fields that the event changed. Empty after the user is deleted. */
  readonly changes: readonly AuditEventChange[];
  /** Further details. Never a secret. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly created_at: string;
};

export type AuditEventChange = {
  readonly field: string;
  /** The value before. Null: none. */
  readonly before: unknown;
  /** The value after. Null: none. */
  readonly after: unknown;
  /** The field is secret, or its values are too long: `before` and `after` are null. */
  readonly withheld: boolean;
};

export type CategoryChannelChoices = Readonly<Record<string, unknown>>;

export type ChannelChanges = Readonly<Record<string, unknown>>;

export type DiagnosedDevice = {
  readonly id: string | null;
  /** Whether the user has logged in on the device before. */
  readonly known: boolean;
};

export type DiagnosedIdentity = {
  readonly type: IdentityType;
  readonly value: string;
};

export type DiagnosedSecondFactor = {
  readonly policy: SecondFactorPolicy;
  readonly required: boolean;
  readonly types: readonly SecondFactorType[];
};

export type DiagnosisIdentityType = 'email' | 'phone' | 'username' | 'external_id';

export type DryRun = {
  /** The number of notifications that would be created. */
  readonly deliveries: number;
  /** The number of pushes for each channel, and of muted pushes. */
  readonly push: PushCounts;
  /** How many steps of all notifications have each decision, as if they were due now and nobody had read the notifications. Decisions are made again when a step is due. */
  readonly steps: readonly DryRunSteps[];
  /** The first 100 notifications. */
  readonly items: readonly DryRunItem[];
};

export type DryRunItem = {
  readonly user_id: string;
  readonly notification_type: string;
  readonly description: string;
  /** false: the user does not want it in the inbox. */
  readonly inbox: boolean;
  /** The steps of the category. */
  readonly steps: readonly DryRunStep[];
  readonly push: readonly DryRunPush[];
};

export type DryRunPush = {
  readonly device_id: string;
  readonly channel: PushChannel;
  readonly muted: boolean;
};

export type DryRunState = 'send' | 'held' | 'digesting' | 'skipped' | 'expired' | 'dropped' | 'failed';

export type DryRunStep = {
  readonly channel: StepChannel;
  /** As in the category. */
  readonly after: string;
  /** As in the category. */
  readonly if: StepCondition;
  /** send: the step would be carried out. held: quiet hours would hold it. digesting: it would come with the next digest. */
  readonly state: DryRunState;
  readonly reason: StepReason | null;
  /** The reason in words. */
  readonly explanation: string | null;
};

export type DryRunSteps = {
  readonly channel: StepChannel;
  readonly state: DryRunState;
  readonly reason: StepReason | null;
  readonly count: number;
};

export type ExportedRecord = Readonly<Record<string, unknown>>;

export type ExternalIdentityLink = {
  readonly provider: string;
  readonly subject: string;
  /** The id of the tenant of the account (`tid`). Required for a provider of any tenant, such as Microsoft with the issuer of `common`: there each tenant has its own issuer. */
  readonly tenant?: string | undefined;
};

export type GuessLock = {
  /** The known device whose logins are locked. null: all devices on which the user has never logged in. */
  readonly device_id: string | null;
  readonly since: string;
  /** null: until an operator unlocks the user. */
  readonly until: string | null;
  readonly permanent: boolean;
};

export type ImportOutcome = 'created' | 'exists' | 'failed' | 'valid';

export type ImportResult = {
  readonly line?: number | undefined;
  /** exists: the user exists already and was not changed. valid: the user would be created (dry_run). */
  readonly result?: ImportOutcome | undefined;
  readonly id?: string | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  /** The status of the error that ended the import early. */
  readonly status?: number | undefined;
  /** The code of this error. */
  readonly code?: string | undefined;
  /** With code: lines up to this number are committed, later lines are not. */
  readonly committed_lines?: number | undefined;
};

export type IssuedApiKey = ApiKey & {
  /** The key itself. Shown once. */
  readonly token: string;
};

export type IssuedWebhook = Webhook & {
  /** The secret of the signatures `v1`. Shown once. */
  readonly secret: string;
};

export type LoginAnswer = {
  /** start: POST /v1/tokens. secret and second_factor: POST /v1/tokens/{id}/secret. */
  readonly step: LoginStep;
  /** The HTTP status. */
  readonly status: number;
  /** The status of the authentication; null for a problem. */
  readonly authentication_status: AuthenticationStatus | null;
  /** The code of the problem, or `error_code` of a rejected authentication. null: no error. */
  readonly code: string | null;
};

export type LoginDiagnosis = {
  /** null: nobody has the identity. */
  readonly user_id: string | null;
  readonly identity: DiagnosedIdentity | null;
  readonly device: DiagnosedDevice;
  /** The network address whose limits are included. null: none. */
  readonly address: string | null;
  readonly checked_at: string;
  readonly verdict: LoginVerdict;
  /** The verdict in the language of Accept-Language. */
  readonly message: string;
  /** Since when every authenticator is refused, if known. */
  readonly since: string | null;
  /** When the first authenticator works again by itself. null: none does, or one works now. */
  readonly until: string | null;
  /** The reasons for all authenticators. Reasons that block come first. */
  readonly reasons: readonly LoginReason[];
  /** The policy of this user, whether a login must answer a second factor, and the factors. null: no user. */
  readonly second_factor: DiagnosedSecondFactor | null;
  /** One entry for each authenticator. */
  readonly ways: readonly LoginWay[];
};

export type LoginDiagnosisRequest = {
  readonly identity: LoginIdentity;
  /** Only this authenticator. Without it: all. */
  readonly authenticator?: string | undefined;
  /** The device of the login. Without it: a device on which the user never logged in. */
  readonly device_id?: string | null | undefined;
  /** The IP address of the client, to include the limits of its network. */
  readonly address?: string | undefined;
};

export type LoginIdentity = {
  /** external_id: names the user, who cannot log in with it. Each authenticator is checked with the identity that the user would usually log in with. */
  readonly type: DiagnosisIdentityType;
  /** Used to look up the user. */
  readonly value: string;
};

export type LoginPinRule = 'ignored' | 'any' | 'own';

export type LoginReason = {
  readonly code: LoginReasonCode;
  /** blocks: while this reason applies, no login succeeds. note: the login may succeed. */
  readonly effect: LoginReasonEffect;
  /** The reason in the language of Accept-Language. */
  readonly message: string;
  /** null: not known. */
  readonly since: string | null;
  /** When it ends by itself. null: it does not end by itself, or the time is not known. */
  readonly until: string | null;
  /** Details of the reason. */
  readonly data: LoginReasonData;
  readonly remedies: readonly LoginRemedy[];
};

export type LoginReasonCode = 'unknown_identity' | 'deactivated' | 'locked_by_operator' | 'device_locked_by_guesses' | 'new_devices_locked_by_guesses' | 'other_devices_locked_by_guesses' | 'guesses_in_progress' | 'account_limit' | 'address_blocked' | 'address_limit' | 'address_code_limit' | 'code_limit_minute' | 'code_limit_hour' | 'code_limit_day' | 'test_identity' | 'recipient_limit' | 'sms_prefix_limit' | 'sms_total_limit' | 'sms_country_off' | 'sms_prefix_paused' | 'last_message_failed' | 'not_configured' | 'no_password' | 'password_hash_unreadable' | 'no_phone' | 'phone_not_proven' | 'email_not_proven' | 'no_email' | 'no_passkey' | 'no_external_identity' | 'external_identity_not_linked' | 'provider_fails' | 'provider_refused' | 'pin_missing' | 'pin_unreadable' | 'pin_replacement_pending' | 'app_unreadable' | 'factor_not_enrolled' | 'role_not_active' | 'decided_elsewhere';

export type LoginReasonData = Readonly<Record<string, unknown>>;

export type LoginReasonEffect = 'blocks' | 'note';

export type LoginRemedy = {
  readonly action: LoginRemedyAction;
  /** operator: through the route. user: only the user can. administrator: a setting of the service. */
  readonly by: LoginRemedyActor;
  readonly method: string | null;
  /** The path of the route, with its ids. */
  readonly path: string | null;
  /** The scope that the route needs for this user. */
  readonly scope: Scope | null;
  /** Members of the body that are known. null: the route takes no body. */
  readonly body: LoginRemedyBody | null;
  /** Members of the body that the caller adds. */
  readonly fields: readonly string[];
  /** The name of the setting. */
  readonly setting: string | null;
};

export type LoginRemedyAction = 'unlock' | 'reset_budget' | 'reactivate' | 'create_user' | 'create_enrollment_link' | 'remove_second_factors' | 'set_password' | 'set_phone' | 'set_email' | 'verify_phone' | 'verify_email' | 'set_pin' | 'remove_pin' | 'link_external_identity' | 'enrol_passkey' | 'configure' | 'retry_message';

export type LoginRemedyActor = 'operator' | 'user' | 'administrator';

export type LoginRemedyBody = Readonly<Record<string, unknown>>;

export type LoginStep = 'start' | 'secret' | 'second_factor';

export type LoginVerdict = 'yes' | 'maybe' | 'no';

export type LoginWay = {
  readonly authenticator: string;
  /** blocked: only a reason for all authenticators refuses it. no: a reason of this authenticator refuses it. not_set_up: the user or the installation does not have it. */
  readonly verdict: LoginWayVerdict;
  /** When the refusal ends by itself; null if it does not, or if nothing refuses it. */
  readonly until: string | null;
  /** The identity of the login. null for an authenticator that identifies the user itself. */
  readonly identity: DiagnosedIdentity | null;
  /** Which PIN the login accepts. ignored: none is needed. any: any PIN of the right form. own: the PIN of the user. */
  readonly pin: LoginPinRule;
  /** What each step of a login with the right secrets would answer now, until the first refusal. */
  readonly answers: readonly LoginAnswer[];
  /** The reasons of this authenticator alone. */
  readonly reasons: readonly LoginReason[];
};

export type LoginWayVerdict = 'yes' | 'maybe' | 'blocked' | 'no' | 'not_set_up';

export type Metadata = Readonly<Record<string, unknown>>;

export type NewApiKey = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** A time in the future. */
  readonly expires_at?: string | undefined;
};

export type NewNotificationAction = {
  readonly key: string;
  readonly label: string;
  /** What opens when the user opens the notification: an https URL, or one of a private scheme with a dot. */
  readonly url?: string | null | undefined;
};

export type NewUser = {
  readonly username?: string | undefined;
  readonly email?: string | undefined;
  /** Whether the mail address is proven. The default for a new mail address is true. */
  readonly email_verified?: boolean | undefined;
  readonly phone?: string | undefined;
  /** Whether the phone number is proven. The default for a new phone number is true. */
  readonly phone_verified?: boolean | undefined;
  /** The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it. */
  readonly external_id?: string | undefined;
  readonly name?: string | undefined;
  /** BCP 47 tag, such as en or es-MX. */
  readonly locale?: string | null | undefined;
  readonly password?: string | undefined;
  /** With a password: whether it is for one use. A login with it asks for a new password. Passwords that an operator sets with a session are always for one use. */
  readonly must_change?: boolean | undefined;
  /** A hash from another system, instead of password: argon2, bcrypt, scrypt, PBKDF2, phpass, sha256-crypt, sha512-crypt or SSHA, also as WordPress, Firebase, Keycloak and ASP.NET write it. */
  readonly password_hash?: string | undefined;
  readonly pin?: string | undefined;
  readonly role?: Role | undefined;
  /** Your own data: any JSON object of up to 16 KiB. */
  readonly metadata?: Metadata | undefined;
  /** The roles that your app gives: at most 32, in any order. */
  readonly roles?: readonly string[] | undefined;
  /** What other services may know of the user: any JSON object of up to 2 KiB. Checks of sessions show it to the app. */
  readonly claims?: Claims | undefined;
};

export type NewWebhook = {
  /** An https URL with a public address. */
  readonly url: string;
  /** Types of events, or patterns: `login.*` for all types of a group, `*` for all. */
  readonly events: readonly string[];
  readonly filter?: string | undefined;
  readonly description?: string | undefined;
  /** thin: ids and the names of changed fields. full: also the resource, as it is when the event is sent. */
  readonly payload?: WebhookPayload | undefined;
};

export type NotificationChange = {
  readonly notification_type?: string | undefined;
  readonly description?: string | undefined;
  readonly actor_id?: string | null | undefined;
  readonly actor?: string | null | undefined;
  readonly notification_key?: string | null | undefined;
  readonly object_id?: string | null | undefined;
  /** At most 15 significant digits, kept exactly. */
  readonly object_data_number?: number | null | undefined;
  readonly object_data_string?: string | undefined;
  readonly image_id?: string | null | undefined;
  /** The URL of an external image, instead of image_id. Postern does not copy it. */
  readonly image?: string | null | undefined;
  /** Values of the app, at most 8 KB as JSON. */
  readonly data?: NotificationData | null | undefined;
  /** What opens when the user opens the notification: an https URL, or one of a private scheme with a dot. */
  readonly url?: string | null | undefined;
  readonly actions?: readonly NewNotificationAction[] | undefined;
  /** From this time on (RFC 3339) the notification is not counted, and its actions cannot be chosen. */
  readonly expires_at?: string | null | undefined;
};

export type NotificationInput = PublishedNotification & {
  /** The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user. */
  readonly user_id?: string | undefined;
  /** Instead of user_id. */
  readonly user_ids?: readonly string[] | undefined;
};

export type OperatorLock = {
  readonly permanent: boolean;
  readonly until: string | null;
  readonly reason: string | null;
};

export type OutboxMessage = {
  readonly id: string;
  readonly user_id: string;
  readonly authentication_id: string | null;
  readonly channel: MessageChannel;
  /** The channel and the kind of message: a code or a notice. */
  readonly kind: string;
  readonly recipient: string | null;
  /** queued, sent (a provider has accepted it), failed (no attempt succeeded), expired (there was no attempt in time), or dropped (no recipient). If the provider reports it: delivered, or undelivered. */
  readonly state: 'queued' | 'sent' | 'failed' | 'expired' | 'dropped' | 'delivered' | 'undelivered';
  /** The provider that has accepted the message. Null before that. */
  readonly provider: string | null;
  readonly attempts: number;
  /** Why the last attempt failed, or why the message did not arrive. */
  readonly last_error: string | null;
  /** Only for messages of the console provider, with the scope admin, while the code is valid. */
  readonly code: string | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
};

export type PublishResult = {
  readonly line?: number | undefined;
  /** 201: published. 200: would be published (dry_run). Otherwise the status of a single request with this item. */
  readonly status: number;
  readonly id?: string | undefined;
  /** Instead of id, in the order of user_ids. */
  readonly ids?: readonly string[] | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  /** The code of the error that ended the response early. */
  readonly code?: string | undefined;
  /** With code: lines up to this number are committed, later lines are not. */
  readonly committed_lines?: number | undefined;
};

export type PublishedNotification = {
  readonly notification_type: string;
  readonly description: string;
  readonly actor_id?: string | null | undefined;
  readonly actor?: string | null | undefined;
  readonly notification_key?: string | null | undefined;
  readonly object_id?: string | null | undefined;
  /** At most 15 significant digits, kept exactly. */
  readonly object_data_number?: number | null | undefined;
  readonly object_data_string?: string | undefined;
  readonly image_id?: string | null | undefined;
  /** The URL of an external image, instead of image_id. Postern does not copy it. */
  readonly image?: string | null | undefined;
  /** Values of the app, at most 8 KB as JSON. */
  readonly data?: NotificationData | null | undefined;
  /** What opens when the user opens the notification: an https URL, or one of a private scheme with a dot. */
  readonly url?: string | null | undefined;
  readonly actions?: readonly NewNotificationAction[] | undefined;
  /** From this time on (RFC 3339) the notification is not counted, and its actions cannot be chosen. */
  readonly expires_at?: string | null | undefined;
  /** The name of a category. Absent: the category of the notification type. */
  readonly category?: string | null | undefined;
  /** Removes the user's earlier notification with the same key, of any category, in the same transaction. */
  readonly replace_key?: string | null | undefined;
};

export type PushCounts = {
  readonly apns: number;
  readonly fcm: number;
  readonly web_push: number;
  readonly muted: number;
};

export type QuietHoursChange = Readonly<Record<string, unknown>>;

export type RolesChange = RolesChangeArray | RolesChangeObject;

export type RolesChangeArray = readonly string[];

export type RolesChangeObject = {
  /** Roles that the user gets. */
  readonly add?: readonly string[] | undefined;
  /** Roles that the user loses. */
  readonly remove?: readonly string[] | undefined;
};

export type SecondFactorPolicy = 'off' | 'own' | 'required';

export type SimulatedPreferences = {
  /** Such as Europe/Madrid. */
  readonly time_zone?: string | null | undefined;
  /** {from, until, days?}: HH:MM on the wall clock of the time zone, until on the next day if it is before from, and the days (mon to sun) on which they begin. null removes them. */
  readonly quiet_hours?: QuietHoursChange | null | undefined;
  /** on, off or null for each of push, email, sms. null takes a choice back. */
  readonly channels?: ChannelChanges | undefined;
  /** For each category, on, off or null for channels and inbox, and digest for email if the category has one. null takes a choice back. */
  readonly categories?: CategoryChannelChoices | undefined;
  /** For each topic that is open or that the user is subscribed to, the same. It beats the category, except a critical one. */
  readonly topics?: TopicChannelChoices | undefined;
};

export type StepChannel = 'push' | 'email' | 'sms';

export type StepCondition = 'always' | 'unread' | 'undelivered';

export type TopicChannelChoices = Readonly<Record<string, unknown>>;

export type User = {
  readonly id: string;
  readonly username: string | null;
  readonly email: string | null;
  /** Whether the mail address is proven: by a code, or because the operator vouches for it. Codes and notices go only to proven addresses. false without a mail address. */
  readonly email_verified: boolean;
  readonly phone: string | null;
  /** Whether the phone number is proven: by a code, or because the operator vouches for it. Codes and notices go only to proven addresses. false without a phone number. */
  readonly phone_verified: boolean;
  /** The external id: the id of the user in your other systems, or null. */
  readonly external_id: string | null;
  readonly name: string;
  readonly locale: string | null;
  readonly status: UserStatus;
  readonly role: Role;
  /** Whether the user is a guest: without any credential, until the first address, passkey or account at a provider. */
  readonly is_guest: boolean;
  /** Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role. */
  readonly role_active: boolean;
  /** An operator's lock, or null. A temporary lock that has ended is null. */
  readonly lock: OperatorLock | null;
  /** The active locks by wrong secrets, oldest first. Existing tokens and sessions keep working. */
  readonly guess_locks: readonly GuessLock[];
  readonly has_password: boolean;
  readonly has_pin: boolean;
  /** A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none. */
  readonly pin_recovery: PinRecovery | null;
  /** When logins of this user need a second factor: off (never), own (with an authenticator app), required (with an app or a passkey, which the login enrols if the user has none). null: SECOND_FACTOR_BY_ROLE or SECOND_FACTOR applies. */
  readonly second_factor: SecondFactorPolicy | null;
  /** The enrolled second factors, oldest first. */
  readonly second_factors: readonly SecondFactor[];
  /** Your own data: any JSON object of up to 16 KiB. */
  readonly metadata: Metadata;
  /** The roles that your app gives, in alphabetical order. They mean what your app says. Not the operators' role. */
  readonly roles: readonly string[];
  /** What other services may know of the user: any JSON object of up to 2 KiB. Checks of sessions show it to the app. */
  readonly claims: Claims;
  /** The last login on a device that is not removed. null: none. */
  readonly last_login_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type UserChange = {
  readonly username?: string | null | undefined;
  readonly email?: string | null | undefined;
  /** Whether the mail address is proven. The default for a new mail address is true. */
  readonly email_verified?: boolean | undefined;
  readonly phone?: string | null | undefined;
  /** Whether the phone number is proven. The default for a new phone number is true. */
  readonly phone_verified?: boolean | undefined;
  /** The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it. */
  readonly external_id?: string | null | undefined;
  readonly name?: string | undefined;
  /** BCP 47 tag, such as en or es-MX. */
  readonly locale?: string | null | undefined;
  /** Ends every login of the user. */
  readonly password?: string | null | undefined;
  /** With a password: whether it is for one use. A login with it asks for a new password. Passwords that an operator sets with a session are always for one use. */
  readonly must_change?: boolean | undefined;
  readonly pin?: string | null | undefined;
  /** deactivated ends every login of the user. */
  readonly status?: UserStatus | undefined;
  readonly role?: Role | undefined;
  /** When logins of this user need a second factor: off (never), own (with an authenticator app), required (with an app or a passkey, which the login enrols if the user has none). null: SECOND_FACTOR_BY_ROLE or SECOND_FACTOR applies. */
  readonly second_factor?: SecondFactorPolicy | null | undefined;
  /** Your own data: any JSON object of up to 16 KiB. */
  readonly metadata?: Metadata | undefined;
  /** All roles of the user from now on, or roles to add and to remove. At most 32. */
  readonly roles?: RolesChange | undefined;
  /** What other services may know of the user: any JSON object of up to 2 KiB. Checks of sessions show it to the app. */
  readonly claims?: Claims | undefined;
};

export type UserPreferenceChanges = SimulatedPreferences;

export type UserSession = {
  readonly id: string;
  readonly authentication_id: string;
  readonly device_id: string;
  readonly expires_at: string;
  readonly created_at: string;
};

export type UserStatus = 'active' | 'deactivated';

export type UserToImport = NewUser & {
  /** The id of the user. Existing references to it stay valid. */
  readonly id?: string | undefined;
  /** What the user has chosen about notifications, as in PATCH /v1/preferences. */
  readonly preferences?: UserPreferenceChanges | undefined;
  /** When the other system created the user. A time in the past. */
  readonly created_at?: string | undefined;
};

export type Webhook = {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  /** Only events that match this filter are delivered. Empty: all. */
  readonly filter: string;
  readonly description: string;
  readonly payload: WebhookPayload;
  readonly enabled: boolean;
  /** operator: by a request. gone: the endpoint answered 410. failing: five days without success. */
  readonly disabled_reason: WebhookDisabledReason | null;
  readonly disabled_at: string | null;
  /** Until then, deliveries are also signed with the previous secret. Null: there is none. */
  readonly previous_secret_until: string | null;
  /** Deliveries that wait, counted up to 1000. */
  readonly pending: number;
  readonly last_success_at: string | null;
  readonly last_failure_at: string | null;
  /** The first failure since the last success. */
  readonly failing_since: string | null;
  readonly last_error: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type WebhookChange = {
  /** An https URL with a public address. */
  readonly url?: string | undefined;
  /** Types of events, or patterns: `login.*` for all types of a group, `*` for all. */
  readonly events?: readonly string[] | undefined;
  readonly filter?: string | undefined;
  readonly description?: string | undefined;
  /** thin: ids and the names of changed fields. full: also the resource, as it is when the event is sent. */
  readonly payload?: WebhookPayload | undefined;
  /** true: deliver events from now on. Events from before can be replayed. */
  readonly enabled?: boolean | undefined;
};

export type WebhookDelivery = {
  readonly id: string;
  readonly endpoint_id: string;
  /** The header `webhook-id` of every attempt. */
  readonly event_id: string;
  readonly type: string;
  /** All zeros for an event that concerns no user. */
  readonly user_id: string;
  /** The number of the event among those of its user. */
  readonly sequence: number;
  /** pending: waits for its first or next attempt. failed: not retried any more. */
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  /** The HTTP status of the last attempt. */
  readonly status: number | null;
  /** The body. A full payload is shown without its resource, which is read for each attempt. Null: the event is no longer stored. */
  readonly request: string | null;
  /** The first 1024 bytes of the answer. */
  readonly answer: string | null;
  /** Why the last attempt failed. */
  readonly error: string | null;
  readonly duration_ms: number | null;
  readonly last_attempt_at: string | null;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
};

export type WebhookDisabledReason = 'operator' | 'gone' | 'failing';

export type WebhookPayload = 'thin' | 'full';

export type WebhookReplay = {
  readonly id: string;
  /** Events to replay, counted up to 1000, before the filter of the endpoint. */
  readonly events: number;
};

export type WebhookSecret = {
  /** The new secret of the signatures `v1`. Shown once. */
  readonly secret: string;
};

export type WebhookTest = {
  /** Whether the endpoint answered with a status from 200 to 299. */
  readonly ok: boolean;
  readonly status: number | null;
  /** The body. */
  readonly request: string;
  readonly answer: string | null;
  readonly error: string | null;
  readonly duration_ms: number;
};
