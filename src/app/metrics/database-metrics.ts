import { readBackupTimes, readLogArchive } from '../../backups/state.js';
import { stepChannels } from '../../contract/category.js';
import type { Disk } from '../../contract/operation/system.js';
import type { Handle } from '../../database/database.js';
import { readDatabaseMetrics } from '../../database/state.js';
import { readSmsUsage } from '../../messages/sms-admission.js';
import { pausedChannels } from '../../notifications/channels/channels.js';
import { remainingRecipients } from '../../notifications/publications/remaining.js';
import { readWebhookStates } from '../../webhooks/endpoints.js';
import { type DiskSource, readDisks } from '../base/disks.js';
import { type Family, gauge, type Sample, singleSample } from './families.js';
import { queueJobs } from './process-metrics.js';

/**
 * Reads the metrics of the database. One process of an instance does so. If it fails, `postern_database_up` is 0.
 * A disk that cannot be examined has no values; `postern doctor` says why.
 * @param config with BACKUP_TO, a missing backup is infinitely old, so that the alert rule for old backups fires. With
 *   BACKUP_CONTINUOUS, so is a missing log archive
 */
export async function readFromDatabase(database: Handle, config: DiskSource): Promise<Family[]> {
  const { BACKUP_TO, BACKUP_CONTINUOUS } = config;
  const disks = diskFamilies(await readDisks(config).catch(() => []));
  const answers = await Promise.all([
    readDatabaseMetrics(database),
    readBackupTimes(database),
    BACKUP_CONTINUOUS ? readLogArchive(database) : undefined,
    readWebhookStates(database),
    readSmsUsage(database),
    pausedChannels(database),
    remainingRecipients(database),
  ]).catch(() => undefined);
  const upGauge = (value: 0 | 1) =>
    gauge('postern_database_up', '1 if the database has answered this scrape.', singleSample(value), {
      aggregator: 'min',
    });
  if (answers === undefined) return [upGauge(0), ...disks];
  const [metrics, backups, archive, webhooks, smsUsage, paused, remaining] = answers;
  const { jobs, oldest_job: oldestJob, oldest_lock: oldestLock, maintenance_lag: maintenanceLag } = metrics;
  const { now, verified } = backups;
  return [
    upGauge(1),
    ...disks,
    queueJobs(jobs.map(({ task, state, count }) => ({ labels: { task, state }, value: count }))),
    gauge(
      'postern_queue_oldest_job_seconds',
      'Seconds for which the oldest job has been due.',
      singleSample(oldestJob),
    ),
    gauge(
      'postern_queue_oldest_lock_seconds',
      'Seconds for which a process has held the job that it took first. The erasure of a user does not count, because it may take long.',
      singleSample(oldestLock),
    ),
    gauge(
      'postern_maintenance_lag_seconds',
      'How late the most delayed maintenance task is, in seconds.',
      singleSample(maintenanceLag),
    ),
    gauge(
      'postern_backup_age_seconds',
      'Seconds since the start of the last verified backup. Without one: +Inf with BACKUP_TO, otherwise no value.',
      backupAge(now, verified, BACKUP_TO !== undefined),
    ),
    gauge(
      'postern_log_archive_age_seconds',
      'Seconds since the end of the log archive. Without one: +Inf with BACKUP_CONTINUOUS, otherwise no value.',
      BACKUP_CONTINUOUS ? singleSample(archive?.age ?? Number.POSITIVE_INFINITY) : [],
    ),
    gauge(
      'postern_sms_codes',
      'Codes by SMS of the last 24 hours, for the 20 prefixes with most codes. sent: a provider has accepted them. used: they were entered.',
      smsUsage.flatMap(({ prefix, country, sent, used }) =>
        Object.entries({ sent, used }).map(([outcome, value]) => ({
          labels: { country: country ?? '', prefix, outcome },
          value,
        })),
      ),
    ),
    gauge(
      'postern_channel_paused',
      '1 if the channel is paused: by an operator, or by Postern because of complaints or hard bounces.',
      stepChannels.map((channel) => ({
        labels: { channel },
        value: paused.some(({ name }) => name === channel) ? 1 : 0,
      })),
    ),
    gauge(
      'postern_publication_remaining',
      'Recipients of publications that have started and are not finished, who have no notification yet. An estimate.',
      singleSample(remaining),
    ),
    gauge(
      'postern_webhooks',
      'Webhooks by state. disabled: by Postern. paused: by an operator.',
      webhooks.map(([state, value]) => ({ labels: { state }, value })),
    ),
  ];
}

function diskFamilies(disks: readonly Disk[]): Family[] {
  const samples = (value: (disk: Disk) => number) =>
    disks.map((disk) => ({ labels: { used_for: disk.used_for }, value: value(disk) }));
  return [
    gauge(
      'postern_disk_size_bytes',
      'The size of each disk to which Postern writes.',
      samples(({ bytes }) => bytes),
    ),
    gauge(
      'postern_disk_free_bytes',
      'The free space of each disk.',
      samples((disk) => disk.free_bytes),
    ),
  ];
}

function backupAge(now: number, verified: number | null, isScheduled: boolean): Sample[] {
  if (verified !== null) return singleSample((now - verified) / 1000);
  return isScheduled ? singleSample(Number.POSITIVE_INFINITY) : [];
}
