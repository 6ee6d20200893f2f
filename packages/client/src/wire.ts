// Generated from docs/openapi.json, src/contract/errors/ and src/contract/notification-fields.ts by `npm run generate`.

/** Every code of a problem, with its HTTP status. */
export interface ProblemStatuses {
  readonly malformed_request: 400;
  readonly https_required: 400;
  readonly malformed_json: 400;
  readonly authorization_rejected: 400;
  readonly proof_rejected: 400;
  readonly enrollment_link_rejected: 400;
  readonly setup_link_unknown: 400;
  readonly setup_link_used: 400;
  readonly setup_link_expired: 400;
  readonly code_rejected: 400;
  readonly external_identity_rejected: 400;
  readonly guest_rejected: 400;
  readonly account_unusable: 400;
  readonly invalid_authorization_header: 401;
  readonly missing_credentials: 401;
  readonly invalid_authentication_token: 401;
  readonly invalid_dpop_proof: 401;
  readonly use_dpop_nonce: 401;
  readonly invalid_session_token: 401;
  readonly invalid_api_key: 401;
  readonly no_active_token: 401;
  readonly account_locked: 403;
  readonly address_blocked: 403;
  readonly invalid_mail_event: 401;
  readonly invalid_receipt_signature: 403;
  readonly insufficient_scope: 403;
  readonly second_factor_required: 403;
  readonly role_not_active: 403;
  readonly role_required: 403;
  readonly cross_site_request: 403;
  readonly fresh_proof_required: 403;
  readonly session_required: 403;
  readonly read_only_session: 403;
  readonly not_for_support_logins: 403;
  readonly registration_off: 403;
  readonly not_found: 404;
  readonly method_not_allowed: 405;
  readonly request_timeout: 408;
  readonly identity_taken: 409;
  readonly external_identity_taken: 409;
  readonly last_way_in: 409;
  readonly has_role: 409;
  readonly support_login_ended: 409;
  readonly upgrade_in_progress: 409;
  readonly audience_exists: 409;
  readonly test_identity_exists: 409;
  readonly request_in_progress: 409;
  readonly category_built_in: 409;
  readonly precondition_failed: 412;
  readonly precondition_required: 428;
  readonly payload_too_large: 413;
  readonly unsupported_media_type: 415;
  readonly expectation_failed: 417;
  readonly backups_off: 409;
  readonly backup_running: 409;
  readonly message_not_failed: 409;
  readonly message_outdated: 409;
  readonly unknown_topic: 404;
  readonly too_many_topics: 409;
  readonly topic_in_use: 409;
  readonly publication_started: 409;
  readonly publication_state: 409;
  readonly too_many_webhooks: 409;
  readonly message_tried_too_often: 409;
  readonly unknown_audience: 422;
  readonly ttl_out_of_range: 422;
  readonly claims_too_large: 422;
  readonly human_check_required: 422;
  readonly provider_incomplete: 422;
  readonly redirect_not_allowed: 422;
  readonly validation_failed: 422;
  readonly too_many_marks: 422;
  readonly action_taken: 409;
  readonly notification_expired: 409;
  readonly idempotency_key_reused: 422;
  readonly invalid_image: 422;
  readonly too_many_images: 422;
  readonly account_temporarily_locked: 423;
  readonly too_many_requests: 429;
  readonly too_many_streams: 429;
  readonly headers_too_large: 431;
  readonly internal_error: 500;
  readonly overloaded: 503;
  readonly image_not_stored: 503;
  readonly authenticator_unavailable: 503;
  readonly secret_unreadable: 503;
  readonly storage_unavailable: 503;
  readonly shutting_down: 503;
}

/** How filters compare the values of each field of a notification. */
export interface NotificationFilterKinds {
  readonly id: 'id';
  readonly user_id: 'id';
  readonly sequence: 'integer';
  readonly actor_id: 'id';
  readonly actor: 'string';
  readonly notification_type: 'enum';
  readonly notification_key: 'key';
  readonly object_id: 'id';
  readonly object_data_number: 'number';
  readonly object_data_string: 'string';
  readonly description: 'string';
  readonly category: 'key';
  readonly created_at: 'time';
  readonly updated_at: 'time';
}

export type Account = {
  readonly id: string;
  readonly username: string | null;
  readonly email: string | null;
  /** Whether the mail address is proven: by a code, or because the operator vouches for it. Codes and notices go only to proven addresses. false without a mail address. */
  readonly email_verified: boolean;
  readonly phone: string | null;
  /** Whether the phone number is proven: by a code, or because the operator vouches for it. Codes and notices go only to proven addresses. false without a phone number. */
  readonly phone_verified: boolean;
  readonly name: string;
  readonly locale: string | null;
  readonly has_password: boolean;
  readonly has_pin: boolean;
  /** A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none. */
  readonly pin_recovery: PinRecovery | null;
  readonly role: Role;
  /** Whether the user is a guest: without any credential, until the first address, passkey or account at a provider. */
  readonly is_guest: boolean;
  /** Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role. */
  readonly role_active: boolean;
  /** What the role allows, as the scopes of API keys: operator has every scope, support has users:read, users:write and notifications:write. Only sessions whose login used a second factor can use them. Empty without an active role. */
  readonly capabilities: readonly Scope[];
  /** The enrolled second factors, oldest first. */
  readonly second_factors: readonly SecondFactor[];
  readonly created_at: string;
  readonly updated_at: string;
};

export type AccountDetails = Account & {
  /** Every way to re-authenticate, and the changes for which it is accepted now. */
  readonly proofs: readonly ProofOption[];
};

export type Act = {
  /** The id of the operator. */
  readonly sub: string;
  /** false: the operator may only read. Refuse everything else. */
  readonly write: boolean;
};

export type ActivityEntry = {
  readonly id: string;
  readonly type: string;
  /** What happened, in the language of Accept-Language. */
  readonly text: string;
  /** What the text names, for clients with texts of their own. */
  readonly params: ActivityParams;
  /** Who caused the event. */
  readonly by: 'user' | 'operator' | 'system';
  readonly device_id: string | null;
  /** The client's address, if the user caused the event. */
  readonly address: string | null;
  readonly created_at: string;
};

export type ActivityParams = {
  /** The changed fields, separated by a comma and a space. */
  readonly fields?: string | undefined;
  readonly field?: string | undefined;
  readonly recovers?: string | undefined;
  readonly provider?: string | undefined;
  /** The number of recovery codes that are left. */
  readonly left?: string | undefined;
};

export type Authentication = {
  readonly id: string;
  readonly device_id: string;
  readonly status: AuthenticationStatus;
  /** The authentication token, present once issued. Shown once. */
  readonly token?: string | undefined;
  /** The user. Present with the token. */
  readonly user_id?: string | undefined;
  /** Present and true with a token that is bound to `device.jwk`. */
  readonly is_bound?: boolean | undefined;
  /** Empty when there is no error. */
  readonly error_code: AuthenticationErrorCode;
  readonly error_message: string;
  /** The challenge for the next secret, by `type`: `totp`, `passkey` (with the WebAuthn request options), `oidc` (with the nonce), `code` (a code was sent to an address of the user, who must enrol a second factor), `enrol` (with `options`: the `totp` secret, and the `passkey` creation options) and `new_password`. Absent if step 1 sent a code. */
  readonly challenge?: Challenge | undefined;
  /** Where the code was sent, shortened as in `+15…67` or `a…@example.com`: the identity of the request, if it is an address of this channel, else null. Unknown identities get the same answer. */
  readonly destination?: string | null | undefined;
  /** When this identity may request the next code. Present if a code was sent. */
  readonly resend_at?: string | undefined;
  /** The recovery codes of a user who has enrolled a second factor in this login. Shown once. */
  readonly recovery_codes?: readonly string[] | undefined;
  /** When the login expires, or, after its approval, when its token expires. */
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
};

export type AuthenticationErrorCode = '' | 'invalid_credentials' | 'not_linked' | 'authorization_rejected';

export type AuthenticationMethod = 'pwd' | 'sms' | 'email' | 'otp' | 'hwk' | 'user' | 'fed' | 'mfa';

export type AuthenticationState = {
  readonly id: string;
  readonly status: AuthenticationStatus;
};

export type AuthenticationStatus = 'created' | 'pending' | 'approved' | 'rejected';

export type CellChoice = 'on' | 'off' | 'digest';

export type Challenge = {
  readonly type: string;
} & Readonly<Record<string, unknown>>;

export type Change = {
  readonly operation: 'create' | 'update' | 'delete';
  /** The number of the change. On a stream, it is the id of the event. */
  readonly change_sequence: number;
  readonly id: string;
  /** The notification's position in the inbox. */
  readonly sequence: number;
  readonly notification: Notification | null;
};

export type ChangedPassword = Account & {
  /** The new authentication token of the login that made this request. Shown once. The old token cannot get sessions any more. */
  readonly token: string;
  /** The new id of the login that made this request. */
  readonly authentication_id: string;
};

export type ChangedStates = InboxCounts & {
  /** Those `ids` that the user does not have. The others are changed. */
  readonly not_found: readonly string[];
};

export type Changes = {
  readonly changes: readonly Change[];
  /** The `after` of the next request. Opaque. */
  readonly after: string;
  /** Whether there are more changes: send the next request at once. */
  readonly has_more: boolean;
  /** Postern no longer knows which notifications were deleted since `after`: delete your copy and start without `after`. */
  readonly reset: boolean;
  /** A time for each notification type: older notifications are no longer stored. */
  readonly retained_from: Readonly<Record<string, unknown>>;
};

export type ChannelChoice = 'on' | 'off';

export type Claims = Readonly<Record<string, unknown>>;

export type DeliveryTrace = {
  readonly notification_id: string;
  readonly user_id: string;
  /** When it was added to the inbox. */
  readonly listed_at: string;
  /** Whether the user has read it. */
  readonly is_read: boolean;
  /** A summary in one sentence. */
  readonly explanation: string;
  /** One entry for each push, and for each device without a push. */
  readonly push: readonly PushAttempt[];
  /** The mail, if the category of the notification has one. */
  readonly email: readonly StepAttempt[];
  /** The SMS, if the category of the notification has one. */
  readonly sms: readonly StepAttempt[];
};

export type Device = UserDevice & {
  /** Whether it is the device of the current session. */
  readonly current: boolean;
};

export type DeviceDescription = {
  readonly make?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly os_name?: string | null | undefined;
  readonly os_version?: string | null | undefined;
  readonly sdk_version?: string | null | undefined;
  readonly screen_width?: ScreenSize | null | undefined;
  readonly screen_height?: ScreenSize | null | undefined;
};

export type DeviceInput = DeviceDescription & {
  /** If it is missing, Postern creates and returns one. */
  readonly id?: string | null | undefined;
  readonly apn_device_token?: string | null | undefined;
  readonly gcm_device_token?: string | null | undefined;
  /** A public key (JWK, RFC 7517) of this client: P-256 or Ed25519. It binds the token to the key: the token then works only with a DPoP proof (RFC 9449) that the key has signed. */
  readonly jwk?: PublicKey | undefined;
};

export type DeviceToken = {
  readonly type: PushTokenType;
  readonly device_id: string;
  readonly channel: PushChannel;
  /** Whether the operator has configured this channel. */
  readonly enabled: boolean;
};

export type ExternalIdentity = {
  readonly id: string;
  /** The name of the provider. The authenticator of a login is `oidc:` or `oauth:` and this name. */
  readonly provider: string;
  readonly issuer: string;
  /** The provider's id of the account: `sub` of its id_tokens. */
  readonly subject: string;
  /** The mail address that the provider last named, or null. It opens no account. */
  readonly email: string | null;
  readonly created_at: string;
};

export type FieldError = {
  readonly field?: string | undefined;
  readonly code: string;
  readonly message: string;
};

export type GuestOptions = {
  /** Whether `authenticator: "guest"` makes a user without credentials. */
  readonly is_on: boolean;
};

export type Identity = {
  readonly type: IdentityType;
  /** Used to look up the user. */
  readonly value: string;
};

export type IdentityType = 'email' | 'phone' | 'username';

export type Image = {
  readonly id: string;
  /** 640 x 360 pixels, cropped. For an external image, its own URL. */
  readonly url: string;
  /** The whole image within 2048 x 2048 pixels, not enlarged. For an external image, its own URL. */
  readonly full_screen_url: string;
  /** 160 x 160 pixels, cropped. For an external image, its own URL. */
  readonly thumbnail_url: string;
  readonly created_at: string;
  readonly updated_at: string;
};

export type InboxCounts = {
  /** Unread notifications after the last one that the user has seen. At most 100. */
  readonly unseen: number;
  /** Unread notifications, without archived, snoozed and expired ones. At most 100. */
  readonly unread: number;
  /** Whether there are more than `unread`. */
  readonly is_capped: boolean;
  /** The same for each category or notification type that has unread notifications, if `by` asks for it. */
  readonly by: Readonly<Record<string, NotificationTypeCounts>>;
};

export type InboxStates = {
  /** The notifications whose state was changed on its own. Any other notification is read if its sequence is at most `marker.last_read_sequence`, and archived if it is at most `archived_through`. */
  readonly states: readonly NotificationState[];
  readonly marker: Marker;
  /** The user has seen notifications up to this sequence. */
  readonly seen: number;
  /** Notifications up to this sequence are archived. */
  readonly archived_through: number;
  /** The `after` of the next request. Opaque. */
  readonly after: string;
  /** Whether there are more states: send the next request at once. */
  readonly has_more: boolean;
  /** Postern no longer knows what changed since `after`: delete your states and start without `after`. */
  readonly reset: boolean;
};

export type LoginOption = {
  /** Send it as `authenticator` to POST /v1/tokens. */
  readonly authenticator: string;
  /** 1: step 1 takes the secret. 2: step 1 sends a code or a challenge, and step 2 takes the answer. */
  readonly steps: number;
  /** The types of identity that step 1 takes. Empty: it takes none. */
  readonly identity_types: readonly IdentityType[];
  /** Whether a login with it checks the PIN. */
  readonly takes_pin: boolean;
  /** Only of a provider: its name for people, such as Google. */
  readonly title?: string | undefined;
  /** Only of a provider: whether a login can send the browser there, with `redirect_to` and `code_challenge`. */
  readonly takes_redirect?: boolean | undefined;
};

export type LoginOptions = {
  /** Every way to log in. */
  readonly logins: readonly LoginOption[];
  readonly pin: PinRules;
  readonly password: PasswordRules;
  readonly registration: RegistrationOptions;
  readonly guests: GuestOptions;
  readonly recovery: RecoveryOptions;
};

export type LogoutResult = {
  readonly ended: number;
};

export type Marker = {
  /** Notifications up to this sequence are read. 0: none. */
  readonly last_read_sequence: number;
  /** The number of later notifications, counted up to 100. */
  readonly unread_count: number;
  /** Whether there are more than `unread_count`. */
  readonly unread_count_capped: boolean;
  readonly updated_at: string | null;
};

export type MergedGuest = {
  /** The id of the guest, who no longer exists. */
  readonly id: string;
  /** How many notifications were moved. */
  readonly moved: number;
};

export type MessageChannel = 'sms' | 'email';

export type Mute = {
  readonly id: string;
  readonly filter: string;
  readonly created_at: string;
};

export type NewPasskey = {
  readonly id: string;
  /** WebAuthn creation options as JSON, for navigator.credentials.create(). */
  readonly options: Readonly<Record<string, unknown>>;
  readonly expires_at: string;
};

export type NewSession = {
  readonly id: string;
  /** The session token. Shown once. */
  readonly token: string;
  readonly user_id: string;
  readonly device_id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly updated_at: string;
};

export type NewTotp = {
  readonly id: string;
  /** Base32, to type into the app. */
  readonly secret: string;
  /** The secret as an otpauth URI, for a QR code. */
  readonly uri: string;
  readonly expires_at: string;
};

export type Notification = {
  readonly id: string;
  readonly user_id: string;
  /** The notification's position in the user's inbox. Gaps are normal. */
  readonly sequence: number;
  readonly actor_id: string | null;
  readonly actor: string | null;
  /** payment, pool or request, unless the operator allows more. */
  readonly notification_type: string;
  readonly notification_key: string | null;
  readonly object_id: string | null;
  readonly object_data_number: number | null;
  readonly object_data_string: string;
  readonly description: string;
  readonly image: Image | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly extra?: NotificationExtra | undefined;
};

export type NotificationAction = {
  readonly key: string;
  readonly label: string;
  readonly url?: string | null | undefined;
};

export type NotificationData = Readonly<Record<string, unknown>>;

export type NotificationExtra = {
  /** The notification type, unless the app has named a category. */
  readonly category: string;
  /** Values of the app, at most 8 KB as JSON. */
  readonly data: NotificationData | null;
  readonly url: string | null;
  readonly actions: readonly NotificationAction[];
  readonly expires_at: string | null;
  readonly state: NotificationItemState;
};

export type NotificationItemState = {
  readonly read: boolean;
  readonly archived: boolean;
  /** null: not snoozed now. */
  readonly snoozed_until: string | null;
  readonly action: TakenAction | null;
};

export type NotificationState = {
  readonly id: string;
  /** The notification's position in the inbox. */
  readonly sequence: number;
  readonly read: boolean;
  readonly archived: boolean;
  readonly snoozed_until: string | null;
  readonly action: TakenAction | null;
};

export type NotificationTypeCounts = {
  /** Unread notifications after the last one that the user has seen. At most 100. */
  readonly unseen: number;
  /** Unread notifications, without archived, snoozed and expired ones. At most 100. */
  readonly unread: number;
  /** Whether there are more than `unread`. */
  readonly is_capped: boolean;
};

export type OwnSupportLogin = {
  readonly id: string;
  /** pending: the user has not answered. allowed: the operator can get the token. active: the operator has it. refused, ended and expired: it can no longer be used. */
  readonly status: SupportLoginStatus;
  readonly reason: string;
  /** Whether it may change something. */
  readonly write: boolean;
  readonly created_at: string;
  /** While it is pending: the last moment for the answer. Then the end of the login. */
  readonly expires_at: string;
  /** When it was refused or ended before its time. */
  readonly ended_at: string | null;
};

export type OwnTopic = {
  readonly key: string;
  readonly title: string;
  /** Whether the user may join again after leaving. */
  readonly is_open: boolean;
  readonly is_subscribed: boolean;
  readonly subscribed_at: string | null;
  readonly created_at: string;
};

export type PageInfo = {
  readonly number: number;
  readonly limit: number;
  /** The number of items on all pages. With a filter, items are counted only up to 1000. */
  readonly total: number;
  readonly total_is_exact: boolean;
  /** Items may be missing; `next_cursor` continues the search. time: the search reached its time limit. index: the search is slow, because its index does not exist (yet). Absent: the page is complete. */
  readonly partial?: PartialReason | undefined;
  /** Send it as `cursor` to get the next page. null on the last page. */
  readonly next_cursor: string | null;
};

export type PartialReason = 'time' | 'index';

export type Passkey = {
  readonly id: string;
  readonly name: string;
  readonly transports: readonly string[];
  /** Whether it is synchronised between the user's devices. */
  readonly backed_up: boolean;
  readonly created_at: string;
  readonly last_used_at: string | null;
};

export type PasswordRules = {
  /** Of a new password, in characters. */
  readonly min_length: number;
  readonly max_length: number;
};

export type PinRecovery = {
  readonly started_at: string;
  readonly effective_at: string;
};

export type PinRules = {
  /** PIN_POLICY. */
  readonly policy: 'required' | 'optional' | 'off';
  readonly min_length: number;
  readonly max_length: number;
};

export type PreferenceAddressState = 'ok' | 'not_proven' | 'suppressed';

export type PreferenceAddresses = {
  readonly email?: PreferenceAddressState | undefined;
  readonly sms?: PreferenceAddressState | undefined;
};

export type PreferenceCategory = {
  readonly title: string;
  readonly description: string;
  /** Whether the category is critical, so that nobody can turn it off. */
  readonly is_locked: boolean;
  /** Whether its mails can come as a digest: `digest` for email. */
  readonly has_digest: boolean;
  readonly cells: PreferenceCells;
};

export type PreferenceCell = {
  /** digest: only for email, and only if the category has a digest. */
  readonly value: CellChoice;
  /** digest: only for email, and only if the category has a digest. */
  readonly default: CellChoice;
  /** Whether the user has chosen the value. Else it is the default. */
  readonly is_chosen: boolean;
  /** When it was chosen. Only for operators. */
  readonly chosen_at?: string | null | undefined;
};

export type PreferenceCells = {
  readonly inbox: PreferenceCell;
  readonly push: PreferenceCell;
  readonly email: PreferenceCell;
  readonly sms: PreferenceCell;
};

export type PreferenceChannelTimes = {
  readonly push: string | null;
  readonly email: string | null;
  readonly sms: string | null;
};

export type PreferenceChannels = {
  readonly push: ChannelChoice;
  readonly email: ChannelChoice;
  readonly sms: ChannelChoice;
};

export type PreferenceTopic = {
  readonly inbox?: ChannelChoice | undefined;
  readonly push?: ChannelChoice | undefined;
  /** digest: only for email, and only if the category has a digest. */
  readonly email?: CellChoice | undefined;
  readonly sms?: ChannelChoice | undefined;
};

export type Preferences = {
  /** A name of the IANA database. */
  readonly time_zone: string | null;
  /** When pushes, mails and SMS are held, on the wall clock of time_zone. They are sent when the quiet hours end, unless they are needless by then. Critical categories ignore it. */
  readonly quiet_hours: QuietHours | null;
  /** A channel that is off beats the categories, except critical ones. */
  readonly channels: PreferenceChannels;
  /** When each channel was chosen. Only for operators. */
  readonly channels_chosen_at?: PreferenceChannelTimes | undefined;
  /** What the user has chosen for topics, by key. It beats the category. */
  readonly topics: Readonly<Record<string, PreferenceTopic>>;
  /** The addresses that the user has, and whether they get messages. */
  readonly addresses: PreferenceAddresses;
  /** All categories, by name. */
  readonly categories: Readonly<Record<string, PreferenceCategory>>;
};

export type ProofOption = {
  readonly type: ProofType;
  /** The `type` to send to POST /v1/account/proofs first. null: the proof needs only a secret, and no such request. */
  readonly start: ProofStart | null;
  /** Only for `provider`: its name. */
  readonly provider?: string | undefined;
  /** For a code: a part of the address to which it goes, such as `+15…67`. null if the account has no such address, and for other proofs. */
  readonly destination: string | null;
  readonly accepted_for: readonly ('account' | 'pin')[];
  /** Why it is not accepted for any change. null: it is accepted. not_set: the account does not have it. not_offered: this service cannot send such codes. second_factor_required: the account has a second factor, so only totp and passkey are accepted. */
  readonly reason: ProofRefusal | null;
};

export type ProofRefusal = 'not_set' | 'not_offered' | 'second_factor_required';

export type ProofStart = 'sms' | 'email' | 'passkey' | 'provider';

export type ProofType = 'password' | 'code' | 'passkey' | 'totp' | 'pin' | 'provider';

export type PublicKey = {
  readonly kty: 'EC' | 'OKP';
  readonly crv: 'P-256' | 'Ed25519';
  readonly x: string;
  /** With P-256 only. */
  readonly y?: string | undefined;
};

export type PushAttempt = {
  readonly device_id: string;
  readonly channel: PushChannel | null;
  /** none: no push was made for this device. */
  readonly state: 'held' | 'queued' | 'muted' | 'sent' | 'failed' | 'gone' | 'expired' | 'dropped' | 'none';
  readonly reason: 'waiting' | 'channel_paused' | 'quiet_hours' | 'cap' | 'collapsed' | 'retrying' | 'accepted' | 'cleared' | 'muted' | 'preference_off' | 'no_step' | 'read' | 'notification_expired' | 'template_too_large' | 'category_deleted' | 'token_gone' | 'refused' | 'not_answering' | 'ttl' | 'expired' | 'notification_deleted' | 'logged_out' | 'account_locked' | 'account_deactivated' | 'no_token' | 'channel_off' | 'sandbox' | 'registered_later' | 'not_due' | 'already_delivered' | 'being_prepared' | 'not_reachable_then';
  /** The reason in words. */
  readonly explanation: string;
  /** The last error of the push service, if there was one. */
  readonly error: string | null;
  readonly attempts: number;
  /** When it is decided about again, if quiet hours hold it, or when its digest closes. */
  readonly held_until: string | null;
  readonly created_at: string | null;
  readonly updated_at: string | null;
};

export type PushChannel = 'apns' | 'fcm' | 'web_push';

export type PushKey = {
  /** The VAPID public key: `applicationServerKey` of pushManager.subscribe(). */
  readonly public_key: string;
};

export type PushTokenType = 'ios' | 'android' | 'web';

export type QuietHours = {
  readonly from: string;
  readonly until: string;
  readonly days?: readonly Weekday[] | undefined;
};

export type RecoverableSecret = 'password' | 'pin';

export type Recovered = {
  readonly id: string;
  readonly recovered: RecoverableSecret;
  /** A new PIN that takes effect at effective_at. Absent otherwise. */
  readonly status?: 'pending' | undefined;
  readonly effective_at?: string | undefined;
};

export type RecoveryCodes = {
  /** New codes. Each replaces the second factor in one login. Shown once. */
  readonly recovery_codes: readonly string[];
};

export type RecoveryOptions = {
  /** The addresses that a recovery code can be sent to. */
  readonly identity_types: readonly IdentityType[];
};

export type RegisteredPush = {
  readonly ios: boolean;
  readonly android: boolean;
  readonly web: boolean;
};

export type RegistrationOptions = {
  /** Whether people can create accounts themselves. */
  readonly is_on: boolean;
  /** The addresses that can register. */
  readonly identity_types: readonly IdentityType[];
};

export type Role = 'user' | 'support' | 'operator';

export type Scope = 'users:read' | 'users:write' | 'notifications:write' | 'notifications:configure' | 'notifications:broadcast' | 'sessions:verify' | 'webhooks:write' | 'clients:forward' | 'admin';

export type ScreenSize = ScreenSizeNumber | ScreenSizeString;

export type ScreenSizeNumber = number;

export type ScreenSizeString = string;

export type SecondFactor = {
  readonly type: SecondFactorType;
  readonly created_at: string;
};

export type SecondFactorType = 'totp' | 'passkey';

export type SentCode = {
  readonly id: string;
  /** When the code expires. */
  readonly expires_at: string;
  /** Where the code was sent, shortened as in `+15…67` or `a…@example.com`: the address of the request. */
  readonly destination: string;
  /** When this address may request the next code: by the same request again, which has another `id`. */
  readonly resend_at: string;
};

export type Session = {
  readonly id: string;
  readonly user_id: string;
  readonly device_id: string;
  readonly created_at: string;
  readonly expires_at: string;
  readonly updated_at: string;
  /** The roles that your app gives, in alphabetical order. They mean what your app says. Not the operators' role. */
  readonly roles: readonly string[];
  /** What other services may know of the user: any JSON object of up to 2 KiB. Checks of sessions show it to the app. */
  readonly claims: Claims;
  /** When the user logged in: the approval of the login of the session. The login of an app that came from the login of the pages has the time of that login. */
  readonly authenticated_at: string;
  /** How the login was made and proven: pwd (password), sms and email (a code), otp (code of an app, or recovery code), hwk (passkey), user (a passkey that verified its user), fed (account at a provider, or your own service), mfa (two factors). */
  readonly amr: readonly AuthenticationMethod[];
  /** The last re-authentication in this login (PUT /v1/account/session-proof). null: none. */
  readonly proven_at: string | null;
  /** Present if an operator uses the session instead of the user (support login). */
  readonly act?: Act | undefined;
};

export type StartedExternalIdentity = {
  readonly id: string;
  /** `type` oidc: the issuer, the client ids, and the nonce that the id_token must contain. `type` redirect: the `url` to which you send the browser. */
  readonly challenge: Readonly<Record<string, unknown>>;
  /** When the started link expires. */
  readonly expires_at: string;
};

export type StartedProof = {
  readonly id: string;
  /** The `type` of the proof to send. */
  readonly type: ProofType;
  /** For a passkey: the browser's request options. For a provider: the `url` to which you send the browser. */
  readonly challenge?: Readonly<Record<string, unknown>> | undefined;
  /** For a code: a part of the address to which it was sent, such as `+15…67` or `a…@example.com`. */
  readonly destination?: string | undefined;
  /** For a code: the time from which the next code can be requested. */
  readonly resend_at?: string | undefined;
  readonly expires_at: string;
};

export type StepAttempt = {
  readonly channel: MessageChannel;
  /** none: the step is not due yet. */
  readonly state: 'held' | 'digesting' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed' | 'skipped' | 'expired' | 'dropped' | 'none';
  readonly reason: StepReason;
  /** The reason in words. */
  readonly explanation: string;
  /** The last error of the provider, if there was one. */
  readonly error: string | null;
  readonly attempts: number;
  /** When it is decided about again, if quiet hours hold it, or when its digest closes. */
  readonly held_until: string | null;
  /** When the step was due. */
  readonly created_at: string | null;
  readonly updated_at: string | null;
};

export type StepReason = 'not_due' | 'waiting' | 'channel_paused' | 'quiet_hours' | 'digest' | 'cap' | 'retrying' | 'accepted' | 'delivered' | 'soft_bounce' | 'hard_bounce' | 'complaint' | 'undelivered' | 'read' | 'already_delivered' | 'no_address' | 'not_proven' | 'suppressed' | 'preference_off' | 'channel_off' | 'muted' | 'sandbox' | 'account_locked' | 'account_deactivated' | 'notification_expired' | 'ttl' | 'notification_deleted' | 'category_deleted' | 'template_too_large' | 'recipient_refused' | 'no_provider';

export type SupportLoginStatus = 'pending' | 'allowed' | 'active' | 'refused' | 'ended' | 'expired';

export type TakenAction = {
  readonly key: string;
  readonly acted_at: string;
};

export type UserDevice = {
  readonly id: string;
  readonly make: string | null;
  readonly model: string | null;
  readonly os_name: string | null;
  readonly os_version: string | null;
  readonly sdk_version: string | null;
  readonly screen_width: string | null;
  readonly screen_height: string | null;
  /** Which kinds of push token are registered. The tokens themselves are never shown. */
  readonly push: RegisteredPush;
  /** Whether the token of its newest login is bound to a key of the device. A copy of the token alone is useless. */
  readonly is_bound: boolean;
  /** When the last login on this device was approved. */
  readonly last_login_at: string;
  readonly created_at: string;
  readonly updated_at: string;
};

export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';
