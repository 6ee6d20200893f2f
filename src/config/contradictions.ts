import ipaddr from 'ipaddr.js';
import { hostsWithoutTls } from '../lib/postgres-hosts.js';
import { isKeyPair } from '../lib/push-keys.js';
import { isLoopback, parseUrl } from '../lib/urls.js';
import type { MailProviderName } from './mail-settings.js';
import type { SettingValues } from './settings.js';

type Values = Partial<SettingValues>;

/** The errors of settings that contradict each other. `config` does not contain settings that could not be parsed. */
export function contradictions(config: Values): string[] {
  return [
    ...secretKeyErrors(config),
    ...smsErrors(config),
    ...imageErrors(config),
    ...retentionErrors(config),
    ...lockErrors(config),
    ...idleErrors(config),
    ...dpopErrors(config),
    ...passkeyErrors(config),
    ...loginMethodErrors(config),
    ...redirectErrors(config),
    ...pageErrors(config),
    ...pushErrors(config),
    ...urlErrors(config),
    ...breachedPasswordErrors(config),
    ...codeErrors(config),
    ...consoleErrors(config),
    ...metricsErrors(config),
    ...mailErrors(config),
    ...backupErrors(config),
    ...outboundErrors(config),
  ];
}

/** Warnings of settings that are valid and weaken the service. */
export function risks(values: Values): string[] {
  return [
    ...trustedProxyRisk(values),
    ...unreachableContact(values),
    ...openConnections(values),
    ...withheldCodes(values),
    ...withheldSteps(values),
    ...pagesWithoutPasskeys(values),
  ];
}

function outboundErrors({ OUTBOUND, OUTBOUND_ALLOWLIST: list }: Values): string[] {
  if (OUTBOUND === 'allowlist' && list === undefined) return ['OUTBOUND_ALLOWLIST is required with OUTBOUND=allowlist'];
  // An operator who lists addresses expects that no others get anything.
  return OUTBOUND === 'live' && list !== undefined
    ? ['OUTBOUND_ALLOWLIST needs OUTBOUND=allowlist: all steps are sent now']
    : [];
}

/** Steps of notifications that are not sent. */
function withheldSteps({ OUTBOUND = 'live' }: Values): string[] {
  const effects = {
    live: undefined,
    allowlist: 'steps of notifications are sent only to the addresses of OUTBOUND_ALLOWLIST',
    off: 'no step of a notification is sent',
  };
  const effect = effects[OUTBOUND];
  return effect === undefined ? [] : [`OUTBOUND=${OUTBOUND}: ${effect}. Set OUTBOUND=live in production`];
}

/** The pages offer passkeys at the origin of PUBLIC_URL. */
function pagesWithoutPasskeys({ PAGES: pages, PASSKEY_ORIGINS: origins, PUBLIC_URL: url }: Values): string[] {
  if (pages !== 'on' || origins === undefined || url === undefined || origins.includes(new URL(url).origin)) return [];
  return ['PASSKEY_ORIGINS does not have the origin of PUBLIC_URL: passkeys do not work on the pages (PAGES=on)'];
}

/** Push services need a contact that they can reach. Apple refuses every push with one at localhost (`BadJwtToken`). */
function unreachableContact({ VAPID_SUBJECT: subject = '' }: Values): string[] {
  const address = subject.replace(/\?.*$/s, '').replace(/^(?:mailto:.*@|https:\/\/)/is, '');
  const host = address.replace(/(?:[/#]|:\d).*$/s, '');
  const isLocal = /^(?:localhost|.*\.(?:localhost|local|internal|test|invalid)|127\.[\d.]+|\[.*)\.?$/i.test(host);
  if (!isLocal) return [];
  return ['VAPID_SUBJECT names this machine: push services, such as that of Apple, refuse pushes with such a contact'];
}

/** Connections without TLS that leave this machine. */
function openConnections(values: Values): string[] {
  const { METRICS_PORT, METRICS_HOST = '127.0.0.1', SMTP_URL } = values;
  const databases = (['DATABASE_URL', 'BACKUP_VERIFY_URL'] as const).flatMap((name) =>
    hostsWithoutTls(values[name] ?? '').map((host) => [name, host] as const),
  );
  const calls = plainCalls(values).map(([name, url]) => [name, hostOf(url)] as const);
  const mail = SMTP_URL?.tls === 'none' ? [['SMTP_URL', SMTP_URL.host] as const] : [];
  const warnings = [...databases, ...calls, ...mail]
    .filter(([, host]) => !isLoopback(host))
    .map(
      ([name, host]) =>
        `${name}: the connection to ${host} is not encrypted. Use TLS unless nobody else can read that network`,
    );
  if (METRICS_PORT !== undefined && !isLoopback(METRICS_HOST)) {
    warnings.push(
      `METRICS_HOST: /metrics on ${METRICS_HOST} has no TLS and no password. Let only your own network reach it`,
    );
  }
  return warnings;
}

const hostOf = (url: string) => (parseUrl(url)?.hostname ?? '').replace(/^\[|\]$/g, '');

function trustedProxyRisk({ TRUST_PROXY: trust = 0, HOST: host }: Values): string[] {
  const isWide = typeof trust === 'number' ? trust > 0 : trust.some(isWideRange);
  if (!isWide || host === undefined || isLoopback(host)) return [];
  const hosts = typeof trust === 'number' ? 'every host' : 'a range of public hosts';
  return [
    `TRUST_PROXY=${trust} trusts ${hosts} that can connect to ${host}. A client that reaches the port without your proxy can choose its address by X-Forwarded-For, and escape limits and blocks. Name the addresses of your proxies instead, such as TRUST_PROXY=10.0.0.2`,
  ];
}

/** Whether a range has more addresses than the largest private ones, 10.0.0.0/8 and fc00::/7. */
function isWideRange(range: string): boolean {
  if (!range.includes('/')) return false;
  const [first, bits] = ipaddr.parseCIDR(range);
  if (first instanceof ipaddr.IPv4) return bits < 8;
  return first.isIPv4MappedAddress() ? bits < 96 + 8 : bits < 7;
}

function secretKeyErrors({ DATABASE_URL, SECRET_KEY }: Values): string[] {
  if (DATABASE_URL === undefined || SECRET_KEY !== undefined) return [];
  return ['SECRET_KEY is required with DATABASE_URL (at least 32 random characters, the same on every instance)'];
}

/** The settings that each provider of SMS needs. */
const requiredSmsSettings = {
  console: [],
  webhook: ['SMS_WEBHOOK_URL', 'SMS_WEBHOOK_SECRET'],
  twilio: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'],
  vonage: ['VONAGE_APPLICATION_ID', 'VONAGE_PRIVATE_KEY'],
  sns: ['SNS_REGION', 'SNS_ACCESS_KEY_ID', 'SNS_SECRET_ACCESS_KEY'],
} as const;

function backupErrors(config: Values): string[] {
  const { DATABASE_URL, BACKUP_TO } = config;
  if (BACKUP_TO === undefined) {
    return config.BACKUP_CONTINUOUS === true ? ['BACKUP_TO is required with BACKUP_CONTINUOUS=true'] : [];
  }
  const neededSettings = ['BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY'] as const;
  const missing = BACKUP_TO.startsWith('s3://') ? neededSettings.filter((name) => config[name] === undefined) : [];
  return [
    ...missing.map((name) => `${name} is required with BACKUP_TO=s3://…`),
    ...(DATABASE_URL !== undefined && config.BACKUP_CONTINUOUS === true
      ? ['BACKUP_CONTINUOUS is for the embedded database: archive the log of DATABASE_URL with pgBackRest or WAL-G']
      : []),
  ];
}

function smsErrors(config: Values): string[] {
  const { SMS_PROVIDER: providers = [], SMS_SENDER, SMS_SENDERS = [] } = config;
  return providers.flatMap((provider) => {
    const missing: string[] = requiredSmsSettings[provider].filter((name) => config[name] === undefined);
    const needsSender = provider === 'twilio' || provider === 'vonage';
    const hasSender = SMS_SENDERS.some((rule) => rule.provider === provider && rule.region === undefined);
    if (needsSender && SMS_SENDER === undefined && !hasSender) missing.push('SMS_SENDER');
    return missing.map((name) => `${name} is required with SMS_PROVIDER=${provider}`);
  });
}

function imageErrors(config: Values): string[] {
  if (config.IMAGE_STORAGE === undefined) return [];
  const neededSettings = ['IMAGE_S3_ACCESS_KEY_ID', 'IMAGE_S3_SECRET_ACCESS_KEY'] as const;
  const missing = neededSettings.filter((name) => config[name] === undefined);
  return missing.map((name) => `${name} is required with IMAGE_STORAGE`);
}

function retentionErrors({ NOTIFICATION_TYPES: types = [], NOTIFICATION_RETENTION: ages = {} }: Values): string[] {
  const unknown = Object.keys(ages).filter((type) => type !== '*' && !types.includes(type));
  if (unknown.length === 0) return [];
  return [`NOTIFICATION_RETENTION names types that are not in NOTIFICATION_TYPES: ${unknown.join(', ')}`];
}

function lockErrors({ GUESS_LOCK: lock, GUESS_LOCK_MAX: max }: Values): string[] {
  const isTooLong = lock !== undefined && max !== undefined && lock > max;
  return isTooLong ? ['GUESS_LOCK must not be longer than GUESS_LOCK_MAX'] : [];
}

/** A client gets a new session only when the last one ends. A shorter limit would end logins that are in use. */
function idleErrors({ SESSION_TTL: session, IDLE_TTL: idle, IDLE_TTL_BY_ROLE: idleByRole = {} }: Values): string[] {
  if (session === undefined) return [];
  const limits = [['IDLE_TTL', idle] as const, ...Object.entries(idleByRole)];
  return limits
    .filter(([, limit]) => limit !== undefined && limit < 2 * session)
    .map(([name]) => (name === 'IDLE_TTL' ? name : `IDLE_TTL_BY_ROLE: ${name}`))
    .map((name) => `${name} must be at least twice SESSION_TTL`);
}

function dpopErrors({ DPOP_ORIGINS: origins, PUBLIC_URL: publicUrl }: Values): string[] {
  return origins !== undefined && publicUrl === undefined ? ['PUBLIC_URL is required with DPOP_ORIGINS'] : [];
}

/** A provider sends browsers back to PUBLIC_URL, and links in mails lead there. */
function redirectErrors({ REDIRECT_URIS: uris, LOGIN_LINK: link, PUBLIC_URL: publicUrl }: Values): string[] {
  if (publicUrl !== undefined) return [];
  const needing = [...(uris === undefined ? [] : ['REDIRECT_URIS']), ...(link === 'on' ? ['LOGIN_LINK=on'] : [])];
  return needing.map((name) => `PUBLIC_URL is required with ${name}`);
}

/** Over http, a browser sends the login of the pages in a cookie that everybody on the way can read. */
function pageErrors({ PAGES: pages, PUBLIC_URL: publicUrl }: Values): string[] {
  if (pages !== 'on') return [];
  if (publicUrl === undefined) return ['PUBLIC_URL is required with PAGES=on'];
  return publicUrl.startsWith('https:') || isLoopback(hostOf(publicUrl))
    ? []
    : ['PUBLIC_URL must be https with PAGES=on, except on a loopback host such as http://localhost:8080'];
}

/** A passkey works only on its domain and subdomains. Without such an origin, no passkey could be used. */
function passkeyErrors({ PASSKEY_RP_ID: id, PASSKEY_ORIGINS: origins, PUBLIC_URL: publicUrl }: Values): string[] {
  if (origins !== undefined && id === undefined && publicUrl === undefined) {
    return ['PASSKEY_RP_ID or PUBLIC_URL is required with PASSKEY_ORIGINS'];
  }
  if (id === undefined || origins !== undefined || publicUrl === undefined) return [];
  const { hostname } = new URL(publicUrl);
  return hostname === id || hostname.endsWith(`.${id}`)
    ? []
    : ['PASSKEY_RP_ID must be the host of PUBLIC_URL or a domain above it, or PASSKEY_ORIGINS must be set'];
}

/** A name that is not configured is probably misspelled, and would close that way to log in. */
function loginMethodErrors(config: Values): string[] {
  const configured = [
    ...(config.OIDC_PROVIDERS ?? []).map(
      ({ name, endpoints }) => `${endpoints === undefined ? 'oidc' : 'oauth'}:${name}`,
    ),
    ...(config.CUSTOM_AUTHENTICATORS ?? []).map(({ name }) => `custom:${name}`),
  ];
  return (config.LOGIN_METHODS ?? [])
    .filter((name) => name.includes(':') && !configured.includes(name))
    .map((name) => `LOGIN_METHODS: ${name} is not configured`);
}

/** The settings of each push channel. An operator must set all settings of a channel, or none. */
const pushGroups = [
  ['VAPID_PUBLIC_KEY', 'VAPID_PRIVATE_KEY', 'VAPID_SUBJECT'],
  ['APNS_KEY', 'APNS_KEY_ID', 'APNS_TEAM_ID', 'APNS_TOPIC'],
] as const;

function pushErrors(config: Values): string[] {
  const errors: string[] = [];
  for (const group of pushGroups) {
    const configuredNames = group.filter((name) => config[name] !== undefined);
    const missing = group.filter((name) => config[name] === undefined);
    if (configuredNames.length > 0)
      errors.push(...missing.map((name) => `${name} is required with ${configuredNames.join(' and ')}`));
  }
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey } = config;
  if (publicKey !== undefined && privateKey !== undefined && !isKeyPair(publicKey, privateKey.reveal())) {
    errors.push('VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY');
  }
  return errors;
}

/** Outgoing calls use https, unless private networks are allowed. */
function urlErrors(config: Values): string[] {
  if (config.ALLOW_PRIVATE_NETWORK_TARGETS !== false) return [];
  return plainUrls(guardedUrls(config)).map(
    ([name]) => `${name} must be https (http needs ALLOW_PRIVATE_NETWORK_TARGETS=true)`,
  );
}

/** The configured calls by http. */
function plainCalls(config: Values): [name: string, url: string][] {
  return plainUrls([
    ...guardedUrls(config),
    ['OTEL_EXPORTER_OTLP_ENDPOINT', config.OTEL_EXPORTER_OTLP_ENDPOINT],
    ['IMAGE_S3_ENDPOINT', config.IMAGE_S3_ENDPOINT],
    ['BACKUP_S3_ENDPOINT', config.BACKUP_S3_ENDPOINT],
  ]);
}

type NamedUrl = readonly [name: string, url: string | undefined];

const plainUrls = (urls: readonly NamedUrl[]) =>
  urls.filter((entry): entry is [string, string] => entry[1]?.startsWith('http:') === true);

/** The URLs of calls that only ALLOW_PRIVATE_NETWORK_TARGETS lets use http. */
function guardedUrls(config: Values): NamedUrl[] {
  const urls: NamedUrl[] = [
    ['FCM_URL', config.FCM_URL],
    ['APNS_URL', config.APNS_URL],
    ['the token_uri of FCM_SERVICE_ACCOUNT', config.FCM_SERVICE_ACCOUNT?.tokenUri],
    ['SMS_WEBHOOK_URL', config.SMS_WEBHOOK_URL],
    ['TWILIO_URL', config.TWILIO_URL],
    ['VONAGE_URL', config.VONAGE_URL],
    ['SNS_URL', config.SNS_URL],
    ['RESEND_URL', config.RESEND_URL],
    ['SES_URL', config.SES_URL],
    ['MAIL_WEBHOOK_URL', config.MAIL_WEBHOOK_URL],
    ['BREACHED_PASSWORDS_URL', config.BREACHED_PASSWORDS_URL],
  ];
  for (const { name, url } of config.CUSTOM_AUTHENTICATORS ?? []) {
    urls.push([`CUSTOM_AUTHENTICATORS: url of ${name}`, url]);
  }
  for (const { name, issuer, endpoints } of config.OIDC_PROVIDERS ?? []) {
    if (endpoints === undefined) urls.push([`OIDC_PROVIDERS: issuer of ${name}`, issuer]);
    else
      for (const [member, url] of Object.entries(endpoints))
        urls.push([`OIDC_PROVIDERS: ${member}_endpoint of ${name}`, url]);
  }
  return urls;
}

function breachedPasswordErrors({ BREACHED_PASSWORDS_FILE: file, BREACHED_PASSWORDS_URL: url }: Values): string[] {
  if (file === undefined || url === undefined) return [];
  return ['BREACHED_PASSWORDS_FILE and BREACHED_PASSWORDS_URL exclude each other'];
}

function codeErrors(config: Values): string[] {
  if (mayPrintCodes(config)) return [];
  const providers = { SMS_PROVIDER: config.SMS_PROVIDER?.[0], MAIL_PROVIDER: config.MAIL_PROVIDER?.[0] };
  return (['SMS_PROVIDER', 'MAIL_PROVIDER'] as const)
    .filter((name) => providers[name] === 'console')
    .map((name) => `${name}=console prints codes: it needs a loopback HOST, or ALLOW_CONSOLE_CODES=true`);
}

function consoleErrors({ CONSOLE, CONSOLE_PORT, PORT }: Values): string[] {
  if (CONSOLE_PORT === undefined) return [];
  const errors = CONSOLE === 'off' ? ['CONSOLE_PORT needs CONSOLE=on'] : [];
  if (CONSOLE_PORT !== 0 && CONSOLE_PORT === PORT) errors.push('CONSOLE_PORT must not be PORT');
  return errors;
}

function metricsErrors({ METRICS_PORT, CONSOLE_PORT, PORT }: Values): string[] {
  if (METRICS_PORT === undefined || METRICS_PORT === 0) return [];
  const others = { PORT, CONSOLE_PORT };
  return (['PORT', 'CONSOLE_PORT'] as const)
    .filter((name) => others[name] === METRICS_PORT)
    .map((name) => `METRICS_PORT must not be ${name}`);
}

/** Whether the console providers print nothing, because the service is public. */
export function withholdsCodes({ PUBLIC_URL: url, ALLOW_CONSOLE_CODES }: Values): boolean {
  return ALLOW_CONSOLE_CODES === false && url !== undefined && !isLoopback(hostOf(url));
}

function withheldCodes(values: Values): string[] {
  const providers = { SMS_PROVIDER: values.SMS_PROVIDER?.[0], MAIL_PROVIDER: mailProviders(values)[0] };
  const names = (['SMS_PROVIDER', 'MAIL_PROVIDER'] as const).filter((name) => providers[name] === 'console');
  if (names.length === 0 || !withholdsCodes(values)) return [];
  return [
    `${names.map((name) => `${name}=console`).join(' and ')} prints no codes, because PUBLIC_URL is not a loopback URL. Configure a provider; for tests, ALLOW_CONSOLE_CODES=true prints them`,
  ];
}

/** The console providers need a loopback host: a person who sees the output can log in as any user. */
function mayPrintCodes({ HOST, ALLOW_CONSOLE_CODES }: Values): boolean {
  return ALLOW_CONSOLE_CODES !== false || HOST === undefined || isLoopback(HOST);
}

/** The providers of mail: MAIL_PROVIDER, or its default. Empty: no mail. */
export function mailProviders(config: Values): readonly MailProviderName[] {
  if (config.MAIL_PROVIDER !== undefined) return config.MAIL_PROVIDER;
  if (config.SMTP_URL !== undefined) return ['smtp'];
  return mayPrintCodes(config) ? ['console'] : [];
}

/** The settings that each provider of mail needs. */
const requiredMailSettings = {
  console: [],
  smtp: ['SMTP_URL', 'MAIL_FROM'],
  ses: ['SES_REGION', 'SES_ACCESS_KEY_ID', 'SES_SECRET_ACCESS_KEY', 'MAIL_FROM'],
  resend: ['RESEND_API_KEY', 'MAIL_FROM'],
  webhook: ['MAIL_WEBHOOK_URL', 'MAIL_WEBHOOK_SECRET', 'MAIL_FROM'],
} as const;

function mailErrors(config: Values): string[] {
  const reported = new Set<string>();
  return mailProviders(config).flatMap((provider) => {
    const missing = requiredMailSettings[provider].filter((name) => config[name] === undefined && !reported.has(name));
    for (const name of missing) reported.add(name);
    return missing.map((name) => `${name} is required with MAIL_PROVIDER=${provider}`);
  });
}
