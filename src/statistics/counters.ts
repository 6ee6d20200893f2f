import type { Metric } from '../contract/operation/statistics.js';

/** Counts events in memory. A count costs two look-ups, and is written with the next flush. */
export interface Counters {
  /**
   * Adds to a metric.
   * @param label as `metrics` describes it. Labels must be few: each is a row for each minute. Beyond 256, all count as `(other)`
   * @param increment 1 if absent
   * @param detail a further label for `totals` alone, such as the authenticator of a failed login. It
   *   must have few values too.
   */
  add(metric: Metric, label?: string, increment?: number, detail?: string): void;
}

/** What was counted for one metric and one label since the last flush. */
export interface Count {
  readonly metric: Metric;
  readonly label: string;
  readonly value: number;
}

/** What was counted for one metric, one label and one detail since the process started. */
export interface Total extends Count {
  readonly detail: string;
}

/** Counters that can be read and reset. */
export interface CounterStore extends Counters {
  /** Returns all counts that are not zero, and resets them to zero. */
  take(): Count[];
  /** Returns all counts since the start; none unless created with `withTotals`. */
  totals(): Total[];
}

/** Creates counters at zero. @param options.withTotals whether they also count for `totals` */
export function createCounters(options: { readonly withTotals?: boolean } = {}): CounterStore {
  const { withTotals: keepsTotals = false } = options;
  let counts = new Map<Metric, Map<string, number>>();
  const totals = new Map<Metric, Map<string, Map<string, number>>>();
  return {
    add(metric, label = '', increment = 1, detail = '') {
      increase(getOrCreate(counts, metric), label, increment);
      if (!keepsTotals) return;
      const byLabel = getOrCreate(totals, metric);
      increase(getOrCreate(byLabel, nameWithin(byLabel, label)), detail, increment);
    },
    take() {
      const counted = counts;
      counts = new Map();
      return [...counted].flatMap(([metric, labels]) =>
        [...labels].flatMap(([label, value]) => (value === 0 ? [] : [{ metric, label, value }])),
      );
    },
    totals: () =>
      [...totals].flatMap(([metric, labels]) =>
        [...labels].flatMap(([label, details]) =>
          [...details].map(([detail, value]) => ({ metric, label, detail, value })),
        ),
      ),
  };
}

function getOrCreate<Key, InnerKey, Value>(map: Map<Key, Map<InnerKey, Value>>, key: Key): Map<InnerKey, Value> {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}

/** The most labels of a metric, and the most details of a label. Beyond it, all are one. */
const maxNames = 256;
/** The name of all others. No category can have it. */
const others = '(other)';

function increase(map: Map<string, number>, name: string, increment: number): void {
  const key = nameWithin(map, name);
  map.set(key, (map.get(key) ?? 0) + increment);
}

const nameWithin = (map: ReadonlyMap<string, unknown>, name: string): string =>
  map.has(name) || map.size < maxNames ? name : others;
