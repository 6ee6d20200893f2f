/** Values to send, one for each line: an array, a generator, or a stream. */
export type Source<T> = Iterable<T> | AsyncIterable<T> | ReadableStream<T>;

/** A value with its JSON and its place in the source. */
export interface Line<T> {
  /** Counted from 1. */
  readonly number: number;
  readonly value: T;
  readonly json: string;
}

export interface ChunkLimits<T> {
  readonly lines: number;
  readonly bytes: number;
  readonly weight: number;
  readonly weightOf: (value: T) => number;
}

const utf8 = new TextEncoder();

/** Cuts a source into chunks. The same source always gives the same chunks, even if its values arrive at other times. */
export async function* chunksOf<T>(source: Source<T>, limits: ChunkLimits<T>): AsyncGenerator<Line<T>[]> {
  let chunk: Line<T>[] = [];
  let bytes = 0;
  let weight = 0;
  let number = 0;
  for await (const value of valuesOf(source)) {
    number += 1;
    const json = JSON.stringify(value);
    const size = utf8.encode(json).length + 1;
    const valueWeight = limits.weightOf(value);
    const isFull = chunk.length === limits.lines || bytes + size > limits.bytes || weight + valueWeight > limits.weight;
    if (isFull && chunk.length > 0) {
      yield chunk;
      [chunk, bytes, weight] = [[], 0, 0];
    }
    chunk.push({ number, value, json });
    bytes += size;
    weight += valueWeight;
  }
  if (chunk.length > 0) yield chunk;
}

/** Reads streams with a reader, because not every platform can iterate them. */
async function* valuesOf<T>(source: Source<T>): AsyncGenerator<T> {
  if (!('getReader' in source)) return yield* source;
  const reader = source.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
