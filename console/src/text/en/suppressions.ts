import { count } from './counts.js';

export const suppressions = {
  title: 'Suppressed addresses',
  navigation: 'Suppressions',
  failed: 'The suppressions could not be read.',
  about:
    'These mail addresses get no mail except codes. Postern does not store the addresses themselves, so a list cannot show them.',
  findLabel: 'Mail address',
  findAction: 'Find',
  notFound: (email: string) => `${email} is not suppressed.`,
  found: (email: string, reason: string) => `${email} is suppressed: ${reason}.`,
  notSearched: 'The address could not be looked up.',
  reason: 'Reason',
  reasons: {
    hard_bounce: 'the mailbox does not exist',
    complaint: 'its owner reported a mail as spam',
    soft_bounces: 'five mails did not arrive within 14 days',
    manual: 'added by an operator',
  },
  created: 'Since',
  add: 'Suppress an address…',
  addTitle: 'Suppress an address',
  addAction: 'Suppress the address',
  addHint: 'The owner asks for no more mail, for example. Codes are still sent.',
  added: (email: string) => `${email} is suppressed.`,
  notAdded: 'The address was not suppressed.',
  remove: 'Delete…',
  removeTitle: 'Delete this suppression?',
  removeWhat:
    'The address gets mail again. A further bounce or complaint suppresses it again, and harms the reputation of your mails.',
  removeAction: 'Delete the suppression',
  removed: 'The address gets mail again.',
  notRemoved: 'The suppression was not deleted.',
  none: 'No address is suppressed',
  noneWhy:
    'Postern suppresses an address when its mailbox does not exist, its owner complains, or mails do not arrive for days.',
  noMatch: 'No suppression matches',
  total: (n: number) => count(n, 'suppression', 'suppressions'),
};
