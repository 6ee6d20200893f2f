/** The texts of `<postern-preferences>`. */
export const english = {
  channels: 'Where you are notified',
  inbox: 'Inbox',
  push: 'Push',
  email: 'Email',
  sms: 'SMS',
  push_hint: 'On the devices on which you are signed in.',
  email_hint: 'At your mail address.',
  sms_hint: 'At your phone number.',
  channel_off: 'Off. Only what cannot be turned off arrives here.',
  email_none: 'You have no mail address yet. Add one to your account.',
  sms_none: 'You have no phone number yet. Add one to your account.',
  email_not_proven: 'We send nothing to your mail address before you have confirmed it. Confirm it in your account.',
  sms_not_proven: 'We send nothing to your phone number before you have confirmed it. Confirm it in your account.',
  email_suppressed:
    'Mails to you came back, or one was marked as spam, so we only send you codes. Use another address, or ask the people who run this service.',
  sms_suppressed:
    'Messages to you came back, so we only send you codes. Use another number, or ask the people who run this service.',
  open_account: 'Open your account',
  categories: 'What you are notified about',
  locked: 'This is important, so you cannot turn it off.',
  inbox_off: 'Does not appear in your inbox, and is not counted.',
  always_on: 'Always on',
  always_off: 'Not sent',
  on: 'On',
  off: 'Off',
  digest: 'Summary',
  empty: 'There is nothing to choose yet.',
  time_zone: 'Time zone',
  time_zone_none: 'Not set',
  time_there: 'It is {time} there now.',
  this_device: '{zone} (this device)',
  saved: 'Saved.',
  not_saved: 'The change was not saved. Check your connection and try again.',
  refused: 'This can no longer be changed. You see the settings as they are now.',
  loading: 'Loading…',
  not_loaded: 'Your settings could not be loaded.',
  try_again: 'Try again',
  signed_out: 'Sign in to see your settings.',
};

/** The keys of the texts of `<postern-preferences>`. */
export type PreferencesTexts = { readonly [K in keyof typeof english]: string };
