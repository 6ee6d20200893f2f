import { type Static, Type } from 'typebox';
import { Id, NullableNumber, NullableString, NullableTime, Time } from '../common.js';
import { Backup } from './backups.js';

export const Finding = Type.Object(
  {
    level: Type.Enum(['ok', 'warn', 'fail'], { description: 'fail: the service cannot work like this.' }),
    what: Type.String({ examples: ['mail'] }),
    detail: Type.String({ examples: ['the server mail.example.com resolves'] }),
  },
  { title: 'Finding' },
);
export type Finding = Static<typeof Finding>;

const Instance = Type.Object(
  {
    id: Id,
    host: Type.String(),
    process_id: Type.Integer(),
    worker: Type.Unsafe<number | null>({
      ...NullableNumber,
      description: 'The number of the worker; null for a single process.',
    }),
    version: Type.String(),
    node: Type.String({ description: 'The version of Node.js.' }),
    streams: Type.Integer({ description: 'Open notification streams when it was last seen.' }),
    is_self: Type.Boolean({ description: 'Whether this process sent the answer.' }),
    is_lost: Type.Boolean({
      description: 'It was not seen for 90 seconds: it was killed, or does not reach the database. Listed for a day.',
    }),
    started_at: Time,
    seen_at: Time,
  },
  { title: 'Instance' },
);
export type Instance = Static<typeof Instance>;

const Disk = Type.Object(
  {
    used_for: Type.Enum(['data', 'images', 'backups', 'log_archive']),
    bytes: Type.Integer({ description: 'The size of the disk.' }),
    free_bytes: Type.Integer(),
    is_nearly_full: Type.Boolean({ description: 'Less than 10 % and less than 5 GB are free: make space.' }),
  },
  { title: 'Disk' },
);
export type Disk = Static<typeof Disk>;

const Table = Type.Object(
  { name: Type.String(), bytes: Type.Integer(), rows: Type.Integer({ description: 'An estimate.' }) },
  { title: 'TableSize' },
);

const Setting = Type.Object(
  {
    group: Type.String(),
    name: Type.String({ examples: ['SESSION_TTL'] }),
    value: Type.Unsafe<string | null>({
      ...NullableString,
      description: 'The effective text. null if it is not set or not shown. URLs are cut after the host.',
    }),
    is_set: Type.Boolean({ description: 'Whether it was set. If not, `value` is the default.' }),
    is_hidden: Type.Boolean({
      description: 'Whether it has a value that is not shown, because it contains a secret.',
    }),
  },
  { title: 'EffectiveSetting' },
);

const MessageProvider = Type.Object(
  {
    channel: Type.Enum(['sms', 'email', 'push']),
    name: Type.String({
      examples: ['twilio'],
      description: 'For SMS and mail, the name in the settings. For push: `apns`, `fcm` or `web_push`.',
    }),
    has_receipts: Type.Boolean({
      description:
        'Whether it reports which messages have arrived. Some providers of SMS and mail do, if they are configured.',
    }),
    failing_since: Type.Unsafe<string | null>({
      ...NullableTime,
      description:
        'Since when a process has counted it as failing: after three failures in a row, or, for SMS, a refusal because of its rate limit. Null: it works, or was not used yet.',
    }),
    last_error: Type.Unsafe<string | null>({ ...NullableString, description: 'Why it fails. Null while it works.' }),
  },
  { title: 'MessageProvider' },
);
export type MessageProvider = Static<typeof MessageProvider>;

const SmsUsage = Type.Object(
  {
    prefix: Type.String({ description: 'The first six digits of the numbers.', examples: ['+346123'] }),
    country: Type.Unsafe<string | null>({ ...NullableString, description: 'ISO 3166-1 alpha-2, if known.' }),
    sent: Type.Integer({ description: 'Codes that a provider has accepted.' }),
    used: Type.Integer({ description: 'How many of these were entered.' }),
    paused_until: Type.Unsafe<string | null>({
      ...NullableTime,
      description: 'Until when no code goes to the prefix, because fewer than one in ten of the last 100 was used.',
    }),
  },
  { title: 'SmsUsage' },
);

const Migration = Type.Object({ name: Type.String(), applied_at: NullableTime }, { title: 'SystemMigration' });

/** The answer of `GET /admin/v1/system`. */
export const System = Type.Object(
  {
    version: Type.String({ description: 'The version of the process that answers.' }),
    now: Time,
    instances: Type.Array(Instance, { description: 'Processes on this database, workers included, the oldest first.' }),
    queue: Type.Object(
      {
        due: Type.Integer({ description: 'Jobs that could run now, counted up to 10,000.' }),
        oldest_seconds: Type.Number({ description: 'For how long the oldest of these has been due.' }),
        retrying: Type.Integer({
          description: 'Jobs that failed and wait for their next attempt, counted up to 10,000.',
        }),
      },
      { title: 'QueueState' },
    ),
    providers: Type.Array(MessageProvider, {
      description: 'The configured providers: those of SMS in their order, then mail, then push.',
    }),
    sms_codes: Type.Array(SmsUsage, {
      description: 'Codes by SMS of the last 24 hours: the 20 prefixes with most codes. Paused prefixes come first.',
    }),
    database: Type.Object(
      {
        version: Type.String({ examples: ['18.4'] }),
        bytes: Type.Integer({ description: 'Its growth is in the statistics: the metric database.size.' }),
        connections: Type.Integer(),
        max_connections: Type.Integer(),
        tables: Type.Array(Table, { description: 'The ten largest tables, with their indexes.' }),
      },
      { title: 'DatabaseState' },
    ),
    disks: Type.Array(Disk, {
      description:
        'The disks to which the process that answers writes. Several may be the same disk. Buckets and the disks of your own PostgreSQL are not listed.',
    }),
    migrations: Type.Array(Migration, {
      description: 'The newest first. A migration without a time is pending.',
    }),
    backups: Type.Array(Backup, { description: 'The last 20 backups, the newest first.' }),
    settings: Type.Array(Setting),
    findings: Type.Array(Finding, {
      description: 'The findings of `postern doctor`. Those that need attention come first.',
    }),
  },
  { title: 'System' },
);
export type System = Static<typeof System>;
