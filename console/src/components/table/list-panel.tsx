import type { List } from '../../api/pages.js';
import { Panel } from '../panel/panel.js';
import { Empty, Loaded } from '../state/state.js';
import { ListFoot } from './bars.js';
import { Table, type TableProps } from './table.js';

interface ListPanelProps<Row> extends Omit<TableProps<Row>, 'rows' | 'source'> {
  readonly list: List<Row>;
  readonly text: {
    /** The list could not be read. */
    readonly failed: string;
    readonly none: string;
    readonly noneWhy: string;
    readonly noMatch?: string;
    readonly total: (rows: number, isExact: boolean) => string;
  };
  /** Only rows that match a filter are read. */
  readonly isFiltered?: boolean;
}

/** The list of a page: its table and the number of its rows, or why it is empty. */
export function ListPanel<Row>({ list, text, isFiltered = false, ...table }: ListPanelProps<Row>) {
  return (
    <Panel hasNoPadding>
      <Loaded query={list} what={text.failed} rows={4}>
        {({ rows, first }) => {
          if (rows.length === 0 && isFiltered) return <Empty title={text.noMatch ?? text.none} />;
          if (rows.length === 0) return <Empty title={text.none}>{text.noneWhy}</Empty>;
          return (
            <>
              <Table {...table} rows={rows} source={list.more} />
              <ListFoot source={list.more} rows={rows.length}>
                {text.total(first.total, first.total_is_exact)}
              </ListFoot>
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}
