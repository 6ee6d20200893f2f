import type { Connection } from '../../lib/event-stream/connections.js';
import type { FilterClause } from '../../lib/filter/fields.js';

/**
 * One open stream of a client. It stores no notifications, because the database is the buffer (decision 27). It stores
 * the position up to which notifications were written to the client.
 */
export interface Stream extends Connection {
  readonly userId: string;
  readonly sessionId: string;
  readonly filter: readonly FilterClause[];
  /** All changes up to this change sequence were written, or excluded by the filter. */
  position: number;
  /** The last position that was sent to the client, as the id of an event. */
  sentPosition: number;
  /**
   * Set while old changes are sent. Of the changes up to the change sequence `end`, the stream skips those of
   * notifications whose sequence is at most `after`.
   */
  readonly history: { readonly after: number; readonly end: number } | undefined;
  /** The read position that was sent last; -1 before the first. */
  lastRead: number;
  /** The version of the states that the client knows; -1 if it does not ask for them (`include=extra`). */
  stateVersion: number;
  /** How long before its session expires the client is warned, in milliseconds; 0 after the warning. */
  warningLeadMs: number;
}
