/** The most notifications that a chunk creates. */
export const maxChunk = 2000;

/** Milliseconds of a delay that the next chunk makes up for. */
const madeUp = 250;

/** The number of recipients of a chunk. With a rate, it is half a second's. @param most the size that the database takes in time */
export function chunkSize(rate: number | null, most: number): number {
  return rate === null ? most : Math.max(1, Math.min(most, Math.floor(rate / 2)));
}

/**
 * When the next chunk is due, in milliseconds. A chunk that came late delays those after it, except for a quarter of a second. So
 * over any five seconds, at most 1.2 times the rate is created, also after a pause.
 * @param due when the last chunk was due
 * @param now when it began
 */
export function nextDue({
  due,
  now,
  created,
  rate,
}: {
  due: number;
  now: number;
  created: number;
  rate: number | null;
}) {
  return rate === null ? now : Math.max(due, now - madeUp) + (created / rate) * 1000;
}
