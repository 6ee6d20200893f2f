import { type Abortable, isProblem } from '@postern/client';
import { NetworkError } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import type { PublishResult as LineResult, Notification, NotificationInput } from '../wire.js';
import { chunksOf, type Line, type Source } from './chunks.js';
import { type OnceOptions, onceHeader } from './idempotency.js';
import { createRetries, type Retries } from './interruption.js';
import { exchange } from './ndjson.js';

const path = '/admin/v1/notifications';
/** Below the limits of one request: 1000 lines, 10,000 notifications, 4 MiB, and 64 MiB of answer. */
const limits = { lines: 500, bytes: 1024 * 1024, weight: 5000 };
/** The number of the chunk's first line is added to the key of the caller. */
const maxKeyLength = 200;

type LineError = NonNullable<LineResult['errors']>[number];

/** The result of a line. */
export type PublishResult =
  | { readonly line: number; readonly ok: true; readonly ids: readonly string[] }
  | { readonly line: number; readonly ok: false; readonly errors: readonly LineError[] };

/** Publishes any number of notifications, each once. */
export type PublishAll = (source: Source<NotificationInput>, options: OnceOptions) => AsyncIterable<PublishResult>;

/**
 * Lines are sent in chunks. Each chunk is one transaction, and its key is the caller's key with the number of its first line. So a
 * repeat, also by another process, publishes no chunk twice. The NDJSON route has no keys, so a repeat could publish lines twice.
 */
export function createPublishAll(connection: Pick<Connection, 'call' | 'raw' | 'retries'>): PublishAll {
  const { call, retries } = connection;

  async function publishChunk(
    chunk: readonly Line<NotificationInput>[],
    key: string,
    retry: Retries,
    signal: Abortable['signal'],
  ) {
    const refused = new Map<number, readonly LineError[]>();
    const committed = (chunk[0]?.number ?? 1) - 1;
    for (;;) {
      const remaining = chunk.filter(({ number }) => !refused.has(number));
      if (remaining.length === 0) return { refused, published: [] };
      try {
        const published = await call<readonly Notification[]>({
          method: 'POST',
          path: `${path}/batch`,
          signal,
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body: `[${remaining.map(({ json }) => json).join(',')}]`,
        });
        retry.progress();
        return { refused, published };
      } catch (error) {
        // `idempotency_key_reused`: an earlier run published this chunk without its invalid lines.
        if (!isProblem(error, 'validation_failed', 'idempotency_key_reused')) {
          await retry.pause(error, committed);
          continue;
        }
        const errorsByLine = await errorsOfLines(remaining, retry, committed, signal);
        // The whole chunk is invalid, or the key belongs to another source.
        if (errorsByLine.size === 0) throw error;
        for (const [number, errors] of errorsByLine) refused.set(number, errors);
      }
    }
  }

  /** The errors of each line, by a dry run. */
  async function errorsOfLines(
    lines: readonly Line<NotificationInput>[],
    retry: Retries,
    committed: number,
    signal: Abortable['signal'],
  ): Promise<Map<number, readonly LineError[]>> {
    for (;;) {
      const { results, error } = await exchange<LineResult>(connection, `${path}/ndjson?dry_run=true`, lines, signal);
      if (error === undefined && results.length === lines.length) {
        const invalid = results.filter(({ status, line }) => status >= 400 && line !== undefined);
        return new Map(invalid.map(({ line = 0, errors = [] }) => [lines[line - 1]?.number ?? 0, errors]));
      }
      await retry.pause(error ?? new NetworkError(false, results.at(-1)), committed);
    }
  }

  return async function* publishAll(source, options) {
    const { 'idempotency-key': key } = onceHeader(options, maxKeyLength);
    const { signal } = options;
    const retry = createRetries(retries, signal);
    const weightOf = ({ user_ids: users }: NotificationInput) => users?.length ?? 1;
    for await (const chunk of chunksOf(source, { ...limits, weightOf })) {
      const { refused, published } = await publishChunk(chunk, `${key}:${chunk[0]?.number}`, retry, signal);
      let usedCount = 0;
      for (const { number: line, value } of chunk) {
        const errors = refused.get(line);
        if (errors !== undefined) {
          yield { line, ok: false, errors };
          continue;
        }
        const ids = published.slice(usedCount, usedCount + weightOf(value)).map(({ id }) => id);
        usedCount += ids.length;
        yield { line, ok: true, ids };
      }
    }
  };
}
