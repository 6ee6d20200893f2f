// Positions in the write-ahead log (LSN) are numbers of bytes. They stay below 2^53.

/** Reads a position as PostgreSQL writes it, such as `1/6B3748`. */
export function parseLsn(text: string): number {
  const [high = '', low = ''] = text.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

/** A position as PostgreSQL writes it. */
export function formatLsn(position: number): string {
  return `${hex(Math.floor(position / 2 ** 32))}/${hex(position % 2 ** 32)}`;
}

/** The start of the segment that contains a position. */
export const segmentStart = (position: number, segmentBytes: number): number => position - (position % segmentBytes);

/**
 * The name of the file of the segment that contains a position. The name has the timeline, and the number of the
 * segment in two parts.
 */
export function segmentName(timeline: number, position: number, segmentBytes: number): string {
  const number = Math.floor(position / segmentBytes);
  const inPart = 2 ** 32 / segmentBytes;
  return [timeline, Math.floor(number / inPart), number % inPart].map((part) => hex(part).padStart(8, '0')).join('');
}

/** The names of the segments from `first` to `last`. */
export function segmentNames(first: string, last: string, segmentBytes: number): string[] {
  const timeline = Number.parseInt(first.slice(0, 8), 16);
  const startOf = (name: string) =>
    Number.parseInt(name.slice(8, 16), 16) * 2 ** 32 + Number.parseInt(name.slice(16), 16) * segmentBytes;
  const from = startOf(first);
  return Array.from({ length: (startOf(last) - from) / segmentBytes + 1 }, (_, index) =>
    segmentName(timeline, from + index * segmentBytes, segmentBytes),
  );
}

const hex = (value: number) => value.toString(16).toUpperCase();
