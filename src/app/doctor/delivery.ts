import type { Config } from '../../config/config.js';
import type { Metric } from '../../contract/operation/statistics.js';
import type { Database } from '../../database/database.js';
import { failingProviders } from '../../messages/providers/health.js';
import type { Statistics } from '../../statistics/statistics.js';
import { type Finding, ok, warn } from './checks.js';

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
    (answer.metrics.find((found) => found.metric === metric)?.labels ?? []).map(({ label, values }) => ({
      label,
      total: values.slice(-buckets).reduce((sum, value) => sum + value, 0),
    }));
  return kinds.flatMap(({ name, sent, failed }) => {
    const warnings = labelsOf(failed).flatMap(({ label, total }) => {
      const accepted = labelsOf(sent).find((other) => other.label === label)?.total ?? 0;
      const isReported = total > 0 && total >= reportedShare * (total + accepted);
      return isReported ? [warn(name, `${total} of ${total + accepted} by ${label} have failed in the last hour`)] : [];
    });
    return warnings.length > 0 ? warnings : [ok(name, 'few or none have failed in the last hour')];
  });
}

/** Lists the configured providers of SMS that fail. */
export async function providerFindings(
  database: Pick<Database, 'everyone'>,
  { SMS_PROVIDER: configured }: Config,
): Promise<Finding[]> {
  const failing = await failingProviders(database);
  return failing
    .filter(({ name }) => configured.some((provider) => provider === name))
    .map(({ name, failing_since, last_error }) =>
      warn('sms', `${name} has failed since ${failing_since}: ${last_error}`),
    );
}
