import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { cx } from '../../lib/cx.js';
import { useText } from '../../text/text.js';
import { Checkbox } from '../field/field.js';
import { Icon } from '../icon/icon.js';
import { Cut, Time } from '../text/values.js';
import styles from './table.module.css';

export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  readonly number?: boolean;
  /** `wide`: takes what is left. `low`: hidden on narrow screens. */
  readonly size?: 'wide' | 'low';
  /** The text arrives after the row: the column keeps its width, so that nothing moves then. */
  readonly late?: boolean;
  /** The value of the sort order in the URL, if the list can be sorted by it. */
  readonly sort?: string;
}

interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** The name of a row for screen readers. */
  readonly nameOf: (row: Row) => string;
  /** Opens a row: a click, or Enter. */
  readonly onOpen?: (row: Row) => void;
  readonly selection?: Selection;
  /** The row that is open, for master and detail. */
  readonly openId?: string | undefined;
  readonly sort?: { readonly by: string; readonly onChange: (sort: string) => void };
  /** On a phone a row has two lines: what stands for it. */
  readonly compact: (row: Row) => ReactNode;
}

/**
 * A table whose rows open. `j` and `k` or the arrows move, Enter opens, `x` selects, Shift X selects a range: while a row has
 * the focus, or from anywhere on the page for the first row.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, idOf, nameOf, onOpen, selection, openId, sort, compact } = props;
  const text = useText();
  const body = useRef<HTMLTableSectionElement>(null);
  const anchor = useRef<number>(undefined);
  const ids = rows.map(idOf);
  const selectedHere = ids.filter((id) => selection?.ids.has(id));

  function toggle(index: number, isRange: boolean): void {
    if (selection === undefined) return;
    const id = ids[index];
    if (id === undefined) return;
    const next = new Set(selection.ids);
    const from = anchor.current ?? index;
    const range = isRange ? ids.slice(Math.min(from, index), Math.max(from, index) + 1) : [id];
    const selects = isRange || !next.has(id);
    for (const one of range)
      if (selects) next.add(one);
      else next.delete(one);
    anchor.current = index;
    selection.onChange(next);
  }

  function onKeyDown(event: KeyboardEvent<HTMLTableRowElement>, index: number): void {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[index];
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step !== undefined) focusRow(body.current, index + step);
    else if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
    else if (event.key.toLowerCase() === 'x') toggle(index, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div className={styles.fit}>
      <table className={styles.table} data-rows>
        <caption className="hidden-text">{label}</caption>
        <thead>
          <tr>
            {selection !== undefined && (
              <th scope="col" className={styles.tick}>
                <Checkbox
                  bare
                  label={text.common.selectPage}
                  checked={ids.length > 0 && selectedHere.length === ids.length}
                  some={selectedHere.length > 0 && selectedHere.length < ids.length}
                  onChange={(event) => {
                    const next = new Set(selection.ids);
                    for (const id of ids)
                      if (event.currentTarget.checked) next.add(id);
                      else next.delete(id);
                    selection.onChange(next);
                  }}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.key} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, index) => {
            const id = idOf(row);
            const isSelected = selection?.ids.has(id) === true;
            return (
              <tr
                key={id}
                tabIndex={index === 0 ? 0 : -1}
                className={cx(styles.row, onOpen !== undefined && styles.opens)}
                aria-label={nameOf(row)}
                aria-selected={selection === undefined ? undefined : isSelected}
                data-selected={isSelected || id === openId || undefined}
                onKeyDown={(event) => onKeyDown(event, index)}
                onClick={(event) => {
                  // A click on a link, a button or a box in the row is theirs, and so is a selection of text.
                  const isOwn = (event.target as Element).closest('a, button, input, label, select') !== null;
                  if (isOwn || window.getSelection()?.isCollapsed === false) return;
                  onOpen?.(row);
                }}
              >
                {selection !== undefined && (
                  <td className={styles.tick}>
                    <Checkbox
                      bare
                      tabIndex={-1}
                      label={text.common.select(nameOf(row))}
                      checked={isSelected}
                      onChange={() => undefined}
                      onClick={(event) => toggle(index, event.shiftKey)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td key={column.key} className={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ))}
                <td className={styles.compact} colSpan={columns.length}>
                  {compact(row)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function classOf<Row>({ number, size, late }: Column<Row>): string {
  return cx(
    styles.cell,
    number && styles.number,
    late && styles.late,
    size === 'wide' && styles.wide,
    size === 'low' && styles.low,
  );
}

function Head<Row>({ column, sort }: { column: Column<Row>; sort: TableProps<Row>['sort'] }) {
  const { head, sort: field } = column;
  if (field === undefined || sort === undefined) {
    return (
      <th scope="col" className={classOf(column)}>
        {head}
      </th>
    );
  }
  const isSorted = sort.by.startsWith(`${field}:`);
  const isUp = sort.by === `${field}:asc`;
  const state = isUp ? 'ascending' : 'descending';
  return (
    <th scope="col" className={classOf(column)} aria-sort={isSorted ? state : 'none'}>
      <button
        type="button"
        className={styles.sort}
        onClick={() => sort.onChange(isSorted && !isUp ? `${field}:asc` : `${field}:desc`)}
      >
        {head}
        <Icon name="chevronDown" size={12} className={cx(!isSorted && styles.unsorted, isUp && styles.up)} />
      </button>
    </th>
  );
}

function focusRow(body: HTMLTableSectionElement | null, index: number): void {
  body?.rows.item(Math.max(0, Math.min(index, body.rows.length - 1)))?.focus();
}

/** Moves the focus to the first row of the page's table. The shell calls it for `j`. */
export function focusFirstRow(): void {
  document.querySelector<HTMLElement>('[data-rows] tbody tr')?.focus();
}

/** The first line of a row on a phone: the name, and when. */
export function CompactHead({ name, at, never }: { name: string; at: string | null; never?: string }) {
  return (
    <div className={styles.first}>
      <Cut strong of={name} />
      <Time at={at} {...(never !== undefined && { never })} />
    </div>
  );
}

interface PagerProps {
  readonly onNewer?: (() => void) | undefined;
  readonly onOlder?: (() => void) | undefined;
  readonly children?: ReactNode;
}

/** Below a table: which rows these are, and the pages before and after, if there are any. */
export function Pager({ onNewer, onOlder, children }: PagerProps) {
  const text = useText();
  return (
    <nav className={styles.pager} aria-label={text.common.pages}>
      <span className={styles.where}>{children}</span>
      {(onNewer ?? onOlder) !== undefined && (
        <>
          <button type="button" className={styles.page} disabled={onNewer === undefined} onClick={onNewer}>
            {text.common.newer}
          </button>
          <button type="button" className={styles.page} disabled={onOlder === undefined} onClick={onOlder}>
            {text.common.older}
          </button>
        </>
      )}
    </nav>
  );
}

/** Floats above the page while rows are selected: what to do with them. */
export function BulkBar({ count, onClear, children }: { count: number; onClear: () => void; children: ReactNode }) {
  const text = useText();
  if (count === 0) return null;
  return (
    <section className={styles.bulk} aria-label={text.common.selected(count)}>
      <span role="status">{text.common.selected(count)}</span>
      <span className={styles.bulkActions}>{children}</span>
      <button type="button" className={styles.clear} aria-label={text.common.clearSelection} onClick={onClear}>
        <Icon name="cross" />
      </button>
    </section>
  );
}
