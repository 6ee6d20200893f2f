/** A number of requests in a window of time. A bucket begins full and refills evenly. */
export interface Rate {
  readonly size: number;
  /** Milliseconds in which an empty bucket refills. */
  readonly windowMs: number;
}

/** A bucket after a request was counted. */
export interface BucketState {
  /** Whether the request must wait: the bucket was empty, and the request was not counted. */
  readonly isEmpty: boolean;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Seconds until the bucket is full. */
  readonly fullIn: number;
  /** Seconds until the next request may follow. */
  readonly nextIn: number;
}

/** Token buckets in the memory of this process, one for each key. */
export interface TokenBuckets {
  readonly rate: Rate;
  /** Counts a request. */
  take(key: string): BucketState;
}

interface Bucket {
  tokens: number;
  /** Milliseconds, by the clock of the options. */
  updatedAt: number;
}

/**
 * Creates buckets in two maps. When the newer map is full, the older one is dropped, and the newer one becomes the older
 * one. So memory is bounded, each key costs at most two look-ups, and a bucket that is in use stays. A dropped bucket
 * counts as full. To cause this, a client would need requests with half of `maxKeys` other keys.
 * @param options.maxKeys the maximum number of keys in both maps
 * @param options.now milliseconds of a clock that never steps back
 */
export function createTokenBuckets(
  rate: Rate,
  { maxKeys = 200_000, now = () => performance.now() }: { readonly maxKeys?: number; readonly now?: () => number } = {},
): TokenBuckets {
  let newer = new Map<string, Bucket>();
  let older = new Map<string, Bucket>();
  const perMs = rate.size / rate.windowMs;

  function bucketOf(key: string): Bucket {
    const current = newer.get(key);
    if (current !== undefined) return current;
    if (newer.size >= maxKeys / 2) {
      older = newer;
      newer = new Map();
    }
    const bucket = older.get(key) ?? { tokens: rate.size, updatedAt: now() };
    newer.set(key, bucket);
    return bucket;
  }

  return {
    rate,
    take(key) {
      const bucket = bucketOf(key);
      const time = now();
      const tokens = Math.min(rate.size, bucket.tokens + (time - bucket.updatedAt) * perMs);
      const isEmpty = tokens < 1;
      bucket.tokens = isEmpty ? tokens : tokens - 1;
      bucket.updatedAt = time;
      const seconds = (missing: number) => Math.ceil(Math.max(0, missing) / perMs / 1000);
      return {
        isEmpty,
        remaining: Math.floor(bucket.tokens),
        fullIn: seconds(rate.size - bucket.tokens),
        nextIn: Math.max(1, seconds(1 - bucket.tokens)),
      };
    },
  };
}
