// The types of docs/openapi.json. Written by console/generate-types.mjs: do not edit.
// sha256 of the document: dd4cd1ca1b6decfbe16fdcf37f5201ae36de3bd263232fd8108423a0eece5b73

export type ClientOptions = {
    baseUrl: `${string}://${string}` | (string & {});
};

export type Account = {
    id: string;
    username: string | null;
    email: string | null;
    phone: string | null;
    name: string;
    locale: string | null;
    has_password: boolean;
    has_pin: boolean;
    /**
     * A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none.
     */
    pin_recovery: PinRecovery | null;
    role: Role;
    /**
     * Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role.
     */
    role_active: boolean;
    /**
     * What the role allows, as the scopes of API keys: operator has every scope, support has users:read, users:write and notifications:write. Only sessions whose login used a second factor can use them. Empty without an active role.
     */
    capabilities: Array<Scope>;
    /**
     * The enrolled second factors, oldest first.
     */
    second_factors: Array<SecondFactor>;
    created_at: string;
    updated_at: string;
};

export type AccountChange = {
    name?: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
    username?: string | null;
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof?: Proof;
};

export type AccountDetails = {
    id: string;
    username: string | null;
    email: string | null;
    phone: string | null;
    name: string;
    locale: string | null;
    has_password: boolean;
    has_pin: boolean;
    /**
     * A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none.
     */
    pin_recovery: PinRecovery | null;
    role: Role;
    /**
     * Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role.
     */
    role_active: boolean;
    /**
     * What the role allows, as the scopes of API keys: operator has every scope, support has users:read, users:write and notifications:write. Only sessions whose login used a second factor can use them. Empty without an active role.
     */
    capabilities: Array<Scope>;
    /**
     * The enrolled second factors, oldest first.
     */
    second_factors: Array<SecondFactor>;
    created_at: string;
    updated_at: string;
    /**
     * Every way to re-authenticate, and the changes for which it is accepted now.
     */
    proofs: Array<ProofOption>;
};

export type AccountExport = {
    /**
     * The account.
     */
    account: ExportedRecord;
    /**
     * The devices of the user.
     */
    devices: Array<ExportedRecord>;
    /**
     * The passkeys, without their keys.
     */
    passkeys: Array<ExportedRecord>;
    /**
     * The linked accounts at OpenID providers.
     */
    external_identities: Array<ExportedRecord>;
    /**
     * All stored logins.
     */
    logins: Array<ExportedRecord>;
    /**
     * All stored sessions.
     */
    sessions: Array<ExportedRecord>;
    /**
     * The events of the account.
     */
    activity: Array<ExportedRecord>;
    /**
     * The messages to the user, without codes.
     */
    messages: Array<ExportedRecord>;
    /**
     * The inbox, oldest first.
     */
    notifications: Array<ExportedRecord>;
    /**
     * The read position.
     */
    markers: Array<ExportedRecord>;
    /**
     * The mutes.
     */
    mutes: Array<ExportedRecord>;
    /**
     * Recent pushes.
     */
    pushes: Array<ExportedRecord>;
    /**
     * The user's uploads.
     */
    images: Array<ExportedRecord>;
};

export type ActivityEntry = {
    id: string;
    type: string;
    /**
     * What happened, in the language of Accept-Language.
     */
    text: string;
    /**
     * Who caused the event.
     */
    by: 'user' | 'operator' | 'system';
    device_id: string | null;
    /**
     * The client's address, if the user caused the event.
     */
    address: string | null;
    created_at: string;
};

export type ActivityEntryPage = {
    data: Array<ActivityEntry>;
    page: PageInfo;
};

export type AddressType = 'email' | 'phone';

export type AdminImageInput = {
    /**
     * The URL of the image, with https and a public host. Postern fetches it once; it must answer 200 without a redirect.
     */
    url?: string;
    /**
     * The file in base64, with or without the prefix `data:…;base64,`.
     */
    encoded?: string;
};

export type AdminImageUpload = {
    /**
     * The file: JPEG, PNG, WebP, GIF or AVIF. Its name and content type are ignored.
     */
    file: Blob | File;
};

export type ApiKey = {
    id: string;
    name: string;
    scopes: Array<Scope>;
    expires_at: string | null;
    last_used_at: string | null;
    created_at: string;
};

export type ApiKeyPage = {
    data: Array<ApiKey>;
    page: PageInfo;
};

export type AuditEvent = {
    id: string;
    /**
     * All zeros for an event that concerns no user.
     */
    user_id: string;
    /**
     * What the user was called at that time: the name, else the username, mail address or phone number. Null for a deleted user.
     */
    user_name: string | null;
    type: string;
    /**
     * user (the user of the event), user:<id>, system, cli, or key:<id>.
     */
    actor: string;
    /**
     * The name of the actor: of a user at that time, or of an API key. Null for all others.
     */
    actor_name: string | null;
    address: string | null;
    request_id: string | null;
    /**
     * The fields that the event changed. Empty after the user is deleted.
     */
    changes: Array<AuditEventChange>;
    /**
     * Further details. Never a secret.
     */
    data: {
        [key: string]: unknown;
    };
    created_at: string;
};

export type AuditEventChange = {
    field: string;
    /**
     * The value before. Null: none.
     */
    before: unknown;
    /**
     * The value after. Null: none.
     */
    after: unknown;
    /**
     * The field is secret, or its values are too long: `before` and `after` are null.
     */
    withheld: boolean;
};

export type AuditEventPage = {
    data: Array<AuditEvent>;
    page: PageInfo;
};

export type Authentication = {
    id: string;
    device_id: string;
    status: AuthenticationStatus;
    /**
     * The authentication token, present once issued. Shown once.
     */
    token?: string;
    /**
     * The user. Present with the token.
     */
    user_id?: string;
    /**
     * Present and true with a token that is bound to `device.jwk`.
     */
    is_bound?: boolean;
    /**
     * Empty when there is no error.
     */
    error_code: AuthenticationErrorCode;
    error_message: string;
    /**
     * The challenge for the next secret, by `type`: `totp`, `passkey` (with the WebAuthn request options), `oidc` (with the nonce). Absent if a code was sent.
     */
    challenge?: Challenge;
    /**
     * Where the code was sent, shortened as in `+15…67` or `a…@example.com`: the identity of the request, if it is an address of this channel, else null. Unknown identities get the same answer.
     */
    destination?: string | null;
    /**
     * When this identity may request the next code. Present if a code was sent.
     */
    resend_at?: string;
    /**
     * When the login expires, or, after its approval, when its token expires.
     */
    expires_at: string;
    created_at: string;
    updated_at: string;
};

export type AuthenticationErrorCode = '' | 'invalid_credentials' | 'authorization_rejected';

export type AuthenticationState = {
    id: string;
    status: AuthenticationStatus;
};

export type AuthenticationStatus = 'created' | 'pending' | 'approved' | 'rejected';

export type AuthorizationRejectedProblem = {
    /**
     * `urn:postern:problem:` and the code.
     */
    type: string;
    title: string;
    status: number;
    detail: string;
    request_id: string;
    errors: Array<FieldError>;
    authentication?: RejectedAuthentication;
};

export type Backup = {
    id: string;
    started_at: string;
    /**
     * null: it is being written, or it failed or was interrupted.
     */
    finished_at: string | null;
    /**
     * When a restored copy of it passed all checks. Postern verifies the backups that it makes in BACKUP_TO.
     */
    verified_at: string | null;
    is_scheduled: boolean;
    location: string;
    bytes: number | null;
    /**
     * Why it failed.
     */
    error: string | null;
};

export type BackupState = {
    now: string;
    /**
     * BACKUP_TO, where Postern makes backups by itself. null: it makes none.
     */
    place: string | null;
    /**
     * How Postern makes backups. files: a copy of the files of the embedded database. pg_dump: the program of PostgreSQL, with DATABASE_URL.
     */
    method: 'files' | 'pg_dump';
    /**
     * Why Postern can make no backups: pg_dump is missing or too old. null: it can.
     */
    problem: string | null;
    /**
     * BACKUP_SCHEDULE.
     */
    schedule: string;
    /**
     * BACKUP_KEEP.
     */
    keep: number;
    /**
     * Whether new backups are encrypted.
     */
    is_encrypted: boolean;
    /**
     * When the next scheduled backup is due.
     */
    next_at: string | null;
    /**
     * Whether a backup is being made or verified.
     */
    is_running: boolean;
    /**
     * The continuous archive of the write-ahead log (BACKUP_CONTINUOUS). null: there is none.
     */
    archive: LogArchive | null;
    /**
     * The last 50 backups that were not deleted, the newest first.
     */
    backups: Array<Backup>;
};

export type Block = {
    id: string;
    /**
     * An address, or a range in CIDR notation.
     */
    address: string;
    reason: string | null;
    /**
     * null: until it is deleted.
     */
    ends_at: string | null;
    /**
     * The API key or the operator, as in audit events.
     */
    created_by: string;
    created_at: string;
};

export type BlockPage = {
    data: Array<Block>;
    page: PageInfo;
};

export type BulkAction = 'lock' | 'unlock' | 'logout' | 'deactivate' | 'activate' | 'delete' | 'export';

export type BulkOutcome = 'done' | 'unchanged' | 'failed' | 'valid';

export type BulkRequest = {
    action: BulkAction;
    /**
     * The users, by their ids or external ids.
     */
    ids?: Array<string>;
    search?: string;
    /**
     * Selects users, as in GET /admin/v1/users. `search` and `filter` can be combined.
     */
    filter?: string;
    /**
     * Required with the action lock, refused with other actions.
     */
    lock?: LockRequest;
    /**
     * Check every user, but change nothing.
     */
    dry_run?: boolean;
};

export type BulkResult = {
    /**
     * The id of the user. If nobody has the external id: what the request has sent.
     */
    id?: string;
    /**
     * What the request has sent, if it named the user by an external id (`external:…`).
     */
    reference?: string;
    /**
     * unchanged: the user was in this state already. valid: the user would be changed (dry_run).
     */
    result?: BulkOutcome;
    /**
     * With logout: the number of tokens that the action ended.
     */
    ended?: number;
    /**
     * With export: the user.
     */
    user?: User;
    errors?: Array<FieldError>;
    /**
     * The last line has only this, and status and code if it ended early.
     */
    summary?: BulkSummary;
    /**
     * The status of the error that ended the action early.
     */
    status?: number;
    /**
     * The code of this error.
     */
    code?: string;
};

export type BulkSummary = {
    done: number;
    unchanged: number;
    failed: number;
    /**
     * With dry_run: users that the action would change.
     */
    valid: number;
    /**
     * false: the action ended early. `code` says why.
     */
    complete: boolean;
};

export type Challenge = {
    type: string;
    [key: string]: unknown;
};

export type Change = {
    operation: 'create' | 'update' | 'delete';
    /**
     * The number of the change. On a stream, it is the id of the event.
     */
    change_sequence: number;
    id: string;
    /**
     * The notification's position in the inbox.
     */
    sequence: number;
    notification: Notification | null;
};

export type ChangedPassword = {
    id: string;
    username: string | null;
    email: string | null;
    phone: string | null;
    name: string;
    locale: string | null;
    has_password: boolean;
    has_pin: boolean;
    /**
     * A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none.
     */
    pin_recovery: PinRecovery | null;
    role: Role;
    /**
     * Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role.
     */
    role_active: boolean;
    /**
     * What the role allows, as the scopes of API keys: operator has every scope, support has users:read, users:write and notifications:write. Only sessions whose login used a second factor can use them. Empty without an active role.
     */
    capabilities: Array<Scope>;
    /**
     * The enrolled second factors, oldest first.
     */
    second_factors: Array<SecondFactor>;
    created_at: string;
    updated_at: string;
    /**
     * The new authentication token of the login that made this request. Shown once. The old token cannot get sessions any more.
     */
    token: string;
    /**
     * The new id of the login that made this request.
     */
    authentication_id: string;
};

export type Changes = {
    changes: Array<Change>;
    /**
     * The `after` of the next request. Opaque.
     */
    after: string;
    /**
     * Whether there are more changes: send the next request at once.
     */
    has_more: boolean;
    /**
     * Postern no longer knows which notifications were deleted since `after`: delete your copy and start without `after`.
     */
    reset: boolean;
    /**
     * A time for each notification type: older notifications are no longer stored.
     */
    retained_from: {
        [key: string]: unknown;
    };
};

export type CodeAnswer = {
    /**
     * The code.
     */
    secret: string;
};

export type ConsoleEntry = {
    /**
     * APP_NAME of this installation.
     */
    app_name: string;
    /**
     * Whether a login with a password can have a PIN, by PIN_POLICY.
     */
    takes_pin: boolean;
    /**
     * NOTIFICATION_TYPES of this installation.
     */
    notification_types: Array<string>;
    /**
     * The device on which this browser last signed in. Send it as `device.id` of the login, so that the login counts as one on a known device.
     */
    device_id: string | null;
};

export type ConsoleSignIn = {
    /**
     * The token of an approved login. Postern stores it in a cookie that scripts cannot read.
     */
    authentication_token: string;
};

export type ContactAddress = {
    type: AddressType;
    value: string;
};

export type DatabaseState = {
    version: string;
    /**
     * Its growth is in the statistics: the metric database.size.
     */
    bytes: number;
    connections: number;
    max_connections: number;
    /**
     * The ten largest tables, with their indexes.
     */
    tables: Array<TableSize>;
};

export type DeletedToken = {
    id: string;
};

export type DeliveryTrace = {
    notification_id: string;
    user_id: string;
    /**
     * When it was added to the inbox.
     */
    listed_at: string;
    /**
     * Whether the user's read position (marker) has reached it.
     */
    is_read: boolean;
    /**
     * A summary in one sentence.
     */
    explanation: string;
    /**
     * One entry for each push, and for each device without a push.
     */
    push: Array<PushAttempt>;
};

export type Device = {
    id: string;
    make: string | null;
    model: string | null;
    os_name: string | null;
    os_version: string | null;
    sdk_version: string | null;
    screen_width: string | null;
    screen_height: string | null;
    /**
     * Which kinds of push token are registered. The tokens themselves are never shown.
     */
    push: RegisteredPush;
    /**
     * Whether the token of its newest login is bound to a key of the device. A copy of the token alone is useless.
     */
    is_bound: boolean;
    /**
     * When the last login on this device was approved.
     */
    last_login_at: string;
    created_at: string;
    updated_at: string;
    /**
     * Whether it is the device of the current session.
     */
    current: boolean;
};

export type DeviceDescription = {
    make?: string | null;
    model?: string | null;
    os_name?: string | null;
    os_version?: string | null;
    sdk_version?: string | null;
    screen_width?: ScreenSize | null;
    screen_height?: ScreenSize | null;
};

export type DeviceInput = {
    /**
     * If it is missing, Postern creates and returns one.
     */
    id?: string | null;
    make?: string | null;
    model?: string | null;
    os_name?: string | null;
    os_version?: string | null;
    sdk_version?: string | null;
    apn_device_token?: string | null;
    gcm_device_token?: string | null;
    screen_width?: ScreenSize | null;
    screen_height?: ScreenSize | null;
    /**
     * A public key (JWK, RFC 7517) of this client: P-256 or Ed25519. It binds the token to the key: the token then works only with a DPoP proof (RFC 9449) that the key has signed.
     */
    jwk?: PublicKey;
};

export type DevicePage = {
    data: Array<Device>;
    page: PageInfo;
};

export type DeviceToken = {
    type: PushTokenType;
    device_id: string;
    channel: PushChannel;
    /**
     * Whether the operator has configured this channel.
     */
    enabled: boolean;
};

export type DeviceTokenInput = {
    type: PushTokenType;
    /**
     * ios: the device token in hexadecimal. android: the FCM registration token. web: the browser's PushSubscription, as an object or as its JSON text.
     */
    token: PushToken;
};

export type DiagnosedDevice = {
    id: string | null;
    /**
     * Whether the user has logged in on the device before.
     */
    known: boolean;
};

export type DiagnosedIdentity = {
    type: IdentityType;
    value: string;
};

export type DiagnosedSecondFactor = {
    policy: SecondFactorPolicy;
    required: boolean;
    types: Array<SecondFactorType>;
};

export type DiagnosisIdentityType = 'email' | 'phone' | 'username' | 'external_id';

export type Disk = {
    used_for: 'data' | 'images' | 'backups' | 'log_archive';
    /**
     * The size of the disk.
     */
    bytes: number;
    free_bytes: number;
    /**
     * Less than 10 % and less than 5 GB are free: make space.
     */
    is_nearly_full: boolean;
};

export type DryRun = {
    /**
     * The number of notifications that would be created.
     */
    deliveries: number;
    /**
     * The number of pushes for each channel, and of muted pushes.
     */
    push: PushCounts;
    /**
     * The first 100 notifications.
     */
    items: Array<DryRunItem>;
};

export type DryRunItem = {
    user_id: string;
    notification_type: string;
    description: string;
    inbox: boolean;
    push: Array<DryRunPush>;
};

export type DryRunPush = {
    device_id: string;
    channel: PushChannel;
    muted: boolean;
};

export type EffectiveSetting = {
    group: string;
    name: string;
    /**
     * The effective text. null if it is not set or not shown. URLs are cut after the host.
     */
    value: string | null;
    /**
     * Whether it was set. If not, `value` is the default.
     */
    is_set: boolean;
    /**
     * Whether it has a value that is not shown, because it contains a secret.
     */
    is_hidden: boolean;
};

export type EmailChange = {
    email: string;
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
};

export type EnrollmentLink = {
    /**
     * The id of the link in audit events.
     */
    id: string;
    /**
     * The link, which the user opens in a browser. Other clients send the part after `#` as `enrollment_secret` when they enrol a factor or activate the role.
     */
    url: string;
    /**
     * The part of the link after `#`, for other clients. Shown once. Valid for one enrolment.
     */
    secret: string;
    expires_at: string;
};

export type EnrollmentRequest = {
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
    /**
     * For users with a role: the secret of a link that an operator created. The enrolment activates the role.
     */
    enrollment_secret?: string;
};

export type ExportedRecord = {
    [key: string]: unknown;
};

export type ExternalIdentity = {
    id: string;
    /**
     * The name of the provider. The authenticator of a login is `oidc:` and this name.
     */
    provider: string;
    issuer: string;
    /**
     * The provider's id of the account: `sub` of its id_tokens.
     */
    subject: string;
    created_at: string;
};

export type ExternalIdentityLink = {
    provider: string;
    subject: string;
};

export type FieldError = {
    field?: string;
    code: string;
    message: string;
};

export type Finding = {
    /**
     * fail: the service cannot work like this.
     */
    level: 'ok' | 'warn' | 'fail';
    what: string;
    detail: string;
};

export type GuessLock = {
    /**
     * The known device whose logins are locked. null: all devices on which the user has never logged in.
     */
    device_id: string | null;
    since: string;
    /**
     * null: until an operator unlocks the user.
     */
    until: string | null;
    permanent: boolean;
};

export type IdTokenAnswer = {
    /**
     * The id_token.
     */
    secret: string;
};

export type Identity = {
    type: IdentityType;
    /**
     * Used to look up the user.
     */
    value: string;
};

export type IdentityType = 'email' | 'phone' | 'username';

export type Image = {
    id: string;
    /**
     * 640 x 360 pixels, cropped. For an external image, its own URL.
     */
    url: string;
    /**
     * The whole image within 2048 x 2048 pixels, not enlarged. For an external image, its own URL.
     */
    full_screen_url: string;
    /**
     * 160 x 160 pixels, cropped. For an external image, its own URL.
     */
    thumbnail_url: string;
    created_at: string;
    updated_at: string;
};

export type ImageFile = 'card.jpg' | 'full.jpg' | 'thumbnail.jpg';

export type ImageInput = {
    /**
     * The URL of the image, with https and a public host. Postern fetches it once; it must answer 200 without a redirect.
     */
    url?: string;
    /**
     * The file in base64, with or without the prefix `data:…;base64,`.
     */
    encoded?: string;
};

export type ImageUpload = {
    /**
     * The file: JPEG, PNG, WebP, GIF or AVIF. Its name and content type are ignored.
     */
    file: Blob | File;
};

export type ImportOutcome = 'created' | 'exists' | 'failed' | 'valid';

export type ImportResult = {
    line?: number;
    /**
     * exists: the user exists already and was not changed. valid: the user would be created (dry_run).
     */
    result?: ImportOutcome;
    id?: string;
    errors?: Array<FieldError>;
    /**
     * The status of the error that ended the import early.
     */
    status?: number;
    /**
     * The code of this error.
     */
    code?: string;
    /**
     * With code: lines up to this number are committed, later lines are not.
     */
    committed_lines?: number;
};

export type Instance = {
    id: string;
    host: string;
    process_id: number;
    /**
     * The number of the worker; null for a single process.
     */
    worker: number | null;
    version: string;
    /**
     * The version of Node.js.
     */
    node: string;
    /**
     * Open notification streams when it was last seen.
     */
    streams: number;
    /**
     * Whether this process sent the answer.
     */
    is_self: boolean;
    /**
     * It was not seen for 90 seconds: it was killed, or does not reach the database. Listed for a day.
     */
    is_lost: boolean;
    started_at: string;
    seen_at: string;
};

export type IssuedApiKey = {
    id: string;
    name: string;
    scopes: Array<Scope>;
    expires_at: string | null;
    last_used_at: string | null;
    created_at: string;
    /**
     * The key itself. Shown once.
     */
    token: string;
};

export type IssuedTestIdentity = {
    id: string;
    identity: TestAddress;
    /**
     * The user who logs in with it. null: no user has the address, or it moved to another user since the creation.
     */
    user_id: string | null;
    /**
     * When the test identity stops working.
     */
    expires_at: string;
    /**
     * The API key or the operator, as in audit events.
     */
    created_by: string;
    created_at: string;
    /**
     * The fixed code. Only this response shows it.
     */
    code: string;
};

export type IssuedWebhook = {
    id: string;
    url: string;
    events: Array<string>;
    /**
     * Only events that match this filter are delivered. Empty: all.
     */
    filter: string;
    description: string;
    payload: WebhookPayload;
    enabled: boolean;
    /**
     * operator: by a request. gone: the endpoint answered 410. failing: five days without success.
     */
    disabled_reason: WebhookDisabledReason | null;
    disabled_at: string | null;
    /**
     * Until then, deliveries are also signed with the previous secret. Null: there is none.
     */
    previous_secret_until: string | null;
    /**
     * Deliveries that wait, counted up to 1000.
     */
    pending: number;
    last_success_at: string | null;
    last_failure_at: string | null;
    /**
     * The first failure since the last success.
     */
    failing_since: string | null;
    last_error: string | null;
    created_at: string;
    updated_at: string;
    /**
     * The secret of the signatures `v1`. Shown once.
     */
    secret: string;
};

export type LabelStatistics = {
    label: string;
    total: number;
    /**
     * In the order of `buckets`.
     */
    values: Array<number>;
};

export type LockRequest = {
    permanent?: boolean;
    /**
     * End of a temporary lock, a time in the future.
     */
    until?: string;
    reason?: string;
};

export type LogArchive = {
    location: string;
    started_at: string;
    /**
     * Everything that was committed before this time is in the archive. Written once a minute.
     */
    archived_at: string;
    /**
     * Why nothing is added to it at the moment.
     */
    error: string | null;
};

export type LoginAnswer = {
    /**
     * start: POST /v1/tokens. secret and second_factor: POST /v1/tokens/{id}/secret.
     */
    step: LoginStep;
    /**
     * The HTTP status.
     */
    status: number;
    /**
     * The status of the authentication; null for a problem.
     */
    authentication_status: AuthenticationStatus | null;
    /**
     * The code of the problem, or `error_code` of a rejected authentication. null: no error.
     */
    code: string | null;
};

export type LoginDiagnosis = {
    /**
     * null: nobody has the identity.
     */
    user_id: string | null;
    identity: DiagnosedIdentity | null;
    device: DiagnosedDevice;
    /**
     * The network address whose limits are included. null: none.
     */
    address: string | null;
    checked_at: string;
    verdict: LoginVerdict;
    /**
     * The verdict in the language of Accept-Language.
     */
    message: string;
    /**
     * Since when every authenticator is refused, if known.
     */
    since: string | null;
    /**
     * When the first authenticator works again by itself. null: none does, or one works now.
     */
    until: string | null;
    /**
     * The reasons for all authenticators. Reasons that block come first.
     */
    reasons: Array<LoginReason>;
    /**
     * The policy of this user, whether a login must answer a second factor, and the factors. null: no user.
     */
    second_factor: DiagnosedSecondFactor | null;
    /**
     * One entry for each authenticator.
     */
    ways: Array<LoginWay>;
};

export type LoginDiagnosisRequest = {
    identity: LoginIdentity;
    /**
     * Only this authenticator. Without it: all.
     */
    authenticator?: string;
    /**
     * The device of the login. Without it: a device on which the user never logged in.
     */
    device_id?: string | null;
    /**
     * The IP address of the client, to include the limits of its network.
     */
    address?: string;
};

export type LoginIdentity = {
    /**
     * external_id: names the user, who cannot log in with it. Each authenticator is checked with the identity that the user would usually log in with.
     */
    type: DiagnosisIdentityType;
    /**
     * Used to look up the user.
     */
    value: string;
};

export type LoginOption = {
    /**
     * Send it as `authenticator` to POST /v1/tokens.
     */
    authenticator: string;
    /**
     * 1: step 1 takes the secret. 2: step 1 sends a code or a challenge, and step 2 takes the answer.
     */
    steps: number;
    /**
     * The types of identity that step 1 takes. Empty: it takes none.
     */
    identity_types: Array<IdentityType>;
    /**
     * Whether a login with it checks the PIN.
     */
    takes_pin: boolean;
};

export type LoginOptions = {
    /**
     * Every way to log in.
     */
    logins: Array<LoginOption>;
    pin: PinRules;
    password: PasswordRules;
    registration: RegistrationOptions;
    recovery: RecoveryOptions;
};

export type LoginPinRule = 'ignored' | 'any' | 'own';

export type LoginReason = {
    code: LoginReasonCode;
    /**
     * blocks: while this reason applies, no login succeeds. note: the login may succeed.
     */
    effect: LoginReasonEffect;
    /**
     * The reason in the language of Accept-Language.
     */
    message: string;
    /**
     * null: not known.
     */
    since: string | null;
    /**
     * When it ends by itself. null: it does not end by itself, or the time is not known.
     */
    until: string | null;
    /**
     * Details of the reason.
     */
    data: LoginReasonData;
    remedies: Array<LoginRemedy>;
};

export type LoginReasonCode = 'unknown_identity' | 'deactivated' | 'locked_by_operator' | 'device_locked_by_guesses' | 'new_devices_locked_by_guesses' | 'other_devices_locked_by_guesses' | 'guesses_in_progress' | 'account_limit' | 'address_blocked' | 'address_limit' | 'address_code_limit' | 'code_limit_minute' | 'code_limit_hour' | 'code_limit_day' | 'test_identity' | 'recipient_limit' | 'sms_prefix_limit' | 'sms_total_limit' | 'sms_country_off' | 'sms_prefix_paused' | 'last_message_failed' | 'not_configured' | 'no_password' | 'password_hash_unreadable' | 'no_phone' | 'no_email' | 'no_passkey' | 'no_external_identity' | 'pin_missing' | 'pin_unreadable' | 'pin_replacement_pending' | 'app_unreadable' | 'factor_not_enrolled' | 'role_not_active' | 'decided_elsewhere';

export type LoginReasonData = {
    [key: string]: unknown;
};

export type LoginReasonEffect = 'blocks' | 'note';

export type LoginRemedy = {
    action: LoginRemedyAction;
    /**
     * operator: through the route. user: only the user can. administrator: a setting of the service.
     */
    by: LoginRemedyActor;
    method: string | null;
    /**
     * The path of the route, with its ids.
     */
    path: string | null;
    /**
     * The scope that the route needs for this user.
     */
    scope: Scope | null;
    /**
     * Members of the body that are known. null: the route takes no body.
     */
    body: LoginRemedyBody | null;
    /**
     * Members of the body that the caller adds.
     */
    fields: Array<string>;
    /**
     * The name of the setting.
     */
    setting: string | null;
};

export type LoginRemedyAction = 'unlock' | 'reset_budget' | 'reactivate' | 'create_user' | 'create_enrollment_link' | 'remove_second_factors' | 'set_password' | 'set_phone' | 'set_email' | 'set_pin' | 'link_external_identity' | 'enrol_passkey' | 'configure' | 'retry_message';

export type LoginRemedyActor = 'operator' | 'user' | 'administrator';

export type LoginRemedyBody = {
    [key: string]: unknown;
};

export type LoginStep = 'start' | 'secret' | 'second_factor';

export type LoginVerdict = 'yes' | 'maybe' | 'no';

export type LoginWay = {
    authenticator: string;
    /**
     * blocked: only a reason for all authenticators refuses it. no: a reason of this authenticator refuses it. not_set_up: the user or the installation does not have it.
     */
    verdict: LoginWayVerdict;
    /**
     * When the refusal ends by itself; null if it does not, or if nothing refuses it.
     */
    until: string | null;
    /**
     * The identity of the login. null for an authenticator that identifies the user itself.
     */
    identity: DiagnosedIdentity | null;
    /**
     * Which PIN the login accepts. ignored: none is needed. any: any PIN of the right form. own: the PIN of the user.
     */
    pin: LoginPinRule;
    /**
     * What each step of a login with the right secrets would answer now, until the first refusal.
     */
    answers: Array<LoginAnswer>;
    /**
     * The reasons of this authenticator alone.
     */
    reasons: Array<LoginReason>;
};

export type LoginWayVerdict = 'yes' | 'maybe' | 'blocked' | 'no' | 'not_set_up';

export type LogoutResult = {
    ended: number;
};

export type Marker = {
    /**
     * Notifications up to this sequence are read. 0: none.
     */
    last_read_sequence: number;
    /**
     * The number of later notifications, counted up to 100.
     */
    unread_count: number;
    /**
     * Whether there are more than `unread_count`.
     */
    unread_count_capped: boolean;
    updated_at: string | null;
};

export type MarkerInput = {
    last_read_sequence?: number;
    last_read_id?: string;
};

export type MessageProvider = {
    channel: 'sms' | 'email' | 'push';
    /**
     * For SMS and mail, the name in the settings. For push: `apns`, `fcm` or `web_push`.
     */
    name: string;
    /**
     * Whether it reports which messages have arrived. Only some SMS providers do.
     */
    has_receipts: boolean;
    /**
     * Since when a process has counted it as failing: after three failures in a row, or, for SMS, a refusal because of its rate limit. Null: it works, or was not used yet.
     */
    failing_since: string | null;
    /**
     * Why it fails. Null while it works.
     */
    last_error: string | null;
};

export type Metadata = {
    [key: string]: unknown;
};

export type MetricStatistics = {
    metric: 'logins.approved' | 'logins.failed' | 'locks' | 'devices.new' | 'sessions.created' | 'sessions.verified' | 'messages.sent' | 'messages.failed' | 'messages.expired' | 'messages.delivered' | 'messages.undelivered' | 'pushes.sent' | 'pushes.failed' | 'pushes.gone' | 'pushes.expired' | 'pushes.dropped' | 'webhooks.delivered' | 'webhooks.failed' | 'notifications.published' | 'notifications.pushed' | 'streams.open' | 'queue.jobs' | 'queue.latency' | 'database.size' | 'queue.age';
    /**
     * counter: events in the bucket. average: the average over the bucket. maximum: the highest value in the bucket. mean: the mean of the events in the bucket.
     */
    kind: 'counter' | 'average' | 'maximum' | 'mean';
    /**
     * The value over the whole time.
     */
    total: number;
    /**
     * The values of all labels together, in the order of `buckets`. Empty buckets are 0.
     */
    values: Array<number>;
    /**
     * The values of each label that occurred. Empty for a metric without labels.
     */
    labels: Array<LabelStatistics>;
};

export type Mute = {
    id: string;
    filter: string;
    created_at: string;
};

export type MuteInput = {
    /**
     * A filter as in lists. Matching notifications are not pushed.
     */
    filter: string;
};

export type NewApiKey = {
    name: string;
    scopes: Array<Scope>;
    /**
     * A time in the future.
     */
    expires_at?: string;
};

export type NewBlock = {
    /**
     * An IPv4 or IPv6 address, or a range in CIDR notation. Bits after the prefix become zero. IPv4-mapped IPv6 becomes IPv4.
     */
    address: string;
    reason?: string | null;
    /**
     * A time in the future. null or absent: until it is deleted.
     */
    ends_at?: string | null;
    /**
     * Allows a range that contains the address of this request. Without it, such a range is refused (own_address).
     */
    allow_own?: boolean;
};

export type NewNotification = {
    /**
     * The id of a user, or `external:` and the `external_id` of the user.
     */
    user_id: string;
    notification_type: string;
    description: string;
    actor_id?: string | null;
    actor?: string | null;
    notification_key?: string | null;
    object_id?: string | null;
    /**
     * At most 15 significant digits, kept exactly.
     */
    object_data_number?: number | null;
    object_data_string?: string;
    image_id?: string | null;
    /**
     * The URL of an external image, instead of image_id. Postern does not copy it.
     */
    image?: string | null;
};

export type NewPasskey = {
    id: string;
    /**
     * WebAuthn creation options as JSON, for navigator.credentials.create().
     */
    options: {
        [key: string]: unknown;
    };
    expires_at: string;
};

export type NewSession = {
    id: string;
    /**
     * The session token. Shown once.
     */
    token: string;
    user_id: string;
    device_id: string;
    created_at: string;
    expires_at: string;
    updated_at: string;
};

export type NewTestAddress = {
    type: AddressType;
    /**
     * A phone number or a mail address.
     */
    value: string;
};

export type NewTestIdentity = {
    identity: NewTestAddress;
    /**
     * Six digits. If it is missing, Postern creates one.
     */
    code?: string;
    /**
     * A time in the future, at most 90 days from now.
     */
    expires_at: string;
};

export type NewTotp = {
    id: string;
    /**
     * Base32, to type into the app.
     */
    secret: string;
    /**
     * The secret as an otpauth URI, for a QR code.
     */
    uri: string;
    expires_at: string;
};

export type NewUser = {
    username?: string;
    email?: string;
    phone?: string;
    /**
     * The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it.
     */
    external_id?: string;
    name?: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
    password?: string;
    /**
     * A hash from another system, instead of password: argon2, bcrypt, scrypt, PBKDF2, phpass, sha256-crypt, sha512-crypt or SSHA, also as WordPress, Firebase, Keycloak and ASP.NET write it.
     */
    password_hash?: string;
    pin?: string;
    role?: Role;
    /**
     * Your own data: any JSON object of up to 16 KiB.
     */
    metadata?: Metadata;
};

export type NewWebhook = {
    /**
     * An https URL with a public address.
     */
    url: string;
    /**
     * Types of events, or patterns: `login.*` for all types of a group, `*` for all.
     */
    events: Array<string>;
    filter?: string;
    description?: string;
    /**
     * thin: ids and the names of changed fields. full: also the resource, as it is when the event is sent.
     */
    payload?: WebhookPayload;
};

export type Notification = {
    id: string;
    user_id: string;
    /**
     * The notification's position in the user's inbox. Gaps are normal.
     */
    sequence: number;
    actor_id: string | null;
    actor: string | null;
    /**
     * payment, pool or request, unless the operator allows more.
     */
    notification_type: string;
    notification_key: string | null;
    object_id: string | null;
    object_data_number: number | null;
    object_data_string: string;
    description: string;
    image: Image | null;
    created_at: string;
    updated_at: string;
};

export type NotificationChange = {
    notification_type?: string;
    description?: string;
    actor_id?: string | null;
    actor?: string | null;
    notification_key?: string | null;
    object_id?: string | null;
    /**
     * At most 15 significant digits, kept exactly.
     */
    object_data_number?: number | null;
    object_data_string?: string;
    image_id?: string | null;
    /**
     * The URL of an external image, instead of image_id. Postern does not copy it.
     */
    image?: string | null;
};

export type NotificationInput = {
    /**
     * The id of a user, or `external:` and the `external_id` of the user.
     */
    user_id?: string;
    /**
     * Instead of user_id.
     */
    user_ids?: Array<string>;
    notification_type: string;
    description: string;
    actor_id?: string | null;
    actor?: string | null;
    notification_key?: string | null;
    object_id?: string | null;
    /**
     * At most 15 significant digits, kept exactly.
     */
    object_data_number?: number | null;
    object_data_string?: string;
    image_id?: string | null;
    /**
     * The URL of an external image, instead of image_id. Postern does not copy it.
     */
    image?: string | null;
};

export type NotificationPage = {
    data: Array<Notification>;
    page: PageInfo;
};

export type OperatorLock = {
    permanent: boolean;
    until: string | null;
    reason: string | null;
};

export type OutboxMessage = {
    id: string;
    user_id: string;
    authentication_id: string | null;
    channel: 'sms' | 'email';
    /**
     * The channel and the kind of message: a code or a notice.
     */
    kind: string;
    recipient: string | null;
    /**
     * queued, sent (a provider has accepted it), failed (no attempt succeeded), expired (there was no attempt in time), or dropped (no recipient). If the provider reports it: delivered, or undelivered.
     */
    state: 'queued' | 'sent' | 'failed' | 'expired' | 'dropped' | 'delivered' | 'undelivered';
    /**
     * The provider that has accepted the message. Null before that.
     */
    provider: string | null;
    attempts: number;
    /**
     * Why the last attempt failed, or why the message did not arrive.
     */
    last_error: string | null;
    /**
     * Only for messages of the console provider, with the scope admin, while the code is valid.
     */
    code: string | null;
    expires_at: string;
    created_at: string;
    updated_at: string;
};

export type OutboxMessagePage = {
    data: Array<OutboxMessage>;
    page: PageInfo;
};

export type PageInfo = {
    number: number;
    limit: number;
    /**
     * The number of items on all pages. With a filter, items are counted only up to 1000.
     */
    total: number;
    total_is_exact: boolean;
    /**
     * Items may be missing; `next_cursor` continues the search. time: the search reached its time limit. index: the search is slow, because its index does not exist (yet). Absent: the page is complete.
     */
    partial?: PartialReason;
    /**
     * Send it as `cursor` to get the next page. null on the last page.
     */
    next_cursor: string | null;
};

export type PartialReason = 'time' | 'index';

export type Passkey = {
    id: string;
    name: string;
    transports: Array<string>;
    /**
     * Whether it is synchronised between the user's devices.
     */
    backed_up: boolean;
    created_at: string;
    last_used_at: string | null;
};

export type PasskeyAnswer = {
    /**
     * The browser's RegistrationResponseJSON for these options.
     */
    response: {
        [key: string]: unknown;
    };
};

export type PasskeyChange = {
    name: string;
};

export type PasskeyRequest = {
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
    /**
     * For users with a role: the secret of a link that an operator created. The enrolment activates the role.
     */
    enrollment_secret?: string;
    name?: string;
};

export type PasswordChange = {
    password: string;
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
};

export type PasswordRules = {
    /**
     * Of a new password, in characters.
     */
    min_length: number;
    max_length: number;
};

export type PhoneChange = {
    phone: string;
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
};

export type PinChange = {
    pin: string;
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
};

export type PinRecovery = {
    started_at: string;
    effective_at: string;
};

export type PinRules = {
    /**
     * PIN_POLICY.
     */
    policy: 'required' | 'optional' | 'off';
    min_length: number;
    max_length: number;
};

export type ProbeResult = {
    status: 'ok';
};

export type Problem = {
    /**
     * `urn:postern:problem:` and the code.
     */
    type: string;
    title: string;
    status: number;
    detail: string;
    request_id: string;
    errors: Array<FieldError>;
};

export type Proof = {
    type: ProofType;
    /**
     * For a code or a passkey: the `id` that POST /v1/account/proofs returned.
     */
    id?: string;
    /**
     * The password, the code, the PIN, or a passkey's assertion as JSON text.
     */
    secret: string;
};

export type ProofOption = {
    type: ProofType;
    /**
     * The `type` to send to POST /v1/account/proofs first. null: the proof needs only a secret, and no such request.
     */
    start: ProofStart | null;
    /**
     * For a code: a part of the address to which it goes, such as `+15…67`. null if the account has no such address, and for other proofs.
     */
    destination: string | null;
    accepted_for: Array<'account' | 'pin'>;
    /**
     * Why it is not accepted for any change. null: it is accepted. not_set: the account does not have it. not_offered: this service cannot send such codes. second_factor_required: the account has a second factor, so only totp and passkey are accepted.
     */
    reason: ProofRefusal | null;
};

export type ProofRefusal = 'not_set' | 'not_offered' | 'second_factor_required';

export type ProofRequest = {
    /**
     * sms and email send a code to the account's own phone or mail address. passkey returns a challenge.
     */
    type: ProofStart;
};

export type ProofStart = 'sms' | 'email' | 'passkey';

export type ProofType = 'password' | 'code' | 'passkey' | 'totp' | 'pin';

export type ProvenRequest = {
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
};

export type PublicKey = {
    kty: 'EC' | 'OKP';
    crv: 'P-256' | 'Ed25519';
    x: string;
    /**
     * With P-256 only.
     */
    y?: string;
};

export type PublishResult = {
    line?: number;
    /**
     * 201: published. 200: would be published (dry_run). Otherwise the status of a single request with this item.
     */
    status: number;
    id?: string;
    /**
     * Instead of id, in the order of user_ids.
     */
    ids?: Array<string>;
    errors?: Array<FieldError>;
    /**
     * The code of the error that ended the response early.
     */
    code?: string;
    /**
     * With code: lines up to this number are committed, later lines are not.
     */
    committed_lines?: number;
};

export type PushAttempt = {
    device_id: string;
    channel: PushChannel | null;
    /**
     * none: no push was made for this device.
     */
    state: 'queued' | 'muted' | 'sent' | 'failed' | 'gone' | 'expired' | 'dropped' | 'none';
    reason: 'waiting' | 'retrying' | 'accepted' | 'muted' | 'token_gone' | 'refused' | 'not_answering' | 'expired' | 'notification_deleted' | 'logged_out' | 'account_locked' | 'account_deactivated' | 'no_token' | 'channel_off' | 'registered_later' | 'being_prepared' | 'not_reachable_then';
    /**
     * The reason in words.
     */
    explanation: string;
    /**
     * The last error of the push service, if there was one.
     */
    error: string | null;
    attempts: number;
    created_at: string | null;
    updated_at: string | null;
};

export type PushChannel = 'apns' | 'fcm' | 'web_push';

export type PushCounts = {
    apns: number;
    fcm: number;
    web_push: number;
    muted: number;
};

export type PushKey = {
    /**
     * The VAPID public key: `applicationServerKey` of pushManager.subscribe().
     */
    public_key: string;
};

export type PushToken = PushTokenString | PushTokenObject;

export type PushTokenObject = {
    [key: string]: unknown;
};

export type PushTokenString = string;

export type PushTokenType = 'ios' | 'android' | 'web';

export type QueueState = {
    /**
     * Jobs that could run now, counted up to 10,000.
     */
    due: number;
    /**
     * For how long the oldest of these has been due.
     */
    oldest_seconds: number;
    /**
     * Jobs that failed and wait for their next attempt, counted up to 10,000.
     */
    retrying: number;
};

export type RecordedProof = {
    proven_at: string;
    /**
     * The session counts as re-authenticated until this time.
     */
    expires_at: string;
};

export type RecoverableSecret = 'password' | 'pin';

export type Recovered = {
    id: string;
    recovered: RecoverableSecret;
    /**
     * A new PIN that takes effect at effective_at. Absent otherwise.
     */
    status?: 'pending';
    effective_at?: string;
};

export type RecoveryAnswer = {
    /**
     * The code.
     */
    secret: string;
    password?: string;
    pin?: string;
};

export type RecoveryCancellation = {
    identity: ContactAddress;
    /**
     * The code from the notice about the recovery.
     */
    secret: string;
};

export type RecoveryCodes = {
    /**
     * New codes. Each replaces the second factor in one login. Shown once.
     */
    recovery_codes: Array<string>;
};

export type RecoveryDevice = {
    id?: string | null;
};

export type RecoveryOptions = {
    /**
     * The addresses that a recovery code can be sent to.
     */
    identity_types: Array<IdentityType>;
};

export type RecoveryRequest = {
    identity: ContactAddress;
    /**
     * Which secret the user has forgotten.
     */
    purpose: RecoverableSecret;
    /**
     * A device on which the user has logged in before has its own limit of wrong guesses.
     */
    device?: RecoveryDevice;
};

export type RegisteredPush = {
    ios: boolean;
    android: boolean;
    web: boolean;
};

export type RegistrationAnswer = {
    /**
     * The code.
     */
    secret: string;
    username?: string;
    password?: string;
    pin?: string;
    name?: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
};

export type RegistrationOptions = {
    /**
     * Whether people can create accounts themselves.
     */
    is_on: boolean;
    /**
     * The addresses that can register.
     */
    identity_types: Array<IdentityType>;
};

export type RegistrationRequest = {
    identity: ContactAddress;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
};

export type RejectedAuthentication = {
    id: string;
    status: AuthenticationStatus;
    /**
     * Empty when there is no error.
     */
    error_code: AuthenticationErrorCode;
    error_message: string;
};

export type RemovedDevice = {
    id: string;
};

export type Role = 'user' | 'support' | 'operator';

export type RoleActivation = {
    enrollment_secret: string;
    /**
     * Re-authentication. Each operation lists the types that it accepts. For an account with a second factor, only totp (a code of the app, or a recovery code) and passkey are accepted.
     */
    proof: Proof;
};

export type Scope = 'users:read' | 'users:write' | 'notifications:write' | 'sessions:verify' | 'webhooks:write' | 'clients:forward' | 'admin';

export type ScreenSize = ScreenSizeNumber | ScreenSizeString;

export type ScreenSizeNumber = number;

export type ScreenSizeString = string;

export type SecondFactor = {
    type: SecondFactorType;
    created_at: string;
};

export type SecondFactorPolicy = 'off' | 'own' | 'required';

export type SecondFactorType = 'totp' | 'passkey';

export type SecretRequest = {
    /**
     * The answer to the challenge: the code from the message or the app, an assertion as JSON text, or an id_token.
     */
    secret: string;
    /**
     * 4 to 12 digits. Required with PIN_POLICY=required, unless the login uses passkey or oidc, or this is the second factor. If the user has a PIN, it must be correct. If not, any PIN of this form is accepted.
     */
    pin?: string;
};

export type Session = {
    id: string;
    user_id: string;
    device_id: string;
    created_at: string;
    expires_at: string;
    updated_at: string;
};

export type SetUpCompletion = {
    /**
     * The secret of the link: the part after `#`.
     */
    secret: string;
    name: string;
    username?: string;
    email?: string;
    password: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
    /**
     * `id` of the factor.
     */
    factor_id: string;
    /**
     * For an authenticator app: the code that it shows.
     */
    code?: string;
    /**
     * For a passkey: the browser's RegistrationResponseJSON for the options.
     */
    response?: SetUpPasskeyResponse;
    device?: DeviceInput;
};

export type SetUpFactor = {
    id: string;
    totp?: SetUpTotp;
    passkey?: SetUpPasskey;
    expires_at: string;
};

export type SetUpFactorRequest = {
    /**
     * The secret of the link: the part after `#`.
     */
    secret: string;
    name: string;
    username?: string;
    email?: string;
    password: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
    factor: SecondFactorType;
};

export type SetUpLink = {
    /**
     * The role of the new user.
     */
    role: SetUpRole;
    expires_at: string;
    /**
     * APP_NAME of this installation.
     */
    app_name: string;
    /**
     * The minimum length of the password.
     */
    password_min: number;
};

export type SetUpLinkRequest = {
    /**
     * The secret of the link: the part after `#`.
     */
    secret: string;
};

export type SetUpPasskey = {
    /**
     * WebAuthn creation options as JSON, for navigator.credentials.create().
     */
    options: {
        [key: string]: unknown;
    };
};

export type SetUpPasskeyResponse = {
    [key: string]: unknown;
};

export type SetUpResult = {
    session: NewSession;
    /**
     * Each replaces the second factor in one login. Shown once.
     */
    recovery_codes: Array<string>;
};

export type SetUpRole = 'support' | 'operator';

export type SetUpTotp = {
    /**
     * Base32, to type into the app.
     */
    secret: string;
    /**
     * The secret as an otpauth URI, for a QR code.
     */
    uri: string;
};

export type SmsUsage = {
    /**
     * The first six digits of the numbers.
     */
    prefix: string;
    /**
     * ISO 3166-1 alpha-2, if known.
     */
    country: string | null;
    /**
     * Codes that a provider has accepted.
     */
    sent: number;
    /**
     * How many of these were entered.
     */
    used: number;
    /**
     * Until when no code goes to the prefix, because fewer than one in ten of the last 100 was used.
     */
    paused_until: string | null;
};

export type StartedChallenge = {
    id: string;
    /**
     * When the code expires.
     */
    expires_at: string;
};

export type StartedExternalIdentity = {
    id: string;
    /**
     * `type` oidc, the issuer, the client ids, and the nonce that the id_token must contain.
     */
    challenge: {
        [key: string]: unknown;
    };
    /**
     * When the started link expires.
     */
    expires_at: string;
};

export type StartedProof = {
    id: string;
    /**
     * The `type` of the proof to send.
     */
    type: ProofType;
    /**
     * For a passkey: the browser's request options.
     */
    challenge?: {
        [key: string]: unknown;
    };
    /**
     * For a code: a part of the address to which it was sent, such as `+15…67` or `a…@example.com`.
     */
    destination?: string;
    /**
     * For a code: the time from which the next code can be requested.
     */
    resend_at?: string;
    expires_at: string;
};

export type Statistics = {
    /**
     * The start of the first bucket.
     */
    from: string;
    /**
     * The end of the last bucket.
     */
    to: string;
    /**
     * The time of the answer. A bucket that ends later is incomplete.
     */
    now: string;
    step: StatisticsStep;
    /**
     * The start of each bucket, in UTC.
     */
    buckets: Array<string>;
    metrics: Array<MetricStatistics>;
};

export type StatisticsStep = '1m' | '5m' | '15m' | '1h' | '6h' | '1d';

export type System = {
    /**
     * The version of the process that answers.
     */
    version: string;
    now: string;
    /**
     * Processes on this database, workers included, the oldest first.
     */
    instances: Array<Instance>;
    queue: QueueState;
    /**
     * The configured providers: those of SMS in their order, then mail, then push.
     */
    providers: Array<MessageProvider>;
    /**
     * Codes by SMS of the last 24 hours: the 20 prefixes with most codes. Paused prefixes come first.
     */
    sms_codes: Array<SmsUsage>;
    database: DatabaseState;
    /**
     * The disks to which the process that answers writes. Several may be the same disk. Buckets and the disks of your own PostgreSQL are not listed.
     */
    disks: Array<Disk>;
    /**
     * The newest first. A migration without a time is pending.
     */
    migrations: Array<SystemMigration>;
    /**
     * The last 20 backups, the newest first.
     */
    backups: Array<Backup>;
    settings: Array<EffectiveSetting>;
    /**
     * The findings of `postern doctor`. Those that need attention come first.
     */
    findings: Array<Finding>;
};

export type SystemMigration = {
    name: string;
    applied_at: string | null;
};

export type TableSize = {
    name: string;
    bytes: number;
    /**
     * An estimate.
     */
    rows: number;
};

export type TestAddress = {
    type: AddressType;
    value: string;
};

export type TestIdentity = {
    id: string;
    identity: TestAddress;
    /**
     * The user who logs in with it. null: no user has the address, or it moved to another user since the creation.
     */
    user_id: string | null;
    /**
     * When the test identity stops working.
     */
    expires_at: string;
    /**
     * The API key or the operator, as in audit events.
     */
    created_by: string;
    created_at: string;
};

export type TestIdentityPage = {
    data: Array<TestIdentity>;
    page: PageInfo;
};

export type TokenRequest = {
    /**
     * Required, unless the authenticator identifies the user itself (passkey, oidc).
     */
    identity?: Identity;
    /**
     * password, sms, or another authenticator of this installation.
     */
    authenticator: string;
    /**
     * Required by single-step authenticators, ignored by two-step authenticators.
     */
    secret?: string;
    device: DeviceInput;
    /**
     * 4 to 12 digits.
     */
    pin?: string;
};

export type TotpConfirmation = {
    /**
     * The code that the app shows.
     */
    secret: string;
};

export type User = {
    id: string;
    username: string | null;
    email: string | null;
    phone: string | null;
    /**
     * The external id: the id of the user in your other systems, or null.
     */
    external_id: string | null;
    name: string;
    locale: string | null;
    status: UserStatus;
    role: Role;
    /**
     * Whether the role is active: the user has enrolled a second factor with an operator's link. false without a role.
     */
    role_active: boolean;
    /**
     * An operator's lock, or null. A temporary lock that has ended is null.
     */
    lock: OperatorLock | null;
    /**
     * The active locks by wrong secrets, oldest first. Existing tokens and sessions keep working.
     */
    guess_locks: Array<GuessLock>;
    has_password: boolean;
    has_pin: boolean;
    /**
     * A new PIN that the user has set with a recovery code. It replaces the PIN at effective_at, unless it is cancelled. null: none.
     */
    pin_recovery: PinRecovery | null;
    /**
     * When logins of this user need a second factor: off (never), own (with an authenticator app), required (with an app or a passkey). null: SECOND_FACTOR_BY_ROLE or SECOND_FACTOR applies.
     */
    second_factor: SecondFactorPolicy | null;
    /**
     * The enrolled second factors, oldest first.
     */
    second_factors: Array<SecondFactor>;
    /**
     * Your own data: any JSON object of up to 16 KiB.
     */
    metadata: Metadata;
    /**
     * The last login on a device that is not removed. null: none.
     */
    last_login_at: string | null;
    created_at: string;
    updated_at: string;
};

export type UserActivityPage = {
    data: Array<AuditEvent>;
    page: PageInfo;
};

export type UserChange = {
    username?: string | null;
    email?: string | null;
    phone?: string | null;
    /**
     * The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it.
     */
    external_id?: string | null;
    name?: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
    /**
     * Ends every login of the user.
     */
    password?: string | null;
    pin?: string | null;
    /**
     * deactivated ends every login of the user.
     */
    status?: UserStatus;
    role?: Role;
    /**
     * When logins of this user need a second factor: off (never), own (with an authenticator app), required (with an app or a passkey). null: SECOND_FACTOR_BY_ROLE or SECOND_FACTOR applies.
     */
    second_factor?: SecondFactorPolicy | null;
    /**
     * Your own data: any JSON object of up to 16 KiB.
     */
    metadata?: Metadata;
};

export type UserDevice = {
    id: string;
    make: string | null;
    model: string | null;
    os_name: string | null;
    os_version: string | null;
    sdk_version: string | null;
    screen_width: string | null;
    screen_height: string | null;
    /**
     * Which kinds of push token are registered. The tokens themselves are never shown.
     */
    push: RegisteredPush;
    /**
     * Whether the token of its newest login is bound to a key of the device. A copy of the token alone is useless.
     */
    is_bound: boolean;
    /**
     * When the last login on this device was approved.
     */
    last_login_at: string;
    created_at: string;
    updated_at: string;
};

export type UserDevicePage = {
    data: Array<UserDevice>;
    page: PageInfo;
};

export type UserPage = {
    data: Array<User>;
    page: PageInfo;
};

export type UserSession = {
    id: string;
    authentication_id: string;
    device_id: string;
    expires_at: string;
    created_at: string;
};

export type UserSessionPage = {
    data: Array<UserSession>;
    page: PageInfo;
};

export type UserStatus = 'active' | 'deactivated';

export type UserToImport = {
    /**
     * The id of the user. Existing references to it stay valid.
     */
    id?: string;
    username?: string;
    email?: string;
    phone?: string;
    /**
     * The id of the user in your other systems, such as its key in your database. Unique, and case-sensitive. Visible characters; no spaces at the start or the end. Admin requests can name the user with `external:` and this id. Users cannot log in with it.
     */
    external_id?: string;
    name?: string;
    /**
     * BCP 47 tag, such as en or es-MX.
     */
    locale?: string | null;
    password?: string;
    /**
     * A hash from another system, instead of password: argon2, bcrypt, scrypt, PBKDF2, phpass, sha256-crypt, sha512-crypt or SSHA, also as WordPress, Firebase, Keycloak and ASP.NET write it.
     */
    password_hash?: string;
    pin?: string;
    role?: Role;
    /**
     * Your own data: any JSON object of up to 16 KiB.
     */
    metadata?: Metadata;
    /**
     * When the other system created the user. A time in the past.
     */
    created_at?: string;
};

export type UserToken = {
    id: string;
    device_id: string;
    authenticator: string;
    status: AuthenticationStatus;
    /**
     * Whether its token is active.
     */
    active: boolean;
    /**
     * Whether its token is bound to a key of the client.
     */
    is_bound: boolean;
    /**
     * When its token created its first session.
     */
    first_used_at: string | null;
    /**
     * When its token was deleted or superseded.
     */
    ended_at: string | null;
    expires_at: string;
    created_at: string;
    updated_at: string;
};

export type UserTokenPage = {
    data: Array<UserToken>;
    page: PageInfo;
};

export type Webhook = {
    id: string;
    url: string;
    events: Array<string>;
    /**
     * Only events that match this filter are delivered. Empty: all.
     */
    filter: string;
    description: string;
    payload: WebhookPayload;
    enabled: boolean;
    /**
     * operator: by a request. gone: the endpoint answered 410. failing: five days without success.
     */
    disabled_reason: WebhookDisabledReason | null;
    disabled_at: string | null;
    /**
     * Until then, deliveries are also signed with the previous secret. Null: there is none.
     */
    previous_secret_until: string | null;
    /**
     * Deliveries that wait, counted up to 1000.
     */
    pending: number;
    last_success_at: string | null;
    last_failure_at: string | null;
    /**
     * The first failure since the last success.
     */
    failing_since: string | null;
    last_error: string | null;
    created_at: string;
    updated_at: string;
};

export type WebhookChange = {
    /**
     * An https URL with a public address.
     */
    url?: string;
    /**
     * Types of events, or patterns: `login.*` for all types of a group, `*` for all.
     */
    events?: Array<string>;
    filter?: string;
    description?: string;
    /**
     * thin: ids and the names of changed fields. full: also the resource, as it is when the event is sent.
     */
    payload?: WebhookPayload;
    /**
     * true: deliver again. Earlier events can be replayed.
     */
    enabled?: boolean;
};

export type WebhookDelivery = {
    id: string;
    endpoint_id: string;
    /**
     * The header `webhook-id` of every attempt.
     */
    event_id: string;
    type: string;
    /**
     * All zeros for an event that concerns no user.
     */
    user_id: string;
    /**
     * The number of the event among those of its user.
     */
    sequence: number;
    /**
     * pending: waits for its first or next attempt. failed: not retried any more.
     */
    state: 'pending' | 'delivered' | 'failed';
    attempts: number;
    /**
     * The HTTP status of the last attempt.
     */
    status: number | null;
    /**
     * The body. A full payload is shown without its resource, which is read for each attempt. Null: the event is no longer stored.
     */
    request: string | null;
    /**
     * The first 1024 bytes of the answer.
     */
    answer: string | null;
    /**
     * Why the last attempt failed.
     */
    error: string | null;
    duration_ms: number | null;
    last_attempt_at: string | null;
    next_attempt_at: string | null;
    created_at: string;
};

export type WebhookDeliveryPage = {
    data: Array<WebhookDelivery>;
    page: PageInfo;
};

export type WebhookDisabledReason = 'operator' | 'gone' | 'failing';

export type WebhookPage = {
    data: Array<Webhook>;
    page: PageInfo;
};

export type WebhookPayload = 'thin' | 'full';

export type WebhookPublicKey = {
    kty: 'OKP';
    crv: 'Ed25519';
    use: 'sig';
    alg: 'EdDSA';
    kid: string;
    x: string;
};

export type WebhookPublicKeys = {
    keys: Array<WebhookPublicKey>;
};

export type WebhookReplay = {
    id: string;
    /**
     * Events to replay, counted up to 1000, before the filter of the endpoint.
     */
    events: number;
};

export type WebhookReplayRequest = {
    /**
     * Events from this time on.
     */
    from?: string;
    /**
     * Events before this time. The default is now.
     */
    to?: string;
    /**
     * The events of these deliveries, instead of a time.
     */
    delivery_ids?: Array<string>;
};

export type WebhookSecret = {
    /**
     * The new secret of the signatures `v1`. Shown once.
     */
    secret: string;
};

export type WebhookTest = {
    /**
     * Whether the endpoint answered with a status from 200 to 299.
     */
    ok: boolean;
    status: number | null;
    /**
     * The body.
     */
    request: string;
    answer: string | null;
    error: string | null;
    duration_ms: number;
};

export type WebhookTestRequest = {
    /**
     * The example of this type is sent. `user.created` if absent.
     */
    type?: 'user.created' | 'user.updated' | 'user.deleted' | 'user.locked' | 'user.unlocked' | 'user.deactivated' | 'identity.verified' | 'login.approved' | 'login.rejected' | 'login.locked' | 'device.added' | 'device.removed' | 'token.ended' | 'credential.changed' | 'recovery.completed' | 'registration.completed' | 'notification.created' | 'notification.updated' | 'notification.deleted' | 'marker.moved' | 'message.failed' | 'push.token_gone' | 'audit.sealed';
};

/**
 * The language of messages: en or es.
 */
export type AcceptLanguageHeader = string;

/**
 * A DPoP proof (RFC 9449), if the token is bound to a key.
 */
export type DpopHeader = string;

/**
 * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
 */
export type IdempotencyKeyHeader = string;

/**
 * An ETag of an earlier response: 304 while nothing has changed.
 */
export type IfNoneMatchHeader = string;

/**
 * count=exact counts all items that match the filter (RFC 7240).
 */
export type PreferHeader = string;

/**
 * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
 */
export type CursorQuery = string;

/**
 * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
 */
export type FilterQuery = string;

export type IdPath = string;

/**
 * Items per page.
 */
export type LimitQuery = number;

/**
 * The name of the provider, such as google.
 */
export type NamePath = string;

/**
 * Page number, from 1.
 */
export type PageQuery = number;

/**
 * A part of a name, user name, mail address or phone number, in upper or lower case. Or the id of a user or of a device, or a whole external_id. A full mail address or phone number that a user has finds this user alone. At most 320 characters.
 */
export type SearchQuery = string;

/**
 * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
 */
export type SinceQuery = string;

/**
 * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
 */
export type SortQuery = string;

export type DeleteHeldTokenData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * A DPoP proof (RFC 9449), if the token is bound to a key.
         */
        DPoP?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/tokens';
};

export type DeleteHeldTokenErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteHeldTokenError = DeleteHeldTokenErrors[keyof DeleteHeldTokenErrors];

export type DeleteHeldTokenResponses = {
    /**
     * The authentication token was deleted.
     */
    200: DeletedToken;
};

export type DeleteHeldTokenResponse = DeleteHeldTokenResponses[keyof DeleteHeldTokenResponses];

export type CreateTokenData = {
    body: TokenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/tokens';
};

export type CreateTokenErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateTokenError = CreateTokenErrors[keyof CreateTokenErrors];

export type CreateTokenResponses = {
    /**
     * Authentication started or completed.
     */
    201: Authentication;
};

export type CreateTokenResponse = CreateTokenResponses[keyof CreateTokenResponses];

export type AnswerTokenData = {
    body: SecretRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * A repeat with the same key within 10 minutes gets a new token while the first one is unused.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        /**
         * The id of the authentication.
         */
        id: string;
    };
    query?: never;
    url: '/v1/tokens/{id}/secret';
};

export type AnswerTokenErrors = {
    /**
     * `authorization_rejected`: That code is wrong or has expired.
     */
    400: AuthorizationRejectedProblem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type AnswerTokenError = AnswerTokenErrors[keyof AnswerTokenErrors];

export type AnswerTokenResponses = {
    /**
     * Approved, with the token. Or pending, if a second factor is needed.
     */
    201: Authentication;
};

export type AnswerTokenResponse = AnswerTokenResponses[keyof AnswerTokenResponses];

export type DeleteTokenData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        /**
         * The id of the authentication.
         */
        id: string;
    };
    query?: never;
    url: '/v1/tokens/{id}';
};

export type DeleteTokenErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteTokenError = DeleteTokenErrors[keyof DeleteTokenErrors];

export type DeleteTokenResponses = {
    /**
     * The authentication token was deleted.
     */
    200: DeletedToken;
};

export type DeleteTokenResponse = DeleteTokenResponses[keyof DeleteTokenResponses];

export type GetTokenStatusData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        /**
         * The id of the authentication.
         */
        id: string;
    };
    query?: never;
    url: '/v1/tokens/{id}';
};

export type GetTokenStatusErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetTokenStatusError = GetTokenStatusErrors[keyof GetTokenStatusErrors];

export type GetTokenStatusResponses = {
    /**
     * The current status.
     */
    201: AuthenticationState;
};

export type GetTokenStatusResponse = GetTokenStatusResponses[keyof GetTokenStatusResponses];

export type GetLoginOptionsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/login-options';
};

export type GetLoginOptionsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetLoginOptionsError = GetLoginOptionsErrors[keyof GetLoginOptionsErrors];

export type GetLoginOptionsResponses = {
    /**
     * The ways to log in.
     */
    200: LoginOptions;
};

export type GetLoginOptionsResponse = GetLoginOptionsResponses[keyof GetLoginOptionsResponses];

export type CreateSessionData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * A DPoP proof (RFC 9449), if the token is bound to a key.
         */
        DPoP?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/sessions';
};

export type CreateSessionErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateSessionError = CreateSessionErrors[keyof CreateSessionErrors];

export type CreateSessionResponses = {
    /**
     * A session with its token.
     */
    201: NewSession;
};

export type CreateSessionResponse = CreateSessionResponses[keyof CreateSessionResponses];

export type GetSessionData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/sessions/verify';
};

export type GetSessionErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetSessionError = GetSessionErrors[keyof GetSessionErrors];

export type GetSessionResponses = {
    /**
     * The session token is valid and active.
     */
    200: Session;
};

export type GetSessionResponse = GetSessionResponses[keyof GetSessionResponses];

export type VerifySessionData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/sessions/verify';
};

export type VerifySessionErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type VerifySessionError = VerifySessionErrors[keyof VerifySessionErrors];

export type VerifySessionResponses = {
    /**
     * The session token is valid and active.
     */
    200: Session;
};

export type VerifySessionResponse = VerifySessionResponses[keyof VerifySessionResponses];

export type ListDevicesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/v1/devices';
};

export type ListDevicesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListDevicesError = ListDevicesErrors[keyof ListDevicesErrors];

export type ListDevicesResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<Device>;
};

export type ListDevicesResponse = ListDevicesResponses[keyof ListDevicesResponses];

export type GetDevicePageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/v1/devices/page';
};

export type GetDevicePageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetDevicePageError = GetDevicePageErrors[keyof GetDevicePageErrors];

export type GetDevicePageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: DevicePage;
};

export type GetDevicePageResponse = GetDevicePageResponses[keyof GetDevicePageResponses];

export type DeleteCurrentDeviceData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/devices/current';
};

export type DeleteCurrentDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteCurrentDeviceError = DeleteCurrentDeviceErrors[keyof DeleteCurrentDeviceErrors];

export type DeleteCurrentDeviceResponses = {
    /**
     * The device was removed.
     */
    200: RemovedDevice;
};

export type DeleteCurrentDeviceResponse = DeleteCurrentDeviceResponses[keyof DeleteCurrentDeviceResponses];

export type GetCurrentDeviceData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/devices/current';
};

export type GetCurrentDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetCurrentDeviceError = GetCurrentDeviceErrors[keyof GetCurrentDeviceErrors];

export type GetCurrentDeviceResponses = {
    /**
     * The device.
     */
    200: Device;
};

export type GetCurrentDeviceResponse = GetCurrentDeviceResponses[keyof GetCurrentDeviceResponses];

export type PutCurrentDeviceData = {
    body: DeviceDescription;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/devices/current';
};

export type PutCurrentDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PutCurrentDeviceError = PutCurrentDeviceErrors[keyof PutCurrentDeviceErrors];

export type PutCurrentDeviceResponses = {
    /**
     * The changed device.
     */
    200: Device;
};

export type PutCurrentDeviceResponse = PutCurrentDeviceResponses[keyof PutCurrentDeviceResponses];

export type DeleteDeviceData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/devices/{id}';
};

export type DeleteDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteDeviceError = DeleteDeviceErrors[keyof DeleteDeviceErrors];

export type DeleteDeviceResponses = {
    /**
     * The device was removed.
     */
    200: RemovedDevice;
};

export type DeleteDeviceResponse = DeleteDeviceResponses[keyof DeleteDeviceResponses];

export type GetDeviceData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/devices/{id}';
};

export type GetDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetDeviceError = GetDeviceErrors[keyof GetDeviceErrors];

export type GetDeviceResponses = {
    /**
     * The device.
     */
    200: Device;
};

export type GetDeviceResponse = GetDeviceResponses[keyof GetDeviceResponses];

export type PutDeviceData = {
    body: DeviceDescription;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/devices/{id}';
};

export type PutDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PutDeviceError = PutDeviceErrors[keyof PutDeviceErrors];

export type PutDeviceResponses = {
    /**
     * The changed device.
     */
    200: Device;
};

export type PutDeviceResponse = PutDeviceResponses[keyof PutDeviceResponses];

export type DeleteAccountData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account';
};

export type DeleteAccountErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteAccountError = DeleteAccountErrors[keyof DeleteAccountErrors];

export type DeleteAccountResponses = {
    /**
     * The account is deleted.
     */
    204: void;
};

export type DeleteAccountResponse = DeleteAccountResponses[keyof DeleteAccountResponses];

export type GetAccountData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account';
};

export type GetAccountErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetAccountError = GetAccountErrors[keyof GetAccountErrors];

export type GetAccountResponses = {
    /**
     * The account.
     */
    200: AccountDetails;
};

export type GetAccountResponse = GetAccountResponses[keyof GetAccountResponses];

export type ChangeAccountData = {
    body: AccountChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account';
};

export type ChangeAccountErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ChangeAccountError = ChangeAccountErrors[keyof ChangeAccountErrors];

export type ChangeAccountResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type ChangeAccountResponse = ChangeAccountResponses[keyof ChangeAccountResponses];

export type PutPasswordData = {
    body: PasswordChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/password';
};

export type PutPasswordErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PutPasswordError = PutPasswordErrors[keyof PutPasswordErrors];

export type PutPasswordResponses = {
    /**
     * The changed account, with the new token.
     */
    200: ChangedPassword;
};

export type PutPasswordResponse = PutPasswordResponses[keyof PutPasswordResponses];

export type DeletePinData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/pin';
};

export type DeletePinErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeletePinError = DeletePinErrors[keyof DeletePinErrors];

export type DeletePinResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type DeletePinResponse = DeletePinResponses[keyof DeletePinResponses];

export type PutPinData = {
    body: PinChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/pin';
};

export type PutPinErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PutPinError = PutPinErrors[keyof PutPinErrors];

export type PutPinResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type PutPinResponse = PutPinResponses[keyof PutPinResponses];

export type CancelPinRecoveryData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/pin-recovery';
};

export type CancelPinRecoveryErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CancelPinRecoveryError = CancelPinRecoveryErrors[keyof CancelPinRecoveryErrors];

export type CancelPinRecoveryResponses = {
    /**
     * The account without a pending PIN.
     */
    200: Account;
};

export type CancelPinRecoveryResponse = CancelPinRecoveryResponses[keyof CancelPinRecoveryResponses];

export type DeleteEmailData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/email';
};

export type DeleteEmailErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteEmailError = DeleteEmailErrors[keyof DeleteEmailErrors];

export type DeleteEmailResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type DeleteEmailResponse = DeleteEmailResponses[keyof DeleteEmailResponses];

export type StartEmailChangeData = {
    body: EmailChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/email';
};

export type StartEmailChangeErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartEmailChangeError = StartEmailChangeErrors[keyof StartEmailChangeErrors];

export type StartEmailChangeResponses = {
    /**
     * A code is sent.
     */
    201: StartedChallenge;
};

export type StartEmailChangeResponse = StartEmailChangeResponses[keyof StartEmailChangeResponses];

export type ConfirmEmailChangeData = {
    body: CodeAnswer;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/account/email/{id}';
};

export type ConfirmEmailChangeErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ConfirmEmailChangeError = ConfirmEmailChangeErrors[keyof ConfirmEmailChangeErrors];

export type ConfirmEmailChangeResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type ConfirmEmailChangeResponse = ConfirmEmailChangeResponses[keyof ConfirmEmailChangeResponses];

export type DeletePhoneData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/phone';
};

export type DeletePhoneErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeletePhoneError = DeletePhoneErrors[keyof DeletePhoneErrors];

export type DeletePhoneResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type DeletePhoneResponse = DeletePhoneResponses[keyof DeletePhoneResponses];

export type StartPhoneChangeData = {
    body: PhoneChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/phone';
};

export type StartPhoneChangeErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartPhoneChangeError = StartPhoneChangeErrors[keyof StartPhoneChangeErrors];

export type StartPhoneChangeResponses = {
    /**
     * A code is sent.
     */
    201: StartedChallenge;
};

export type StartPhoneChangeResponse = StartPhoneChangeResponses[keyof StartPhoneChangeResponses];

export type ConfirmPhoneChangeData = {
    body: CodeAnswer;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/account/phone/{id}';
};

export type ConfirmPhoneChangeErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ConfirmPhoneChangeError = ConfirmPhoneChangeErrors[keyof ConfirmPhoneChangeErrors];

export type ConfirmPhoneChangeResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type ConfirmPhoneChangeResponse = ConfirmPhoneChangeResponses[keyof ConfirmPhoneChangeResponses];

export type ListExternalIdentitiesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/external-identities';
};

export type ListExternalIdentitiesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListExternalIdentitiesError = ListExternalIdentitiesErrors[keyof ListExternalIdentitiesErrors];

export type ListExternalIdentitiesResponses = {
    /**
     * Oldest first.
     */
    200: Array<ExternalIdentity>;
};

export type ListExternalIdentitiesResponse = ListExternalIdentitiesResponses[keyof ListExternalIdentitiesResponses];

export type StartExternalIdentityData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        /**
         * The name of the provider, such as google.
         */
        name: string;
    };
    query?: never;
    url: '/v1/account/external-identities/{name}';
};

export type StartExternalIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartExternalIdentityError = StartExternalIdentityErrors[keyof StartExternalIdentityErrors];

export type StartExternalIdentityResponses = {
    /**
     * Send the id_token next.
     */
    201: StartedExternalIdentity;
};

export type StartExternalIdentityResponse = StartExternalIdentityResponses[keyof StartExternalIdentityResponses];

export type DeleteExternalIdentityData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        /**
         * The name of the provider, such as google.
         */
        name: string;
        /**
         * The id of the started link, or of the link.
         */
        id: string;
    };
    query?: never;
    url: '/v1/account/external-identities/{name}/{id}';
};

export type DeleteExternalIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteExternalIdentityError = DeleteExternalIdentityErrors[keyof DeleteExternalIdentityErrors];

export type DeleteExternalIdentityResponses = {
    /**
     * The link is deleted.
     */
    204: void;
};

export type DeleteExternalIdentityResponse = DeleteExternalIdentityResponses[keyof DeleteExternalIdentityResponses];

export type ConfirmExternalIdentityData = {
    body: IdTokenAnswer;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        /**
         * The name of the provider, such as google.
         */
        name: string;
        /**
         * The id of the started link, or of the link.
         */
        id: string;
    };
    query?: never;
    url: '/v1/account/external-identities/{name}/{id}';
};

export type ConfirmExternalIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ConfirmExternalIdentityError = ConfirmExternalIdentityErrors[keyof ConfirmExternalIdentityErrors];

export type ConfirmExternalIdentityResponses = {
    /**
     * The link.
     */
    200: ExternalIdentity;
};

export type ConfirmExternalIdentityResponse = ConfirmExternalIdentityResponses[keyof ConfirmExternalIdentityResponses];

export type StartProofData = {
    body: ProofRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/proofs';
};

export type StartProofErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartProofError = StartProofErrors[keyof StartProofErrors];

export type StartProofResponses = {
    /**
     * The proof was started.
     */
    201: StartedProof;
};

export type StartProofResponse = StartProofResponses[keyof StartProofResponses];

export type PutSessionProofData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/session-proof';
};

export type PutSessionProofErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PutSessionProofError = PutSessionProofErrors[keyof PutSessionProofErrors];

export type PutSessionProofResponses = {
    /**
     * The time of the proof, and when it expires.
     */
    200: RecordedProof;
};

export type PutSessionProofResponse = PutSessionProofResponses[keyof PutSessionProofResponses];

export type ActivateRoleData = {
    body: RoleActivation;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/role';
};

export type ActivateRoleErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ActivateRoleError = ActivateRoleErrors[keyof ActivateRoleErrors];

export type ActivateRoleResponses = {
    /**
     * The changed account.
     */
    200: Account;
};

export type ActivateRoleResponse = ActivateRoleResponses[keyof ActivateRoleResponses];

export type ListActivityData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/v1/account/activity';
};

export type ListActivityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListActivityError = ListActivityErrors[keyof ListActivityErrors];

export type ListActivityResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<ActivityEntry>;
};

export type ListActivityResponse = ListActivityResponses[keyof ListActivityResponses];

export type GetActivityPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/v1/account/activity/page';
};

export type GetActivityPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetActivityPageError = GetActivityPageErrors[keyof GetActivityPageErrors];

export type GetActivityPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: ActivityEntryPage;
};

export type GetActivityPageResponse = GetActivityPageResponses[keyof GetActivityPageResponses];

export type ExportAccountData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/export';
};

export type ExportAccountErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ExportAccountError = ExportAccountErrors[keyof ExportAccountErrors];

export type ExportAccountResponses = {
    /**
     * All stored data of the user, except secrets.
     */
    200: AccountExport;
};

export type ExportAccountResponse = ExportAccountResponses[keyof ExportAccountResponses];

export type StartRecoveryData = {
    body: RecoveryRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/recoveries';
};

export type StartRecoveryErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartRecoveryError = StartRecoveryErrors[keyof StartRecoveryErrors];

export type StartRecoveryResponses = {
    /**
     * If there is such an account, a code is sent.
     */
    201: StartedChallenge;
};

export type StartRecoveryResponse = StartRecoveryResponses[keyof StartRecoveryResponses];

export type CompleteRecoveryData = {
    /**
     * The request that completes a recovery: the code as `secret`, and the new password or PIN.
     */
    body: RecoveryAnswer;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/recoveries/{id}';
};

export type CompleteRecoveryErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CompleteRecoveryError = CompleteRecoveryErrors[keyof CompleteRecoveryErrors];

export type CompleteRecoveryResponses = {
    /**
     * The new secret is set, or pending.
     */
    200: Recovered;
};

export type CompleteRecoveryResponse = CompleteRecoveryResponses[keyof CompleteRecoveryResponses];

export type CancelRecoveryData = {
    body: RecoveryCancellation;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/recovery-cancellations';
};

export type CancelRecoveryErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CancelRecoveryError = CancelRecoveryErrors[keyof CancelRecoveryErrors];

export type CancelRecoveryResponses = {
    /**
     * The recovery is cancelled.
     */
    204: void;
};

export type CancelRecoveryResponse = CancelRecoveryResponses[keyof CancelRecoveryResponses];

export type StartRegistrationData = {
    body: RegistrationRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/registrations';
};

export type StartRegistrationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartRegistrationError = StartRegistrationErrors[keyof StartRegistrationErrors];

export type StartRegistrationResponses = {
    /**
     * A message is sent.
     */
    201: StartedChallenge;
};

export type StartRegistrationResponse = StartRegistrationResponses[keyof StartRegistrationResponses];

export type CompleteRegistrationData = {
    body: RegistrationAnswer;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/registrations/{id}';
};

export type CompleteRegistrationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CompleteRegistrationError = CompleteRegistrationErrors[keyof CompleteRegistrationErrors];

export type CompleteRegistrationResponses = {
    /**
     * The account.
     */
    201: Account;
};

export type CompleteRegistrationResponse = CompleteRegistrationResponses[keyof CompleteRegistrationResponses];

export type DeleteTotpData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/totp';
};

export type DeleteTotpErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteTotpError = DeleteTotpErrors[keyof DeleteTotpErrors];

export type DeleteTotpResponses = {
    /**
     * The app is removed.
     */
    204: void;
};

export type DeleteTotpResponse = DeleteTotpResponses[keyof DeleteTotpResponses];

export type StartTotpData = {
    body: EnrollmentRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/totp';
};

export type StartTotpErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartTotpError = StartTotpErrors[keyof StartTotpErrors];

export type StartTotpResponses = {
    /**
     * The secret, shown once.
     */
    201: NewTotp;
};

export type StartTotpResponse = StartTotpResponses[keyof StartTotpResponses];

export type ConfirmTotpData = {
    body: TotpConfirmation;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/account/totp/{id}';
};

export type ConfirmTotpErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ConfirmTotpError = ConfirmTotpErrors[keyof ConfirmTotpErrors];

export type ConfirmTotpResponses = {
    /**
     * The app is enrolled. Contains the recovery codes if they are new.
     */
    200: RecoveryCodes;
};

export type ConfirmTotpResponse = ConfirmTotpResponses[keyof ConfirmTotpResponses];

export type RenewRecoveryCodesData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/recovery-codes';
};

export type RenewRecoveryCodesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type RenewRecoveryCodesError = RenewRecoveryCodesErrors[keyof RenewRecoveryCodesErrors];

export type RenewRecoveryCodesResponses = {
    /**
     * The new codes, shown once.
     */
    201: RecoveryCodes;
};

export type RenewRecoveryCodesResponse = RenewRecoveryCodesResponses[keyof RenewRecoveryCodesResponses];

export type ListPasskeysData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/passkeys';
};

export type ListPasskeysErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListPasskeysError = ListPasskeysErrors[keyof ListPasskeysErrors];

export type ListPasskeysResponses = {
    /**
     * The passkeys, oldest first.
     */
    200: Array<Passkey>;
};

export type ListPasskeysResponse = ListPasskeysResponses[keyof ListPasskeysResponses];

export type StartPasskeyData = {
    body: PasskeyRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/account/passkeys';
};

export type StartPasskeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartPasskeyError = StartPasskeyErrors[keyof StartPasskeyErrors];

export type StartPasskeyResponses = {
    /**
     * The creation options.
     */
    201: NewPasskey;
};

export type StartPasskeyResponse = StartPasskeyResponses[keyof StartPasskeyResponses];

export type DeletePasskeyData = {
    body: ProvenRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/account/passkeys/{id}';
};

export type DeletePasskeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `account_temporarily_locked`: The account is temporarily locked.
     */
    423: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeletePasskeyError = DeletePasskeyErrors[keyof DeletePasskeyErrors];

export type DeletePasskeyResponses = {
    /**
     * The passkey is removed.
     */
    204: void;
};

export type DeletePasskeyResponse = DeletePasskeyResponses[keyof DeletePasskeyResponses];

export type ChangePasskeyData = {
    body: PasskeyChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/account/passkeys/{id}';
};

export type ChangePasskeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ChangePasskeyError = ChangePasskeyErrors[keyof ChangePasskeyErrors];

export type ChangePasskeyResponses = {
    /**
     * The changed passkey.
     */
    200: Passkey;
};

export type ChangePasskeyResponse = ChangePasskeyResponses[keyof ChangePasskeyResponses];

export type CreatePasskeyData = {
    body: PasskeyAnswer;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/account/passkeys/{id}';
};

export type CreatePasskeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreatePasskeyError = CreatePasskeyErrors[keyof CreatePasskeyErrors];

export type CreatePasskeyResponses = {
    /**
     * The passkey. You can log in with it from now on.
     */
    201: Passkey;
};

export type CreatePasskeyResponse = CreatePasskeyResponses[keyof CreatePasskeyResponses];

export type ListNotificationsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * An ETag of an earlier response: 304 while nothing has changed.
         */
        'If-None-Match'?: string;
        /**
         * count=exact counts all items that match the filter (RFC 7240).
         */
        Prefer?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/v1/notifications';
};

export type ListNotificationsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListNotificationsError = ListNotificationsErrors[keyof ListNotificationsErrors];

export type ListNotificationsResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<Notification>;
};

export type ListNotificationsResponse = ListNotificationsResponses[keyof ListNotificationsResponses];

export type GetNotificationPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * An ETag of an earlier response: 304 while nothing has changed.
         */
        'If-None-Match'?: string;
        /**
         * count=exact counts all items that match the filter (RFC 7240).
         */
        Prefer?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/v1/notifications/page';
};

export type GetNotificationPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetNotificationPageError = GetNotificationPageErrors[keyof GetNotificationPageErrors];

export type GetNotificationPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: NotificationPage;
};

export type GetNotificationPageResponse = GetNotificationPageResponses[keyof GetNotificationPageResponses];

export type StreamNotificationsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
    };
    url: '/v1/notifications/stream';
};

export type StreamNotificationsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StreamNotificationsError = StreamNotificationsErrors[keyof StreamNotificationsErrors];

export type StreamNotificationsResponses = {
    /**
     * Notifications when they are created and changed (without an event name), `deleted`, `marker`, `reset`, `retained_from`, `session_expiring`. `id` is the change sequence: send the last one as Last-Event-ID to continue.
     */
    200: string;
};

export type StreamNotificationsResponse = StreamNotificationsResponses[keyof StreamNotificationsResponses];

export type ListChangesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * The `after` of the last response. Missing or 0: all changes from the start.
         */
        after?: string;
        /**
         * The maximum number of changes.
         */
        limit?: number;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
    };
    url: '/v1/notifications/changes';
};

export type ListChangesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListChangesError = ListChangesErrors[keyof ListChangesErrors];

export type ListChangesResponses = {
    /**
     * The changes, oldest first.
     */
    200: Changes;
};

export type ListChangesResponse = ListChangesResponses[keyof ListChangesResponses];

export type GetMarkerData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/notifications/marker';
};

export type GetMarkerErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetMarkerError = GetMarkerErrors[keyof GetMarkerErrors];

export type GetMarkerResponses = {
    /**
     * The read position. `updated_at` is null if it was never set.
     */
    200: Marker;
};

export type GetMarkerResponse = GetMarkerResponses[keyof GetMarkerResponses];

export type MoveMarkerData = {
    body: MarkerInput;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/notifications/marker';
};

export type MoveMarkerErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type MoveMarkerError = MoveMarkerErrors[keyof MoveMarkerErrors];

export type MoveMarkerResponses = {
    /**
     * The new read position.
     */
    200: Marker;
};

export type MoveMarkerResponse = MoveMarkerResponses[keyof MoveMarkerResponses];

export type GetImageFileData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * An ETag of an earlier response: 304 while nothing has changed.
         */
        'If-None-Match'?: string;
    };
    path: {
        id: string;
        /**
         * The rendition.
         */
        file: ImageFile;
    };
    query?: never;
    url: '/images/{id}/{file}';
};

export type GetImageFileErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetImageFileError = GetImageFileErrors[keyof GetImageFileErrors];

export type GetImageFileResponses = {
    /**
     * The file.
     */
    200: Blob | File;
};

export type GetImageFileResponse = GetImageFileResponses[keyof GetImageFileResponses];

export type ListMutesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/notifications/mutes';
};

export type ListMutesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListMutesError = ListMutesErrors[keyof ListMutesErrors];

export type ListMutesResponses = {
    /**
     * All mutes, newest first.
     */
    200: Array<Mute>;
};

export type ListMutesResponse = ListMutesResponses[keyof ListMutesResponses];

export type AddMuteData = {
    body: MuteInput;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/notifications/mutes';
};

export type AddMuteErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type AddMuteError = AddMuteErrors[keyof AddMuteErrors];

export type AddMuteResponses = {
    /**
     * A mute with this filter exists already.
     */
    200: Mute;
    /**
     * The new mute.
     */
    201: Mute;
};

export type AddMuteResponse = AddMuteResponses[keyof AddMuteResponses];

export type RemoveMuteData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/notifications/mutes/{id}';
};

export type RemoveMuteErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type RemoveMuteError = RemoveMuteErrors[keyof RemoveMuteErrors];

export type RemoveMuteResponses = {
    /**
     * The mute is removed.
     */
    204: void;
};

export type RemoveMuteResponse = RemoveMuteResponses[keyof RemoveMuteResponses];

export type TraceNotificationData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/v1/notifications/{id}/deliveries';
};

export type TraceNotificationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type TraceNotificationError = TraceNotificationErrors[keyof TraceNotificationErrors];

export type TraceNotificationResponses = {
    /**
     * The delivery status. Pushes are kept for 30 days.
     */
    200: DeliveryTrace;
};

export type TraceNotificationResponse = TraceNotificationResponses[keyof TraceNotificationResponses];

export type TraceUserNotificationData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/notifications/{id}/deliveries';
};

export type TraceUserNotificationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type TraceUserNotificationError = TraceUserNotificationErrors[keyof TraceUserNotificationErrors];

export type TraceUserNotificationResponses = {
    /**
     * The delivery status. Pushes are kept for 30 days.
     */
    200: DeliveryTrace;
};

export type TraceUserNotificationResponse = TraceUserNotificationResponses[keyof TraceUserNotificationResponses];

export type RegisterPushTokenData = {
    body: DeviceTokenInput;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/devices/tokens';
};

export type RegisterPushTokenErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type RegisterPushTokenError = RegisterPushTokenErrors[keyof RegisterPushTokenErrors];

export type RegisterPushTokenResponses = {
    /**
     * The device had this token already.
     */
    200: DeviceToken;
    /**
     * The token is registered.
     */
    201: DeviceToken;
};

export type RegisterPushTokenResponse = RegisterPushTokenResponses[keyof RegisterPushTokenResponses];

export type GetPushKeyData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/push/key';
};

export type GetPushKeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetPushKeyError = GetPushKeyErrors[keyof GetPushKeyErrors];

export type GetPushKeyResponses = {
    /**
     * The key of this installation.
     */
    200: PushKey;
};

export type GetPushKeyResponse = GetPushKeyResponses[keyof GetPushKeyResponses];

export type ListUsersData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * A part of a name, user name, mail address or phone number, in upper or lower case. Or the id of a user or of a device, or a whole external_id. A full mail address or phone number that a user has finds this user alone. At most 320 characters.
         */
        search?: string;
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users';
};

export type ListUsersErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUsersError = ListUsersErrors[keyof ListUsersErrors];

export type ListUsersResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<User>;
};

export type ListUsersResponse = ListUsersResponses[keyof ListUsersResponses];

export type CreateUserData = {
    body: NewUser;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/users';
};

export type CreateUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateUserError = CreateUserErrors[keyof CreateUserErrors];

export type CreateUserResponses = {
    /**
     * The new user.
     */
    201: User;
};

export type CreateUserResponse = CreateUserResponses[keyof CreateUserResponses];

export type GetUserPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * A part of a name, user name, mail address or phone number, in upper or lower case. Or the id of a user or of a device, or a whole external_id. A full mail address or phone number that a user has finds this user alone. At most 320 characters.
         */
        search?: string;
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/page';
};

export type GetUserPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserPageError = GetUserPageErrors[keyof GetUserPageErrors];

export type GetUserPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: UserPage;
};

export type GetUserPageResponse = GetUserPageResponses[keyof GetUserPageResponses];

export type ImportUsersData = {
    /**
     * One JSON object per line. Lines end with LF or CRLF.
     */
    body: UserToImport;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Check every line, but create nothing.
         */
        dry_run?: boolean;
    };
    url: '/admin/v1/users/import';
};

export type ImportUsersErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ImportUsersError = ImportUsersErrors[keyof ImportUsersErrors];

export type ImportUsersResponses = {
    /**
     * One result per line, sent when its transaction has committed. Read the results while you send.
     */
    200: ImportResult;
};

export type ImportUsersResponse = ImportUsersResponses[keyof ImportUsersResponses];

export type ChangeUsersData = {
    body: BulkRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/users/bulk';
};

export type ChangeUsersErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ChangeUsersError = ChangeUsersErrors[keyof ChangeUsersErrors];

export type ChangeUsersResponses = {
    /**
     * One result per line, sent when the transaction of this user has committed, and a summary as the last line. Users without a line were not changed; only after an error of the storage, the state of the last ones may be unknown. If you repeat the request, users who are already in the wanted state stay unchanged.
     */
    200: BulkResult;
};

export type ChangeUsersResponse = ChangeUsersResponses[keyof ChangeUsersResponses];

export type DeleteUserData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}';
};

export type DeleteUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteUserError = DeleteUserErrors[keyof DeleteUserErrors];

export type DeleteUserResponses = {
    /**
     * The user is deleted.
     */
    204: void;
};

export type DeleteUserResponse = DeleteUserResponses[keyof DeleteUserResponses];

export type GetUserData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}';
};

export type GetUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserError = GetUserErrors[keyof GetUserErrors];

export type GetUserResponses = {
    /**
     * The user.
     */
    200: User;
};

export type GetUserResponse = GetUserResponses[keyof GetUserResponses];

export type ChangeUserData = {
    body: UserChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}';
};

export type ChangeUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ChangeUserError = ChangeUserErrors[keyof ChangeUserErrors];

export type ChangeUserResponses = {
    /**
     * The changed user.
     */
    200: User;
};

export type ChangeUserResponse = ChangeUserResponses[keyof ChangeUserResponses];

export type LockUserData = {
    body: LockRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/lock';
};

export type LockUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type LockUserError = LockUserErrors[keyof LockUserErrors];

export type LockUserResponses = {
    /**
     * The user with the lock.
     */
    200: User;
};

export type LockUserResponse = LockUserResponses[keyof LockUserResponses];

export type UnlockUserData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/unlock';
};

export type UnlockUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type UnlockUserError = UnlockUserErrors[keyof UnlockUserErrors];

export type UnlockUserResponses = {
    /**
     * The user without a lock.
     */
    200: User;
};

export type UnlockUserResponse = UnlockUserResponses[keyof UnlockUserResponses];

export type LogoutUserData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/logout';
};

export type LogoutUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type LogoutUserError = LogoutUserErrors[keyof LogoutUserErrors];

export type LogoutUserResponses = {
    /**
     * Every authentication token and session has ended.
     */
    200: LogoutResult;
};

export type LogoutUserResponse = LogoutUserResponses[keyof LogoutUserResponses];

export type DiagnoseUserLoginData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * The device of the login. Without it: a device on which the user never logged in.
         */
        device_id?: string;
        /**
         * The IP address of the client, to include the limits of its network.
         */
        address?: string;
    };
    url: '/admin/v1/users/{id}/login-diagnosis';
};

export type DiagnoseUserLoginErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DiagnoseUserLoginError = DiagnoseUserLoginErrors[keyof DiagnoseUserLoginErrors];

export type DiagnoseUserLoginResponses = {
    /**
     * The diagnosis.
     */
    200: LoginDiagnosis;
};

export type DiagnoseUserLoginResponse = DiagnoseUserLoginResponses[keyof DiagnoseUserLoginResponses];

export type DiagnoseLoginData = {
    body: LoginDiagnosisRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/login-diagnosis';
};

export type DiagnoseLoginErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DiagnoseLoginError = DiagnoseLoginErrors[keyof DiagnoseLoginErrors];

export type DiagnoseLoginResponses = {
    /**
     * The diagnosis.
     */
    200: LoginDiagnosis;
};

export type DiagnoseLoginResponse = DiagnoseLoginResponses[keyof DiagnoseLoginResponses];

export type ListUserDevicesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * updated_at or created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/devices';
};

export type ListUserDevicesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUserDevicesError = ListUserDevicesErrors[keyof ListUserDevicesErrors];

export type ListUserDevicesResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<UserDevice>;
};

export type ListUserDevicesResponse = ListUserDevicesResponses[keyof ListUserDevicesResponses];

export type GetUserDevicePageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * updated_at or created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/devices/page';
};

export type GetUserDevicePageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserDevicePageError = GetUserDevicePageErrors[keyof GetUserDevicePageErrors];

export type GetUserDevicePageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: UserDevicePage;
};

export type GetUserDevicePageResponse = GetUserDevicePageResponses[keyof GetUserDevicePageResponses];

export type ListUserTokensData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/tokens';
};

export type ListUserTokensErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUserTokensError = ListUserTokensErrors[keyof ListUserTokensErrors];

export type ListUserTokensResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<UserToken>;
};

export type ListUserTokensResponse = ListUserTokensResponses[keyof ListUserTokensResponses];

export type GetUserTokenPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/tokens/page';
};

export type GetUserTokenPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserTokenPageError = GetUserTokenPageErrors[keyof GetUserTokenPageErrors];

export type GetUserTokenPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: UserTokenPage;
};

export type GetUserTokenPageResponse = GetUserTokenPageResponses[keyof GetUserTokenPageResponses];

export type ListUserSessionsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or expires_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/sessions';
};

export type ListUserSessionsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUserSessionsError = ListUserSessionsErrors[keyof ListUserSessionsErrors];

export type ListUserSessionsResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<UserSession>;
};

export type ListUserSessionsResponse = ListUserSessionsResponses[keyof ListUserSessionsResponses];

export type GetUserSessionPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or expires_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/sessions/page';
};

export type GetUserSessionPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserSessionPageError = GetUserSessionPageErrors[keyof GetUserSessionPageErrors];

export type GetUserSessionPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: UserSessionPage;
};

export type GetUserSessionPageResponse = GetUserSessionPageResponses[keyof GetUserSessionPageResponses];

export type ListUserActivityData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/activity';
};

export type ListUserActivityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUserActivityError = ListUserActivityErrors[keyof ListUserActivityErrors];

export type ListUserActivityResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<AuditEvent>;
};

export type ListUserActivityResponse = ListUserActivityResponses[keyof ListUserActivityResponses];

export type GetUserActivityPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/activity/page';
};

export type GetUserActivityPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserActivityPageError = GetUserActivityPageErrors[keyof GetUserActivityPageErrors];

export type GetUserActivityPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: UserActivityPage;
};

export type GetUserActivityPageResponse = GetUserActivityPageResponses[keyof GetUserActivityPageResponses];

export type DeleteUserDeviceData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
        /**
         * The id of the device.
         */
        device_id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/devices/{device_id}';
};

export type DeleteUserDeviceErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteUserDeviceError = DeleteUserDeviceErrors[keyof DeleteUserDeviceErrors];

export type DeleteUserDeviceResponses = {
    /**
     * The device was removed.
     */
    200: RemovedDevice;
};

export type DeleteUserDeviceResponse = DeleteUserDeviceResponses[keyof DeleteUserDeviceResponses];

export type ExportUserData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/export';
};

export type ExportUserErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ExportUserError = ExportUserErrors[keyof ExportUserErrors];

export type ExportUserResponses = {
    /**
     * All stored data of the user, except secrets.
     */
    200: AccountExport;
};

export type ExportUserResponse = ExportUserResponses[keyof ExportUserResponses];

export type DeleteUserSecondFactorsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/second-factors';
};

export type DeleteUserSecondFactorsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteUserSecondFactorsError = DeleteUserSecondFactorsErrors[keyof DeleteUserSecondFactorsErrors];

export type DeleteUserSecondFactorsResponses = {
    /**
     * The changed user.
     */
    200: User;
};

export type DeleteUserSecondFactorsResponse = DeleteUserSecondFactorsResponses[keyof DeleteUserSecondFactorsResponses];

export type CancelUserPinRecoveryData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/pin-recovery';
};

export type CancelUserPinRecoveryErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CancelUserPinRecoveryError = CancelUserPinRecoveryErrors[keyof CancelUserPinRecoveryErrors];

export type CancelUserPinRecoveryResponses = {
    /**
     * The user without a pending PIN.
     */
    200: User;
};

export type CancelUserPinRecoveryResponse = CancelUserPinRecoveryResponses[keyof CancelUserPinRecoveryResponses];

export type CreateEnrollmentLinkData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/enrollment-links';
};

export type CreateEnrollmentLinkErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateEnrollmentLinkError = CreateEnrollmentLinkErrors[keyof CreateEnrollmentLinkErrors];

export type CreateEnrollmentLinkResponses = {
    /**
     * The link, shown once.
     */
    201: EnrollmentLink;
};

export type CreateEnrollmentLinkResponse = CreateEnrollmentLinkResponses[keyof CreateEnrollmentLinkResponses];

export type ListUserExternalIdentitiesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/external-identities';
};

export type ListUserExternalIdentitiesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUserExternalIdentitiesError = ListUserExternalIdentitiesErrors[keyof ListUserExternalIdentitiesErrors];

export type ListUserExternalIdentitiesResponses = {
    /**
     * Oldest first.
     */
    200: Array<ExternalIdentity>;
};

export type ListUserExternalIdentitiesResponse = ListUserExternalIdentitiesResponses[keyof ListUserExternalIdentitiesResponses];

export type LinkUserExternalIdentityData = {
    body: ExternalIdentityLink;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/external-identities';
};

export type LinkUserExternalIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type LinkUserExternalIdentityError = LinkUserExternalIdentityErrors[keyof LinkUserExternalIdentityErrors];

export type LinkUserExternalIdentityResponses = {
    /**
     * The link.
     */
    200: ExternalIdentity;
};

export type LinkUserExternalIdentityResponse = LinkUserExternalIdentityResponses[keyof LinkUserExternalIdentityResponses];

export type UnlinkUserExternalIdentityData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
        /**
         * The id of the link.
         */
        external_identity_id: string;
    };
    query?: never;
    url: '/admin/v1/users/{id}/external-identities/{external_identity_id}';
};

export type UnlinkUserExternalIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type UnlinkUserExternalIdentityError = UnlinkUserExternalIdentityErrors[keyof UnlinkUserExternalIdentityErrors];

export type UnlinkUserExternalIdentityResponses = {
    /**
     * The link is deleted.
     */
    204: void;
};

export type UnlinkUserExternalIdentityResponse = UnlinkUserExternalIdentityResponses[keyof UnlinkUserExternalIdentityResponses];

export type PublishNotificationData = {
    body: NewNotification;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/notifications';
};

export type PublishNotificationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PublishNotificationError = PublishNotificationErrors[keyof PublishNotificationErrors];

export type PublishNotificationResponses = {
    /**
     * The notification.
     */
    201: Notification;
};

export type PublishNotificationResponse = PublishNotificationResponses[keyof PublishNotificationResponses];

export type PublishNotificationsData = {
    body: Array<NotificationInput>;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/notifications/batch';
};

export type PublishNotificationsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PublishNotificationsError = PublishNotificationsErrors[keyof PublishNotificationsErrors];

export type PublishNotificationsResponses = {
    /**
     * The notifications, in the order of the request.
     */
    201: Array<Notification>;
};

export type PublishNotificationsResponse = PublishNotificationsResponses[keyof PublishNotificationsResponses];

export type TryNotificationsData = {
    body: Array<NotificationInput>;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/notifications/dry-run';
};

export type TryNotificationsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type TryNotificationsError = TryNotificationsErrors[keyof TryNotificationsErrors];

export type TryNotificationsResponses = {
    /**
     * What publishing would do.
     */
    200: DryRun;
};

export type TryNotificationsResponse = TryNotificationsResponses[keyof TryNotificationsResponses];

export type PublishNotificationsAsNdjsonData = {
    /**
     * One JSON object per line. Lines end with LF or CRLF.
     */
    body: NotificationInput;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Validate the request and report the recipients, but write nothing.
         */
        dry_run?: boolean;
    };
    url: '/admin/v1/notifications/ndjson';
};

export type PublishNotificationsAsNdjsonErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type PublishNotificationsAsNdjsonError = PublishNotificationsAsNdjsonErrors[keyof PublishNotificationsAsNdjsonErrors];

export type PublishNotificationsAsNdjsonResponses = {
    /**
     * For application/x-ndjson: one result per line, sent when its transaction has committed. Read the results while you send.
     */
    200: PublishResult;
};

export type PublishNotificationsAsNdjsonResponse = PublishNotificationsAsNdjsonResponses[keyof PublishNotificationsAsNdjsonResponses];

export type DeleteNotificationData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/notifications/{id}';
};

export type DeleteNotificationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteNotificationError = DeleteNotificationErrors[keyof DeleteNotificationErrors];

export type DeleteNotificationResponses = {
    /**
     * The notification is deleted.
     */
    204: void;
};

export type DeleteNotificationResponse = DeleteNotificationResponses[keyof DeleteNotificationResponses];

export type ChangeNotificationData = {
    body: NotificationChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/notifications/{id}';
};

export type ChangeNotificationErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ChangeNotificationError = ChangeNotificationErrors[keyof ChangeNotificationErrors];

export type ChangeNotificationResponses = {
    /**
     * The changed notification.
     */
    200: Notification;
};

export type ChangeNotificationResponse = ChangeNotificationResponses[keyof ChangeNotificationResponses];

export type ListUserNotificationsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * An ETag of an earlier response: 304 while nothing has changed.
         */
        'If-None-Match'?: string;
        /**
         * count=exact counts all items that match the filter (RFC 7240).
         */
        Prefer?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/notifications';
};

export type ListUserNotificationsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListUserNotificationsError = ListUserNotificationsErrors[keyof ListUserNotificationsErrors];

export type ListUserNotificationsResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<Notification>;
};

export type ListUserNotificationsResponse = ListUserNotificationsResponses[keyof ListUserNotificationsResponses];

export type GetUserNotificationPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * An ETag of an earlier response: 304 while nothing has changed.
         */
        'If-None-Match'?: string;
        /**
         * count=exact counts all items that match the filter (RFC 7240).
         */
        Prefer?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/users/{id}/notifications/page';
};

export type GetUserNotificationPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetUserNotificationPageError = GetUserNotificationPageErrors[keyof GetUserNotificationPageErrors];

export type GetUserNotificationPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: NotificationPage;
};

export type GetUserNotificationPageResponse = GetUserNotificationPageResponses[keyof GetUserNotificationPageResponses];

export type ListOutboxData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/outbox';
};

export type ListOutboxErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListOutboxError = ListOutboxErrors[keyof ListOutboxErrors];

export type ListOutboxResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<OutboxMessage>;
};

export type ListOutboxResponse = ListOutboxResponses[keyof ListOutboxResponses];

export type GetOutboxPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/outbox/page';
};

export type GetOutboxPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetOutboxPageError = GetOutboxPageErrors[keyof GetOutboxPageErrors];

export type GetOutboxPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: OutboxMessagePage;
};

export type GetOutboxPageResponse = GetOutboxPageResponses[keyof GetOutboxPageResponses];

export type RetryMessageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/outbox/{id}/retry';
};

export type RetryMessageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type RetryMessageError = RetryMessageErrors[keyof RetryMessageErrors];

export type RetryMessageResponses = {
    /**
     * The queued message.
     */
    200: OutboxMessage;
};

export type RetryMessageResponse = RetryMessageResponses[keyof RetryMessageResponses];

export type ListEventsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/events';
};

export type ListEventsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListEventsError = ListEventsErrors[keyof ListEventsErrors];

export type ListEventsResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<AuditEvent>;
};

export type ListEventsResponse = ListEventsResponses[keyof ListEventsResponses];

export type GetEventPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/events/page';
};

export type GetEventPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetEventPageError = GetEventPageErrors[keyof GetEventPageErrors];

export type GetEventPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: AuditEventPage;
};

export type GetEventPageResponse = GetEventPageResponses[keyof GetEventPageResponses];

export type StreamEventsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
    };
    url: '/admin/v1/events/stream';
};

export type StreamEventsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StreamEventsError = StreamEventsErrors[keyof StreamEventsErrors];

export type StreamEventsResponses = {
    /**
     * Each `data` is an Event, without an event name. `reset`: events may be missing since the last id, so list again. Send the last `id` as Last-Event-ID to continue.
     */
    200: string;
};

export type StreamEventsResponse = StreamEventsResponses[keyof StreamEventsResponses];

export type GetStatisticsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query: {
        /**
         * One or more metrics, joined by a comma: logins.approved, logins.failed, locks, devices.new, sessions.created, sessions.verified, messages.sent, messages.failed, messages.expired, messages.delivered, messages.undelivered, pushes.sent, pushes.failed, pushes.gone, pushes.expired, pushes.dropped, webhooks.delivered, webhooks.failed, notifications.published, notifications.pushed, streams.open, queue.jobs, queue.latency, database.size, queue.age.
         */
        metric: string;
        /**
         * Where the first bucket starts, rounded down to the step: YYYY-MM-DD HH:MM:SS or RFC 3339. The default is a day before `to`.
         */
        from?: string;
        /**
         * Where the last bucket ends, rounded up to the step. The default is now.
         */
        to?: string;
        /**
         * The length of a bucket. Steps under an hour reach back 2 days, steps under a day 90 days. An answer has at most 1500 buckets. The default is the shortest step with at most 300 buckets.
         */
        step?: StatisticsStep;
    };
    url: '/admin/v1/stats';
};

export type GetStatisticsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetStatisticsError = GetStatisticsErrors[keyof GetStatisticsErrors];

export type GetStatisticsResponses = {
    /**
     * The values of each metric in each bucket.
     */
    200: Statistics;
};

export type GetStatisticsResponse = GetStatisticsResponses[keyof GetStatisticsResponses];

export type GetSystemData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/system';
};

export type GetSystemErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetSystemError = GetSystemErrors[keyof GetSystemErrors];

export type GetSystemResponses = {
    /**
     * The state of the system.
     */
    200: System;
};

export type GetSystemResponse = GetSystemResponses[keyof GetSystemResponses];

export type GetBackupsData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/backups';
};

export type GetBackupsErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetBackupsError = GetBackupsErrors[keyof GetBackupsErrors];

export type GetBackupsResponses = {
    /**
     * The state of the backups.
     */
    200: BackupState;
};

export type GetBackupsResponse = GetBackupsResponses[keyof GetBackupsResponses];

export type StartBackupData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/backups';
};

export type StartBackupErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartBackupError = StartBackupErrors[keyof StartBackupErrors];

export type StartBackupResponses = {
    /**
     * The backup has begun.
     */
    202: BackupState;
};

export type StartBackupResponse = StartBackupResponses[keyof StartBackupResponses];

export type VerifyBackupData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/backups/{id}/verify';
};

export type VerifyBackupErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type VerifyBackupError = VerifyBackupErrors[keyof VerifyBackupErrors];

export type VerifyBackupResponses = {
    /**
     * The verification has begun.
     */
    202: BackupState;
};

export type VerifyBackupResponse = VerifyBackupResponses[keyof VerifyBackupResponses];

export type ListKeysData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/keys';
};

export type ListKeysErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListKeysError = ListKeysErrors[keyof ListKeysErrors];

export type ListKeysResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<ApiKey>;
};

export type ListKeysResponse = ListKeysResponses[keyof ListKeysResponses];

export type CreateKeyData = {
    body: NewApiKey;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/keys';
};

export type CreateKeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateKeyError = CreateKeyErrors[keyof CreateKeyErrors];

export type CreateKeyResponses = {
    /**
     * The new key, with its token.
     */
    201: IssuedApiKey;
};

export type CreateKeyResponse = CreateKeyResponses[keyof CreateKeyResponses];

export type GetKeyPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/keys/page';
};

export type GetKeyPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetKeyPageError = GetKeyPageErrors[keyof GetKeyPageErrors];

export type GetKeyPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: ApiKeyPage;
};

export type GetKeyPageResponse = GetKeyPageResponses[keyof GetKeyPageResponses];

export type RevokeKeyData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/keys/{id}';
};

export type RevokeKeyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type RevokeKeyError = RevokeKeyErrors[keyof RevokeKeyErrors];

export type RevokeKeyResponses = {
    /**
     * The key is revoked.
     */
    204: void;
};

export type RevokeKeyResponse = RevokeKeyResponses[keyof RevokeKeyResponses];

export type ListWebhooksData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/webhooks';
};

export type ListWebhooksErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListWebhooksError = ListWebhooksErrors[keyof ListWebhooksErrors];

export type ListWebhooksResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<Webhook>;
};

export type ListWebhooksResponse = ListWebhooksResponses[keyof ListWebhooksResponses];

export type CreateWebhookData = {
    body: NewWebhook;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/webhooks';
};

export type CreateWebhookErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateWebhookError = CreateWebhookErrors[keyof CreateWebhookErrors];

export type CreateWebhookResponses = {
    /**
     * The new webhook, with its secret.
     */
    201: IssuedWebhook;
};

export type CreateWebhookResponse = CreateWebhookResponses[keyof CreateWebhookResponses];

export type GetWebhookPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or updated_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/webhooks/page';
};

export type GetWebhookPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetWebhookPageError = GetWebhookPageErrors[keyof GetWebhookPageErrors];

export type GetWebhookPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: WebhookPage;
};

export type GetWebhookPageResponse = GetWebhookPageResponses[keyof GetWebhookPageResponses];

export type DeleteWebhookData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/webhooks/{id}';
};

export type DeleteWebhookErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteWebhookError = DeleteWebhookErrors[keyof DeleteWebhookErrors];

export type DeleteWebhookResponses = {
    /**
     * The webhook is deleted.
     */
    204: void;
};

export type DeleteWebhookResponse = DeleteWebhookResponses[keyof DeleteWebhookResponses];

export type GetWebhookData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/webhooks/{id}';
};

export type GetWebhookErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetWebhookError = GetWebhookErrors[keyof GetWebhookErrors];

export type GetWebhookResponses = {
    /**
     * The webhook.
     */
    200: Webhook;
};

export type GetWebhookResponse = GetWebhookResponses[keyof GetWebhookResponses];

export type ChangeWebhookData = {
    body: WebhookChange;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/webhooks/{id}';
};

export type ChangeWebhookErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ChangeWebhookError = ChangeWebhookErrors[keyof ChangeWebhookErrors];

export type ChangeWebhookResponses = {
    /**
     * The changed webhook.
     */
    200: Webhook;
};

export type ChangeWebhookResponse = ChangeWebhookResponses[keyof ChangeWebhookResponses];

export type TestWebhookData = {
    body?: WebhookTestRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/webhooks/{id}/test';
};

export type TestWebhookErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type TestWebhookError = TestWebhookErrors[keyof TestWebhookErrors];

export type TestWebhookResponses = {
    /**
     * What the endpoint answered.
     */
    200: WebhookTest;
};

export type TestWebhookResponse = TestWebhookResponses[keyof TestWebhookResponses];

export type RotateWebhookSecretData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/webhooks/{id}/rotate-secret';
};

export type RotateWebhookSecretErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type RotateWebhookSecretError = RotateWebhookSecretErrors[keyof RotateWebhookSecretErrors];

export type RotateWebhookSecretResponses = {
    /**
     * The new secret.
     */
    200: WebhookSecret;
};

export type RotateWebhookSecretResponse = RotateWebhookSecretResponses[keyof RotateWebhookSecretResponses];

export type ListWebhookDeliveriesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/webhooks/{id}/deliveries';
};

export type ListWebhookDeliveriesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListWebhookDeliveriesError = ListWebhookDeliveriesErrors[keyof ListWebhookDeliveriesErrors];

export type ListWebhookDeliveriesResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<WebhookDelivery>;
};

export type ListWebhookDeliveriesResponse = ListWebhookDeliveriesResponses[keyof ListWebhookDeliveriesResponses];

export type GetWebhookDeliveryPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/webhooks/{id}/deliveries/page';
};

export type GetWebhookDeliveryPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetWebhookDeliveryPageError = GetWebhookDeliveryPageErrors[keyof GetWebhookDeliveryPageErrors];

export type GetWebhookDeliveryPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: WebhookDeliveryPage;
};

export type GetWebhookDeliveryPageResponse = GetWebhookDeliveryPageResponses[keyof GetWebhookDeliveryPageResponses];

export type ReplayWebhookData = {
    body: WebhookReplayRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/webhooks/{id}/replay';
};

export type ReplayWebhookErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ReplayWebhookError = ReplayWebhookErrors[keyof ReplayWebhookErrors];

export type ReplayWebhookResponses = {
    /**
     * The events will be delivered.
     */
    202: WebhookReplay;
};

export type ReplayWebhookResponse = ReplayWebhookResponses[keyof ReplayWebhookResponses];

export type ListBlocksData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/blocks';
};

export type ListBlocksErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListBlocksError = ListBlocksErrors[keyof ListBlocksErrors];

export type ListBlocksResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<Block>;
};

export type ListBlocksResponse = ListBlocksResponses[keyof ListBlocksResponses];

export type CreateBlockData = {
    body: NewBlock;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/blocks';
};

export type CreateBlockErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateBlockError = CreateBlockErrors[keyof CreateBlockErrors];

export type CreateBlockResponses = {
    /**
     * The block.
     */
    201: Block;
};

export type CreateBlockResponse = CreateBlockResponses[keyof CreateBlockResponses];

export type GetBlockPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/blocks/page';
};

export type GetBlockPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetBlockPageError = GetBlockPageErrors[keyof GetBlockPageErrors];

export type GetBlockPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: BlockPage;
};

export type GetBlockPageResponse = GetBlockPageResponses[keyof GetBlockPageResponses];

export type DeleteBlockData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/blocks/{id}';
};

export type DeleteBlockErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteBlockError = DeleteBlockErrors[keyof DeleteBlockErrors];

export type DeleteBlockResponses = {
    /**
     * The block is deleted.
     */
    204: void;
};

export type DeleteBlockResponse = DeleteBlockResponses[keyof DeleteBlockResponses];

export type ListTestIdentitiesData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or expires_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/test-identities';
};

export type ListTestIdentitiesErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ListTestIdentitiesError = ListTestIdentitiesErrors[keyof ListTestIdentitiesErrors];

export type ListTestIdentitiesResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: Array<TestIdentity>;
};

export type ListTestIdentitiesResponse = ListTestIdentitiesResponses[keyof ListTestIdentitiesResponses];

export type CreateTestIdentityData = {
    body: NewTestIdentity;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/test-identities';
};

export type CreateTestIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateTestIdentityError = CreateTestIdentityErrors[keyof CreateTestIdentityErrors];

export type CreateTestIdentityResponses = {
    /**
     * The test identity, with its code.
     */
    201: IssuedTestIdentity;
};

export type CreateTestIdentityResponse = CreateTestIdentityResponses[keyof CreateTestIdentityResponses];

export type GetTestIdentityPageData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: {
        /**
         * Page number, from 1.
         */
        page?: number;
        /**
         * Items per page.
         */
        limit?: number;
        /**
         * created_at or expires_at, each with :asc or :desc, joined by a comma or |. Without a direction: newest first.
         */
        sort?: string;
        /**
         * Conditions field:op:value, joined by a comma or |. All of them must hold. Operators: eq neq gt gte lt lte in like. A backslash escapes a separator.
         */
        filter?: string;
        /**
         * Only items strictly newer than this time (UTC): YYYY-MM-DD HH:MM:SS or RFC 3339.
         */
        since?: string;
        /**
         * The position of a page: `next_cursor` of the page before, or the `cursor` of a link. Opaque, and valid only with the same sort. With a cursor, `page` is ignored.
         */
        cursor?: string;
    };
    url: '/admin/v1/test-identities/page';
};

export type GetTestIdentityPageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetTestIdentityPageError = GetTestIdentityPageErrors[keyof GetTestIdentityPageErrors];

export type GetTestIdentityPageResponses = {
    /**
     * Newest first unless sorted otherwise.
     */
    200: TestIdentityPage;
};

export type GetTestIdentityPageResponse = GetTestIdentityPageResponses[keyof GetTestIdentityPageResponses];

export type DeleteTestIdentityData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/test-identities/{id}';
};

export type DeleteTestIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteTestIdentityError = DeleteTestIdentityErrors[keyof DeleteTestIdentityErrors];

export type DeleteTestIdentityResponses = {
    /**
     * The test identity is deleted.
     */
    204: void;
};

export type DeleteTestIdentityResponse = DeleteTestIdentityResponses[keyof DeleteTestIdentityResponses];

export type GetTestIdentityData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path: {
        id: string;
    };
    query?: never;
    url: '/admin/v1/test-identities/{id}';
};

export type GetTestIdentityErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `not_found`: The resource does not exist.
     */
    404: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetTestIdentityError = GetTestIdentityErrors[keyof GetTestIdentityErrors];

export type GetTestIdentityResponses = {
    /**
     * The test identity.
     */
    200: TestIdentity;
};

export type GetTestIdentityResponse = GetTestIdentityResponses[keyof GetTestIdentityResponses];

export type GetConsoleEntryData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/console/sign-in';
};

export type GetConsoleEntryErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetConsoleEntryError = GetConsoleEntryErrors[keyof GetConsoleEntryErrors];

export type GetConsoleEntryResponses = {
    /**
     * For the page, before a login.
     */
    200: ConsoleEntry;
};

export type GetConsoleEntryResponse = GetConsoleEntryResponses[keyof GetConsoleEntryResponses];

export type DeleteConsoleSessionData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/console/session';
};

export type DeleteConsoleSessionErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type DeleteConsoleSessionError = DeleteConsoleSessionErrors[keyof DeleteConsoleSessionErrors];

export type DeleteConsoleSessionResponses = {
    /**
     * Signed out.
     */
    204: void;
};

export type DeleteConsoleSessionResponse = DeleteConsoleSessionResponses[keyof DeleteConsoleSessionResponses];

export type CreateConsoleSessionData = {
    body?: ConsoleSignIn;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/console/session';
};

export type CreateConsoleSessionErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateConsoleSessionError = CreateConsoleSessionErrors[keyof CreateConsoleSessionErrors];

export type CreateConsoleSessionResponses = {
    /**
     * A session with its token.
     */
    201: NewSession;
};

export type CreateConsoleSessionResponse = CreateConsoleSessionResponses[keyof CreateConsoleSessionResponses];

export type ReadSetUpLinkData = {
    body: SetUpLinkRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/console/setup/link';
};

export type ReadSetUpLinkErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ReadSetUpLinkError = ReadSetUpLinkErrors[keyof ReadSetUpLinkErrors];

export type ReadSetUpLinkResponses = {
    /**
     * The link can be used.
     */
    200: SetUpLink;
};

export type ReadSetUpLinkResponse = ReadSetUpLinkResponses[keyof ReadSetUpLinkResponses];

export type StartSetUpFactorData = {
    body: SetUpFactorRequest;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/console/setup/factor';
};

export type StartSetUpFactorErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type StartSetUpFactorError = StartSetUpFactorErrors[keyof StartSetUpFactorErrors];

export type StartSetUpFactorResponses = {
    /**
     * A factor to confirm. It has totp or passkey.
     */
    201: SetUpFactor;
};

export type StartSetUpFactorResponse = StartSetUpFactorResponses[keyof StartSetUpFactorResponses];

export type CompleteSetUpData = {
    /**
     * The same details as for the factor, and the answer that confirms the factor: code or response.
     */
    body: SetUpCompletion;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/console/setup';
};

export type CompleteSetUpErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CompleteSetUpError = CompleteSetUpErrors[keyof CompleteSetUpErrors];

export type CompleteSetUpResponses = {
    /**
     * The user is signed in.
     */
    201: SetUpResult;
};

export type CompleteSetUpResponse = CompleteSetUpResponses[keyof CompleteSetUpResponses];

export type GetWebhookKeysData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/.well-known/jwks.json';
};

export type GetWebhookKeysErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type GetWebhookKeysError = GetWebhookKeysErrors[keyof GetWebhookKeysErrors];

export type GetWebhookKeysResponses = {
    /**
     * A JSON Web Key Set.
     */
    200: WebhookPublicKeys;
};

export type GetWebhookKeysResponse = GetWebhookKeysResponses[keyof GetWebhookKeysResponses];

export type LiveData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/livez';
};

export type LiveErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type LiveError = LiveErrors[keyof LiveErrors];

export type LiveResponses = {
    /**
     * The process runs.
     */
    200: ProbeResult;
};

export type LiveResponse = LiveResponses[keyof LiveResponses];

export type ReadyData = {
    body?: never;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
    };
    path?: never;
    query?: never;
    url: '/readyz';
};

export type ReadyErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type ReadyError = ReadyErrors[keyof ReadyErrors];

export type ReadyResponses = {
    /**
     * The instance can serve requests.
     */
    200: ProbeResult;
};

export type ReadyResponse = ReadyResponses[keyof ReadyResponses];

export type UploadImageData = {
    /**
     * Either `url` or `encoded`.
     */
    body: ImageInput;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/v1/images';
};

export type UploadImageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type UploadImageError = UploadImageErrors[keyof UploadImageErrors];

export type UploadImageResponses = {
    /**
     * The image, for `image_id` of notifications.
     */
    201: Image;
};

export type UploadImageResponse = UploadImageResponses[keyof UploadImageResponses];

export type CreateImageData = {
    /**
     * Either `url` or `encoded`.
     */
    body: AdminImageInput;
    headers?: {
        /**
         * The language of messages: en or es.
         */
        'Accept-Language'?: string;
        /**
         * Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.
         */
        'Idempotency-Key'?: string;
    };
    path?: never;
    query?: never;
    url: '/admin/v1/images';
};

export type CreateImageErrors = {
    /**
     * `account_unusable`: The account is deactivated. `code_rejected`: That code is wrong or has expired. `enrollment_link_rejected`: That link is not valid, was used before or has expired. `external_identity_rejected`: The provider's account could not be verified. `malformed_json`: The body is not valid JSON. `malformed_request`: The request could not be understood. `proof_rejected`: That proof is wrong or has expired. `setup_link_expired`: This set-up link has expired: a link works for 30 minutes. Get a new one with `postern operators invite`. `setup_link_unknown`: This set-up link does not exist. Check that the address is complete, or get a new link with `postern operators invite`. `setup_link_used`: This set-up link was used already. If you used it, sign in. Otherwise get a new link with `postern operators invite`.
     */
    400: Problem;
    /**
     * `invalid_api_key`: The API key was not found, is invalid or has expired. `invalid_authentication_token`: The authentication token was not found, is invalid or has expired. `invalid_authorization_header`: The Authorization header is not valid. `invalid_dpop_proof`: This authentication token is bound to a key, and the request has no valid proof of that key. `invalid_session_token`: The session token was not found, is invalid or has expired. `missing_credentials`: Credentials are required. `no_active_token`: No active authentication token was found. `use_dpop_nonce`: The proof needs a current nonce of this service.
     */
    401: Problem;
    /**
     * `account_locked`: The account is locked. `address_blocked`: Requests from this address are blocked. `cross_site_request`: Another site sent this request. `fresh_proof_required`: This needs a recent login or re-authentication: send a proof to PUT /v1/account/session-proof and retry. `insufficient_scope`: The scope {scope} is missing. `registration_off`: Registration is turned off. `role_not_active`: The role is not active yet: enrol a second factor through an operator's link first. `role_required`: This account has no role, so it cannot use the console. `second_factor_required`: This needs a login with a second factor.
     */
    403: Problem;
    /**
     * `backup_running`: Another backup or verification is running. `backups_off`: Postern makes no backups by itself. `external_identity_taken`: The provider's account is linked to another user. `identity_taken`: Another user has this identity. `last_way_in`: This is the only way to log in to the account. `message_not_failed`: Only a failed message can be sent again. `message_outdated`: This message is no longer needed. `message_tried_too_often`: This message was tried {max} times. It is not sent again. `request_in_progress`: A request with this Idempotency-Key is still in progress. `test_identity_exists`: This address is a test identity already. `too_many_webhooks`: There are {max} webhooks already.
     */
    409: Problem;
    /**
     * `payload_too_large`: The body is too large.
     */
    413: Problem;
    /**
     * `unsupported_media_type`: The content type is not supported.
     */
    415: Problem;
    /**
     * `idempotency_key_reused`: This Idempotency-Key was used before with another request. `invalid_image`: The file is not a supported image. `too_many_images`: A user may keep at most {max} images. `validation_failed`: Some fields are not valid.
     */
    422: Problem;
    /**
     * `too_many_requests`: Too many requests. `too_many_streams`: Too many streams are open.
     */
    429: Problem;
    /**
     * `internal_error`: Something went wrong on the server.
     */
    500: Problem;
    /**
     * `authenticator_unavailable`: This way to log in is not available right now. `image_not_stored`: The image was not processed in time and was not stored. `overloaded`: The service is busy. `secret_unreadable`: A stored secret cannot be read right now. `shutting_down`: This instance is shutting down. `storage_unavailable`: The storage is not available right now.
     */
    503: Problem;
};

export type CreateImageError = CreateImageErrors[keyof CreateImageErrors];

export type CreateImageResponses = {
    /**
     * The image, for `image_id` of notifications.
     */
    201: Image;
};

export type CreateImageResponse = CreateImageResponses[keyof CreateImageResponses];
