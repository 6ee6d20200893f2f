/** The members of the URL of the page: what is chosen, and the open dialog with what it is about. */
export const members = ['device', 'kind', 'notification', 'act', 'about'] as const;
export type Member = (typeof members)[number];
