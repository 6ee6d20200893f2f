import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react';
import type { RowSource } from '../../api/pages.js';
import styles from './scroll-list.module.css';

interface ScrollListProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly source: RowSource;
  readonly children: (row: Row) => ReactNode;
}

/** The assumed height of a row that was never shown, in pixels. */
const estimatedHeight = 52;
/**
 * The number of rows that are in the page before and after the visible ones. The next rows are read when fewer rows
 * than this follow the last one in the page.
 */
const rowsAhead = 10;

/** A list that scrolls inside its box. Only the rows near the visible part are in the page. */
export function ScrollList<Row>({ label, rows, idOf, source, children }: ScrollListProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the id of a row is always read in the same way
  const ids = useMemo(() => rows.map(idOf), [rows]);
  const getItemKey = useCallback((index: number) => ids[index] ?? index, [ids]);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimatedHeight,
    overscan: rowsAhead,
    getItemKey,
  });
  const items = virtualizer.getVirtualItems();
  const { onFirstVisible, next, total, error } = source;
  const first = virtualizer.range?.startIndex ?? 0;
  useEffect(() => onFirstVisible(first), [onFirstVisible, first]);
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - rowsAhead;
  useEffect(() => {
    if (isNearEnd && !error) next?.();
  }, [isNearEnd, error, next]);
  return (
    <div ref={box} className={styles.box}>
      <ul className={styles.list} aria-label={label} style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          return (
            row !== undefined && (
              <li
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                aria-setsize={total ?? -1}
                aria-posinset={index + 1}
                style={{ transform: `translateY(${start}px)` }}
              >
                {children(row)}
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}
