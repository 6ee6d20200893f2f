import type { Notification } from './notification.js';

/** Where a copy of an inbox is kept: a position, and the notifications by their id. */
export interface CopyStore {
  readonly load: () => Promise<{ readonly after: string | null; readonly items: readonly Notification[] }>;
  /** Makes all changes or none. With `clear`, it first removes everything. */
  readonly apply: (change: CopyChange) => Promise<void>;
}
export interface CopyChange {
  readonly clear: boolean;
  readonly put: readonly Notification[];
  /** The ids of the notifications to remove. */
  readonly remove: readonly string[];
  readonly after: string | null;
}
