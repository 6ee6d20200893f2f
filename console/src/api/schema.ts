// Generated from docs/openapi.json and src/contract/webhooks.ts by `npm run generate`.

/** The types of events of webhooks. */
export const webhookEventTypes = [
  'user.created',
  'user.updated',
  'user.deleted',
  'user.locked',
  'user.unlocked',
  'user.deactivated',
  'identity.verified',
  'login.approved',
  'login.rejected',
  'login.locked',
  'device.added',
  'device.removed',
  'token.ended',
  'credential.changed',
  'recovery.completed',
  'registration.completed',
  'guest.merged',
  'notification.created',
  'notification.updated',
  'notification.deleted',
  'notification.state_changed',
  'notification.action',
  'marker.moved',
  'delivery.sent',
  'delivery.delivered',
  'delivery.bounced',
  'delivery.complained',
  'delivery.failed',
  'delivery.expired',
  'preference.changed',
  'topic.created',
  'topic.updated',
  'topic.deleted',
  'topic.subscribed',
  'topic.unsubscribed',
  'publication.started',
  'publication.paused',
  'publication.resumed',
  'publication.done',
  'publication.cancelled',
  'publication.failed',
  'publication.recalled',
  'suppression.created',
  'suppression.deleted',
  'message.failed',
  'push.token_gone',
  'audit.sealed',
] as const;

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

export type AddressType = 'email' | 'phone';

export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly created_at: string;
};

export type ApiKeyPage = {
  readonly data: readonly ApiKey[];
  readonly page: PageInfo;
};

export type Audience = {
  readonly id: string;
  /** What access tokens for the service have in `aud`, such as the URL of its API. Unique. */
  readonly uri: string;
  readonly alg: SigningAlgorithm;
  /** How long access tokens last, in seconds. A request can ask for less. */
  readonly ttl: number;
  /** Whether access tokens have the `roles` of the user. */
  readonly roles: boolean;
  /** The names of the members of `claims` of the user that access tokens have. */
  readonly claims: readonly string[];
  /** Whether support logins may get access tokens for the service. */
  readonly support: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

export type AudienceChange = {
  /** What access tokens for the service have in `aud`, such as the URL of its API. Unique. */
  readonly uri?: string | undefined;
  /** How access tokens are signed. ES256 unless set. */
  readonly alg?: SigningAlgorithm | undefined;
  /** How long access tokens last, in seconds. A request can ask for less. */
  readonly ttl?: number | undefined;
  /** Whether access tokens have the `roles` of the user. */
  readonly roles?: boolean | undefined;
  /** The names of the members of `claims` of the user that access tokens have. */
  readonly claims?: readonly string[] | undefined;
  /** Whether support logins may get access tokens for the service. */
  readonly support?: boolean | undefined;
};

export type AudiencePage = {
  readonly data: readonly Audience[];
  readonly page: PageInfo;
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

export type AuditEventPage = {
  readonly data: readonly AuditEvent[];
  readonly page: PageInfo;
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

export type AuthenticationStatus = 'created' | 'pending' | 'approved' | 'rejected';

export type Backup = {
  readonly id: string;
  readonly started_at: string;
  /** null: it is being written, or it failed or was interrupted. */
  readonly finished_at: string | null;
  /** When a restored copy of it passed all checks. Postern verifies the backups that it makes in BACKUP_TO. */
  readonly verified_at: string | null;
  readonly is_scheduled: boolean;
  readonly location: string;
  readonly bytes: number | null;
  /** Why it failed. */
  readonly error: string | null;
};

export type BackupState = {
  readonly now: string;
  /** BACKUP_TO, where Postern makes backups by itself. null: it makes none. */
  readonly place: string | null;
  /** How Postern makes backups. files: a copy of the files of the embedded database. pg_dump: the program of PostgreSQL, with DATABASE_URL. */
  readonly method: 'files' | 'pg_dump';
  /** Why Postern can make no backups: pg_dump is missing or too old. null: it can. */
  readonly problem: string | null;
  /** BACKUP_SCHEDULE. */
  readonly schedule: string;
  /** BACKUP_KEEP. */
  readonly keep: number;
  /** Whether new backups are encrypted. */
  readonly is_encrypted: boolean;
  /** When the next scheduled backup is due. */
  readonly next_at: string | null;
  /** Whether a backup is being made or verified. */
  readonly is_running: boolean;
  /** The continuous archive of the write-ahead log (BACKUP_CONTINUOUS). null: there is none. */
  readonly archive: LogArchive | null;
  /** The last 50 backups that were not deleted, the newest first. */
  readonly backups: readonly Backup[];
};

export type Block = {
  readonly id: string;
  /** An address, or a range in CIDR notation. */
  readonly address: string;
  readonly reason: string | null;
  /** null: until it is deleted. */
  readonly ends_at: string | null;
  /** The API key or the operator, as in audit events. */
  readonly created_by: string;
  readonly created_at: string;
};

export type BlockPage = {
  readonly data: readonly Block[];
  readonly page: PageInfo;
};

export type BulkAction = 'lock' | 'unlock' | 'logout' | 'deactivate' | 'activate' | 'delete' | 'export';

export type BulkOutcome = 'done' | 'unchanged' | 'failed' | 'valid';

export type BulkRequest = {
  readonly action: BulkAction;
  /** The users, by their ids or external ids. */
  readonly ids?: readonly string[] | undefined;
  readonly search?: string | undefined;
  /** Selects users, as in GET /admin/v1/users. `search` and `filter` can be combined. */
  readonly filter?: string | undefined;
  /** Required with the action lock, refused with other actions. */
  readonly lock?: LockRequest | undefined;
  /** Check every user, but change nothing. */
  readonly dry_run?: boolean | undefined;
};

export type BulkResult = {
  /** The id of the user. If nobody has the external id: what the request has sent. */
  readonly id?: string | undefined;
  /** What the request has sent, if it named the user by an external id (`external:…`). */
  readonly reference?: string | undefined;
  /** unchanged: the user was in this state already. valid: the user would be changed (dry_run). */
  readonly result?: BulkOutcome | undefined;
  /** With logout: the number of tokens that the action ended. */
  readonly ended?: number | undefined;
  /** With export: the user. */
  readonly user?: User | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  /** The last line has only this, and status and code if it ended early. */
  readonly summary?: BulkSummary | undefined;
  /** The status of the error that ended the action early. */
  readonly status?: number | undefined;
  /** The code of this error. */
  readonly code?: string | undefined;
};

export type BulkSummary = {
  readonly done: number;
  readonly unchanged: number;
  readonly failed: number;
  /** With dry_run: users that the action would change. */
  readonly valid: number;
  /** false: the action ended early. `code` says why. */
  readonly complete: boolean;
};

export type CapOverflow = 'drop' | 'digest';

export type Category = {
  readonly name: string;
  readonly title: Readonly<Record<string, string>>;
  readonly description: Readonly<Record<string, string>>;
  readonly is_critical: boolean;
  readonly steps: readonly CategoryStepShown[];
  readonly defaults: CategoryDefaultsShown;
  /** The most notifications that reach a user by each channel in a time. Critical categories ignore it. null: no limit. */
  readonly cap: CategoryCap | null;
  /** The mails of users who have chosen digest, together in one. every: 15m to 7d after the first one, or daily 09:00 or weekly mon 09:00 on the wall clock of the user. null: none. */
  readonly digest: CategoryDigest | null;
  readonly ttl: string | null;
  /** A JSON Schema. */
  readonly data_schema: DataSchema | null;
  readonly templates: Readonly<Record<string, MessageTemplate>>;
};

export type CategoryCap = {
  readonly count: number;
  readonly per: string;
  readonly overflow: CapOverflow;
};

export type CategoryCapInput = {
  readonly count: number;
  readonly per: string;
  /** The default is drop. */
  readonly overflow?: CapOverflow | undefined;
};

export type CategoryChanges = {
  readonly created: readonly string[];
  readonly changed: readonly ChangedCategory[];
  readonly deleted: readonly string[];
};

export type CategoryChannelChoices = Readonly<Record<string, unknown>>;

export type CategoryDefaults = {
  readonly inbox?: ChannelChoice | undefined;
  readonly push?: ChannelChoice | undefined;
  /** digest: only for email, and only if the category has a digest. */
  readonly email?: CellChoice | undefined;
  readonly sms?: ChannelChoice | undefined;
};

export type CategoryDefaultsShown = {
  readonly inbox: ChannelChoice;
  readonly push: ChannelChoice;
  /** digest: only for email, and only if the category has a digest. */
  readonly email: CellChoice;
  readonly sms: ChannelChoice;
};

export type CategoryDigest = {
  readonly every: string;
  readonly max_items: number;
};

export type CategoryDigestInput = {
  readonly every: string;
  /** The default is 20. */
  readonly max_items?: number | undefined;
};

export type CategoryInput = {
  /** If it is present, the name of the path. */
  readonly name?: string | undefined;
  /** What users see. The names are locales, such as en or es-MX. Without a text: the name of the category. */
  readonly title?: Readonly<Record<string, string>> | undefined;
  /** What users see below the title. The names are locales, such as en or es-MX. Without a text: the name of the category. */
  readonly description?: Readonly<Record<string, string>> | undefined;
  /** Whether mutes and defaults do not apply, such as for warnings about an account. */
  readonly is_critical?: boolean | undefined;
  /** The default is one push at once. */
  readonly steps?: readonly CategoryStep[] | undefined;
  /** For users who have not chosen. The default is on. With inbox off, notifications count as read and archived, and no tab shows them. */
  readonly defaults?: CategoryDefaults | undefined;
  /** The most notifications that reach a user by each channel in a time. Critical categories ignore it. null: no limit. */
  readonly cap?: CategoryCapInput | null | undefined;
  /** The mails of users who have chosen digest, together in one. every: 15m to 7d after the first one, or daily 09:00 or weekly mon 09:00 on the wall clock of the user. null: none. */
  readonly digest?: CategoryDigestInput | null | undefined;
  /** How long a step may be late, such as 72h. null: PUSH_TTL for pushes, and 72h for mails and SMS. */
  readonly ttl?: string | null | undefined;
  /** A JSON Schema for the `data` of notifications, at most 16 KB. */
  readonly data_schema?: DataSchema | null | undefined;
  /** The texts of the channels. A name is a channel, a dot and a locale: push.en, email.es-MX. */
  readonly templates?: Readonly<Record<string, MessageTemplate>> | undefined;
};

export type CategoryStep = {
  readonly channel: StepChannel;
  /** When the step is due, counted from the publication. Steps are in the order of this time. */
  readonly after?: string | undefined;
  /** always, which is the default; unread: the user has not read the notification; undelivered: no earlier step was sent. */
  readonly if?: StepCondition | undefined;
};

export type CategoryStepShown = {
  readonly channel: StepChannel;
  readonly after: string;
  readonly if: StepCondition;
};

export type CellChoice = 'on' | 'off' | 'digest';

export type Challenge = {
  readonly type: string;
} & Readonly<Record<string, unknown>>;

export type ChangedCategory = {
  readonly name: string;
  readonly members: readonly string[];
};

export type ChannelChanges = Readonly<Record<string, unknown>>;

export type ChannelChoice = 'on' | 'off';

export type Claims = Readonly<Record<string, unknown>>;

export type ConsoleEntry = {
  /** APP_NAME of this installation. */
  readonly app_name: string;
  /** Whether a login with a password can have a PIN, by PIN_POLICY. */
  readonly takes_pin: boolean;
  /** NOTIFICATION_TYPES of this installation. */
  readonly notification_types: readonly string[];
  /** The device on which this browser last signed in. Send it as `device.id` of the login, so that the login counts as one on a known device. */
  readonly device_id: string | null;
};

export type DataSchema = Readonly<Record<string, unknown>>;

export type DatabaseState = {
  readonly version: string;
  /** Its growth is in the statistics: the metric database.size. */
  readonly bytes: number;
  readonly connections: number;
  readonly max_connections: number;
  /** The ten largest tables, with their indexes. */
  readonly tables: readonly TableSize[];
};

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

export type Disk = {
  readonly used_for: 'data' | 'images' | 'backups' | 'log_archive';
  /** The size of the disk. */
  readonly bytes: number;
  readonly free_bytes: number;
  /** Less than 10 % and less than 5 GB are free: make space. */
  readonly is_nearly_full: boolean;
};

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

export type EffectiveSetting = {
  readonly group: string;
  readonly name: string;
  /** The effective text. null if it is not set or not shown. URLs are cut after the host. */
  readonly value: string | null;
  /** Whether it was set. If not, `value` is the default. */
  readonly is_set: boolean;
  /** Whether it has a value that is not shown, because it contains a secret. */
  readonly is_hidden: boolean;
};

export type EnrollmentLink = {
  /** The id of the link in audit events. */
  readonly id: string;
  /** The link, which the user opens in a browser. Other clients send the part after `#` as `enrollment_secret` when they enrol a factor or activate the role. */
  readonly url: string;
  /** The part of the link after `#`, for other clients. Shown once. Valid for one enrolment. */
  readonly secret: string;
  readonly expires_at: string;
};

export type EnrollmentRequest = {
  /** Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted. */
  readonly proof: Proof;
  /** For users with a role: the secret of a link that an operator created. The enrolment activates the role. */
  readonly enrollment_secret?: string | undefined;
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

export type ExternalIdentityLink = {
  readonly provider: string;
  readonly subject: string;
  /** The id of the tenant of the account (`tid`). Required for a provider of any tenant, such as Microsoft with the issuer of `common`: there each tenant has its own issuer. */
  readonly tenant?: string | undefined;
};

export type FieldError = {
  readonly field?: string | undefined;
  readonly code: string;
  readonly message: string;
};

export type Finding = {
  /** fail: the service cannot work like this. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly what: string;
  readonly detail: string;
};

export type GuessLock = {
  /** The known device whose logins are locked. null: all devices on which the user has never logged in. */
  readonly device_id: string | null;
  readonly since: string;
  /** null: until an operator unlocks the user. */
  readonly until: string | null;
  readonly permanent: boolean;
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

export type Instance = {
  readonly id: string;
  readonly host: string;
  readonly process_id: number;
  /** The number of the worker; null for a single process. */
  readonly worker: number | null;
  readonly version: string;
  /** The version of Node.js. */
  readonly node: string;
  /** Open notification streams when it was last seen. */
  readonly streams: number;
  /** Whether this process sent the answer. */
  readonly is_self: boolean;
  /** It was not seen for 90 seconds: it was killed, or does not reach the database. Listed for a day. */
  readonly is_lost: boolean;
  readonly started_at: string;
  readonly seen_at: string;
};

export type IssuedApiKey = ApiKey & {
  /** The key itself. Shown once. */
  readonly token: string;
};

export type IssuedSetUpLink = {
  /** The role of the new user. */
  readonly role: SetUpRole;
  /** The link, which the person opens in a browser. Shown once. Valid for one user. */
  readonly url: string;
  readonly expires_at: string;
};

export type IssuedSupportLogin = SupportLogin & {
  /** The authentication token of the login. Shown once. */
  readonly token?: string | undefined;
};

export type IssuedTestIdentity = TestIdentity & {
  /** The fixed code. Only this response shows it. */
  readonly code: string;
};

export type IssuedWebhook = Webhook & {
  /** The secret of the signatures `v1`. Shown once. */
  readonly secret: string;
};

export type LabelStatistics = {
  readonly label: string;
  readonly total: number;
  /** In the order of `buckets`. */
  readonly values: readonly number[];
};

export type LockRequest = {
  readonly permanent?: boolean | undefined;
  /** End of a temporary lock, a time in the future. */
  readonly until?: string | undefined;
  readonly reason?: string | undefined;
};

export type LogArchive = {
  readonly location: string;
  readonly started_at: string;
  /** Everything that was committed before this time is in the archive. Written once a minute. */
  readonly archived_at: string;
  /** Why nothing is added to it at the moment. */
  readonly error: string | null;
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

export type LoginProvider = {
  /** The name in OIDC_PROVIDERS. */
  readonly name: string;
  /** The authenticator of its logins: `oidc:` or `oauth:` and the name. */
  readonly authenticator: string;
  /** The name for people. */
  readonly title: string;
  readonly issuer: string;
  /** The address to add to your app at the provider. null without PUBLIC_URL. */
  readonly redirect_uri: string | null;
  /** Whether an account that no user has linked makes a user. */
  readonly sign_up: boolean;
  /** works: the last login that reached the provider worked. fails: after the last login that worked, a problem with `is_fault` happened. unused: no login has been tried. incomplete: `missing` says what to configure. */
  readonly state: LoginProviderState;
  /** What to configure so that people can log in by redirect. */
  readonly missing: readonly LoginProviderGap[];
  /** When a login at the provider last succeeded. null: never. */
  readonly worked_at: string | null;
  /** The last problem of each kind, the newest first. */
  readonly problems: readonly ProviderProblem[];
};

export type LoginProviderGap = {
  readonly code: LoginProviderGapCode;
  readonly message: string;
};

export type LoginProviderGapCode = 'public_url' | 'client_id' | 'redirect_uris' | 'login_methods';

export type LoginProviderState = 'works' | 'fails' | 'unused' | 'incomplete';

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

export type LogoutRequest = {
  /** true: end the calling login too. */
  readonly all?: boolean | undefined;
};

export type LogoutResult = {
  readonly ended: number;
};

export type MessageChannel = 'sms' | 'email';

export type MessagePreview = {
  /** The name of the template; null: there is none for this language, and the notification is shown as it is. */
  readonly template: string | null;
  readonly subject: string | null;
  readonly title: string | null;
  readonly text: string;
  readonly html: string | null;
  /** What is allowed, and probably not what is meant. */
  readonly warnings: readonly PreviewWarning[];
};

export type MessagePreviewRequest = {
  readonly channel: StepChannel;
  readonly locale?: string | undefined;
  readonly notification: PreviewedNotification;
};

export type MessageProvider = {
  readonly channel: 'sms' | 'email' | 'push';
  /** For SMS and mail, the name in the settings. For push: `apns`, `fcm` or `web_push`. */
  readonly name: string;
  /** Whether it reports which messages have arrived. Some providers of SMS and mail do, if they are configured. */
  readonly has_receipts: boolean;
  /** Since when a process has counted it as failing: after three failures in a row, or, for SMS, a refusal because of its rate limit. Null: it works, or was not used yet. */
  readonly failing_since: string | null;
  /** Why it fails. Null while it works. */
  readonly last_error: string | null;
};

export type MessageTemplate = {
  readonly subject?: string | undefined;
  readonly title?: string | undefined;
  readonly text: string;
  readonly html?: string | undefined;
};

export type Metadata = Readonly<Record<string, unknown>>;

export type MetricStatistics = {
  readonly metric: 'logins.approved' | 'logins.failed' | 'locks' | 'devices.new' | 'sessions.created' | 'sessions.verified' | 'messages.sent' | 'messages.failed' | 'messages.expired' | 'messages.delivered' | 'messages.undelivered' | 'mail.events' | 'pushes.sent' | 'pushes.failed' | 'pushes.gone' | 'pushes.expired' | 'pushes.dropped' | 'pushes.held' | 'steps.held' | 'steps.digesting' | 'steps.sent' | 'steps.delivered' | 'steps.bounced' | 'steps.complained' | 'steps.failed' | 'steps.skipped' | 'steps.expired' | 'steps.dropped' | 'deliveries.sent' | 'deliveries.delivered' | 'deliveries.bounced' | 'deliveries.complained' | 'deliveries.failed' | 'deliveries.skipped' | 'deliveries.expired' | 'deliveries.dropped' | 'deliveries.held' | 'deliveries.digesting' | 'webhooks.delivered' | 'webhooks.failed' | 'notifications.published' | 'notifications.pushed' | 'streams.open' | 'queue.jobs' | 'queue.latency' | 'database.size' | 'queue.age';
  /** counter: events in the bucket. average: the average over the bucket. maximum: the highest value in the bucket. mean: the mean of the events in the bucket. */
  readonly kind: 'counter' | 'average' | 'maximum' | 'mean';
  /** The value over the whole time. */
  readonly total: number;
  /** The values of all labels together, in the order of `buckets`. Empty buckets are 0. */
  readonly values: readonly number[];
  /** The values of each label that occurred. Empty for a metric without labels. */
  readonly labels: readonly LabelStatistics[];
};

export type NewApiKey = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** A time in the future. */
  readonly expires_at?: string | undefined;
};

export type NewAudience = {
  /** What access tokens for the service have in `aud`, such as the URL of its API. Unique. */
  readonly uri: string;
  /** How access tokens are signed. ES256 unless set. */
  readonly alg?: SigningAlgorithm | undefined;
  /** How long access tokens last, in seconds. A request can ask for less. */
  readonly ttl?: number | undefined;
  /** Whether access tokens have the `roles` of the user. */
  readonly roles?: boolean | undefined;
  /** The names of the members of `claims` of the user that access tokens have. */
  readonly claims?: readonly string[] | undefined;
  /** Whether support logins may get access tokens for the service. */
  readonly support?: boolean | undefined;
};

export type NewBlock = {
  /** An IPv4 or IPv6 address, or a range in CIDR notation. Bits after the prefix become zero. IPv4-mapped IPv6 becomes IPv4. */
  readonly address: string;
  readonly reason?: string | null | undefined;
  /** A time in the future. null or absent: until it is deleted. */
  readonly ends_at?: string | null | undefined;
  /** Allows a range that contains the address of this request. Without it, such a range is refused (own_address). */
  readonly allow_own?: boolean | undefined;
};

export type NewNotification = PublishedNotification & {
  /** The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user. */
  readonly user_id: string;
};

export type NewNotificationAction = {
  readonly key: string;
  readonly label: string;
  /** What opens when the user opens the notification: an https URL, or one of a private scheme with a dot. */
  readonly url?: string | null | undefined;
};

export type NewPasskey = {
  readonly id: string;
  /** WebAuthn creation options as JSON, for navigator.credentials.create(). */
  readonly options: Readonly<Record<string, unknown>>;
  readonly expires_at: string;
};

export type NewPublication = {
  /** Exactly one of the members. users and everyone need the scope notifications:broadcast. To count the users of a filter in a dry run also needs users:read. */
  readonly to: PublicationTarget;
  readonly notification: PublishedNotification;
  /** When it starts: RFC 3339 with Z or an offset, at most 366 days ahead. Absent: now. */
  readonly send_at?: string | null | undefined;
  /** Recipients a second. Absent: as fast as other requests allow. */
  readonly rate?: number | null | undefined;
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

export type NewSetUpLinkRequest = {
  /** The role of the new user. */
  readonly role: SetUpRole;
};

export type NewSupportLogin = {
  /** Why. The user and the audit log see it. */
  readonly reason: string;
  /** Whether the login may change something. false unless set: it only reads. */
  readonly write?: boolean | undefined;
};

export type NewTestAddress = {
  readonly type: AddressType;
  /** A phone number or a mail address. */
  readonly value: string;
};

export type NewTestIdentity = {
  readonly identity: NewTestAddress;
  /** Six digits. If it is missing, Postern creates one. */
  readonly code?: string | undefined;
  /** A time in the future, at most 90 days from now. */
  readonly expires_at: string;
};

export type NewTotp = {
  readonly id: string;
  /** Base32, to type into the app. */
  readonly secret: string;
  /** The secret as an otpauth URI, for a QR code. */
  readonly uri: string;
  readonly expires_at: string;
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

export type NotificationInput = PublishedNotification & {
  /** The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user. */
  readonly user_id?: string | undefined;
  /** Instead of user_id. */
  readonly user_ids?: readonly string[] | undefined;
};

export type NotificationItemState = {
  readonly read: boolean;
  readonly archived: boolean;
  /** null: not snoozed now. */
  readonly snoozed_until: string | null;
  readonly action: TakenAction | null;
};

export type NotificationPage = {
  readonly data: readonly Notification[];
  readonly page: PageInfo;
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

export type OutboxMessagePage = {
  readonly data: readonly OutboxMessage[];
  readonly page: PageInfo;
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

export type PasskeyAnswer = {
  /** The browser's RegistrationResponseJSON for these options. */
  readonly response: Readonly<Record<string, unknown>>;
};

export type PasskeyRequest = {
  /** Required, unless the user is a guest (`is_guest`). */
  readonly proof?: Proof | undefined;
  /** For users with a role: the secret of a link that an operator created. The enrolment activates the role. */
  readonly enrollment_secret?: string | undefined;
  readonly name?: string | undefined;
};

export type PasswordCodeRequest = {
  /** How to send the code. */
  readonly channel: MessageChannel;
};

export type PinRecovery = {
  readonly started_at: string;
  readonly effective_at: string;
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

export type PreviewWarning = {
  readonly code: 'inbox_off_unread';
  readonly message: string;
};

export type PreviewedNotification = {
  readonly actor?: string | null | undefined;
  readonly description: string;
  readonly url?: string | null | undefined;
  /** Values of the app, at most 8 KB as JSON. */
  readonly data?: NotificationData | null | undefined;
};

export type Problem = {
  /** `urn:postern:problem:` and the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly request_id: string;
  readonly errors: readonly FieldError[];
};

export type Proof = {
  readonly type: ProofType;
  /** For a code, a passkey or a provider: the `id` that POST /v1/account/proofs returned. */
  readonly id?: string | undefined;
  /** The password, the code, the PIN, or a passkey's assertion as JSON text. For a provider: JSON as a text, with the `code` that the browser brought back and your `code_verifier`. */
  readonly secret: string;
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

export type ProofRequest = {
  /** sms and email send a code to the account's own phone or mail address. passkey returns a challenge. provider sends the browser to a provider, where the user logs in again. */
  readonly type: ProofStart;
  /** For `provider`: the name of the provider. An account there must be linked to the user. */
  readonly provider?: string | undefined;
  /** For a login or a link at a provider by redirect: where the browser returns to. It must be one of REDIRECT_URIS, as the same text. */
  readonly redirect_to?: string | undefined;
  /** By redirect: base64url of the SHA-256 of a random text of 43 to 128 characters (S256 of PKCE, RFC 7636). That text ends the login or the link as `code_verifier`. */
  readonly code_challenge?: string | undefined;
};

export type ProofStart = 'sms' | 'email' | 'passkey' | 'provider';

export type ProofType = 'password' | 'code' | 'passkey' | 'totp' | 'pin' | 'provider';

export type ProvenRequest = {
  /** Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted. */
  readonly proof: Proof;
};

export type ProviderProblem = {
  readonly code: ProviderProblemCode;
  /** True: the cause is the provider or the configuration, so other logins fail too. False: the problem concerns one login. */
  readonly is_fault: boolean;
  /** What happened, in the language of Accept-Language. */
  readonly message: string;
  /** What to do, in the language of Accept-Language. */
  readonly remedy: string;
  /** What is known about it. Never a secret. */
  readonly detail: string | null;
  /** The setting that may be wrong. */
  readonly setting: string | null;
  readonly happened_at: string;
};

export type ProviderProblemCode = 'provider_unreachable' | 'metadata_invalid' | 'access_denied' | 'redirect_uri_rejected' | 'scope_rejected' | 'provider_error' | 'login_expired' | 'other_browser' | 'unknown_state' | 'redirect_not_allowed' | 'client_rejected' | 'code_rejected' | 'token_invalid' | 'tenant_not_listed' | 'login_too_old' | 'acr_missing' | 'account_unreadable' | 'not_linked';

export type ProviderStep = 'start' | 'login' | 'return' | 'exchange' | 'account';

export type ProviderTest = {
  readonly id: string;
  readonly state: ProviderTestState;
  /** The step that is next, or at which it failed. start: the provider says where its pages are. login: you log in there. return: the browser comes back. exchange: the provider exchanges its code. account: the account is read. */
  readonly step: ProviderStep;
  readonly problem: ProviderTestProblem | null;
  /** What the provider said. null until the test has passed. */
  readonly account: ProviderTestAccount | null;
  /** What a login with this account would do now. null until the test has passed. */
  readonly outcome: ProviderTestOutcome | null;
  /** The user who has linked the account. */
  readonly user_id: string | null;
  readonly expires_at: string;
};

export type ProviderTestAccount = {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  /** Whether the provider runs the mailbox, so that no code of ours has to prove the address. */
  readonly runs_mailbox: boolean;
};

export type ProviderTestOutcome = 'logs_in' | 'creates_user' | 'asks_for_code' | 'asks_for_link' | 'not_linked';

export type ProviderTestProblem = ProviderProblem;

export type ProviderTestState = 'waiting' | 'passed' | 'failed';

export type PublicKey = {
  readonly kty: 'EC' | 'OKP';
  readonly crv: 'P-256' | 'Ed25519';
  readonly x: string;
  /** With P-256 only. */
  readonly y?: string | undefined;
};

export type Publication = {
  readonly id: string;
  readonly status: PublicationStatus;
  /** topic, users or everyone as the request had it. For a list of users: count, the number of different users. users is null for a key without the scopes notifications:broadcast and users:read. */
  readonly to: StoredPublicationTarget;
  /** The notification as the request had it. */
  readonly notification: StoredPublishedNotification;
  readonly send_at: string | null;
  readonly rate: number | null;
  /** Null before the start, then an estimate. At the end: created and skipped together. */
  readonly recipients: number | null;
  /** Notifications that were created. */
  readonly created: number;
  /** Users who were deleted or deactivated meanwhile. */
  readonly skipped: number;
  /** Why it failed. Before its end: why its last step failed, which is repeated. */
  readonly error_code: string | null;
  readonly recall: PublicationRecall | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
};

export type PublicationChange = {
  /** Exactly one of the members. users and everyone need the scope notifications:broadcast. To count the users of a filter in a dry run also needs users:read. */
  readonly to?: PublicationTarget | undefined;
  readonly notification?: PublishedNotification | undefined;
  /** When it starts: RFC 3339 with Z or an offset, at most 366 days ahead. Absent: now. */
  readonly send_at?: string | null | undefined;
  /** Recipients a second. Absent: as fast as other requests allow. */
  readonly rate?: number | null | undefined;
};

export type PublicationEstimate = {
  /** Exact up to 100,000 if the count is quick, otherwise an estimate. */
  readonly recipients: number;
};

export type PublicationPage = {
  readonly data: readonly Publication[];
  readonly page: PageInfo;
};

export type PublicationRecall = {
  /** Notifications that are deleted so far. */
  readonly removed: number;
  readonly finished_at: string | null;
};

export type PublicationStatus = 'scheduled' | 'running' | 'paused' | 'done' | 'cancelled' | 'failed';

export type PublicationTarget = {
  /** The subscribers of this topic. */
  readonly topic?: string | undefined;
  /** These users. Who is named twice gets one notification. */
  readonly user_ids?: readonly string[] | undefined;
  /** The users that match this filter, as in lists of users. */
  readonly users?: string | undefined;
  /** true: all users who are not deactivated. */
  readonly everyone?: boolean | undefined;
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

export type PushCounts = {
  readonly apns: number;
  readonly fcm: number;
  readonly web_push: number;
  readonly muted: number;
};

export type QueueState = {
  /** Jobs that could run now, counted up to 10,000. */
  readonly due: number;
  /** For how long the oldest of these has been due. */
  readonly oldest_seconds: number;
  /** Jobs that failed and wait for their next attempt, counted up to 10,000. */
  readonly retrying: number;
};

export type QuietHours = {
  readonly from: string;
  readonly until: string;
  readonly days?: readonly Weekday[] | undefined;
};

export type QuietHoursChange = Readonly<Record<string, unknown>>;

export type RecordedProof = {
  readonly proven_at: string;
  /** The session counts as re-authenticated until this time. */
  readonly expires_at: string;
  /** The token of a new session, which replaces the calling one and expires at the same time. Use it from now on: the old token is valid until the new one is first used, for 60 seconds at most. */
  readonly token: string;
};

export type RecoveryCodes = {
  /** New codes. Each replaces the second factor in one login. Shown once. */
  readonly recovery_codes: readonly string[];
};

export type RegisteredPush = {
  readonly ios: boolean;
  readonly android: boolean;
  readonly web: boolean;
};

export type Role = 'user' | 'support' | 'operator';

export type RoleActivation = {
  readonly enrollment_secret: string;
  /** Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted. */
  readonly proof: Proof;
};

export type RolesChange = RolesChangeArray | RolesChangeObject;

export type RolesChangeArray = readonly string[];

export type RolesChangeObject = {
  /** Roles that the user gets. */
  readonly add?: readonly string[] | undefined;
  /** Roles that the user loses. */
  readonly remove?: readonly string[] | undefined;
};

export type SavedAudience = Audience & {
  /** A warning: users whose roles and claims do not fit into a token for this audience, so they would get 422 `claims_too_large`. At most 10, of the 10,000 users that were changed last. */
  readonly too_large_for: readonly string[];
};

export type Scope = 'users:read' | 'users:write' | 'notifications:write' | 'notifications:configure' | 'notifications:broadcast' | 'sessions:verify' | 'webhooks:write' | 'clients:forward' | 'admin';

export type ScreenSize = ScreenSizeNumber | ScreenSizeString;

export type ScreenSizeNumber = number;

export type ScreenSizeString = string;

export type SecondFactor = {
  readonly type: SecondFactorType;
  readonly created_at: string;
};

export type SecondFactorPolicy = 'off' | 'own' | 'required';

export type SecondFactorType = 'totp' | 'passkey';

export type SecretRequest = {
  /** The answer to the challenge: the code from the message or the app, an assertion or a new passkey as JSON text, an id_token, or a new password. */
  readonly secret: string;
  /** 4 to 12 digits. Required with PIN_POLICY=required, unless the login uses passkey or oidc, or this is the second factor. If the user has a PIN, it must be correct. If not, any PIN of this form is accepted. */
  readonly pin?: string | undefined;
  /** The solution of the challenge in a problem `human_check_required`: base64 of the JSON text `{"algorithm", "challenge", "number", "salt", "signature"}`. */
  readonly human_check?: string | undefined;
};

export type SentPasswordCode = {
  readonly channel: MessageChannel;
  /** A part of the address, such as `+15…67` or `a…@example.com`. */
  readonly destination: string;
};

export type SetUpRole = 'support' | 'operator';

export type SigningAlgorithm = 'ES256' | 'RS256';

export type SigningKey = {
  /** The id of the key, as in the header of tokens and in `/.well-known/jwks.json`. */
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  /** next: published, and signs after a rotation. planned: signs from `signs_since` on. current: signs. former: signs no more, and stays published until its last token has expired. */
  readonly state: SigningKeyState;
  readonly created_at: string;
  /** null: a rotation has not planned it yet. */
  readonly signs_since: string | null;
};

export type SigningKeyState = 'next' | 'planned' | 'current' | 'former';

export type SimulatedAddress = 'ok' | 'not_proven' | 'suppressed' | 'none';

export type SimulatedDevice = 'ok' | 'none';

export type SimulatedEvent = {
  /** When it is published, not before now. */
  readonly at: string;
  /** The `data` of the notification. */
  readonly data?: NotificationData | null | undefined;
  /** When the user reads it. */
  readonly read_at?: string | null | undefined;
};

export type SimulatedOutcome = 'held' | 'digesting' | 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed' | 'skipped' | 'expired' | 'dropped';

export type SimulatedPerson = {
  readonly is_active?: boolean | undefined;
  readonly is_locked?: boolean | undefined;
  readonly push?: SimulatedDevice | undefined;
  readonly email?: SimulatedAddress | undefined;
  readonly sms?: SimulatedAddress | undefined;
};

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

export type SimulatedReason = 'not_due' | 'waiting' | 'channel_paused' | 'quiet_hours' | 'digest' | 'cap' | 'retrying' | 'accepted' | 'delivered' | 'soft_bounce' | 'hard_bounce' | 'complaint' | 'undelivered' | 'read' | 'already_delivered' | 'no_address' | 'not_proven' | 'suppressed' | 'preference_off' | 'channel_off' | 'muted' | 'sandbox' | 'account_locked' | 'account_deactivated' | 'notification_expired' | 'ttl' | 'notification_deleted' | 'category_deleted' | 'template_too_large' | 'recipient_refused' | 'no_provider' | 'collapsed';

export type SimulatedStep = {
  readonly at: string;
  /** The place of the event in the request, from 0. Of several: of the newest. */
  readonly event: number;
  readonly channel: StepChannel;
  /** As in the delivery status, with the exact reason. */
  readonly outcome: SimulatedOutcome;
  readonly reason?: SimulatedReason | undefined;
  /** When it is decided about again, or when its digest closes. */
  readonly held_until?: string | undefined;
  /** The places of all its events, if there are several. */
  readonly events?: readonly number[] | undefined;
};

export type Simulation = {
  /** In the order of time. */
  readonly timeline: readonly SimulatedStep[];
};

export type SimulationRequest = {
  /** When it begins: RFC 3339 with Z or an offset. */
  readonly now: string;
  /** The user. Absent members: active, not locked, with every proven address and one device. */
  readonly person?: SimulatedPerson | undefined;
  /** What the user has chosen, as for PATCH of preferences. The events belong to no topic, so choices for topics change nothing. */
  readonly preferences?: SimulatedPreferences | undefined;
  readonly events: readonly SimulatedEvent[];
};

export type SmsUsage = {
  /** The first six digits of the numbers. */
  readonly prefix: string;
  /** ISO 3166-1 alpha-2, if known. */
  readonly country: string | null;
  /** Codes that a provider has accepted. */
  readonly sent: number;
  /** How many of these were entered. */
  readonly used: number;
  /** Until when no code goes to the prefix, because fewer than one in ten of the last 100 was used. */
  readonly paused_until: string | null;
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

export type StartedProviderTest = {
  readonly id: string;
  /** Open it in a browser: it leads to the provider and back. */
  readonly url: string;
  readonly expires_at: string;
};

export type Statistics = {
  /** The start of the first bucket. */
  readonly from: string;
  /** The end of the last bucket. */
  readonly to: string;
  /** The time of the answer. A bucket that ends later is incomplete. */
  readonly now: string;
  readonly step: StatisticsStep;
  /** The start of each bucket, in UTC. */
  readonly buckets: readonly string[];
  readonly metrics: readonly MetricStatistics[];
};

export type StatisticsStep = '1m' | '5m' | '15m' | '1h' | '6h' | '1d';

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

export type StepChannel = 'push' | 'email' | 'sms';

export type StepCondition = 'always' | 'unread' | 'undelivered';

export type StepReason = 'not_due' | 'waiting' | 'channel_paused' | 'quiet_hours' | 'digest' | 'cap' | 'retrying' | 'accepted' | 'delivered' | 'soft_bounce' | 'hard_bounce' | 'complaint' | 'undelivered' | 'read' | 'already_delivered' | 'no_address' | 'not_proven' | 'suppressed' | 'preference_off' | 'channel_off' | 'muted' | 'sandbox' | 'account_locked' | 'account_deactivated' | 'notification_expired' | 'ttl' | 'notification_deleted' | 'category_deleted' | 'template_too_large' | 'recipient_refused' | 'no_provider';

export type StoredPublicationTarget = Readonly<Record<string, unknown>>;

export type StoredPublishedNotification = Readonly<Record<string, unknown>>;

export type SubscriptionLine = {
  /** The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user. */
  readonly user_id: string;
  /** true: the user is subscribed no longer. */
  readonly remove?: boolean | undefined;
};

export type SubscriptionResult = {
  readonly line?: number | undefined;
  /** 200: it is as the line says, also if it was before. Otherwise as for one request. */
  readonly status: number;
  readonly errors?: readonly FieldError[] | undefined;
  /** The code of the error that ended the response early. */
  readonly code?: string | undefined;
  /** With code: lines up to this number are committed, later lines are not. */
  readonly committed_lines?: number | undefined;
};

export type SupportLogin = OwnSupportLogin & {
  /** The operator who asked for it. */
  readonly operator_id: string;
  /** The name of the operator. null: the operator was deleted. */
  readonly operator_name: string | null;
};

export type SupportLoginPage = {
  readonly data: readonly SupportLogin[];
  readonly page: PageInfo;
};

export type SupportLoginStatus = 'pending' | 'allowed' | 'active' | 'refused' | 'ended' | 'expired';

export type SuppressedAddress = {
  readonly email: string;
};

export type Suppression = {
  readonly id: string;
  /** hard_bounce: the mailbox does not exist. complaint: its owner has reported a mail as spam. soft_bounces: 5 mails within 14 days did not arrive. manual: an operator has added it. */
  readonly reason: 'hard_bounce' | 'complaint' | 'soft_bounces' | 'manual';
  readonly created_at: string;
};

export type SuppressionPage = {
  readonly data: readonly Suppression[];
  readonly page: PageInfo;
};

export type System = {
  /** The version of the process that answers. */
  readonly version: string;
  readonly now: string;
  /** Processes on this database, workers included, the oldest first. */
  readonly instances: readonly Instance[];
  readonly queue: QueueState;
  /** The configured providers: those of SMS in their order, then mail, then push. */
  readonly providers: readonly MessageProvider[];
  /** Codes by SMS of the last 24 hours: the 20 prefixes with most codes. Paused prefixes come first. */
  readonly sms_codes: readonly SmsUsage[];
  readonly database: DatabaseState;
  /** The disks to which the process that answers writes. Several may be the same disk. Buckets and the disks of your own PostgreSQL are not listed. */
  readonly disks: readonly Disk[];
  /** The newest first. A migration without a time is pending. */
  readonly migrations: readonly SystemMigration[];
  /** The last 20 backups, the newest first. */
  readonly backups: readonly Backup[];
  readonly settings: readonly EffectiveSetting[];
  /** The findings of `postern doctor`. Those that need attention come first. */
  readonly findings: readonly Finding[];
};

export type SystemMigration = {
  readonly name: string;
  readonly applied_at: string | null;
};

export type TableSize = {
  readonly name: string;
  readonly bytes: number;
  /** An estimate. */
  readonly rows: number;
};

export type TakenAction = {
  readonly key: string;
  readonly acted_at: string;
};

export type TestAddress = {
  readonly type: AddressType;
  readonly value: string;
};

export type TestIdentity = {
  readonly id: string;
  readonly identity: TestAddress;
  /** The user who logs in with it. null: no user has the address, or it moved to another user since the creation. */
  readonly user_id: string | null;
  /** When the test identity stops working. */
  readonly expires_at: string;
  /** The API key or the operator, as in audit events. */
  readonly created_by: string;
  readonly created_at: string;
};

export type TestIdentityPage = {
  readonly data: readonly TestIdentity[];
  readonly page: PageInfo;
};

export type TokenRequest = {
  /** Required, unless the authenticator identifies the user itself (passkey, oidc). */
  readonly identity?: Identity | undefined;
  /** password, sms, or another authenticator of this installation. With GUESTS=on, guest makes a user without credentials. With PAGES=on, page sends the browser to the sign-in page of Postern, by redirect. */
  readonly authenticator: string;
  /** Required by single-step authenticators, ignored by two-step authenticators. */
  readonly secret?: string | undefined;
  readonly device: DeviceInput;
  /** 4 to 12 digits. */
  readonly pin?: string | undefined;
  /** true: if nobody has this address, the right code makes an account with it. For sms and email, with an address of that kind. Needs REGISTRATION=on. The answer does not show whether there is an account. */
  readonly sign_up?: boolean | undefined;
  /** The solution of the challenge in a problem `human_check_required`: base64 of the JSON text `{"algorithm", "challenge", "number", "salt", "signature"}`. */
  readonly human_check?: string | undefined;
  /** For a login by mail, with LOGIN_LINK=on: the page that the link in the mail opens, with `#<id>.<code>`. It must be one of REDIRECT_URIS, as the same text. Without it, the link opens a page of Postern that shows the code. */
  readonly link_to?: string | undefined;
  /** For a login or a link at a provider by redirect: where the browser returns to. It must be one of REDIRECT_URIS, as the same text. */
  readonly redirect_to?: string | undefined;
  /** By redirect: base64url of the SHA-256 of a random text of 43 to 128 characters (S256 of PKCE, RFC 7636). That text ends the login or the link as `code_verifier`. */
  readonly code_challenge?: string | undefined;
  /** For a login by redirect: the account that the provider should propose, such as a mail address. */
  readonly login_hint?: string | undefined;
  /** For a login with `page`: the user has to sign in again, although this browser has a login of the pages. */
  readonly prompt?: 'login' | undefined;
  /** For a login with `page`: if the login of the pages is older than this number of seconds, the user has to sign in again. */
  readonly max_age?: number | undefined;
};

export type Topic = {
  readonly key: string;
  readonly title: string;
  /** Whether users may join by themselves. */
  readonly is_open: boolean;
  readonly created_at: string;
  readonly updated_at: string;
};

export type TopicChannelChoices = Readonly<Record<string, unknown>>;

export type TopicInput = {
  readonly title: string;
  /** Whether users may join by themselves. */
  readonly is_open?: boolean | undefined;
};

export type TopicPage = {
  readonly data: readonly Topic[];
  readonly page: PageInfo;
};

export type TotpConfirmation = {
  /** The code that the app shows. */
  readonly secret: string;
};

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

export type UserActivityPage = {
  readonly data: readonly AuditEvent[];
  readonly page: PageInfo;
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

export type UserDevicePage = {
  readonly data: readonly UserDevice[];
  readonly page: PageInfo;
};

export type UserPage = {
  readonly data: readonly User[];
  readonly page: PageInfo;
};

export type UserPreferenceChanges = SimulatedPreferences;

export type UserSearch = {
  /** A part of a name, user name, mail address or phone number, in upper or lower case. Or the id of a user or of a device, or a whole external_id, or the subject or mail address of a linked account at a provider. A full mail address or phone number that a user has finds this user alone. At most 320 characters. */
  readonly search?: string | undefined;
  /** Page number, from 1. */
  readonly page?: number | undefined;
  /** Items per page. */
  readonly limit?: number | undefined;
  /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
  readonly sort?: string | undefined;
  /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
  readonly filter?: string | undefined;
  /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
  readonly since?: string | undefined;
  /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
  readonly cursor?: string | undefined;
};

export type UserSession = {
  readonly id: string;
  readonly authentication_id: string;
  readonly device_id: string;
  readonly expires_at: string;
  readonly created_at: string;
};

export type UserSessionPage = {
  readonly data: readonly UserSession[];
  readonly page: PageInfo;
};

export type UserStatus = 'active' | 'deactivated';

export type UserToken = {
  readonly id: string;
  readonly device_id: string;
  readonly authenticator: string;
  readonly status: AuthenticationStatus;
  /** Whether its token is active. */
  readonly active: boolean;
  /** Whether its token is bound to a key of the client. */
  readonly is_bound: boolean;
  /** When its token created its first session. */
  readonly first_used_at: string | null;
  /** When its token was deleted or superseded. */
  readonly ended_at: string | null;
  readonly expires_at: string;
  readonly created_at: string;
  readonly updated_at: string;
};

export type UserTokenPage = {
  readonly data: readonly UserToken[];
  readonly page: PageInfo;
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

export type WebhookDeliveryPage = {
  readonly data: readonly WebhookDelivery[];
  readonly page: PageInfo;
};

export type WebhookDisabledReason = 'operator' | 'gone' | 'failing';

export type WebhookPage = {
  readonly data: readonly Webhook[];
  readonly page: PageInfo;
};

export type WebhookPayload = 'thin' | 'full';

export type WebhookReplay = {
  readonly id: string;
  /** Events to replay, counted up to 1000, before the filter of the endpoint. */
  readonly events: number;
};

export type WebhookReplayRequest = {
  /** Events from this time on. */
  readonly from?: string | undefined;
  /** Events before this time. The default is now. */
  readonly to?: string | undefined;
  /** The events of these deliveries, instead of a time. */
  readonly delivery_ids?: readonly string[] | undefined;
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

export type WebhookTestRequest = {
  /** The example of this type is sent. `user.created` if absent. */
  readonly type?: 'user.created' | 'user.updated' | 'user.deleted' | 'user.locked' | 'user.unlocked' | 'user.deactivated' | 'identity.verified' | 'login.approved' | 'login.rejected' | 'login.locked' | 'device.added' | 'device.removed' | 'token.ended' | 'credential.changed' | 'recovery.completed' | 'registration.completed' | 'guest.merged' | 'notification.created' | 'notification.updated' | 'notification.deleted' | 'notification.state_changed' | 'notification.action' | 'marker.moved' | 'delivery.sent' | 'delivery.delivered' | 'delivery.bounced' | 'delivery.complained' | 'delivery.failed' | 'delivery.expired' | 'preference.changed' | 'topic.created' | 'topic.updated' | 'topic.deleted' | 'topic.subscribed' | 'topic.unsubscribed' | 'publication.started' | 'publication.paused' | 'publication.resumed' | 'publication.done' | 'publication.cancelled' | 'publication.failed' | 'publication.recalled' | 'suppression.created' | 'suppression.deleted' | 'message.failed' | 'push.token_gone' | 'audit.sealed' | undefined;
};

export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

export type CreateTokenData = {
  readonly url: '/v1/tokens';
  readonly body: TokenRequest;
};

export type CreateTokenResponse = Authentication;

export type AnswerTokenData = {
  readonly url: '/v1/tokens/{id}/secret';
  readonly path: {
    /** The id of the authentication. */
    readonly id: string;
  };
  readonly body: SecretRequest;
};

export type AnswerTokenResponse = Authentication;

export type CreateSessionData = {
  readonly url: '/v1/sessions';
  readonly body?: never;
};

export type CreateSessionResponse = NewSession;

export type CreateAudienceData = {
  readonly url: '/admin/v1/audiences';
  readonly body: NewAudience;
};

export type GetAudiencePageData = {
  readonly url: '/admin/v1/audiences/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetAudiencePageResponse = AudiencePage;

export type ChangeAudienceData = {
  readonly url: '/admin/v1/audiences/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body: AudienceChange;
};

export type DeleteAudienceData = {
  readonly url: '/admin/v1/audiences/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type ListSigningKeysData = {
  readonly url: '/admin/v1/signing-keys';
  readonly body?: never;
};

export type GetAccountData = {
  readonly url: '/v1/account';
  readonly body?: never;
};

export type GetAccountResponse = AccountDetails;

export type LogOutEverywhereData = {
  readonly url: '/v1/account/logout-everywhere';
  readonly body?: LogoutRequest;
};

export type LogOutEverywhereResponse = LogoutResult;

export type StartProofData = {
  readonly url: '/v1/account/proofs';
  readonly body: ProofRequest;
};

export type StartProofResponse = StartedProof;

export type PutSessionProofData = {
  readonly url: '/v1/account/session-proof';
  readonly body: ProvenRequest;
};

export type PutSessionProofResponse = RecordedProof;

export type ActivateRoleData = {
  readonly url: '/v1/account/role';
  readonly body: RoleActivation;
};

export type StartTotpData = {
  readonly url: '/v1/account/totp';
  readonly body: EnrollmentRequest;
};

export type StartTotpResponse = NewTotp;

export type ConfirmTotpData = {
  readonly url: '/v1/account/totp/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body: TotpConfirmation;
};

export type ConfirmTotpResponse = RecoveryCodes;

export type StartPasskeyData = {
  readonly url: '/v1/account/passkeys';
  readonly body: PasskeyRequest;
};

export type StartPasskeyResponse = NewPasskey;

export type CreatePasskeyData = {
  readonly url: '/v1/account/passkeys/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body: PasskeyAnswer;
};

export type TraceUserNotificationData = {
  readonly url: '/admin/v1/notifications/{id}/deliveries';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type CreateUserData = {
  readonly url: '/admin/v1/users';
  readonly body: NewUser;
};

export type CreateUserResponse = User;

export type GetUserPageData = {
  readonly url: '/admin/v1/users/page';
  readonly query?: {
    /** A part of a name, user name, mail address or phone number, in upper or lower case. Or the id of a user or of a device, or a whole external_id, or the subject or mail address of a linked account at a provider. A full mail address or phone number that a user has finds this user alone. At most 320 characters. */
    readonly search?: string | undefined;
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetUserPageResponse = UserPage;

export type FindUsersData = {
  readonly url: '/admin/v1/users/find';
  readonly body?: UserSearch;
};

export type FindUsersResponse = UserPage;

export type GetUserData = {
  readonly url: '/admin/v1/users/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type ChangeUserData = {
  readonly url: '/admin/v1/users/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body: UserChange;
};

export type DeleteUserData = {
  readonly url: '/admin/v1/users/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type LockUserData = {
  readonly url: '/admin/v1/users/{id}/lock';
  readonly path: {
    readonly id: string;
  };
  readonly body: LockRequest;
};

export type UnlockUserData = {
  readonly url: '/admin/v1/users/{id}/unlock';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type LogoutUserData = {
  readonly url: '/admin/v1/users/{id}/logout';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type LogoutUserResponse = LogoutResult;

export type DiagnoseUserLoginData = {
  readonly url: '/admin/v1/users/{id}/login-diagnosis';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** The device of the login. Without it: a device on which the user never logged in. */
    readonly device_id?: string | undefined;
    /** The IP address of the client, to include the limits of its network. */
    readonly address?: string | undefined;
  };
  readonly body?: never;
};

export type DiagnoseLoginData = {
  readonly url: '/admin/v1/login-diagnosis';
  readonly body: LoginDiagnosisRequest;
};

export type GetUserDevicePageData = {
  readonly url: '/admin/v1/users/{id}/devices/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** updated_at or created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetUserDevicePageResponse = UserDevicePage;

export type GetUserTokenPageData = {
  readonly url: '/admin/v1/users/{id}/tokens/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetUserTokenPageResponse = UserTokenPage;

export type GetUserSessionPageData = {
  readonly url: '/admin/v1/users/{id}/sessions/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or expires_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetUserSessionPageResponse = UserSessionPage;

export type GetUserActivityPageData = {
  readonly url: '/admin/v1/users/{id}/activity/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetUserActivityPageResponse = UserActivityPage;

export type DeleteUserDeviceData = {
  readonly url: '/admin/v1/users/{id}/devices/{device_id}';
  readonly path: {
    readonly id: string;
    /** The id of the device. */
    readonly device_id: string;
  };
  readonly body?: never;
};

export type DeleteUserSecondFactorsData = {
  readonly url: '/admin/v1/users/{id}/second-factors';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type SendPasswordCodeData = {
  readonly url: '/admin/v1/users/{id}/password-codes';
  readonly path: {
    readonly id: string;
  };
  readonly body: PasswordCodeRequest;
};

export type CancelUserPinRecoveryData = {
  readonly url: '/admin/v1/users/{id}/pin-recovery';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type CreateEnrollmentLinkData = {
  readonly url: '/admin/v1/users/{id}/enrollment-links';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type CreateSupportLoginData = {
  readonly url: '/admin/v1/users/{id}/support-logins';
  readonly path: {
    readonly id: string;
  };
  readonly body: NewSupportLogin;
};

export type GetUserSupportLoginPageData = {
  readonly url: '/admin/v1/users/{id}/support-logins/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetUserSupportLoginPageResponse = SupportLoginPage;

export type GetUserSupportLoginData = {
  readonly url: '/admin/v1/users/{id}/support-logins/{login_id}';
  readonly path: {
    readonly id: string;
    /** The id of the support login. */
    readonly login_id: string;
  };
  readonly body?: never;
};

export type EndUserSupportLoginData = {
  readonly url: '/admin/v1/users/{id}/support-logins/{login_id}';
  readonly path: {
    readonly id: string;
    /** The id of the support login. */
    readonly login_id: string;
  };
  readonly body?: never;
};

export type CreateSetUpLinkData = {
  readonly url: '/admin/v1/set-up-links';
  readonly body: NewSetUpLinkRequest;
};

export type ListUserExternalIdentitiesData = {
  readonly url: '/admin/v1/users/{id}/external-identities';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type LinkUserExternalIdentityData = {
  readonly url: '/admin/v1/users/{id}/external-identities';
  readonly path: {
    readonly id: string;
  };
  readonly body: ExternalIdentityLink;
};

export type UnlinkUserExternalIdentityData = {
  readonly url: '/admin/v1/users/{id}/external-identities/{external_identity_id}';
  readonly path: {
    readonly id: string;
    /** The id of the link. */
    readonly external_identity_id: string;
  };
  readonly body?: never;
};

export type ListLoginProvidersData = {
  readonly url: '/admin/v1/login-providers';
  readonly body?: never;
};

export type StartLoginProviderTestData = {
  readonly url: '/admin/v1/login-providers/{name}/tests';
  readonly path: {
    /** The name of the provider in OIDC_PROVIDERS. */
    readonly name: string;
  };
  readonly body?: never;
};

export type GetLoginProviderTestData = {
  readonly url: '/admin/v1/login-providers/{name}/tests/{id}';
  readonly path: {
    /** The name of the provider in OIDC_PROVIDERS. */
    readonly name: string;
    /** The id of the test. */
    readonly id: string;
  };
  readonly body?: never;
};

export type PublishNotificationData = {
  readonly url: '/admin/v1/notifications';
  readonly body: NewNotification;
};

export type PublishNotificationsData = {
  readonly url: '/admin/v1/notifications/batch';
  readonly body: readonly NotificationInput[];
};

export type PublishNotificationsResponse = readonly Notification[];

export type TryNotificationsData = {
  readonly url: '/admin/v1/notifications/dry-run';
  readonly body: readonly NotificationInput[];
};

export type DeleteNotificationData = {
  readonly url: '/admin/v1/notifications/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type GetUserNotificationPageData = {
  readonly url: '/admin/v1/users/{id}/notifications/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
    /** extra: each notification has the member `extra`, with its state and what the app has added. */
    readonly include?: 'extra' | undefined;
    /** Only with `include=extra`. inbox: neither archived, snoozed nor expired. archived. snoozed: snoozed now, and not archived. */
    readonly view?: 'inbox' | 'archived' | 'snoozed' | undefined;
  };
  readonly body?: never;
};

export type GetUserNotificationPageResponse = NotificationPage;

export type GetUserPreferencesData = {
  readonly url: '/admin/v1/users/{id}/preferences';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type ChangeUserPreferencesData = {
  readonly url: '/admin/v1/users/{id}/preferences';
  readonly path: {
    readonly id: string;
  };
  readonly body: UserPreferenceChanges;
};

export type GetOutboxPageData = {
  readonly url: '/admin/v1/outbox/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetOutboxPageResponse = OutboxMessagePage;

export type RetryMessageData = {
  readonly url: '/admin/v1/outbox/{id}/retry';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type RetryMessageResponse = OutboxMessage;

export type CreateSuppressionData = {
  readonly url: '/admin/v1/suppressions';
  readonly body: SuppressedAddress;
};

export type GetSuppressionPageData = {
  readonly url: '/admin/v1/suppressions/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetSuppressionPageResponse = SuppressionPage;

export type FindSuppressionData = {
  readonly url: '/admin/v1/suppressions/find';
  readonly body: SuppressedAddress;
};

export type DeleteSuppressionData = {
  readonly url: '/admin/v1/suppressions/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type GetEventPageData = {
  readonly url: '/admin/v1/events/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetEventPageResponse = AuditEventPage;

export type GetStatisticsData = {
  readonly url: '/admin/v1/stats';
  readonly query: {
    /** One or more metrics, joined by a comma: logins.approved, logins.failed, locks, devices.new, sessions.created, sessions.verified, messages.sent, messages.failed, messages.expired, messages.delivered, messages.undelivered, mail.events, pushes.sent, pushes.failed, pushes.gone, pushes.expired, pushes.dropped, pushes.held, steps.held, steps.digesting, steps.sent, steps.delivered, steps.bounced, steps.complained, steps.failed, steps.skipped, steps.expired, steps.dropped, deliveries.sent, deliveries.delivered, deliveries.bounced, deliveries.complained, deliveries.failed, deliveries.skipped, deliveries.expired, deliveries.dropped, deliveries.held, deliveries.digesting, webhooks.delivered, webhooks.failed, notifications.published, notifications.pushed, streams.open, queue.jobs, queue.latency, database.size, queue.age. */
    readonly metric: string;
    /** Where the first bucket starts, rounded down to the step: YYYY-MM-DD HH:MM:SS or RFC 3339. The default is a day before `to`. */
    readonly from?: string | undefined;
    /** Where the last bucket ends, rounded up to the step. The default is now. */
    readonly to?: string | undefined;
    /** The length of a bucket. Steps under an hour reach back 2 days, steps under a day 90 days. An answer has at most 1500 buckets. The default is the shortest step with at most 300 buckets. */
    readonly step?: StatisticsStep | undefined;
  };
  readonly body?: never;
};

export type GetStatisticsResponse = Statistics;

export type GetSystemData = {
  readonly url: '/admin/v1/system';
  readonly body?: never;
};

export type GetSystemResponse = System;

export type GetBackupsData = {
  readonly url: '/admin/v1/backups';
  readonly body?: never;
};

export type GetBackupsResponse = BackupState;

export type StartBackupData = {
  readonly url: '/admin/v1/backups';
  readonly body?: never;
};

export type StartBackupResponse = BackupState;

export type VerifyBackupData = {
  readonly url: '/admin/v1/backups/{id}/verify';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type VerifyBackupResponse = BackupState;

export type CreateKeyData = {
  readonly url: '/admin/v1/keys';
  readonly body: NewApiKey;
};

export type GetKeyPageData = {
  readonly url: '/admin/v1/keys/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetKeyPageResponse = ApiKeyPage;

export type RevokeKeyData = {
  readonly url: '/admin/v1/keys/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type CreateWebhookData = {
  readonly url: '/admin/v1/webhooks';
  readonly body: NewWebhook;
};

export type GetWebhookPageData = {
  readonly url: '/admin/v1/webhooks/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetWebhookPageResponse = WebhookPage;

export type GetWebhookData = {
  readonly url: '/admin/v1/webhooks/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type ChangeWebhookData = {
  readonly url: '/admin/v1/webhooks/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body: WebhookChange;
};

export type DeleteWebhookData = {
  readonly url: '/admin/v1/webhooks/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type TestWebhookData = {
  readonly url: '/admin/v1/webhooks/{id}/test';
  readonly path: {
    readonly id: string;
  };
  readonly body?: WebhookTestRequest;
};

export type RotateWebhookSecretData = {
  readonly url: '/admin/v1/webhooks/{id}/rotate-secret';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type RotateWebhookSecretResponse = WebhookSecret;

export type GetWebhookDeliveryPageData = {
  readonly url: '/admin/v1/webhooks/{id}/deliveries/page';
  readonly path: {
    readonly id: string;
  };
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetWebhookDeliveryPageResponse = WebhookDeliveryPage;

export type ReplayWebhookData = {
  readonly url: '/admin/v1/webhooks/{id}/replay';
  readonly path: {
    readonly id: string;
  };
  readonly body: WebhookReplayRequest;
};

export type GetCategoryData = {
  readonly url: '/admin/v1/categories/{name}';
  readonly path: {
    readonly name: string;
  };
  readonly body?: never;
};

export type PutCategoryData = {
  readonly url: '/admin/v1/categories/{name}';
  readonly path: {
    readonly name: string;
  };
  readonly body: CategoryInput;
};

export type DeleteCategoryData = {
  readonly url: '/admin/v1/categories/{name}';
  readonly path: {
    readonly name: string;
  };
  readonly body?: never;
};

export type PreviewCategoryData = {
  readonly url: '/admin/v1/categories/{name}/preview';
  readonly path: {
    readonly name: string;
  };
  readonly body: MessagePreviewRequest;
};

export type SimulateCategoryData = {
  readonly url: '/admin/v1/categories/{name}/simulate';
  readonly path: {
    readonly name: string;
  };
  readonly body: SimulationRequest;
};

export type GetTopicPageData = {
  readonly url: '/admin/v1/topics/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetTopicPageResponse = TopicPage;

export type GetTopicData = {
  readonly url: '/admin/v1/topics/{key}';
  readonly path: {
    readonly key: string;
  };
  readonly body?: never;
};

export type PutTopicData = {
  readonly url: '/admin/v1/topics/{key}';
  readonly path: {
    readonly key: string;
  };
  readonly body: TopicInput;
};

export type DeleteTopicData = {
  readonly url: '/admin/v1/topics/{key}';
  readonly path: {
    readonly key: string;
  };
  readonly body?: never;
};

export type PutSubscriptionData = {
  readonly url: '/admin/v1/topics/{key}/subscriptions/{user}';
  readonly path: {
    readonly key: string;
    /** The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user. */
    readonly user: string;
  };
  readonly body?: never;
};

export type DeleteSubscriptionData = {
  readonly url: '/admin/v1/topics/{key}/subscriptions/{user}';
  readonly path: {
    readonly key: string;
    /** The id of a user; or `external:` and the `external_id`, `email:` and the proven mail address, `phone:` and the proven phone number, or `username:` and the user name of a user. */
    readonly user: string;
  };
  readonly body?: never;
};

export type TryPublicationData = {
  readonly url: '/admin/v1/publications/dry-run';
  readonly body: NewPublication;
};

export type GetPublicationPageData = {
  readonly url: '/admin/v1/publications/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetPublicationPageResponse = PublicationPage;

export type CreateBlockData = {
  readonly url: '/admin/v1/blocks';
  readonly body: NewBlock;
};

export type GetBlockPageData = {
  readonly url: '/admin/v1/blocks/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetBlockPageResponse = BlockPage;

export type DeleteBlockData = {
  readonly url: '/admin/v1/blocks/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};

export type CreateTestIdentityData = {
  readonly url: '/admin/v1/test-identities';
  readonly body: NewTestIdentity;
};

export type GetTestIdentityPageData = {
  readonly url: '/admin/v1/test-identities/page';
  readonly query?: {
    /** Page number, from 1. */
    readonly page?: number | undefined;
    /** Items per page. */
    readonly limit?: number | undefined;
    /** created_at or expires_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first. */
    readonly sort?: string | undefined;
    /** Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator. */
    readonly filter?: string | undefined;
    /** Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339. */
    readonly since?: string | undefined;
    /** The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored. */
    readonly cursor?: string | undefined;
  };
  readonly body?: never;
};

export type GetTestIdentityPageResponse = TestIdentityPage;

export type DeleteTestIdentityData = {
  readonly url: '/admin/v1/test-identities/{id}';
  readonly path: {
    readonly id: string;
  };
  readonly body?: never;
};
