import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { customAuthenticators, oidcProviders } from './config-authenticators.js';
import {
  anyText,
  apnsKey,
  choice,
  duration,
  factorPolicy,
  factorPolicyByRole,
  flag,
  hashList,
  integer,
  mailFrom,
  modules,
  mostWorkers,
  notices,
  notificationTypes,
  ok,
  origins,
  orZero,
  type Parsed,
  passkeyOrigins,
  pattern,
  region,
  retention,
  type Setting,
  secret,
  secretList,
  serviceAccount,
  signingSecret,
  smtpUrl,
  trustProxy,
  url,
  vapidPrivateKey,
  vapidPublicKey,
  workerCount,
} from './config-parsers.js';
import { longestSession } from './lib/durations.js';
import { isKeyPair } from './lib/push-keys.js';
import { isLoopback } from './lib/smtp-url.js';

/** Thrown with every fault at once; each line names the variable. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
  }
}

/**
 * Every variable the service reads, in the order of docs/configuration.md.
 * @public scripts/generate.mjs writes that page from it.
 */
export const settings = {
  HOST: { parse: anyText, fallback: '127.0.0.1', about: 'Address to listen on.' },
  PORT: { parse: integer(0, 65_535), fallback: '8080', about: 'Port to listen on; 0 takes a free one.' },
  WORKERS: {
    parse: workerCount,
    fallback: '1',
    about: `Processes that share the port and the database, at most ${mostWorkers}. auto: one for each core that the machine or the container has.`,
  },
  PUBLIC_URL: {
    parse: url('http:', 'https:'),
    about: 'Where clients reach the service. With https, answers carry Strict-Transport-Security.',
  },
  DATABASE_URL: {
    parse: url('postgres:', 'postgresql:'),
    about: 'A PostgreSQL (15 or later) to use. Without it Postern runs its own in DATA_DIR.',
  },
  DATA_DIR: {
    parse: (text: string) => ok(resolve(text)),
    fallback: './data',
    about: "Where the service's own files are: its database, its secret key, the first API key.",
  },
  IMAGE_DIR: {
    parse: (text: string) => ok(resolve(text)),
    about:
      'Where uploaded images are kept, `images` in DATA_DIR if unset. Instances on several machines must share it.',
  },
  SECRET_KEY: {
    parse: secretList,
    about:
      'Keys the digests of codes and identities, peppers PINs, and encrypts queued codes, stored answers and the secrets of authenticator apps. Made in DATA_DIR when the database is embedded, required with DATABASE_URL. To rotate: new key first, old ones after it, joined by commas.',
  },
  ADMIN_API_KEY: {
    parse: secret(32),
    about: 'Accepted as an API key with every scope. When unset, the first start makes a key.',
  },
  ADMIN_PROOF_MAX_AGE: {
    parse: duration('1s', '1d'),
    fallback: '15m',
    about:
      'How old the login of a session, or the last proof made in it, may be for the acts of administration that open an account or the service to others. API keys need none.',
  },
  SESSION_TTL: { parse: duration('1s', longestSession), fallback: '15m', about: 'How long a session token lives.' },
  AUTHENTICATION_TTL: {
    parse: duration('1s', '3650d'),
    fallback: '365d',
    about: 'How long an authentication token lives.',
  },
  VERIFY_BATCHING: {
    parse: flag,
    fallback: 'true',
    about:
      'Session checks that come in together are answered by one query, which also confirms what is remembered of sessions; new sessions and single notifications that come in together are written by one. false: one query each, and nothing is remembered. A database that is spread over several machines (Citus) needs that: it has no common order of transactions.',
  },
  PIN_POLICY: {
    parse: choice('required', 'optional', 'off'),
    fallback: 'required',
    about:
      'required: step 2 needs a PIN. It must be right where the user has one; for a user who has none, any 4 to 12 digits are accepted, so the PIN protects only users who have set one. optional: users without a PIN may omit it. off: PINs are ignored.',
  },
  PIN_ENROL: {
    parse: choice('never', 'first_login'),
    fallback: 'never',
    about: 'first_login: the PIN of the first approved login becomes the PIN of a user who has none.',
  },
  PIN_RECOVERY_DELAY: {
    parse: orZero(duration('1s', '30d')),
    fallback: '24h',
    about:
      'How long after its recovery by a code a new PIN replaces the old one; until then it can be cancelled. Codes go where login codes go: without a delay, a thief with the SIM can set the PIN too. 0: no delay.',
  },
  PASSWORD_MIN: {
    parse: integer(8, 128),
    fallback: '8',
    about: 'Fewest characters of a new password. NIST SP 800-63B-4 wants 15 where the password is the only factor.',
  },
  IMPORTED_HASH_COST_LIMIT: {
    parse: integer(0, 10_000),
    fallback: '60',
    about:
      "What all schemes of imported password hashes may cost together, in verifications of Postern's own hash (about 10 ms of a core each). Every failed login pays this cost. `postern schemes list` shows the cost of each. 0: only hashes with Postern's own parameters.",
  },
  REGISTRATION: {
    parse: choice('off', 'on'),
    fallback: 'off',
    about:
      'on: people make accounts for themselves, by a code to their mail address or phone. Set SMS_LIMIT_PER_PREFIX and SMS_LIMIT_TOTAL with it.',
  },
  BREACHED_PASSWORDS_FILE: {
    parse: hashList,
    about:
      'Passwords that nobody may choose because they leaked: a file of SHA-1 hashes, ordered by hash, as Have I Been Pwned offers it.',
  },
  BREACHED_PASSWORDS_URL: {
    parse: url('http:', 'https:'),
    about:
      'The same by a range API, such as https://api.pwnedpasswords.com/range: five characters of the hash are asked for. While it does not answer, passwords are accepted.',
  },
  GUESS_LIMIT: {
    parse: integer(1, 1_000_000),
    fallback: '5',
    about: 'Wrong secrets in a row, from known or from unknown devices, until the account is locked for a time (423).',
  },
  GUESS_LOCK: {
    parse: duration('1s', '3650d'),
    fallback: '30s',
    about: 'How long the first lock lasts; each further one lasts twice as long.',
  },
  GUESS_LOCK_MAX: { parse: duration('1s', '3650d'), fallback: '1h', about: 'How long a lock lasts at most.' },
  GUESS_LIMIT_PERMANENT: {
    parse: integer(0, 1_000_000),
    fallback: '100',
    about: 'Wrong secrets since the last right one until the account is locked for good (403). 0: never.',
  },
  LOGIN_LIMIT_PER_ADDRESS: {
    parse: integer(0, 1_000_000),
    fallback: '300',
    about: 'Login requests of a client address, and of an account, per minute. 0: no limit.',
  },
  SMS_LIMIT_PER_ADDRESS: {
    parse: integer(0, 1_000_000),
    fallback: '30',
    about: 'Codes, by SMS or mail, that a client address may ask for per hour. 0: no limit.',
  },
  SMS_LIMIT_PER_PREFIX: {
    parse: integer(0, 1_000_000),
    fallback: '0',
    about:
      'SMS codes per hour that are asked for to numbers that share their first six digits, whether or not anybody has them. Requests that name a username or a mail address instead of a number count as one more such group. Codes beyond it are not sent, and the answer does not show that. 0: no limit.',
  },
  SMS_LIMIT_TOTAL: {
    parse: integer(0, 1_000_000),
    fallback: '0',
    about:
      'SMS codes per hour that are asked for in all, also to numbers that nobody has. Codes beyond it are not sent, and the answer does not show that. 0: no limit.',
  },
  MAIL_PROVIDER: {
    parse: choice('console', 'smtp', 'none'),
    about:
      'smtp: mail goes to SMTP_URL. console: codes are printed and shown in the outbox (development). none: no mail. When unset, smtp with SMTP_URL; else console where SMS_PROVIDER could be console; else none.',
  },
  SMTP_URL: {
    parse: smtpUrl,
    about:
      'Where mail is handed over: smtps://user:password@host (TLS from the start, port 465) or smtp://… (STARTTLS, port 587). Over smtp to another machine STARTTLS is required, unless it ends in ?tls=none.',
  },
  MAIL_FROM: {
    parse: mailFrom,
    about: 'Who mail is from: an address, or a name with it: Example <no-reply@example.com>. Required with SMTP_URL.',
  },
  SECOND_FACTOR: {
    parse: factorPolicy,
    fallback: 'own',
    about:
      'When a login asks for a second factor. off: never. own: of users who have enrolled an authenticator app. required: also of users who have a passkey and log in otherwise.',
  },
  SECOND_FACTOR_BY_ROLE: {
    parse: factorPolicyByRole,
    about:
      'The same for users with a role, such as support:required,operator:required. An operator can set it for one user.',
  },
  PASSKEY_RP_ID: {
    parse: pattern(
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9-]{1,63}$/,
      'must be a domain such as example.com',
    ),
    about:
      'The domain that passkeys are made for. The host of PUBLIC_URL if unset, else localhost. Passkeys are lost when it changes.',
  },
  PASSKEY_ORIGINS: {
    parse: passkeyOrigins,
    about:
      'Where passkeys may be used: origins of pages, and android:apk-key-hash:… of apps. If unset, the origin of PUBLIC_URL, else http://localhost with the port.',
  },
  PASSKEY_USER_VERIFICATION: {
    parse: choice('preferred', 'required'),
    fallback: 'preferred',
    about:
      'required: only passkeys that verify their owner, by a PIN or biometrics. preferred: others too; such a login is one factor, not two.',
  },
  APP_NAME: {
    parse: pattern(/^[^\p{Cc}{}]{1,40}$/u, 'must be 1 to 40 characters, without control characters and braces'),
    fallback: 'Postern',
    about: 'What codes and notices call your service.',
  },
  NOTICES: {
    parse: notices,
    fallback: 'push,email',
    about:
      'How users are told of logins on new devices, of locks by guesses and of changed credentials: push, email, sms and inbox, joined by commas, each where it is configured (inbox: where NOTIFICATION_TYPES holds security). none: not at all.',
  },
  TEMPLATES_DIR: {
    parse: (text: string) => ok(resolve(text)),
    about:
      'Your own texts of codes and notices, in files such as `sms.code.fr.txt`; see [templates](templates.md). Read at start.',
  },
  DEFAULT_REGION: { parse: region, about: 'Region of phone numbers without a country code, such as US.' },
  SMS_PROVIDER: {
    parse: choice('console', 'webhook', 'none'),
    fallback: 'console',
    about:
      'console: codes are printed and shown in the outbox (development). webhook: POST to SMS_WEBHOOK_URL. none: no SMS logins.',
  },
  ALLOW_CONSOLE_SMS: {
    parse: flag,
    fallback: 'false',
    about: 'Lets SMS_PROVIDER=console and MAIL_PROVIDER=console run on a HOST that is not loopback.',
  },
  SMS_WEBHOOK_URL: { parse: url('http:', 'https:'), about: 'Where SMS_PROVIDER=webhook posts codes.' },
  SMS_WEBHOOK_SECRET: { parse: signingSecret, about: 'Signs those posts (Standard Webhooks): whsec_ and base64.' },
  AUTHENTICATORS: {
    parse: modules,
    about:
      'Further authenticators: ES modules by their path (`./badge.js`) or package name, joined by commas. Variables that begin with `AUTHENTICATOR_` are handed to them. See docs/authenticators.md.',
  },
  CUSTOM_AUTHENTICATORS: {
    parse: customAuthenticators,
    about:
      'Services of yours that decide on logins, as JSON or the path of a file: `{"badge":{"url":"https://…","secret":"whsec_…","steps":1}}` is the authenticator `custom:badge`. See docs/authenticators.md.',
  },
  OIDC_PROVIDERS: {
    parse: oidcProviders,
    about:
      'OpenID providers, as JSON or the path of a file: `{"google":{"issuer":"https://accounts.google.com","client_ids":["…"]}}` is the authenticator `oidc:google`. `algorithms` are RS256 unless listed.',
  },
  NOTIFICATION_TYPES: {
    parse: notificationTypes,
    fallback: 'payment,pool,request',
    about: 'The notification types that may be published. Clients of the published interface know the first three.',
  },
  NOTIFICATION_RETENTION: {
    parse: retention,
    about:
      'How long notifications are kept, by type, such as pool:90d,*:365d; * is every other type. When unset, for ever.',
  },
  EVENT_RETENTION: {
    parse: duration('1d', '36500d'),
    fallback: '365d',
    about: 'How long audit events are kept.',
  },
  VAPID_PUBLIC_KEY: {
    parse: vapidPublicKey,
    about: 'Web Push: the public key, in base64url. `npx web-push generate-vapid-keys` makes a pair.',
  },
  VAPID_PRIVATE_KEY: { parse: vapidPrivateKey, about: 'Web Push: the private key, in base64url.' },
  VAPID_SUBJECT: {
    parse: url('mailto:', 'https:'),
    about: 'Web Push: whom a push service may ask about you, such as mailto:ops@example.com.',
  },
  FCM_SERVICE_ACCOUNT: {
    parse: serviceAccount,
    about: 'FCM: the JSON of a service account that may send messages, or the path of its file.',
  },
  FCM_URL: {
    parse: url('http:', 'https:'),
    fallback: 'https://fcm.googleapis.com',
    about: 'FCM: where messages go. For tests and proxies.',
  },
  APNS_KEY: { parse: apnsKey, about: 'APNs: the signing key (.p8) as PEM, or the path of its file.' },
  APNS_KEY_ID: {
    parse: pattern(/^[A-Za-z0-9]{10}$/, 'must be the ten characters of a key id'),
    about: "APNs: the signing key's id.",
  },
  APNS_TEAM_ID: {
    parse: pattern(/^[A-Za-z0-9]{10}$/, 'must be the ten characters of a team id'),
    about: 'APNs: the id of the team in the Apple developer account.',
  },
  APNS_TOPIC: {
    parse: pattern(/^[A-Za-z0-9.-]{1,255}$/, 'must be a bundle id such as com.example.app'),
    about: "APNs: the app's bundle id.",
  },
  APNS_PRODUCTION: {
    parse: flag,
    fallback: 'true',
    about: "APNs: false reaches apps of Apple's development environment.",
  },
  APNS_URL: {
    parse: url('http:', 'https:'),
    about: 'APNs: where pushes go, instead of to Apple. For tests and proxies; http is HTTP/2 without TLS.',
  },
  PUSH_TTL: {
    parse: duration('1m', '28d'),
    fallback: '1d',
    about: 'How long after its publication a notification is still pushed, by us and by the push service.',
  },
  PUSH_URGENCY: {
    parse: choice('normal', 'high'),
    fallback: 'high',
    about: 'high wakes a sleeping phone; normal may wait until it wakes.',
  },
  CORS_ORIGINS: { parse: origins, about: 'Origins whose pages may call the API. None by default.' },
  TRUST_PROXY: {
    parse: trustProxy,
    about:
      'Proxies whose X-Forwarded-For is believed: a number of hops, or addresses and CIDR ranges. None by default.',
  },
  ALLOW_PRIVATE_NETWORK_TARGETS: {
    parse: flag,
    fallback: 'false',
    about: 'Lets outgoing calls reach loopback and private addresses, over http or https. For tests.',
  },
  LOG_LEVEL: {
    parse: choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    fallback: 'info',
    about: 'How much is logged, as JSON lines on standard output.',
  },
} as const satisfies Record<string, Setting<unknown>>;

type Settings = typeof settings;
type Value<S> = S extends { parse: (text: string) => Parsed<infer T> } ? T : never;
/** Values by variable name; optional where a variable has no fallback. */
type Values = {
  readonly [Name in keyof Settings]: Settings[Name] extends { fallback: string }
    ? Value<Settings[Name]>
    : Value<Settings[Name]> | undefined;
};

/** The frozen configuration, by variable name so that code, docs and operators use one word for one thing. */
export type Config = Values & {
  /** The variables that are for plug-ins. */
  readonly pluginVariables: Readonly<Record<string, string>>;
};

const pluginPrefix = 'AUTHENTICATOR_';

/**
 * Reads and checks the configuration.
 * @throws ConfigError naming every fault at once.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>> = readEnvironment()): Config {
  const faults: string[] = [];
  const forPlugins = Object.entries(env).filter(([name]) => name.startsWith(pluginPrefix));
  const values: Record<string, unknown> = { pluginVariables: Object.freeze(Object.fromEntries(forPlugins)) };
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    const text = env[name] === '' ? setting.fallback : (env[name] ?? setting.fallback);
    if (text === undefined) continue;
    const parsed = setting.parse(text);
    if ('fault' in parsed) faults.push(`${name} ${parsed.fault}`);
    else values[name] = parsed.value;
  }
  const unknown = Object.keys(env).filter((name) => name.startsWith('POSTERN_'));
  faults.push(...unknown.map((name) => `${name} is not a variable of Postern`));
  faults.push(...contradictions(values as Partial<Config>));
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(values) as Config;
}

function contradictions(config: Partial<Config>): string[] {
  const faults: string[] = [];
  if (config.DATABASE_URL !== undefined && config.SECRET_KEY === undefined) {
    faults.push('SECRET_KEY is required with DATABASE_URL (at least 32 random characters, the same on every instance)');
  }
  if (config.SMS_PROVIDER === 'webhook' && config.SMS_WEBHOOK_URL === undefined) {
    faults.push('SMS_WEBHOOK_URL is required with SMS_PROVIDER=webhook');
  }
  if (config.SMS_PROVIDER === 'webhook' && config.SMS_WEBHOOK_SECRET === undefined) {
    faults.push('SMS_WEBHOOK_SECRET is required with SMS_PROVIDER=webhook');
  }
  const { NOTIFICATION_TYPES: types = [], NOTIFICATION_RETENTION: ages = {} } = config;
  const unknownTypes = Object.keys(ages).filter((type) => type !== '*' && !types.includes(type));
  if (unknownTypes.length > 0) {
    faults.push(`NOTIFICATION_RETENTION names types that are not in NOTIFICATION_TYPES: ${unknownTypes.join(', ')}`);
  }
  const { GUESS_LOCK: lock, GUESS_LOCK_MAX: lockMax } = config;
  if (lock !== undefined && lockMax !== undefined && lock > lockMax) {
    faults.push('GUESS_LOCK must not be longer than GUESS_LOCK_MAX');
  }
  faults.push(...passkeyFaults(config), ...pushFaults(config));
  const called = [
    ...(['SMS_WEBHOOK_URL', 'BREACHED_PASSWORDS_URL'] as const).map((name) => [name, config[name]]),
    ...(config.CUSTOM_AUTHENTICATORS ?? []).map(({ name, url }) => [`CUSTOM_AUTHENTICATORS: url of ${name}`, url]),
    ...(config.OIDC_PROVIDERS ?? []).map(({ name, issuer }) => [`OIDC_PROVIDERS: issuer of ${name}`, issuer]),
  ];
  for (const [what, url] of called) {
    if (url?.startsWith('http:') !== true || config.ALLOW_PRIVATE_NETWORK_TARGETS !== false) continue;
    faults.push(`${what} must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)`);
  }
  if (config.BREACHED_PASSWORDS_FILE !== undefined && config.BREACHED_PASSWORDS_URL !== undefined) {
    faults.push('BREACHED_PASSWORDS_FILE and BREACHED_PASSWORDS_URL exclude each other');
  }
  for (const name of ['SMS_PROVIDER', 'MAIL_PROVIDER'] as const) {
    if (config[name] !== 'console' || mayPrintCodes(config)) continue;
    faults.push(`${name}=console prints codes: it needs a loopback HOST, or ALLOW_CONSOLE_SMS=true`);
  }
  faults.push(...mailFaults(config));
  return faults;
}

/** Whoever sees the output can log in as anybody. */
function mayPrintCodes({ HOST, ALLOW_CONSOLE_SMS }: Partial<Config>): boolean {
  return ALLOW_CONSOLE_SMS !== false || HOST === undefined || isLoopback(HOST);
}

/** How mail is sent where MAIL_PROVIDER does not say so. */
export function mailProvider(config: Partial<Config>): 'console' | 'smtp' | 'none' {
  if (config.MAIL_PROVIDER !== undefined) return config.MAIL_PROVIDER;
  if (config.SMTP_URL !== undefined) return 'smtp';
  return mayPrintCodes(config) ? 'console' : 'none';
}

function mailFaults(config: Partial<Config>): string[] {
  if (mailProvider(config) !== 'smtp') return [];
  const needed = ['SMTP_URL', 'MAIL_FROM'] as const;
  const missing = needed.filter((name) => config[name] === undefined);
  return missing.map((name) => `${name} is required to send mail by SMTP`);
}

/** A passkey is for one domain and what is below it: without such an origin, none could ever be used. */
function passkeyFaults({
  PASSKEY_RP_ID: id,
  PASSKEY_ORIGINS: origins,
  PUBLIC_URL: publicUrl,
}: Partial<Config>): string[] {
  if (origins !== undefined && id === undefined && publicUrl === undefined) {
    return ['PASSKEY_RP_ID or PUBLIC_URL is required with PASSKEY_ORIGINS'];
  }
  if (id === undefined || origins !== undefined || publicUrl === undefined) return [];
  const { hostname } = new URL(publicUrl);
  return hostname === id || hostname.endsWith(`.${id}`)
    ? []
    : ['PASSKEY_RP_ID must be the host of PUBLIC_URL or a domain above it, or PASSKEY_ORIGINS must be set'];
}

/** What belongs together for a channel is given wholly or not at all. */
const pushGroups = [
  ['VAPID_PUBLIC_KEY', 'VAPID_PRIVATE_KEY', 'VAPID_SUBJECT'],
  ['APNS_KEY', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_TOPIC'],
] as const;

function pushFaults(config: Partial<Config>): string[] {
  const faults: string[] = [];
  for (const group of pushGroups) {
    const given = group.filter((name) => config[name] !== undefined);
    const missing = group.filter((name) => config[name] === undefined);
    if (given.length > 0) faults.push(...missing.map((name) => `${name} is required with ${given.join(' and ')}`));
  }
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey } = config;
  if (publicKey !== undefined && privateKey !== undefined && !isKeyPair(publicKey, privateKey.reveal())) {
    faults.push('VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY');
  }
  if (config.ALLOW_PRIVATE_NETWORK_TARGETS !== false) return faults;
  const urls = {
    ...{ FCM_URL: config.FCM_URL, APNS_URL: config.APNS_URL },
    'the token_uri of FCM_SERVICE_ACCOUNT': config.FCM_SERVICE_ACCOUNT?.tokenUri,
  };
  for (const [name, value] of Object.entries(urls)) {
    if (value?.startsWith('http:') !== true) continue;
    faults.push(`${name} must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)`);
  }
  return faults;
}

/** The process's environment over a `.env` file of the working directory. */
export function readEnvironment(): Record<string, string | undefined> {
  let file: Record<string, string | undefined> = {};
  try {
    file = parseEnv(readFileSync('.env', 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return { ...file, ...process.env };
}
