import { type RefObject, useEffect, useLayoutEffect } from 'react';
import type { Column } from './row.js';

/**
 * Columns become wider with the rows that are added to the page, but never narrower, so that they do not move
 * while the list is scrolled. The `wide` columns become narrower instead. When the width of the table changes, all
 * columns get new widths.
 */
export function useSteadyColumns<Row>(
  heads: RefObject<HTMLTableRowElement | null>,
  columns: readonly Column<Row>[],
): void {
  useLayoutEffect(() => {
    const cells = [...(heads.current?.cells ?? [])].slice(-columns.length);
    const widths = cells.map((cell) => cell.offsetWidth);
    for (const [index, cell] of cells.entries()) {
      const width = widths[index] ?? 0;
      if (columns[index]?.size !== 'wide' && width > 0) cell.style.minWidth = `${width}px`;
    }
  });
  useEffect(() => {
    const row = heads.current;
    const container = row?.closest('table')?.parentElement;
    if (!row || !container) return;
    let before = container.clientWidth;
    const observer = new ResizeObserver(() => {
      if (container.clientWidth === before) return;
      before = container.clientWidth;
      for (const cell of row.cells) cell.style.minWidth = '';
    });
    observer.observe(container);
    return () => observer.disconnect();
  }, [heads]);
}
