import { defaultRangeExtractor, type Range, useWindowVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { RowSource } from '../../api/pages.js';
import { readFromEntry, storeInEntry } from '../../lib/history-state.js';

/** Lists up to this length are completely in the page, so that the search of the browser finds all rows. */
const maxUnvirtualized = 100;
/** The number of rows in the page beyond each end of the screen. */
const overscan = 12;
/** The assumed height of a row that was never shown, in pixels. */
const estimatedHeight = 48;

interface RowsOptions {
  readonly body: RefObject<HTMLElement | null>;
  readonly ids: readonly string[];
  /** The row with the focus, which stays in the page. */
  readonly active: number;
  readonly source: RowSource | undefined;
}

/** The rows of a long list that are in the page: those on the screen, some around them, and the row with the focus. */
export function useRows({ body, ids, active, source }: RowsOptions) {
  const [margin, setMargin] = useState(0);
  const height = useRef<number>(undefined);
  const rangeExtractor = useCallback(
    (range: Range) => {
      if (range.count <= maxUnvirtualized) return Array.from({ length: range.count }, (_, index) => index);
      const shown = defaultRangeExtractor(range);
      if (active < 0 || active >= range.count || shown.includes(active)) return shown;
      return [...shown, active].sort((a, b) => a - b);
    },
    [active],
  );
  // With a new function in each rendering, the whole list would be measured again.
  const getItemKey = useCallback((index: number) => ids[index] ?? index, [ids]);
  const virtualizer = useWindowVirtualizer<HTMLElement>({
    count: ids.length,
    estimateSize: () => height.current ?? estimatedHeight,
    overscan,
    rangeExtractor,
    scrollMargin: margin,
    getItemKey,
    initialMeasurementsCache: readFromEntry<VirtualItem[]>('heights') ?? [],
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    initialOffset: () => window.scrollY,
  });
  useLayoutEffect(() => {
    const element = body.current;
    if (element === null) return;
    const top = Math.round(element.getBoundingClientRect().top + window.scrollY);
    if (Math.abs(top - margin) > 1) setMargin(top);
    // Rows that were never shown are as high as those that were.
    if (height.current === undefined && ids.length > 0) height.current = element.offsetHeight / ids.length;
  });
  const first = virtualizer.range?.startIndex ?? 0;
  const onFirstVisible = source?.onFirstVisible;
  useEffect(() => onFirstVisible?.(first), [onFirstVisible, first]);

  const items = virtualizer.getVirtualItems();
  const last = items.at(-1);
  let end = margin;
  const parts = items.map((item) => {
    const gap = item.start - end;
    end = item.end;
    return { index: item.index, gap };
  });
  return {
    /** The rows in the page, each with the height of the rows left out before it. */
    parts,
    /** The height of the rows left out at the end. */
    rest: last === undefined ? 0 : virtualizer.getTotalSize() - (last.end - margin),
    first,
    measure: virtualizer.measureElement,
    reveal: (index: number) => virtualizer.scrollToIndex(index),
    /** Stores the heights, for when the operator comes back to this list. */
    keepHeights: () => storeInEntry('heights', virtualizer.takeSnapshot()),
  };
}
