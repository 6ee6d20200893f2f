type Names = Readonly<Record<string, string>>;

/** The purposes of messages. A kind is a channel and a purpose, such as `sms.code`. */
const purposes: Readonly<Record<string, string>> = {
  code: 'Code',
  proof_code: 'Code to confirm',
  address_code: 'Code for a new address',
  recovery_code: 'Recovery code',
  registration_code: 'Code to register',
  registration_taken: 'Notice that an account exists',
  new_device: 'Notice of a new device',
  token_misused: 'Notice of a copied login',
  token_shared: 'Notice of a login with two clients',
  account_locked: 'Notice of a lock',
  password_changed: 'Notice of a new password',
  pin_changed: 'Notice of a new PIN',
  email_changed: 'Notice of a new mail address',
  phone_changed: 'Notice of a new phone number',
  totp_added: 'Notice of an authenticator app',
  totp_removed: 'Notice of a removed authenticator app',
  passkey_added: 'Notice of a passkey',
  passkey_removed: 'Notice of a removed passkey',
  recovery_codes_made: 'Notice of new recovery codes',
  external_identity_added: 'Notice of a linked account',
  external_identity_removed: 'Notice of an unlinked account',
  account_recovered: 'Notice of a recovery',
  pin_recovery: 'Recovery of the PIN',
};
const kindsBy = (channel: string, name: string) =>
  Object.entries(purposes).map(([purpose, what]) => [`${channel}.${purpose}`, `${what} by ${name}`]);

export const messages = {
  title: 'Messages',
  show: 'Show',
  views: { failed: 'Failed', queued: 'Waiting', sent: 'Sent', all: 'All' },
  search: 'The exact phone number or mail address',
  channel: 'Channel',
  mail: 'Mail',
  state: 'State',
  states: {
    queued: 'Waiting',
    sent: 'Sent',
    failed: 'Failed',
    expired: 'Expired',
    dropped: 'Not sent',
    delivered: 'Arrived',
    undelivered: 'Did not arrive',
  } as Names,
  whys: {
    queued: 'Waits for its turn, or for the next attempt.',
    expired: 'It was no longer valid before the first attempt.',
    dropped: 'Nobody has the identity, or a limit was reached.',
  } as Names,
  kinds: Object.fromEntries([...kindsBy('sms', 'SMS'), ...kindsBy('email', 'mail')]) as Names,
  recipient: 'To',
  user: 'User',
  userId: 'User id',
  nobody: 'nobody',
  kind: 'Kind',
  why: 'Why',
  provider: 'Provider',
  attempts: 'Attempts',
  changed: 'Changed',
  created: 'Created',
  expires: 'Valid until',
  action: 'Action',
  retry: 'Retry',
  retried: 'The message is queued again.',
  retryFailed: 'The message was not queued.',
  detail: 'Message',
  failedToRead: 'The messages could not be read.',
  empty: {
    failed: 'No message has failed',
    queued: 'No message waits',
    sent: 'No message was sent',
    all: 'There are no messages',
  },
  emptyWhy: {
    failed: 'Messages that a provider refuses appear here, with the reason and a retry.',
    queued: 'Messages wait here for seconds only, unless a provider does not answer.',
    sent: 'Codes and notices appear here for 30 days.',
    all: 'Codes and notices appear here for 30 days.',
  },
  count: (n: number, capped: boolean) =>
    capped
      ? `more than ${n.toLocaleString('en')} messages`
      : `${n.toLocaleString('en')} ${n === 1 ? 'message' : 'messages'}`,
};
