import { listBackups } from '../../backups/state.js';
import type { Finding, System } from '../../contract/operation/system.js';
import { readDatabaseState, readMigrations, readQueueState } from '../../database/state.js';
import type { SystemInformation } from '../../http/routes/admin/system.js';
import { version } from '../../lib/own-package.js';
import { failingProviders } from '../../messages/providers/health.js';
import { readSmsUsage } from '../../messages/sms-admission.js';
import { readSchemaState } from '../../schema/migrations.js';
import { listInstances } from '../../statistics/instances.js';
import type { Statistics } from '../../statistics/statistics.js';
import type { Base } from '../base/base.js';
import { readDisks } from '../base/disks.js';
import { configuredProviders } from '../base/providers.js';
import * as checks from '../doctor/checks.js';
import { channelFindings, deliveryFindings, providerFindings } from '../doctor/delivery.js';
import { checkDisks } from '../doctor/disks.js';
import { checkImages } from '../doctor/images.js';
import { testIdentityFindings } from '../doctor/test-identities.js';
import { webhookFindings } from '../doctor/webhooks.js';
import { reportingMailProviders } from './mail.js';
import { receiptUrlOf } from './sms.js';

/** How long the findings are cached, in milliseconds. Their checks resolve host names and read stored values. */
const findingsMaxAgeMs = 30_000;
/** The maximum number of encrypted values of each kind that a check decrypts. */
const maxCheckedValues = 1000;

const severity = { fail: 0, warn: 1, ok: 2 } as const;

/** The information of `GET /admin/v1/system` about the processes and the database. */
export function createSystemInformation(
  { config, database, statistics: reporter }: Base,
  statistics: Statistics,
): SystemInformation {
  let cached: { readonly examinedAt: number; readonly findings: Promise<Finding[]> } | undefined;

  function findings(): Promise<Finding[]> {
    const now = performance.now();
    if (cached === undefined || now - cached.examinedAt > findingsMaxAgeMs)
      cached = { examinedAt: now, findings: examine() };
    return cached.findings;
  }

  async function examine(): Promise<Finding[]> {
    const foundFindings = await Promise.all([
      attempt('data directory', () => checks.checkDataDir(config)),
      attempt('database', async () => [
        await checks.checkVersion(database),
        await checks.checkSchema(database),
        await checks.checkClock(database),
        ...(await checks.checkSchemes(database, config)),
        ...(await checks.checkSecrets(database, config, maxCheckedValues)),
        ...(await checks.checkBackups(database, config)),
      ]),
      attempt('database role', () => checks.checkRole(database, config)),
      attempt('sms', () => checks.checkSms(config)),
      attempt('providers', () => providerFindings(database, config)),
      attempt('channels', () => channelFindings(database)),
      attempt('mail', () => checks.checkMail(config)),
      attempt('templates', () => checks.checkTemplates(config)),
      attempt('disk', () => checkDisks(config)),
      attempt('images', () => checkImages(config)),
      attempt('push', async () => [checks.checkPush(config)]),
      attempt('deliveries', () => deliveryFindings(statistics)),
      attempt('webhooks', () => webhookFindings(database)),
      attempt('test identities', () => testIdentityFindings(database)),
    ]);
    const warnings = config.warnings.map((detail) => checks.warn('configuration', detail));
    return [...warnings, ...foundFindings.flat()]
      .map(({ level, ...rest }) => ({ level: level === 'FAIL' ? ('fail' as const) : level, ...rest }))
      .sort((one, other) => severity[one.level] - severity[other.level]);
  }

  return {
    async read(): Promise<System> {
      const [state, queue, instances, applied, { pending }, backups, foundFindings, failing, smsUsage, disks] =
        await Promise.all([
          readDatabaseState(database),
          readQueueState(database),
          listInstances(database, reporter.instanceId),
          readMigrations(database),
          readSchemaState(database),
          listBackups(database),
          findings(),
          failingProviders(database),
          readSmsUsage(database),
          // The finding `disk` reports the failure.
          readDisks(config).catch(() => []),
        ]);
      const { now, ...size } = state;
      return {
        version,
        now,
        instances,
        queue,
        providers: configuredProviders(config).map(({ channel, name, healthName }) => {
          const failure = failing.find((provider) => provider.name === healthName);
          return {
            channel,
            name,
            has_receipts:
              channel === 'email'
                ? reportingMailProviders(config).has(name)
                : config.SMS_PROVIDER.some((sms) => sms === name && receiptUrlOf(sms, config) !== undefined),
            failing_since: failure?.failing_since ?? null,
            last_error: failure?.last_error ?? null,
          };
        }),
        sms_codes: smsUsage,
        database: { ...size, tables: [...size.tables] },
        disks,
        migrations: [...pending.map((name) => ({ name, applied_at: null })), ...applied],
        backups,
        settings: [...config.effective],
        findings: foundFindings,
      };
    },
  };
}

/** A check that fails is a finding. Its message is not shown: it may hold a value of the configuration. */
async function attempt(name: string, check: () => Promise<checks.Finding[]>): Promise<checks.Finding[]> {
  try {
    return await check();
  } catch {
    return [checks.fail(name, 'the check failed; run `postern doctor` on the machine to see why')];
  }
}
