/** Reads a stream of chunks by numbers of bytes. */
export interface ByteReader {
  /** The next `length` bytes. Fewer only if the stream ends before. */
  read(length: number): Promise<Buffer>;
  /** The next `length` bytes in chunks. Fewer only if the stream ends before. */
  chunks(length: number): AsyncGenerator<Buffer>;
  /** The next bytes up to and including the byte `end`; undefined if it is not among the next `maxLength` bytes. */
  readThrough(end: number, maxLength: number): Promise<Buffer | undefined>;
  /** The rest of the stream in chunks. */
  rest(): AsyncGenerator<Buffer>;
  /** Closes the stream before its end. */
  close(): Promise<void>;
}

/** Creates a reader. It reads from `source` only as far as needed. */
export function createByteReader(source: AsyncIterable<Buffer>): ByteReader {
  const iterator = source[Symbol.asyncIterator]();
  let pending: Buffer = Buffer.alloc(0);

  /** Waits for bytes. @returns false at the end of the stream */
  async function fill(): Promise<boolean> {
    while (pending.length === 0) {
      const { done, value } = await iterator.next();
      if (done === true) return false;
      pending = value;
    }
    return true;
  }

  function consume(length: number): Buffer {
    const part = pending.subarray(0, length);
    pending = pending.subarray(part.length);
    return part;
  }

  async function* chunks(length: number): AsyncGenerator<Buffer> {
    for (let missing = length; missing > 0 && (await fill()); ) {
      const part = consume(missing);
      missing -= part.length;
      yield part;
    }
  }

  return {
    chunks,
    async read(length) {
      const parts: Buffer[] = [];
      for await (const part of chunks(length)) parts.push(part);
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    },
    async readThrough(end, maxLength) {
      const parts: Buffer[] = [];
      for (let length = 0; length < maxLength && (await fill()); ) {
        const index = pending.indexOf(end);
        const part = consume(index === -1 ? pending.length : index + 1);
        parts.push(part);
        length += part.length;
        if (index !== -1) return length > maxLength ? undefined : Buffer.concat(parts);
      }
      return undefined;
    },
    async *rest() {
      while (await fill()) yield consume(pending.length);
    },
    async close() {
      await iterator.return?.();
    },
  };
}
