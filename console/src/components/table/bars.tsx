import type { ReactNode } from 'react';
import type { RowSource } from '../../api/pages.js';
import { useText } from '../../text/text.js';
import { Icon } from '../icon/icon.js';
import { Problem, Skeleton } from '../state/state.js';
import styles from './table.module.css';
import { useSight } from './use-sight.js';

interface ListFootProps {
  readonly source?: RowSource | undefined;
  /** The number of rows that were read. When it changes, the foot looks again whether it is near the screen. */
  readonly rows: number;
  /** Further rows are read only after a click. */
  readonly isPaused?: boolean;
  readonly children?: ReactNode;
}

/** The foot of a table, with the number of rows. When it comes near the screen, the next rows are read. */
export function ListFoot({ source, rows, isPaused = false, children }: ListFootProps) {
  const text = useText();
  const next = isPaused || source?.error ? undefined : source?.next;
  const foot = useSight(next, rows);
  return (
    <div className={styles.foot} ref={foot}>
      {source?.error ? (
        <Problem message={text.common.moreFailed} error={source.error} onRetry={() => source.next?.()} />
      ) : null}
      {source?.isReading === true && <Skeleton rows={3} />}
      {children !== undefined && <div className={styles.where}>{children}</div>}
    </div>
  );
}

/** The bar with the actions on the selected rows. */
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
