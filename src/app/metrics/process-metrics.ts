import type { Metric } from '../../contract/operation/statistics.js';
import type { PoolState } from '../../database/database.js';
import { version } from '../../lib/own-package.js';
import type { CounterStore, Total } from '../../statistics/counters.js';
import type { MeterStore } from '../../statistics/meters.js';
import { counter, type Family, gauge, histogram, type Sample, singleSample, sumOf } from './families.js';

/** The sources of the metrics of a process. */
export interface ProcessSources {
  readonly counters: Pick<CounterStore, 'totals'>;
  readonly meters: MeterStore;
  /** Passwords and PINs that wait for a thread. */
  readonly waitingHashes: () => number;
  readonly openStreams: () => number;
  readonly openRevocationStreams: () => number;
  /** The jobs that this process runs, by task. */
  readonly runningJobs: () => ReadonlyMap<string, number>;
  /** The pools of connections by name. */
  readonly pools: Readonly<Record<string, () => PoolState>>;
}

/** The jobs of the queue. Each process counts the jobs that it runs. The database counts the others. */
export const queueJobs = (values: Sample[]): Family =>
  gauge(
    'postern_queue_jobs',
    'Jobs of the queue. due: it can run now. waiting: its time has not come, or it waits for another attempt. running: a process runs it.',
    values,
  );

/** The totals of one metric since the process started. */
type TotalsOf = (metric: Metric) => readonly Total[];

/** Reads the metrics of this process. Labels never hold a user, an address or a path. */
export function readProcessMetrics(sources: ProcessSources): Family[] {
  const totals = sources.counters.totals();
  const totalsOf: TotalsOf = (metric) => totals.filter((total) => total.metric === metric);
  return [
    ...requestFamilies(sources),
    ...loginFamilies(sources, totalsOf),
    ...deliveryFamilies(totalsOf, sources.meters),
    ...resourceFamilies(sources),
  ];
}

function requestFamilies({ meters }: ProcessSources): Family[] {
  const requests = meters.requests();
  return [
    gauge(
      'postern_build_info',
      'The version of Postern and of Node.js. The value is 1.',
      [{ labels: { version, node: process.version }, value: 1 }],
      { aggregator: 'first' },
    ),
    counter(
      'postern_http_requests_total',
      'Answered requests, by the template of their route.',
      requests.flatMap(({ method, route, statuses }) =>
        [...statuses].map(([status, value]) => ({ labels: { method, route, status }, value })),
      ),
    ),
    histogram(
      'postern_http_request_duration_seconds',
      'Time from the arrival of a request to the end of its answer. Without event streams.',
      requests
        .filter(({ durations }) => durations.count > 0)
        .map(({ method, route, durations }) => ({ labels: { method, route }, values: durations })),
    ),
  ];
}

function loginFamilies({ meters, waitingHashes }: ProcessSources, totalsOf: TotalsOf): Family[] {
  return [
    counter('postern_logins_total', 'Decided logins. The outcome is approved, or the cause of the refusal.', [
      ...totalsOf('logins.approved').map(({ label, value }) => ({
        labels: { authenticator: label, outcome: 'approved' },
        value,
      })),
      // The label of this metric is the cause of the refusal.
      ...totalsOf('logins.failed').map(({ label, detail, value }) => ({
        labels: { authenticator: detail === '' ? 'unknown' : detail, outcome: label },
        value,
      })),
    ]),
    counter(
      'postern_login_locks_total',
      'Locks of accounts, by wrong guesses or by an operator.',
      ['guesses', 'operator'].map((kind) => ({
        labels: { kind },
        value: sumOf(totalsOf('locks').filter(({ label }) => label === kind)),
      })),
    ),
    counter(
      'postern_session_checks_total',
      'Checks of session tokens. unavailable: the database did not answer.',
      Object.entries(meters.sessionChecks()).map(([result, value]) => ({ labels: { result }, value })),
    ),
    counter(
      'postern_sessions_created_total',
      'Session tokens that were issued.',
      singleSample(sumOf(totalsOf('sessions.created'))),
    ),
    histogram(
      'postern_password_hash_seconds',
      'Time to hash or verify a password or a PIN, without the time in the queue.',
      [{ labels: {}, values: meters.passwordHash.read() }],
    ),
    gauge(
      'postern_password_hash_queue',
      'Passwords and PINs that wait to be hashed or verified.',
      singleSample(waitingHashes()),
    ),
  ];
}

/** Messages, pushes, webhooks and notifications. */
function deliveryFamilies(totalsOf: TotalsOf, { deliveryLag }: Pick<MeterStore, 'deliveryLag'>): Family[] {
  const outcomes = (
    metrics: Readonly<Record<string, Metric>>,
    labelsOf: (label: string, detail: string) => Record<string, string>,
  ) =>
    Object.entries(metrics).flatMap(([outcome, metric]) =>
      totalsOf(metric).map(
        ({ label, detail, value }): Sample => ({ labels: { ...labelsOf(label, detail), outcome }, value }),
      ),
    );
  return [
    counter(
      'postern_messages_total',
      'Codes and notices by SMS and mail. A sent message is counted again when the provider reports that it was delivered or not.',
      outcomes(
        {
          sent: 'messages.sent',
          failed: 'messages.failed',
          expired: 'messages.expired',
          delivered: 'messages.delivered',
          undelivered: 'messages.undelivered',
        },
        (channel, provider) => ({ channel, provider: provider === '' ? 'none' : provider }),
      ),
    ),
    counter(
      'postern_mail_events_total',
      'Reports of providers about mails. ignored: repeated, or about no mail that Postern has sent in the last 30 days.',
      totalsOf('mail.events').map(({ label, detail, value }) => ({
        labels: { provider: detail, outcome: label },
        value,
      })),
    ),
    counter(
      'postern_pushes_total',
      'Pushes to devices, when their outcome is final. held: quiet hours hold it; it is counted again later. gone: the push service says that the token is no longer valid. dropped: the push was not sent, because it is no longer wanted.',
      outcomes(
        {
          sent: 'pushes.sent',
          failed: 'pushes.failed',
          gone: 'pushes.gone',
          expired: 'pushes.expired',
          dropped: 'pushes.dropped',
          held: 'pushes.held',
        },
        (channel) => ({ channel }),
      ),
    ),
    counter(
      'postern_deliveries_total',
      'Pushes, mails and SMS of notifications by category, when their outcome is final, and steps that were not carried out. held: quiet hours hold it; digesting: it joins a digest; both are counted again later. A sent message is counted again when the provider reports what became of it.',
      outcomes(
        {
          sent: 'deliveries.sent',
          delivered: 'deliveries.delivered',
          bounced: 'deliveries.bounced',
          complained: 'deliveries.complained',
          failed: 'deliveries.failed',
          skipped: 'deliveries.skipped',
          expired: 'deliveries.expired',
          dropped: 'deliveries.dropped',
          held: 'deliveries.held',
          digesting: 'deliveries.digesting',
        },
        (category, channel) => ({ channel, category }),
      ),
    ),
    histogram(
      'postern_delivery_lag_seconds',
      'Time from when a push, a mail or an SMS of a notification was due to its acceptance by a provider, without the time for which a pause or quiet hours held it.',
      [{ labels: {}, values: deliveryLag.read() }],
    ),
    counter(
      'postern_webhook_attempts_total',
      'Attempts to deliver an event to a webhook.',
      (['delivered', 'failed'] as const).map((outcome) => ({
        labels: { outcome },
        value: sumOf(totalsOf(`webhooks.${outcome}`)),
      })),
    ),
    counter(
      'postern_notifications_published_total',
      'Notifications. A notification that is published to several users counts once for each of them.',
      singleSample(sumOf(totalsOf('notifications.published'))),
    ),
  ];
}

/** The present resource use of the process. */
function resourceFamilies({ openStreams, openRevocationStreams, runningJobs, pools }: ProcessSources): Family[] {
  return [
    gauge('postern_streams', 'Open notification streams.', singleSample(openStreams())),
    gauge(
      'postern_revocation_streams',
      'Open streams of services that check access tokens by themselves.',
      singleSample(openRevocationStreams()),
    ),
    queueJobs([...runningJobs()].map(([task, value]): Sample => ({ labels: { task, state: 'running' }, value }))),
    gauge(
      'postern_database_connections',
      'Connections by pool and use. waiting: requests that wait for a connection.',
      Object.entries(pools).flatMap(([pool, read]) =>
        Object.entries(read()).map(([state, value]): Sample => ({ labels: { pool, state }, value })),
      ),
    ),
  ];
}
