import { type KeyboardEvent, type MouseEvent, memo, type ReactNode, type Ref } from 'react';
import { cx } from '../../lib/cx.js';
import { useText } from '../../text/text.js';
import { Checkbox } from '../field/field.js';
import styles from './table.module.css';

export interface Column<Row> {
  readonly key: string;
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** The cells are aligned at the right. */
  readonly isNumber?: boolean;
  /** `wide`: takes the remaining width. */
  readonly size?: 'wide';
  /** Narrow tables do not show the column. */
  readonly isHiddenIfNarrow?: boolean;
  /** The text arrives after the row, so the column has a fixed width. */
  readonly isLate?: boolean;
  /** The value of the sort order in the URL, if the list can be sorted by it. */
  readonly sort?: string;
}

/** The event handlers of rows. The functions never change, so that a row is rendered again only when it changes. */
export interface RowHandlers {
  readonly onKeyDown: (event: KeyboardEvent<HTMLTableRowElement>, index: number) => void;
  readonly onFocus: (index: number) => void;
  readonly onOpen: (index: number) => void;
  readonly onToggle: (index: number, isRange: boolean) => void;
}

interface RowProps<R> {
  readonly row: R;
  readonly index: number;
  readonly name: string;
  readonly columns: readonly Column<R>[];
  readonly compact: (row: R) => ReactNode;
  readonly canOpen: boolean;
  /** Undefined: rows cannot be selected. */
  readonly selected: boolean | undefined;
  readonly isOpen: boolean;
  /** The Tab key moves the focus to one row only, and the arrow keys from there to the others. */
  readonly isReachable: boolean;
  readonly handlers: RowHandlers;
  readonly measure: Ref<HTMLTableRowElement>;
}

function AnyRow<R>(props: RowProps<R>) {
  const { row, index, name, columns, compact, canOpen, selected, isOpen, isReachable, handlers, measure } = props;
  const text = useText();
  const onClick = (event: MouseEvent) => {
    // A click on a link, a button or a checkbox does not open the row, and neither does selecting text.
    const isOwnTarget = (event.target as Element).closest('a, button, input, label, select') !== null;
    if (isOwnTarget || window.getSelection()?.isCollapsed === false) return;
    handlers.onOpen(index);
  };
  return (
    <tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      tabIndex={isReachable ? 0 : -1}
      className={cx(styles.row, canOpen && styles.opens)}
      aria-label={name}
      aria-selected={selected}
      data-selected={selected === true || isOpen || undefined}
      onKeyDown={(event) => handlers.onKeyDown(event, index)}
      onFocus={() => handlers.onFocus(index)}
      onClick={onClick}
    >
      {selected !== undefined && (
        <td className={styles.tick}>
          <Checkbox
            hidesLabel
            tabIndex={-1}
            label={text.common.select(name)}
            checked={selected}
            onChange={() => undefined}
            onClick={(event) => handlers.onToggle(index, event.shiftKey)}
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
}

/** One row of a table. It is rendered again only when it changes, not while the list is scrolled. */
export const TableRow = memo(AnyRow) as typeof AnyRow;

export function classOf<R>({ isNumber, size, isHiddenIfNarrow, isLate }: Column<R>): string {
  return cx(
    styles.cell,
    isNumber && styles.number,
    isLate && styles.late,
    size === 'wide' && styles.wide,
    isHiddenIfNarrow && styles.hiddenIfNarrow,
  );
}
