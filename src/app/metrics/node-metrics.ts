import type { Family } from './families.js';

/** Reads the metrics of Node.js: memory, CPU time, the delay of the event loop, garbage collection. */
export type ReadNodeMetrics = () => Promise<readonly Family[]>;

/** Starts to measure. The library is loaded only here, so it costs nothing without METRICS_PORT. */
export async function startNodeMetrics(): Promise<ReadNodeMetrics> {
  const { Registry, collectDefaultMetrics } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return async () => {
    const families = await registry.getMetricsAsJSON();
    return families.filter(({ name }) => !reservedNames.test(name)).map(withAggregator);
  };
}

/** Gauges with a name that is reserved for counters, which `promtool check metrics` refuses. */
const reservedNames = /^nodejs_active_.*_total$/;

/** The library would omit the start time when it merges processes. With this, it takes the start of the oldest process. */
function withAggregator<Of extends { readonly name: string }>(family: Of): Of | (Of & { readonly aggregator: 'min' }) {
  return family.name === 'process_start_time_seconds' ? { ...family, aggregator: 'min' } : family;
}
