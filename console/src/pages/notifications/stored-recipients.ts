import { storeDraft } from '../../lib/drafts.js';

/** The users of a list: all that match when they are read. */
export interface MatchingUsers {
  readonly search?: string;
  readonly filter?: string;
}

/** The chosen recipients. */
export interface ChosenRecipients {
  readonly mode: 'people' | 'list' | 'file' | 'matching';
  readonly people: readonly string[];
  /** Ids and addresses. */
  readonly list: string;
  readonly file: { readonly name: string; readonly text: string } | null;
  /** Null: no list of users was chosen. */
  readonly matching: MatchingUsers | null;
}
export const noRecipients: ChosenRecipients = { mode: 'people', people: [], list: '', file: null, matching: null };

/** The name of the draft with the recipients. */
export const recipientsDraft = 'notify-to';

/** Puts selected users, or all users of a list, into the form for a notification. */
export function storeRecipients(chosen: { readonly ids: readonly string[] } | MatchingUsers): void {
  const recipients: ChosenRecipients =
    'ids' in chosen
      ? { ...noRecipients, mode: 'list', list: chosen.ids.join('\n') }
      : { ...noRecipients, mode: 'matching', matching: chosen };
  storeDraft(recipientsDraft, recipients);
}
