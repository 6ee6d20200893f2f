import type { ItemTexts } from './item-texts.js';
import type { ListTexts } from './list-texts.js';
import type { PushTexts } from './push-texts.js';

/** The texts of `<postern-inbox>`. */
export const english = {
  inbox: 'Notifications',
  unread: '{count} unread',
  unread_more: 'more than {count} unread',
  mark_all_read: 'Mark all as read',
  loading: 'Loading…',
  not_loaded: 'Loading failed.',
  try_again: 'Try again',
};

/** The texts of the panel. Those of the list and of the push settings load with these, unless the page has its own. */
export type PanelTexts = { readonly [K in keyof typeof english]: string } & Partial<
  ListTexts & PushTexts & ItemTexts
> & {
    readonly [key: `type_${string}`]: string;
  };
/** The texts of the list, without those of the push settings. */
export type RowTexts = PanelTexts & ListTexts;

/** The keys of the texts of the inbox. The name of a kind of notification has the key `type_` and its type, such as `type_payment`. */
export type InboxTexts = PanelTexts & ListTexts & PushTexts & ItemTexts;
