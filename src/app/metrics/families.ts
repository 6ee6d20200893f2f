import type { Count } from '../../statistics/counters.js';
import type { HistogramValues } from '../../statistics/histogram.js';

/** One value of a metric. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A metric with all its values, in the JSON of the library `prom-client`, so a worker can send it to its primary. */
export interface Family {
  readonly name: string;
  readonly help: string;
  /** `counter`, `gauge` or `histogram`. The types of the library do not say so. */
  readonly type: unknown;
  /** How the values of several processes become one: `sum`, `max`, `min`, `average`, `first`, or `omit` the metric. */
  readonly aggregator: unknown;
  readonly values: readonly object[];
}

/** Creates a metric that only grows. */
export function counter(name: string, help: string, values: readonly Sample[]): Family {
  return { name, help, type: 'counter', aggregator: 'sum', values };
}

/** Creates a metric that can fall. */
export function gauge(
  name: string,
  help: string,
  values: readonly Sample[],
  { aggregator = 'sum' }: { readonly aggregator?: 'sum' | 'min' | 'first' } = {},
): Family {
  return { name, help, type: 'gauge', aggregator, values };
}

/** Creates a histogram from the values of each of its label sets. */
export function histogram(
  name: string,
  help: string,
  series: readonly { readonly labels: Sample['labels']; readonly values: HistogramValues }[],
): Family {
  const values = series.flatMap(({ labels, values: { buckets, sum, count } }) => [
    ...buckets.map(({ upperBound, count: countBelow }) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: upperBound },
      value: countBelow,
    })),
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]);
  return { name, help, type: 'histogram', aggregator: 'sum', values };
}

/** A single value without labels. */
export const singleSample = (value: number): Sample[] => [{ labels: {}, value }];

/** The sum of counts. */
export const sumOf = (counts: readonly Count[]): number => counts.reduce((sum, { value }) => sum + value, 0);

/** Merges the metrics of several processes. */
async function merge(processes: readonly (readonly Family[])[]) {
  const { AggregatorRegistry } = await import('prom-client');
  return AggregatorRegistry.aggregate(processes.map((families) => [...families]));
}

/** Writes the merged metrics of several processes in the text format of Prometheus, version 0.0.4. */
export async function writeText(processes: readonly (readonly Family[])[]): Promise<string> {
  return (await merge(processes)).metrics();
}

/** Merges the counters and histograms of processes that have ended. Without them, the sums would become smaller. */
export async function mergeCounters(processes: readonly (readonly Family[])[]): Promise<Family[]> {
  const counts = processes.map((families) => families.filter(({ type }) => type === 'counter' || type === 'histogram'));
  return (await merge(counts)).getMetricsAsJSON();
}
