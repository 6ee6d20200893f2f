import { UsageError } from './errors.js';
import type { PageInfo } from './wire.js';

/** A page of a list. */
export interface Page<T> {
  readonly data: readonly T[];
  readonly page: PageInfo;
}

/** A list. Nothing is read until you iterate: each iteration reads from the start, page by page, until you stop. */
export interface List<T> extends AsyncIterable<T> {
  /** The first page, or the one at a cursor or number. */
  readonly page: (at?: { readonly cursor: string } | { readonly number: number }) => Promise<Page<T>>;
  readonly pages: () => AsyncIterable<Page<T>>;
}

/** @throws UsageError for a limit that is not valid */
export function checkLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 1 && limit <= 100)) {
    throw new UsageError('`limit` must be an integer from 1 to 100.');
  }
}

/** A list by its function `page`, which may load its code when it is first called. */
export function listFrom<T>(page: List<T>['page']): List<T> {
  async function* pages(): AsyncGenerator<Page<T>> {
    let cursor: string | null = null;
    do {
      const next: Page<T> = await page(cursor === null ? undefined : { cursor });
      yield next;
      cursor = next.page.next_cursor;
    } while (cursor !== null);
  }
  return {
    page,
    pages,
    // Hermes, the engine of React Native, has no `Symbol.asyncIterator`. There, compiled loops look for this name.
    async *[(Symbol.asyncIterator ?? '@@asyncIterator') as typeof Symbol.asyncIterator]() {
      for await (const { data } of pages()) yield* data;
    },
  };
}
