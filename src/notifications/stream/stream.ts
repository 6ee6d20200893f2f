import type { Connection } from '../../lib/event-stream/connections.js';
import type { FilterClause } from '../../lib/filter/fields.js';

/**
 * One open stream of a client. It stores no notifications, because the database is the buffer (decision 20), but the
 * position up to which they were written.
 */
export interface Stream extends Connection {
  readonly userId: string;
  readonly sessionId: string;
  readonly filter: readonly FilterClause[];
  /** All changes up to this change sequence were written, or excluded by the filter. */
  position: number;
  /** The last id that was sent to the client. */
  sentPosition: number;
  /**
   * While old changes are sent: up to the change `end`, changes of notifications with a sequence up to `floor` are
   * skipped.
   */
  readonly history: { readonly floor: number; readonly end: number } | undefined;
  /** The read position that was sent last; -1 before the first. */
  lastRead: number;
  /** How long before its session expires the client is warned, in milliseconds; 0 after the warning. */
  warningLeadMs: number;
}
