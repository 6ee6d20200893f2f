import type { NotificationFilter } from './inbox/filter.js';
import type { Notification } from './inbox/notification.js';
import type { Page } from './lists.js';
import type { AccountDetails, Device, Marker, NewSession } from './wire.js';

/** What a snapshot contains besides the session. */
export interface SnapshotParts {
  readonly account?: true | undefined;
  readonly inbox?:
    | true
    | { readonly filter?: NotificationFilter | undefined; readonly limit?: number | undefined }
    | undefined;
  readonly devices?: true | undefined;
}

interface SignedInSnapshot {
  readonly session: Omit<NewSession, 'token'>;
  readonly account?: AccountDetails;
  /** `filter`: the one of the page. A list with another filter or limit does not use the page. */
  readonly inbox?: {
    readonly page: Page<Notification>;
    readonly marker: Marker;
    readonly filter?: NotificationFilter | undefined;
  };
  readonly devices?: readonly Device[];
}

/**
 * Data for the first rendering of a page, as JSON without tokens. A server makes it. Pass it to `createInboxView`, so that the page
 * shows the same as the HTML of the server before it has read anything.
 */
export type Snapshot<Parts extends SnapshotParts = Readonly<Record<never, never>>> =
  | { readonly session: null; readonly account?: never; readonly inbox?: never; readonly devices?: never }
  | (SignedInSnapshot & Required<Pick<SignedInSnapshot, keyof Parts & keyof SignedInSnapshot>>);
