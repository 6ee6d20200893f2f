/** The texts that only the push settings of `<postern-inbox>` show. */
export const english = {
  push_hint: 'If you switch a kind off, its notifications are listed here, but your devices do not show them.',
  push_none: 'No kinds of notifications yet. Each kind appears here after you get the first one.',
  push_other: 'Also switched off',
  push_not_loaded: 'The settings could not be loaded.',
  push_on_again: 'Switch on',
};

export type PushTexts = { readonly [K in keyof typeof english]: string };
