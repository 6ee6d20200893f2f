import { lookup } from 'node:dns/promises';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPrograms } from '../../backups/dumps/check.js';
import { readBackupTimes, readLogArchive } from '../../backups/state.js';
import type { Config } from '../../config/config.js';
import { mailProviders } from '../../config/contradictions.js';
import { type MailProviderName, sesUrl } from '../../config/mail-settings.js';
import { snsUrl } from '../../config/sms-settings.js';
import { pushChannels } from '../../contract/push.js';
import { importedSchemes } from '../../credentials/password-schemes.js';
import { totalSchemeCost } from '../../credentials/scheme-cost.js';
import type { Queryable } from '../../database/database.js';
import { bound, compose, sql } from '../../database/sql.js';
import { findSecretKeys, secretKeyFile } from '../../keys/secret-key-file.js';
import { countUnreadable, describeUnreadableValues } from '../../keys/unreadable.js';
import { createSecretKeys } from '../../lib/crypto/secret-keys.js';
import { isLoopback } from '../../lib/urls.js';
import { readCustomTemplates } from '../../messages/custom-templates.js';
import { indexState } from '../../schema/late-indexes.js';
import { readSchemaState } from '../../schema/migrations.js';
import { readRoleState } from '../../schema/running-role.js';
import { firstKeyFile } from '../../sessions/api-keys.js';
import { setupLinkFile } from '../../sessions/setup-links.js';
import { portError } from '../base/configured-ports.js';
import { readLogo } from '../base/logo.js';
import { configuredPushChannels } from '../base/providers.js';

/** The result of one check. `FAIL`: the service cannot work. */
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

/** The permission bits of a file for its group and for others. */
const otherAccountsMask = 0o077;

/** Checks that only the owner may read the secrets in DATA_DIR. A start creates missing files that way. */
export async function checkDataDir({ DATA_DIR }: Config): Promise<Finding[]> {
  const folder = await modeOf(DATA_DIR);
  if (folder === undefined) return [warn('data directory', `${DATA_DIR} does not exist; \`postern serve\` creates it`)];
  const findings = [
    (folder & otherAccountsMask) === 0
      ? ok('data directory', `only its owner can read ${DATA_DIR}`)
      : warn('data directory', `other accounts can read ${DATA_DIR}: chmod 700 it`),
  ];
  for (const name of [secretKeyFile, firstKeyFile, setupLinkFile]) {
    const path = join(DATA_DIR, name);
    const mode = await modeOf(path);
    if (mode === undefined) continue;
    const isPrivate = (mode & otherAccountsMask) === 0;
    findings.push(
      isPrivate ? ok(name, 'only its owner can read it') : fail(name, `other accounts can read ${path}: chmod 600 it`),
    );
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
const minServerVersion = 150_000;

/** Checks that PostgreSQL answers and is not too old. */
export async function checkVersion(handle: Queryable): Promise<Finding> {
  const [server] = await handle.query(
    compose<{ number: number; shown: string }>(
      sql`select current_setting('server_version_num')::int as number, current_setting('server_version') as shown`,
    ),
  );
  const { number = 0, shown = 'unknown' } = server ?? {};
  return number >= minServerVersion
    ? ok('database', `PostgreSQL ${shown} answers`)
    : fail('database', `PostgreSQL ${shown} is too old: Postern needs 15 or later`);
}

/** Checks that all migrations are applied, and that this version can use the schema. */
export async function checkSchema(handle: Queryable): Promise<Finding> {
  const { pending, refusal } = await readSchemaState(handle);
  if (refusal !== undefined) return fail('migrations', refusal);
  return pending.length === 0
    ? ok('migrations', 'all applied')
    : warn('migrations', `pending: ${pending.join(', ')}; the next start or \`postern migrate\` applies them`);
}

/** Checks the rights of the role on a migrated database. The embedded server has one role. */
export async function checkRole(handle: Queryable, { DATABASE_URL }: Config): Promise<Finding[]> {
  const { pending } = await readSchemaState(handle);
  if (DATABASE_URL === undefined || pending.length > 0) return [];
  const { name, canChangeSchema, missing } = await readRoleState(handle);
  if (missing.length > 0) {
    return [
      fail(
        'database role',
        `${name} has no rights on ${missing.join(', ')}: run \`postern database create-role ${name}\` with the role that owns the tables`,
      ),
    ];
  }
  return [
    canChangeSchema
      ? ok(
          'database role',
          `${name} can change the schema; \`postern database create-role\` creates a role for running that cannot`,
        )
      : ok('database role', `${name} reads and writes rows, and cannot change the schema`),
  ];
}

/** Checks the indexes for searches. A database that was not migrated needs none. */
export async function checkIndexes(handle: Queryable): Promise<Finding[]> {
  const { isMigrated, missing, hasTrigrams } = await indexState(handle);
  if (!isMigrated) return [];
  return [indexFinding(missing, hasTrigrams)];
}

function indexFinding(missing: readonly string[], hasTrigrams: boolean): Finding {
  if (missing.length === 0) return ok('indexes', 'all are built');
  if (!hasTrigrams) {
    return warn(
      'indexes',
      'the extension pg_trgm is missing: a search reads users for 3 seconds, newest first, and does not find a part of the name, address or number of older users (ids, full addresses and full numbers are always found); a superuser can install it with `create extension pg_trgm`',
    );
  }
  return warn(
    'indexes',
    `${missing.join(', ')} not built yet: the running service builds them; until then searches may be partial`,
  );
}

/** Checks the cost of imported hashes for failed logins. A database that was not migrated has none. */
export async function checkSchemes(handle: Queryable, { IMPORTED_HASH_COST_LIMIT: limit }: Config): Promise<Finding[]> {
  const schemes = (await hasTable(handle, 'password_schemes')) ? await importedSchemes(handle) : [];
  if (schemes.length === 0) return [];
  const cost = totalSchemeCost(schemes);
  const detail = `a failed login costs ${cost} of at most ${limit} (IMPORTED_HASH_COST_LIMIT)`;
  return cost > limit
    ? [warn('imported hashes', `${detail}: no scheme can be added; \`postern schemes list\` shows each one`)]
    : [ok('imported hashes', detail)];
}

/**
 * Checks that SECRET_KEY contains all keys that stored values were encrypted with. Before the first start there are no
 * values.
 * @param maxRows values of each kind to check; all if absent
 */
export async function checkSecrets(handle: Queryable, config: Config, maxRows?: number): Promise<Finding[]> {
  for (const table of ['totp', 'challenges', 'test_identities']) if (!(await hasTable(handle, table))) return [];
  const found = await findSecretKeys(config);
  if (found === undefined) {
    const path = join(config.DATA_DIR, secretKeyFile);
    return [fail('encrypted values', `${path} is missing: restore it, or set SECRET_KEY to the key that was in it`)];
  }
  const unreadableValues = await countUnreadable(handle, createSecretKeys(found), maxRows);
  if (unreadableValues.length > 0) return [fail('encrypted values', describeUnreadableValues(unreadableValues))];
  return [ok('encrypted values', 'SECRET_KEY decrypts all of them')];
}

/** The maximum difference of the two clocks, in milliseconds. */
const clockToleranceMs = 2000;

/** Checks the backups. Other programs may make those of DATABASE_URL. */
export async function checkBackups(handle: Queryable, config: Config): Promise<Finding[]> {
  const { DATABASE_URL, BACKUP_TO, BACKUP_SCHEDULE: schedule } = config;
  if (BACKUP_TO === undefined) {
    return DATABASE_URL === undefined
      ? [warn('backups', 'Postern makes none by itself: set BACKUP_TO')]
      : [ok('backups', 'Postern makes none by itself: set BACKUP_TO, or use other programs')];
  }
  if (!(await hasTable(handle, 'backup_archive'))) return [];
  const archive = config.BACKUP_CONTINUOUS ? [await checkArchive(handle)] : [];
  const programs = DATABASE_URL === undefined ? [] : [await checkDumps(handle, config)];
  const { now, verified } = await readBackupTimes(handle);
  const more = [...programs, ...archive];
  if (verified === null) return [warn('backups', `there is no verified one in ${BACKUP_TO} yet`), ...more];
  const lastBackup = `the last verified one was made at ${new Date(verified).toISOString()}`;
  // The backup of the last scheduled time may still be running.
  return schedule.next(schedule.next(verified)) < now
    ? [fail('backups', `${lastBackup}, and later ones are missing: see the log and GET /admin/v1/system`), ...more]
    : [ok('backups', lastBackup), ...more];
}

/** Checks the programs that make and verify backups of DATABASE_URL. */
async function checkDumps(handle: Queryable, { BACKUP_PROGRAMS }: Config): Promise<Finding> {
  const found = await checkPrograms(handle, BACKUP_PROGRAMS);
  return 'problem' in found
    ? fail('backups', found.problem)
    : ok('backups', `${found.dump.command} ${found.dump.version} makes them`);
}

/** Seconds after which the archive of the log is late. It is written every few seconds, and reported every minute. */
const lateAfterSeconds = 300;

async function checkArchive(handle: Queryable): Promise<Finding> {
  const archive = await readLogArchive(handle);
  if (archive === undefined) return warn('log archive', 'it has not begun yet: see the log');
  const archiveEnd = `it ends at ${archive.archived_at}`;
  if (archive.error !== null) return fail('log archive', `${archiveEnd} and does not continue: ${archive.error}`);
  return archive.age > lateAfterSeconds
    ? fail('log archive', `${archiveEnd} and does not continue: see the log`)
    : ok('log archive', archiveEnd);
}

/**
 * Checks the two clocks. The database's clock decides what has expired. This machine's clock is used in requests to others,
 * such as signed webhooks.
 */
export async function checkClock(handle: Queryable): Promise<Finding> {
  const before = Date.now();
  const [clock] = await handle.query(
    compose<{ now: number }>(sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`),
  );
  const localTime = (before + Date.now()) / 2;
  const difference = Math.abs((clock?.now ?? localTime) - localTime);
  const gap = `${(difference / 1000).toFixed(1)} s apart`;
  return difference > clockToleranceMs
    ? warn('clock', `this machine and the database are ${gap}: synchronise them`)
    : ok('clock', `this machine and the database are ${gap}`);
}

/** Whether a table exists: the doctor also runs before the migrations of a new release. */
export async function hasTable(handle: Queryable, name: string): Promise<boolean> {
  const [table] = await handle.query(
    compose<{ exists: boolean }>(sql`select to_regclass(${bound(name)}) is not null as exists`),
  );
  return table?.exists === true;
}

/** Checks that the hosts of the SMS providers can be resolved. */
export async function checkSms(config: Config): Promise<Finding[]> {
  if (config.SMS_PROVIDER.length === 0) return [ok('sms', 'off: no logins by SMS')];
  return Promise.all(config.SMS_PROVIDER.map((provider) => checkSmsProvider(provider, config)));
}

async function checkSmsProvider(provider: Config['SMS_PROVIDER'][number], config: Config): Promise<Finding> {
  switch (provider) {
    case 'console':
      return warn('sms', 'codes are printed and shown in the outbox: for development only');
    case 'webhook':
      return checkHost('sms', 'the webhook', config.SMS_WEBHOOK_URL);
    case 'twilio':
      return checkHost('sms', provider, config.TWILIO_URL);
    case 'vonage':
      return checkHost('sms', provider, config.VONAGE_URL);
    case 'sns':
      return checkHost('sms', provider, snsUrl(config));
    default:
      return fail('sms', `SMS_PROVIDER ${String(provider satisfies never)} is unknown`);
  }
}

async function checkHost(what: string, provider: string, url = ''): Promise<Finding> {
  const { hostname } = new URL(url);
  return (await canResolve(hostname.replace(/^\[|\]$/g, '')))
    ? ok(what, `the host ${hostname} of ${provider} resolves`)
    : fail(what, `the host ${hostname} of ${provider} cannot be resolved`);
}

async function canResolve(host: string): Promise<boolean> {
  return lookup(host).then(
    () => true,
    () => false,
  );
}

/** Checks that the hosts of the providers of mail can be resolved, and that the mail server is reached with TLS. */
export async function checkMail(config: Config): Promise<Finding[]> {
  const providers = mailProviders(config);
  if (providers.length === 0) return [ok('mail', 'off: no mail is sent')];
  return Promise.all(providers.map((provider) => checkMailProvider(provider, config)));
}

async function checkMailProvider(provider: MailProviderName, config: Config): Promise<Finding> {
  switch (provider) {
    case 'console':
      return warn('mail', 'codes are printed and shown in the outbox: for development only');
    case 'smtp':
      return checkMailServer(config);
    case 'ses':
      return checkHost('mail', provider, sesUrl(config));
    case 'resend':
      return checkHost('mail', provider, config.RESEND_URL);
    case 'webhook':
      return checkHost('mail', 'the webhook', config.MAIL_WEBHOOK_URL);
    default:
      return fail('mail', `MAIL_PROVIDER ${String(provider satisfies never)} is unknown`);
  }
}

async function checkMailServer(config: Config): Promise<Finding> {
  const { host = '', tls } = config.SMTP_URL ?? {};
  const resolves = await canResolve(host);
  if (!resolves) return fail('mail', `the server ${host} cannot be resolved`);
  return tls === 'none' && !isLoopback(host)
    ? warn('mail', `goes to ${host} without TLS: remove ?tls=none from SMTP_URL if the server has TLS`)
    : ok('mail', `the server ${host} resolves`);
}

/** Checks the operator's own texts and logo: the service does not start with invalid ones. */
export async function checkTemplates(config: Config): Promise<Finding[]> {
  return [...(await checkTexts(config)), ...(await checkLogo(config))];
}

async function checkLogo(config: Config): Promise<Finding[]> {
  if (config.APP_LOGO === undefined) return [];
  try {
    const logo = await readLogo(config);
    return [ok('logo', `${logo?.width} × ${logo?.height} pixels, ${logo?.png.length} bytes in each mail`)];
  } catch (error) {
    return [fail('logo', (error as Error).message)];
  }
}

async function checkTexts({ TEMPLATES_DIR }: Config): Promise<Finding[]> {
  if (TEMPLATES_DIR === undefined) return [ok('templates', 'the built-in texts')];
  const { texts, errors } = await readCustomTemplates(TEMPLATES_DIR);
  if (errors.length > 0) return errors.map((error) => fail('templates', error));
  const count = [...texts.values()].reduce((sum, { size }) => sum + size, 0);
  return [ok('templates', `${count} of your own in ${TEMPLATES_DIR}`)];
}

/** Lists which push channels are configured. */
export function checkPush(config: Config): Finding {
  const configured = configuredPushChannels(config);
  const states = pushChannels.map((name) => `${name.replace('_', ' ')} ${configured.includes(name) ? 'on' : 'off'}`);
  return ok('push', states.join(', '));
}

/** Checks that the port is free: listens on it for a moment. */
export async function checkPort({ HOST, PORT }: Config): Promise<Finding> {
  const failure = await portError(HOST, PORT);
  if (failure === undefined) return ok('port', `${PORT} of ${HOST} is free`);
  return failure.code === 'EADDRINUSE'
    ? warn(
        'port',
        `${PORT} of ${HOST} is in use. If Postern is running, this is normal. If not, another program uses the port and Postern cannot start`,
      )
    : fail('port', `cannot listen on ${PORT} of ${HOST} (${failure.code})`);
}
