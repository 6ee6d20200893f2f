/** A line of a text that arrives in pieces. */
export interface Line {
  /** The number of the line, from 1. Empty lines are counted. */
  readonly number: number;
  /** The bytes of the line, without its line end (LF or CRLF). Undefined if the line is too long. */
  readonly bytes: Buffer | undefined;
}

/** Splits pieces of a text into lines. Buffers at most one line of the maximum length. */
export interface LineReader {
  /** Adds the next piece. Call it only when `next` has returned undefined. */
  feed(piece: Buffer): void;
  /** The next complete line; undefined if another piece is needed. */
  next(): Line | undefined;
  /** The text after the last line end, after the input has ended. */
  end(): Line | undefined;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const emptyBuffer = Buffer.alloc(0);
/**
 * Joins buffers when there are this many. Otherwise a client that sends single bytes would create a buffer for each.
 */
const maxParts = 64;

/** @param maxBytes the maximum length of a line, without its line end */
export function createLineReader(maxBytes: number): LineReader {
  let unread: Buffer = emptyBuffer;
  let parts: Buffer[] = [];
  let length = 0;
  let count = 0;

  function append(part: Buffer): void {
    length += part.length;
    // One byte more than allowed: it may be the CR of the line end.
    if (length > maxBytes + 1) parts = [];
    else if (part.length > 0) parts.push(part);
    if (parts.length > maxParts) parts = [Buffer.concat(parts)];
  }

  function finish(): Line {
    const whole = parts.length === 1 ? (parts[0] ?? emptyBuffer) : Buffer.concat(parts);
    const bytes = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    const isTooLong = length > maxBytes + 1 || bytes.length > maxBytes;
    parts = [];
    length = 0;
    count += 1;
    return { number: count, bytes: isTooLong ? undefined : bytes };
  }

  return {
    feed(piece) {
      unread = piece;
    },
    next() {
      const end = unread.indexOf(lineFeed);
      append(end === -1 ? unread : unread.subarray(0, end));
      unread = end === -1 ? emptyBuffer : unread.subarray(end + 1);
      return end === -1 ? undefined : finish();
    },
    end: () => (length === 0 ? undefined : finish()),
  };
}
