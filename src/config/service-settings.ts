import { resolve } from 'node:path';
import {
  anyText,
  backupPlace,
  bucketUrl,
  choice,
  color,
  databaseUrl,
  duration,
  flag,
  integer,
  maxWorkers,
  ok,
  origins,
  pageOrigins,
  pairs,
  pattern,
  publicUrl,
  ratio,
  type Setting,
  samplerNames,
  schedule,
  secret,
  secretList,
  secretPairs,
  trustProxy,
  url,
  workerCount,
} from './parsers.js';

export const serviceSettings = {
  HOST: { parse: anyText, fallback: '127.0.0.1', about: 'Address to listen on.' },
  PORT: { parse: integer(0, 65_535), fallback: '8080', about: 'Port to listen on. 0: any free port.' },
  WORKERS: {
    parse: workerCount,
    fallback: '1',
    about: `Number of processes, at most ${maxWorkers}. They share the port and the database. auto: one for each core of the machine or the container.`,
  },
  PUBLIC_URL: {
    parse: publicUrl,
    about:
      'The URL by which clients reach the service. It may have a path, such as https://app.example.com/auth. With https, answers have the header Strict-Transport-Security.',
  },
  DPOP_ORIGINS: {
    parse: origins,
    about:
      'Further origins at which clients call the API. The URL in a DPoP proof must begin with PUBLIC_URL or one of these. Without PUBLIC_URL, the Host header counts.',
  },
  CORS_ORIGINS: {
    parse: pageOrigins,
    about:
      'Origins whose pages, apps (such as capacitor://localhost) and browser extensions may call the API. Wildcards are refused.',
  },
  TRUST_PROXY: {
    parse: trustProxy,
    about:
      'Proxies whose X-Forwarded-For header is trusted: addresses and CIDR ranges, or the number of proxies in front of Postern. Use a number only if nobody else can reach the port.',
  },
  ALLOW_PRIVATE_NETWORK_TARGETS: {
    parse: flag,
    fallback: 'false',
    about: 'true: outgoing calls may reach loopback and private addresses, by http or https. For tests.',
  },
  LOG_LEVEL: {
    parse: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    fallback: 'info',
    about: 'The lowest level that is logged. The log is JSON lines on standard output.',
  },
  LOG_ADDRESSES: {
    parse: choice('full', 'masked', 'off'),
    fallback: 'full',
    about:
      'How logs show the addresses of clients. masked: only the network (24 bits of IPv4, 48 bits of IPv6). off: not at all.',
  },
  ACCESS_LOG: {
    parse: choice('off', 'json'),
    fallback: 'off',
    about:
      'json: one JSON line for each answered request. It has the route, but neither tokens nor the values in the path and the query.',
  },
  METRICS_PORT: {
    parse: integer(0, 65_535),
    about: 'A separate port for /metrics. 0: any free port. When unset, there are no metrics.',
  },
  METRICS_HOST: {
    parse: anyText,
    fallback: '127.0.0.1',
    about: 'Address to listen on with METRICS_PORT. /metrics has no password.',
  },
  API_DOCS: {
    parse: choice('on', 'off'),
    fallback: 'on',
    about: 'off: /docs and /openapi.json are not served.',
  },
  APP_NAME: {
    parse: pattern(/^[^\p{Cc}{}]{1,40}$/u, 'must be 1 to 40 characters, without control characters and braces'),
    fallback: 'Postern',
    about: 'The name of your service in codes and notices, and on the pages of PAGES.',
  },
  APP_LOGO: {
    parse: anyText,
    about:
      'The path of a PNG, JPEG or WebP image of at most 1 MB for mails and the pages of PAGES. It is shown on white or dark grey, at most 48 pixels high and 200 wide.',
  },
  APP_COLOR: {
    parse: color,
    fallback: '#3730a3',
    about:
      'The colour of your service in mails and on the pages of PAGES. Its contrast to white must be at least 3 to 1.',
  },
  APP_TERMS_URL: {
    parse: url('http:', 'https:'),
    about: 'The URL of your terms of service, for the pages of PAGES.',
  },
  APP_PRIVACY_URL: {
    parse: url('http:', 'https:'),
    about: 'The URL of your privacy policy, for the pages of PAGES.',
  },
  PAGES: {
    parse: choice('on', 'off'),
    fallback: 'off',
    about:
      'on: Postern serves the pages /sign-in and /account. Apps send their users there with `authenticator: "page"`. Needs PUBLIC_URL, with https except on a loopback host.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const tracingSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    parse: url('http:', 'https:'),
    about:
      'The URL of an OpenTelemetry receiver, such as http://localhost:4318. Postern sends traces to /v1/traces below it. When unset, there is no tracing.',
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    parse: choice('http/protobuf', 'http/json'),
    fallback: 'http/protobuf',
    about: 'The format of the traces.',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    isSecret: true,
    parse: secretPairs,
    about: 'Headers for the receiver, such as authorization=Bearer%20…, joined by commas. Values are percent-encoded.',
  },
  OTEL_SERVICE_NAME: { parse: anyText, about: 'The name of the service in traces. The default is postern.' },
  OTEL_RESOURCE_ATTRIBUTES: {
    parse: pairs,
    about:
      'Attributes of all spans, such as deployment.environment.name=production, joined by commas. Values are percent-encoded.',
  },
  OTEL_TRACES_SAMPLER: {
    parse: choice(...samplerNames),
    fallback: 'parentbased_always_on',
    about: 'Which traces are recorded. Names with parentbased_ follow the header traceparent of the client.',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    parse: ratio,
    fallback: '1',
    about: 'With a sampler whose name ends with traceidratio: the share of traces that are recorded, from 0 to 1.',
  },
  OTEL_BSP_SCHEDULE_DELAY: {
    parse: integer(10, 60_000),
    fallback: '5000',
    about: 'Postern exports finished spans together, after at most this many milliseconds.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const storageSettings = {
  DATABASE_URL: {
    isSecret: true,
    parse: databaseUrl,
    about:
      'The PostgreSQL (15 or later) to use. A primary and its standbys are joined by commas: postgres://postern@a,b/postern?target_session_attrs=read-write. When unset, Postern runs its own in DATA_DIR.',
  },
  DATA_DIR: {
    parse: (text: string) => ok(resolve(text)),
    fallback: './data',
    about: "The folder of the service's own files: its database, its secret key, the first API key.",
  },
  IMAGE_DIR: {
    parse: (text: string) => ok(resolve(text)),
    about: 'The folder of uploaded images. When unset, `images` in DATA_DIR.',
  },
  IMAGE_STORAGE: {
    parse: bucketUrl,
    about:
      'Where uploaded images are stored: s3://bucket or s3://bucket/prefix for a store with the API of Amazon S3. When unset, they are in IMAGE_DIR.',
  },
  IMAGE_S3_ENDPOINT: {
    parse: url('http:', 'https:'),
    about: 'The URL of the store, such as https://minio.internal:9000. The default is Amazon S3 in IMAGE_S3_REGION.',
  },
  IMAGE_S3_REGION: {
    parse: pattern(/^[a-z0-9-]{1,32}$/, 'must be the name of a region, such as eu-west-1'),
    fallback: 'us-east-1',
    about: 'The region of the store.',
  },
  IMAGE_S3_ACCESS_KEY_ID: {
    parse: pattern(/^[^\s/]{3,128}$/, 'must be the id of an access key'),
    about: 'The access key of the store. It must be allowed to read, write, delete and list objects of the bucket.',
  },
  IMAGE_S3_SECRET_ACCESS_KEY: { isSecret: true, parse: secret(1), about: 'The secret of the access key of the store.' },
  IMAGE_S3_READS: {
    parse: choice('proxy', 'redirect'),
    fallback: 'proxy',
    about:
      'proxy: Postern reads images from the store and serves them. redirect: clients go to signed URLs of the store, valid for an hour.',
  },
  SECRET_KEY: {
    isSecret: true,
    parse: secretList,
    about:
      'The key that protects codes, PINs, stored responses and other secrets. With the embedded database, Postern creates it in DATA_DIR. With DATABASE_URL it is required. To rotate it, set the new key before the old ones, joined by commas.',
  },
  DATABASE_BATCHING: {
    parse: flag,
    fallback: 'true',
    about:
      'true: concurrent requests share statements, and sessions are cached. false: one statement each, and no cache.',
  },
  EVENT_RETENTION: {
    parse: duration('1d', '36500d'),
    fallback: '365d',
    about: 'How long audit events are kept.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const backupSettings = {
  BACKUP_TO: {
    parse: backupPlace,
    about:
      'Where Postern makes and verifies backups: a folder, or s3://bucket/prefix for a store with the API of Amazon S3. When unset, it makes none. With DATABASE_URL, it needs pg_dump and pg_restore.',
  },
  BACKUP_SCHEDULE: {
    parse: schedule,
    fallback: '24h',
    about:
      'When Postern makes a backup: the time from one to the next, such as 6h, or a cron expression of five fields in UTC, such as 30 3 * * *.',
  },
  BACKUP_KEEP: {
    parse: integer(1, 10_000),
    fallback: '7',
    about: 'The number of backups that Postern keeps in BACKUP_TO.',
  },
  BACKUP_CONTINUOUS: {
    parse: flag,
    fallback: 'false',
    about:
      'true: Postern also copies the write-ahead log of the embedded database to BACKUP_TO. `postern backup restore --at` can then restore any time.',
  },
  BACKUP_PASSPHRASE: {
    isSecret: true,
    parse: secret(12),
    about:
      'The passphrase that encrypts backups, in the format of `age` (https://age-encryption.org). Nobody can restore them without it. When unset, the secret key signs backups.',
  },
  BACKUP_PROGRAMS: {
    parse: (text: string) => ok(resolve(text)),
    about:
      'The folder of pg_dump and pg_restore, for backups of DATABASE_URL. By default, Postern looks in PATH and in the folders of Debian and Red Hat packages.',
  },
  BACKUP_VERIFY_URL: {
    isSecret: true,
    parse: databaseUrl,
    about:
      'A PostgreSQL server on which Postern verifies backups of DATABASE_URL. By default, it uses a temporary embedded server.',
  },
  BACKUP_S3_ENDPOINT: {
    parse: url('http:', 'https:'),
    about: 'The URL of the store, such as https://minio.internal:9000. The default is Amazon S3 in BACKUP_S3_REGION.',
  },
  BACKUP_S3_REGION: {
    parse: pattern(/^[a-z0-9-]{1,32}$/, 'must be the name of a region, such as eu-west-1'),
    fallback: 'us-east-1',
    about: 'The region of the store.',
  },
  BACKUP_S3_ACCESS_KEY_ID: {
    parse: pattern(/^[^\s/]{3,128}$/, 'must be the id of an access key'),
    about: 'The access key of the store. It must be allowed to read, write, delete and list objects of the bucket.',
  },
  BACKUP_S3_SECRET_ACCESS_KEY: {
    isSecret: true,
    parse: secret(1),
    about: 'The secret of the access key of the store.',
  },
} as const satisfies Record<string, Setting<unknown>>;

export const administrationSettings = {
  ADMIN_API_KEY: {
    isSecret: true,
    parse: secret(32),
    about: 'Accepted as an API key with every scope. When unset, the first start creates a key.',
  },
  CONSOLE: {
    parse: choice('on', 'off'),
    fallback: 'on',
    about: 'off: no console.',
  },
  CONSOLE_PORT: {
    parse: integer(0, 65_535),
    about: 'A separate port for the console and the admin API. PORT then serves neither. 0: any free port.',
  },
  CONSOLE_HOST: {
    parse: anyText,
    fallback: '127.0.0.1',
    about: 'Address to listen on with CONSOLE_PORT.',
  },
  ADMIN_PROOF_MAX_AGE: {
    parse: duration('1s', '1d'),
    fallback: '15m',
    about:
      "The maximum age of an operator's login or last re-authentication, for actions that give access, cannot be undone or reach many users.",
  },
} as const satisfies Record<string, Setting<unknown>>;
