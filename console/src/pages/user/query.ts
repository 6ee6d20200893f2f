/** The members of the URL of the page: what is chosen, the open dialog (`act`), and what the dialog is about. */
export const members = ['device', 'kind', 'notification', 'act', 'about'] as const;
export type Member = (typeof members)[number];
