import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

/** One page of a list, as the API answers. */
interface PageOf<Row> {
  readonly data: readonly Row[];
  readonly page: {
    readonly next_cursor: string | null;
    readonly total: number;
    readonly total_is_exact: boolean;
    readonly partial?: 'time' | 'index';
  };
}

interface ListOptions<Page> {
  readonly key: readonly unknown[];
  readonly read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page>;
  /** Milliseconds between two reads while the top of the list is on the screen. */
  readonly every?: number | false;
}

/** How a table asks for more rows, and says which rows are visible. */
export interface More {
  /** Reads the next page. Undefined: there is none, or it is being read. */
  readonly next: (() => void) | undefined;
  readonly isReading: boolean;
  /** Why the next page could not be read. */
  readonly error: unknown;
  /** All rows that match, if the number is known. */
  readonly total: number | undefined;
  /** The first row on the screen. */
  readonly see: (first: number) => void;
}

/** Minutes that a list is kept for the way back to it. */
const keptFor = 30 * 60_000;
/** Lists with more pages are refreshed only near the visible rows. */
const readWhole = 5;
/** Rows above the screen with which a list still counts as being at its top. */
const top = 5;

/**
 * A list that is read page by page while it is scrolled. `data` has all rows so far and what the last page says; `near` has
 * the pages around the rows on the screen, for look-ups of names.
 */
export function useList<Row, Page extends PageOf<Row> & { readonly data: readonly Row[] }>(options: ListOptions<Page>) {
  const { key, read, every = false } = options;
  const [place, setPlace] = useState({ page: 0, isTop: true });
  const client = useQueryClient();
  const latest = useRef<{ pages: readonly Page[]; cursors: readonly unknown[]; page: number }>(undefined);
  /** Pages that the last refresh left out. They are read when their rows come near the screen. */
  const old = useRef(new WeakSet<Page>());
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) => {
      const { pages: known = [], cursors = [], page: here = 0 } = latest.current ?? {};
      const index = cursors.indexOf(pageParam);
      const page = known[index];
      const isNear = index === 0 || Math.abs(index - here) <= 2;
      if (page === undefined || isNear || known.length <= readWhole) return read(pageParam, signal);
      old.current.add(page);
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ page }) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    gcTime: keptFor,
    refetchInterval: place.isTop && place.page === 0 ? every : false,
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
  latest.current =
    pages === undefined || isPlaceholderData ? undefined : { pages, cursors: data?.pageParams ?? [], page: place.page };
  const rows = useMemo(() => pages?.flatMap((page): readonly Row[] => page.data) ?? [], [pages]);
  const starts = useMemo(() => {
    let count = 0;
    return (pages ?? []).map(({ data: { length } }) => {
      count += length;
      return count - length;
    });
  }, [pages]);
  const see = useCallback(
    (first: number) => {
      const page = Math.max(
        0,
        starts.findLastIndex((start) => start <= first),
      );
      const isTop = first <= top;
      setPlace((before) => (before.page === page && before.isTop === isTop ? before : { page, isTop }));
    },
    [starts],
  );
  const near = (pages ?? []).slice(Math.max(0, place.page - 1), place.page + 2);
  const isNearOld = near.some((page) => old.current.has(page));
  useEffect(() => {
    if (isNearOld) void refetch();
  }, [isNearOld, refetch]);
  // A new row at the top moves the end of each page, so that all pages would be read every time.
  const isTooLong = every !== false && place.isTop && (pages?.length ?? 0) > readWhole;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is new in each render
  useEffect(() => {
    if (!isTooLong) return;
    client.setQueryData<InfiniteData<Page>>(key, (before) =>
      before === undefined
        ? before
        : { pages: before.pages.slice(0, readWhole), pageParams: before.pageParams.slice(0, readWhole) },
    );
  }, [isTooLong, client]);
  const last = pages?.at(-1);
  const total = pages?.[0]?.page;
  const next = useCallback(() => void fetchNextPage(), [fetchNextPage]);
  return {
    data: last === undefined || total === undefined ? undefined : { rows, last: last.page, first: total },
    error: isFetchNextPageError ? null : error,
    refetch,
    /** The list is at its top, so that new rows move nothing that somebody reads. */
    isAtTop: place.isTop,
    near: near.map((page): readonly Row[] => page.data),
    more: {
      ...{ see, isReading: isFetchingNextPage, error: isFetchNextPageError ? error : null },
      next: hasNextPage && !isFetchingNextPage && !isPlaceholderData ? next : undefined,
      total: hasNextPage ? (total?.total_is_exact ? total.total : undefined) : rows.length,
    } satisfies More,
  };
}
