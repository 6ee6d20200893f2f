import type { Inbox, InboxView } from '@postern/client';
import type { PanelParts, RowExtras } from './row-extras.js';
import type { Seen } from './seen.js';

/** A list with the filter and the limit that it was created with. */
export interface SharedList {
  readonly inbox: Inbox;
  readonly view: InboxView;
  /** How many elements show it. */
  uses: number;
  /** Without them, what was seen is in the memory of the page, and nothing is added to the panel. */
  readonly seen?: Seen;
  readonly extend?: (parts: PanelParts) => RowExtras;
}
