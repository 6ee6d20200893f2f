import type { Metric } from '../contract/operation/statistics.js';

/** Counts events in memory. A count costs two look-ups, and is written with the next flush. */
export interface Counters {
  /**
   * Adds to a metric.
   * @param label as `metrics` describes it. Labels must be few: each is a row for each minute.
   * @param by 1 if absent
   */
  add(metric: Metric, label?: string, by?: number): void;
}

/** What was counted for one metric and one label since the last flush. */
export interface Count {
  readonly metric: Metric;
  readonly label: string;
  readonly value: number;
}

/** Counters that can be read and reset. */
export interface CounterStore extends Counters {
  /** Returns all counts that are not zero, and resets them to zero. */
  take(): Count[];
}

/** Creates counters at zero. */
export function createCounters(): CounterStore {
  let counts = new Map<Metric, Map<string, number>>();
  return {
    add(metric, label = '', by = 1) {
      let labels = counts.get(metric);
      if (labels === undefined) {
        labels = new Map();
        counts.set(metric, labels);
      }
      labels.set(label, (labels.get(label) ?? 0) + by);
    },
    take() {
      const taken = counts;
      counts = new Map();
      return [...taken].flatMap(([metric, labels]) =>
        [...labels].flatMap(([label, value]) => (value === 0 ? [] : [{ metric, label, value }])),
      );
    },
  };
}
