import { NetworkError } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import type { Line } from './chunks.js';

/** The time in milliseconds without a byte of the answer after which the connection counts as lost. */
const silenceMs = 60_000;

/** The results of a request with one object on each line. `error`: why the last lines have no result. */
export interface Exchange<R> {
  readonly results: R[];
  readonly error: unknown;
}

/** Sends lines as NDJSON. Results that arrived before a connection broke are kept. */
export async function exchange<R>(
  { raw }: Pick<Connection, 'raw'>,
  path: string,
  lines: readonly Pick<Line<unknown>, 'json'>[],
  signal: AbortSignal | undefined,
): Promise<Exchange<R>> {
  const results: R[] = [];
  try {
    const answer = await raw({
      method: 'POST',
      path,
      signal,
      headers: { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' },
      body: lines.map(({ json }) => `${json}\n`).join(''),
    });
    if (answer.body !== null) for await (const line of linesOf(answer.body)) results.push(JSON.parse(line) as R);
    return { results, error: undefined };
  } catch (error) {
    signal?.throwIfAborted();
    return { results, error };
  }
}

/** @throws NetworkError if the connection breaks, or nothing arrives for `silenceMs` */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await withSilenceLimit(reader.read());
      const parts = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split('\n');
      // The last line may be incomplete until its line end arrives.
      rest = parts.pop() ?? '';
      for (const part of parts) if (part.trim() !== '') yield part;
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function withSilenceLimit<T>(reading: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NetworkError(true, undefined)), silenceMs);
  });
  try {
    return await Promise.race([reading, silence]);
  } catch (error) {
    throw error instanceof NetworkError ? error : new NetworkError(false, error);
  } finally {
    clearTimeout(timer);
  }
}
