import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { PartialReason } from './schema.js';

/** One page of a list, as the API answers. */
interface PageOf<Row> {
  readonly data: readonly Row[];
  readonly page: {
    readonly next_cursor: string | null;
    readonly total: number;
    readonly total_is_exact: boolean;
    readonly partial?: PartialReason | undefined;
  };
}

interface ListOptions<Page> {
  readonly key: readonly unknown[];
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  /** The time in milliseconds between two reads while the top of the list is on the screen. */
  readonly refreshMs?: number | false;
}

/** A table loads more rows from it, and reports the visible rows to it. */
export interface RowSource {
  /** Reads the next page. Undefined: there is none, or it is being read. */
  readonly next: (() => void) | undefined;
  readonly isReading: boolean;
  /** Why the next page could not be read. */
  readonly error: unknown;
  /** All rows that match, if the number is known. */
  readonly total: number | undefined;
  /** The first row on the screen. */
  readonly onFirstVisible: (first: number) => void;
}

/** A list as its pages are read. */
export interface List<Row> {
  readonly data:
    | { readonly rows: readonly Row[]; readonly first: PageOf<Row>['page']; readonly last: PageOf<Row>['page'] }
    | undefined;
  readonly error: unknown;
  readonly refetch: () => unknown;
  readonly more: RowSource;
}

/** The time in milliseconds for which a list stays in the cache, in case the operator comes back to it. */
const cacheMs = 30 * 60_000;
/** If a list has more pages, only those near the visible rows are refreshed. */
const maxPagesRefreshed = 5;
/** The list counts as being at its top if at most this many rows are above the screen. */
const topRows = 5;

/**
 * A list that is read page by page while it is scrolled. `data` has all loaded rows, and the first and the last page.
 * `pagesNearView` has the pages around the rows on the screen, for look-ups of names.
 */
export function useList<Row, Page extends PageOf<Row> & { readonly data: readonly Row[] }>(options: ListOptions<Page>) {
  const { key, read, refreshMs = false } = options;
  const [position, setPosition] = useState({ page: 0, isTop: true });
  const client = useQueryClient();
  const loaded = useRef<{ pages: readonly Page[]; cursors: readonly unknown[]; page: number }>(undefined);
  /** Pages that the last refresh skipped. They are read when their rows come near the screen. */
  const stalePages = useRef(new WeakSet<Page>());
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => {
      const { pages: loadedPages = [], cursors = [], page: currentPage = 0 } = loaded.current ?? {};
      const index = cursors.indexOf(pageParam);
      const page = loadedPages[index];
      const isNear = index === 0 || Math.abs(index - currentPage) <= 2;
      if (page === undefined || isNear || loadedPages.length <= maxPagesRefreshed) return read(pageParam, signal);
      stalePages.current.add(page);
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page }) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    gcTime: cacheMs,
    refetchInterval: position.isTop && position.page === 0 ? refreshMs : false,
  });
  const {
    data,
    error,
    isPlaceholderData,
    isFetchNextPageError,
    isFetchingNextPage,
    hasNextPage,
    fetchNextPage,
    refetch,
  } = query;
  const pages = data?.pages as readonly Page[] | undefined;
  loaded.current =
    pages === undefined || isPlaceholderData
      ? undefined
      : { pages, cursors: data?.pageParams ?? [], page: position.page };
  const rows = useMemo(() => pages?.flatMap((page): readonly Row[] => page.data) ?? [], [pages]);
  const pageStarts = useMemo(() => {
    let count = 0;
    return (pages ?? []).map(({ data: { length } }) => {
      count += length;
      return count - length;
    });
  }, [pages]);
  const onFirstVisible = useCallback(
    (first: number) => {
      const page = Math.max(
        0,
        pageStarts.findLastIndex((start) => start <= first),
      );
      const isTop = first <= topRows;
      setPosition((before) => (before.page === page && before.isTop === isTop ? before : { page, isTop }));
    },
    [pageStarts],
  );
  const nearPages = (pages ?? []).slice(Math.max(0, position.page - 1), position.page + 2);
  const isNearStale = nearPages.some((page) => stalePages.current.has(page));
  useEffect(() => {
    if (isNearStale) void refetch();
  }, [isNearStale, refetch]);
  // A new row at the top moves the end of each page, so that all pages would be read every time.
  const isTooLong = refreshMs !== false && position.isTop && (pages?.length ?? 0) > maxPagesRefreshed;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is new in each render
  useEffect(() => {
    if (!isTooLong) return;
    client.setQueryData<InfiniteData<Page>>(key, (before) =>
      before === undefined
        ? before
        : {
            pages: before.pages.slice(0, maxPagesRefreshed),
            pageParams: before.pageParams.slice(0, maxPagesRefreshed),
          },
    );
  }, [isTooLong, client]);
  const lastPage = pages?.at(-1);
  const firstPage = pages?.[0]?.page;
  const next = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  return {
    data:
      lastPage === undefined || firstPage === undefined ? undefined : { rows, last: lastPage.page, first: firstPage },
    error: isFetchNextPageError ? null : error,
    refetch,
    /** If the list is at its top, new rows do not move rows that somebody reads. */
    isAtTop: position.isTop,
    pagesNearView: nearPages.map((page): readonly Row[] => page.data),
    more: {
      onFirstVisible,
      isReading: isFetchingNextPage,
      error: isFetchNextPageError ? error : null,
      next: hasNextPage && !isFetchingNextPage && !isPlaceholderData ? next : undefined,
      total: hasNextPage ? (firstPage?.total_is_exact ? firstPage.total : undefined) : rows.length,
    } satisfies RowSource,
  };
}
