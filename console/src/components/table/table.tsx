import { Fragment, type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import type { RowSource } from '../../api/pages.js';
import { cx } from '../../lib/cx.js';
import { readFromEntry, storeInEntry } from '../../lib/history-state.js';
import { useText } from '../../text/text.js';
import { Checkbox } from '../field/field.js';
import { Icon } from '../icon/icon.js';
import { Time, UserText } from '../text/values.js';
import { type Column, classOf, type RowHandlers, TableRow } from './row.js';
import styles from './table.module.css';
import { useRows } from './use-rows.js';
import { useSteadyColumns } from './use-steady-columns.js';

interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly onChange: (ids: ReadonlySet<string>) => void;
}

export interface TableProps<Row> {
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
  readonly sort?: { readonly value: string; readonly onChange: (sort: string) => void };
  /** On a phone a row has two lines. */
  readonly compact: (row: Row) => ReactNode;
  /** There may be more rows than were read. */
  readonly source?: RowSource;
}

/**
 * A table whose rows open. While a row has the focus, `j` and `k` or the arrows move the focus, Enter opens the row, `x`
 * selects it, and Shift X selects a range. From anywhere on the page, `j` or `k` moves the focus to the table. Of a long
 * list, only the rows near the screen are in the page.
 */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, rows, idOf, nameOf, onOpen, selection, openId, sort, compact, source } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const headRow = useRef<HTMLTableRowElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the id of a row is always read in the same way
  const ids = useMemo(() => rows.map(idOf), [rows]);
  const [activeId, setActiveId] = useState(() => readFromEntry<string>('row'));
  const active = useMemo(() => (activeId === undefined ? -1 : ids.indexOf(activeId)), [ids, activeId]);
  const { parts, rest: restHeight, first, measure, reveal, keepHeights } = useRows({ body, ids, active, source });
  useSteadyColumns(headRow, columns);
  const reachable = active < 0 ? Math.min(first, ids.length - 1) : active;
  const toggle = useToggle(ids, selection);

  // When the operator comes back to the list, the row that was open gets the focus, not the search box.
  const focusIndex = useRef(active < 0 ? undefined : active);
  useEffect(() => {
    if (focusIndex.current === undefined) return;
    const row = rowAt(body.current, focusIndex.current);
    if (row === null) return;
    row.focus({ preventScroll: true });
    focusIndex.current = undefined;
  });

  function open(index: number): void {
    const row = rows[index];
    if (row === undefined || onOpen === undefined) return;
    storeInEntry('row', idOf(row));
    keepHeights();
    onOpen(row);
  }

  function focusRow(index: number): void {
    const next = Math.max(0, Math.min(index, ids.length - 1));
    const row = rowAt(body.current, next);
    if (row !== null) {
      row.focus();
      return;
    }
    focusIndex.current = next;
    setActiveId(ids[next]);
    reveal(next);
  }

  function onKeyDown(event: KeyboardEvent<HTMLTableRowElement>, index: number): void {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, Home: -ids.length, End: ids.length }[key];
    if (step !== undefined) focusRow(index + step);
    else if (key === 'Enter' && onOpen !== undefined) open(index);
    else if (key.toLowerCase() === 'x') toggle(index, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const rowHandlers = useSteadyHandlers({
    onKeyDown,
    onFocus: (index) => setActiveId(ids[index]),
    onOpen: open,
    onToggle: toggle,
  });
  const count = source === undefined ? rows.length : source.total;
  const width = columns.length + 2;
  return (
    <div className={styles.fit}>
      <table className={styles.table} data-rows aria-rowcount={count === undefined ? -1 : count + 1}>
        <caption className="hidden-text">{label}</caption>
        <thead>
          <tr ref={headRow} aria-rowindex={1}>
            {selection !== undefined && <SelectAll ids={ids} selection={selection} />}
            {columns.map((column) => (
              <Head key={column.key} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {parts.map(({ index, gap }) => {
            const row = rows[index];
            const id = ids[index];
            if (row === undefined || id === undefined) return null;
            return (
              <Fragment key={id}>
                {gap > 0 && <Gap height={gap} width={width} />}
                <TableRow
                  {...{ row, index, columns, compact, handlers: rowHandlers, measure }}
                  name={nameOf(row)}
                  canOpen={onOpen !== undefined}
                  selected={selection?.ids.has(id)}
                  isOpen={id === openId}
                  isReachable={index === reachable}
                />
              </Fragment>
            );
          })}
          {restHeight > 0 && <Gap height={restHeight} width={width} />}
        </tbody>
      </table>
    </div>
  );
}

/** The same object at each render, so that rows that have not changed are not rendered. It calls the handlers of the last render. */
function useSteadyHandlers(handlers: RowHandlers): RowHandlers {
  const latest = useRef(handlers);
  latest.current = handlers;
  return useMemo(
    () => ({
      onKeyDown: (event, index) => latest.current.onKeyDown(event, index),
      onFocus: (index) => latest.current.onFocus(index),
      onOpen: (index) => latest.current.onOpen(index),
      onToggle: (index, isRange) => latest.current.onToggle(index, isRange),
    }),
    [],
  );
}

/** @returns a function that selects a row or ends its selection; as a range, from the row that was selected before */
function useToggle(ids: readonly string[], selection: Selection | undefined): RowHandlers['onToggle'] {
  const anchor = useRef<number>(undefined);
  return (index, isRange) => {
    const id = ids[index];
    if (selection === undefined || id === undefined) return;
    const from = anchor.current ?? index;
    const range = isRange ? ids.slice(Math.min(from, index), Math.max(from, index) + 1) : [id];
    anchor.current = index;
    selection.onChange(withSelected(selection.ids, range, isRange || !selection.ids.has(id)));
  };
}

function withSelected(selected: ReadonlySet<string>, ids: readonly string[], isSelected: boolean): Set<string> {
  const next = new Set(selected);
  for (const id of ids)
    if (isSelected) next.add(id);
    else next.delete(id);
  return next;
}

/** The head of the column of checkboxes. It selects the rows that were read. */
function SelectAll({ ids, selection }: { ids: readonly string[]; selection: Selection }) {
  const { common } = useText();
  const count = useMemo(() => ids.filter((id) => selection.ids.has(id)).length, [ids, selection.ids]);
  return (
    <th scope="col" className={styles.tick}>
      <Checkbox
        hidesLabel
        label={common.selectAll}
        checked={ids.length > 0 && count === ids.length}
        isPartial={count > 0 && count < ids.length}
        onChange={(event) => selection.onChange(withSelected(selection.ids, ids, event.currentTarget.checked))}
      />
    </th>
  );
}

/** The space of rows that are not in the page. */
function Gap({ height, width }: { height: number; width: number }) {
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row is empty and cannot have the focus
    <tr aria-hidden="true">
      <td colSpan={width} style={{ height }} />
    </tr>
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
  const isSorted = sort.value.startsWith(`${field}:`);
  const isUp = sort.value === `${field}:asc`;
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

function rowAt(body: HTMLTableSectionElement | null, index: number): HTMLElement | null {
  return body?.querySelector<HTMLElement>(`tr[data-index="${index}"]`) ?? null;
}

/** The first line of a row on a phone: the name, and when. */
export function CompactHead({ name, time, never }: { name: string; time: string | null; never?: string }) {
  return (
    <div className={styles.first}>
      <UserText strong text={name} />
      <Time value={time} {...(never !== undefined && { emptyText: never })} />
    </div>
  );
}
