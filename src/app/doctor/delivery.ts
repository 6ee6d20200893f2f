import type { Config } from '../../config/config.js';
import type { Metric } from '../../contract/operation/statistics.js';
import type { Queryable } from '../../database/database.js';
import { failingProviders } from '../../messages/providers/health.js';
import { readSmsUsage } from '../../messages/sms-admission.js';
import { pausedChannels } from '../../notifications/channels/channels.js';
import type { Statistics } from '../../statistics/statistics.js';
import { configuredProviders } from '../base/providers.js';
import { type Finding, hasTable, ok, warn } from './checks.js';

/** The number of buckets that count: one hour, in buckets of five minutes. */
const buckets = 12;
/** A provider is reported if at least this share of its messages has failed. */
const reportedShare = 0.1;

const kinds: readonly { readonly name: string; readonly sent: Metric; readonly failed: Metric }[] = [
  { name: 'messages', sent: 'messages.sent', failed: 'messages.failed' },
  { name: 'pushes', sent: 'pushes.sent', failed: 'pushes.failed' },
];

/** Checks how many messages and pushes of the last hour have failed, for each provider. */
export async function deliveryFindings(statistics: Statistics): Promise<Finding[]> {
  const metrics = kinds.flatMap(({ sent, failed }) => [sent, failed]);
  const answer = await statistics.read({ metrics, from: undefined, to: undefined, step: '5m' });
  const labelsOf = (metric: Metric) =>
    (answer.metrics.find((candidate) => candidate.metric === metric)?.labels ?? []).map(({ label, values }) => ({
      label,
      total: values.slice(-buckets).reduce((sum, value) => sum + value, 0),
    }));
  return kinds.flatMap(({ name, sent, failed }) => {
    const warnings = labelsOf(failed).flatMap(({ label, total }) => {
      const acceptedCount = labelsOf(sent).find((other) => other.label === label)?.total ?? 0;
      const isReported = total > 0 && total >= reportedShare * (total + acceptedCount);
      return isReported
        ? [warn(name, `${total} of ${total + acceptedCount} by ${label} have failed in the last hour`)]
        : [];
    });
    return warnings.length > 0 ? warnings : [ok(name, 'few or none have failed in the last hour')];
  });
}

/** What the doctor calls the providers of each channel. */
const checkNames = { sms: 'sms', email: 'mail', push: 'push' } as const;

/** Lists the configured providers of messages and pushes that fail, and the prefixes that get no codes by SMS now. */
export async function providerFindings(handle: Queryable, config: Config): Promise<Finding[]> {
  if (!(await hasTable(handle, 'message_providers'))) return [];
  const failing = await failingProviders(handle);
  const paused = (await readSmsUsage(handle)).flatMap(({ prefix, paused_until: until, sent, used }) =>
    until === null
      ? []
      : [warn(checkNames.sms, `codes to ${prefix} are paused until ${until}: ${used} of ${sent} in a day were used`)],
  );
  const broken = configuredProviders(config).flatMap(({ channel, name, healthName }) =>
    failing
      .filter((provider) => provider.name === healthName)
      .map(({ failing_since, last_error }) =>
        warn(checkNames[channel], `${name} has failed since ${failing_since}: ${last_error}`),
      ),
  );
  return [...paused, ...broken];
}

/** Why a channel is paused. */
const pauseCauses = {
  operator: 'by an operator',
  complaints: 'because more than 0.3 % of the last mails were reported as spam',
  hard_bounces: 'because more than 10 % of the last mails went to mailboxes that do not exist',
} as const;

/** Lists the channels of notifications that are paused. */
export async function channelFindings(handle: Queryable): Promise<Finding[]> {
  if (!(await hasTable(handle, 'channels'))) return [];
  return (await pausedChannels(handle)).map(({ name, paused_at: since, reason }) =>
    warn(checkNames[name], `the steps of notifications are held since ${since} ${pauseCauses[reason ?? 'operator']}`),
  );
}
