import { lookup } from 'node:dns/promises';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { FIRST_KEY_FILE } from '../authentication/api-keys.js';
import { readOwnTexts } from '../authentication/messages/own-texts.js';
import { importedSchemes } from '../authentication/secrets/password-schemes.js';
import { costOfAll } from '../authentication/secrets/scheme-cost.js';
import { type Config, ConfigError, mailProvider } from '../config.js';
import { type Queryable, sql } from '../database/database.js';
import { readSchemaState } from '../database/schema-state.js';
import { readSecretKeys, SECRET_KEY_FILE } from '../database/secret-key-file.js';
import { countUnreadable, describeAllUnreadable } from '../database/unreadable.js';
import { createSecretKeys } from '../lib/secret-keys.js';
import { isLoopback } from '../lib/smtp-url.js';

/** What one check found: fine, worth a look, or in the way of the service. */
export interface Finding {
  readonly level: 'ok' | 'warn' | 'FAIL';
  readonly what: string;
  readonly detail: string;
}

const finding =
  (level: Finding['level']) =>
  (what: string, detail: string): Finding => ({ level, what, detail });
export const ok = finding('ok');
export const warn = finding('warn');
export const fail = finding('FAIL');

/** Bits of a file's mode that let others in. */
const OTHERS = 0o077;

/** Secrets in DATA_DIR must be their owner's alone. What is not there yet is made so. */
export async function checkDataDir({ DATA_DIR }: Config): Promise<Finding[]> {
  const folder = await modeOf(DATA_DIR);
  if (folder === undefined) return [warn('data directory', `${DATA_DIR} does not exist; \`postern serve\` creates it`)];
  const findings = [
    (folder & OTHERS) === 0
      ? ok('data directory', `${DATA_DIR} is its owner's alone`)
      : warn('data directory', `${DATA_DIR} is open to other accounts: chmod 700 it`),
  ];
  for (const name of [SECRET_KEY_FILE, FIRST_KEY_FILE]) {
    const path = join(DATA_DIR, name);
    const mode = await modeOf(path);
    if (mode === undefined) continue;
    const isPrivate = (mode & OTHERS) === 0;
    findings.push(isPrivate ? ok(name, "its owner's alone") : fail(name, `others can read ${path}: chmod 600 it`));
  }
  return findings;
}

async function modeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** PostgreSQL 15, as server_version_num. */
const OLDEST_VERSION = 150_000;

export async function checkVersion(handle: Queryable): Promise<Finding> {
  const [server] = await handle.query<{ number: number; shown: string }>(
    sql("select current_setting('server_version_num')::int as number, current_setting('server_version') as shown"),
  );
  const { number = 0, shown = 'unknown' } = server ?? {};
  return number >= OLDEST_VERSION
    ? ok('database', `PostgreSQL ${shown} answers`)
    : fail('database', `PostgreSQL ${shown} is too old: Postern needs 15 or later`);
}

export async function checkSchema(handle: Queryable): Promise<Finding> {
  const { pending, unknown } = await readSchemaState(handle);
  if (unknown.length > 0) {
    return fail('migrations', `the database is newer than this Postern (${unknown.join(', ')}): run a newer one`);
  }
  return pending.length === 0
    ? ok('migrations', 'all applied')
    : warn('migrations', `pending: ${pending.join(', ')}; the next start or \`postern migrate\` applies them`);
}

/** What failed logins pay for imported hashes. A database that was not migrated has none. */
export async function checkSchemes(handle: Queryable, { IMPORTED_HASH_COST_LIMIT: limit }: Config): Promise<Finding[]> {
  const [table] = await handle.query<{ exists: boolean }>(
    sql("select to_regclass('password_schemes') is not null as exists"),
  );
  const schemes = table?.exists === true ? await importedSchemes(handle) : [];
  if (schemes.length === 0) return [];
  const cost = costOfAll(schemes);
  const detail = `a failed login costs ${cost} of at most ${limit} (IMPORTED_HASH_COST_LIMIT)`;
  return cost > limit
    ? [warn('imported hashes', `${detail}: no scheme can be added; \`postern schemes list\` shows each one`)]
    : [ok('imported hashes', detail)];
}

/** Whether SECRET_KEY has every key that something stored was encrypted with. Before the first start nothing is. */
export async function checkSecrets(handle: Queryable, config: Config): Promise<Finding[]> {
  const [tables] = await handle.query<{ exist: boolean }>(
    sql(`select to_regclass('totp') is not null and to_regclass('challenges') is not null as exist`),
  );
  if (tables?.exist !== true) return [];
  const found = await countUnreadable(handle, createSecretKeys(await readSecretKeys(config)));
  if (found.length > 0) return [fail('encrypted values', describeAllUnreadable(found))];
  return [ok('encrypted values', 'SECRET_KEY opens all of them')];
}

/** Milliseconds. */
const CLOCK_TOLERANCE = 2000;

/** The database's clock decides; this machine's stamps what is sent out, such as signed webhooks. */
export async function checkClock(handle: Queryable): Promise<Finding> {
  const before = Date.now();
  const [clock] = await handle.query<{ now: number }>(
    sql('select (extract(epoch from clock_timestamp()) * 1000)::float8 as now'),
  );
  const here = (before + Date.now()) / 2;
  const difference = Math.abs((clock?.now ?? here) - here);
  const shown = `${(difference / 1000).toFixed(1)} s apart`;
  return difference > CLOCK_TOLERANCE
    ? warn('clock', `this machine and the database are ${shown}: synchronise them`)
    : ok('clock', `this machine and the database are ${shown}`);
}

export async function checkSms({ SMS_PROVIDER, SMS_WEBHOOK_URL }: Config): Promise<Finding> {
  if (SMS_PROVIDER === 'none') return ok('sms', 'off: there are no logins by SMS');
  if (SMS_PROVIDER === 'console') return warn('sms', 'codes are printed and shown in the outbox: for development only');
  const { hostname } = new URL(SMS_WEBHOOK_URL ?? '');
  return (await isKnown(hostname.replace(/^\[|\]$/g, '')))
    ? ok('sms', `the webhook's host ${hostname} is known`)
    : fail('sms', `the webhook's host ${hostname} cannot be resolved`);
}

async function isKnown(host: string): Promise<boolean> {
  return lookup(host).then(
    () => true,
    () => false,
  );
}

export async function checkMail(config: Config): Promise<Finding> {
  const provider = mailProvider(config);
  if (provider === 'none') return ok('mail', 'off: no mail is sent');
  if (provider === 'console') return warn('mail', 'codes are printed and shown in the outbox: for development only');
  const { host = '', tls } = config.SMTP_URL ?? {};
  const found = await isKnown(host);
  if (!found) return fail('mail', `the server ${host} cannot be resolved`);
  return tls === 'none' && !isLoopback(host)
    ? warn('mail', `goes to ${host} in the clear: take ?tls=none out of SMTP_URL if the server has TLS`)
    : ok('mail', `the server ${host} is known`);
}

/** Texts that cannot be used keep the service from starting. */
export async function checkTemplates({ TEMPLATES_DIR }: Config): Promise<Finding[]> {
  if (TEMPLATES_DIR === undefined) return [ok('templates', 'those that Postern brings')];
  const { texts, faults } = await readOwnTexts(TEMPLATES_DIR);
  if (faults.length > 0) return faults.map((fault) => fail('templates', fault));
  const count = [...texts.values()].reduce((sum, { size }) => sum + size, 0);
  return [ok('templates', `${count} of your own in ${TEMPLATES_DIR}`)];
}

/** Imports the modules, as a start would. */
export async function checkAuthenticators(config: Config): Promise<Finding[]> {
  const modules = config.AUTHENTICATORS ?? [];
  if (modules.length === 0) return [];
  const { tryConfiguredPlugins } = await import('../main-authenticators.js');
  try {
    return [ok('authenticators', (await tryConfiguredPlugins(config)).join(', '))];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults.map((fault) => fail('authenticators', fault));
  }
}

export function checkPush(config: Config): Finding {
  const channels = { apns: config.APNS_KEY, fcm: config.FCM_SERVICE_ACCOUNT, 'web push': config.VAPID_PUBLIC_KEY };
  const named = Object.entries(channels).map(([name, setting]) => `${name} ${setting === undefined ? 'off' : 'on'}`);
  return ok('push', named.join(', '));
}

/** Listens for a moment. */
export async function checkPort({ HOST, PORT }: Config): Promise<Finding> {
  const server = createServer();
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen({ host: HOST, port: PORT }, () => resolve(undefined));
  });
  if (failure === undefined) {
    await new Promise((resolve) => server.close(resolve));
    return ok('port', `${PORT} of ${HOST} is free`);
  }
  return failure.code === 'EADDRINUSE'
    ? warn('port', `${PORT} of ${HOST} is in use: by this Postern if it runs, else a start will fail`)
    : fail('port', `cannot listen on ${PORT} of ${HOST} (${failure.code})`);
}
