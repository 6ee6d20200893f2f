/** A line of a text that arrives in pieces. */
export interface Line {
  /** From 1. Empty lines are counted. */
  readonly number: number;
  /** Without its end, LF or CRLF. Undefined: longer than is allowed. */
  readonly bytes: Buffer | undefined;
}

/** Cuts pieces into lines. Never holds more than one line of the longest allowed, whatever is fed. */
export interface LineReader {
  /** What comes next. Only when `next` has nothing left. */
  feed(piece: Buffer): void;
  /** The next whole line; undefined: it needs more. */
  next(): Line | undefined;
  /** What stands behind the last line end, when nothing more comes. */
  end(): Line | undefined;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const nothing = Buffer.alloc(0);
/** A sender of single bytes would make as many small buffers of them. */
const mostParts = 64;

/** @param maxBytes of a line, without its end */
export function createLineReader(maxBytes: number): LineReader {
  let unread: Buffer = nothing;
  let parts: Buffer[] = [];
  let length = 0;
  let count = 0;

  function keep(part: Buffer): void {
    length += part.length;
    // One more than allowed: it may be the CR of the line's end.
    if (length > maxBytes + 1) parts = [];
    else if (part.length > 0) parts.push(part);
    if (parts.length > mostParts) parts = [Buffer.concat(parts)];
  }

  function finish(): Line {
    const whole = parts.length === 1 ? (parts[0] ?? nothing) : Buffer.concat(parts);
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
      keep(end === -1 ? unread : unread.subarray(0, end));
      unread = end === -1 ? nothing : unread.subarray(end + 1);
      return end === -1 ? undefined : finish();
    },
    end: () => (length === 0 ? undefined : finish()),
  };
}
