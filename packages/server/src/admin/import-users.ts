import type { Abortable } from '@postern/client';
import { NetworkError } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import { chunksOf, type Line, type Source } from '../publishing/chunks.js';
import { createRetries } from '../publishing/interruption.js';
import { exchange } from '../publishing/ndjson.js';
import type { ImportResult as LineResult, UserToImport } from '../wire.js';

/** Few lines, because plain passwords take the service a hundredth of a second each. */
const limits = { lines: 200, bytes: 1024 * 1024, weight: 200, weightOf: () => 1 };

type LineError = NonNullable<LineResult['errors']>[number];

/** The result of a line. If a connection breaks, a user may have been created although the result is `exists`. */
export type ImportResult =
  | { readonly line: number; readonly result: 'created'; readonly id: string }
  | { readonly line: number; readonly result: 'exists'; readonly id: string | null }
  | { readonly line: number; readonly result: 'valid' }
  | { readonly line: number; readonly result: 'failed'; readonly errors: readonly LineError[] };

export interface ImportOptions extends Abortable {
  /**
   * Checks the lines and creates nothing. Each line is compared with the stored users, and with the other lines of its
   * group.
   */
  readonly dryRun?: boolean | undefined;
}

/** Creates users from another system. Nothing is created twice. */
export type ImportUsers = (source: Source<UserToImport>, options?: ImportOptions) => AsyncIterable<ImportResult>;

export function createImport(connection: Pick<Connection, 'raw' | 'retries'>): ImportUsers {
  return async function* importUsers(source, { dryRun = false, signal } = {}) {
    const path = `/admin/v1/users/import${dryRun ? '?dry_run=true' : ''}`;
    const retry = createRetries(connection.retries, signal);
    for await (const chunk of chunksOf(source, limits)) {
      let remaining: readonly Line<UserToImport>[] = chunk;
      while (remaining.length > 0) {
        const sent: readonly Line<UserToImport>[] = remaining;
        const { results, error } = await exchange<LineResult>(connection, path, sent, signal);
        const done = results.filter(({ result }) => result !== undefined);
        for (const result of done) yield resultOf(result, sent);
        remaining = sent.slice(done.length);
        if (done.length > 0) retry.progress();
        // The answer ended early: continue after the last result.
        if (remaining.length > 0) {
          await retry.pause(error ?? new NetworkError(false, results.at(-1)), (remaining[0]?.number ?? 1) - 1);
        }
      }
    }
  };
}

function resultOf({ line = 0, result, id, errors = [] }: LineResult, sent: readonly Line<unknown>[]): ImportResult {
  const number = sent[line - 1]?.number ?? 0;
  if (result === 'created') return { line: number, result, id: id ?? '' };
  if (result === 'exists') return { line: number, result, id: id ?? null };
  return result === 'valid' ? { line: number, result } : { line: number, result: 'failed', errors };
}
