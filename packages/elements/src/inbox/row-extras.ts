import type { InboxItem } from '@postern/client';
import type { Without } from './placeholders.js';
import type { RowTexts } from './texts.js';

/** The parts of the panel that tabs are added to. */
export interface PanelParts {
  readonly head: HTMLElement;
  /** The part that scrolls: the rows. */
  readonly scroll: HTMLElement;
  readonly words: RowTexts;
  readonly language: string;
  readonly root: ShadowRoot;
  readonly signal: AbortSignal;
  adoptStyle(style: string): void;
}

/** What a list with states adds to each row. */
export interface RowExtras {
  /** Where the row leads to, if the page does not say it. */
  hrefOf(item: InboxItem): string | null;
  /** The buttons below the row, which stay the same node while the notification is listed. */
  toolsOf(item: InboxItem): HTMLElement;
  /** The notifications that are listed. The buttons of others are forgotten. */
  keep(ids: ReadonlySet<string>): void;
  /** Shown in place of an empty list. Undefined: as without states. */
  note(state: Without): HTMLElement | undefined;
  /** The part that is shown. */
  part(): string;
}
