import { withLater } from '../base/texts.js';

/** The texts that only the views after the first one show. */
export const english = {
  other_account: 'Use another account',
  enter_code: 'Enter the code',
  code_to: 'If there is an account with {to}, we sent the code there. It is valid for five minutes.',
  code_to_you: 'If there is such an account, we sent you the code. It is valid for five minutes.',
  resend: 'Send a new code',
  resend_in: 'New code in {time}',
  second_step: 'One more step',
  second_step_hint: 'Your account is protected by a second factor.',
  use_app: 'Use the authenticator app',
  use_recovery_code: 'Use a recovery code',
  start_again: 'Start again',
  locked: 'Too many attempts',
  locked_until: 'Try again in {time}. Until then, even the right password or code is refused.',
  locked_for_good: 'This account is locked. The people who run this service can unlock it.',
  code_sent: 'We sent a code to {to}. It is valid for five minutes.',
  code_sign_up:
    'We sent a code to {to}. It is valid for five minutes. It signs you in, and if you are new here, it creates your account.',
  human_check: 'Checking that you are not a robot. This takes a few seconds…',
  leaving: 'Going to {provider}…',
  open_provider: 'Open {provider}',
  returning: 'Signing in with {provider}…',
  link_title: 'Is this your account?',
  link_lead:
    'An account here has the mail address of your account at {provider}. Show that it is yours. After that, you can sign in with {provider}.',
  link_unproven:
    'Nobody has confirmed the address of that account yet. If you did not create the account, choose a new password for it.',
  link_submit: 'Link and sign in',
  refused: 'You are not signed in',
  provider_unavailable: '{provider} does not answer. Try again in a moment, or sign in another way.',
  no_cookies:
    'This browser blocks cookies, so it could not come back from {provider}. Allow cookies for this page, or sign in another way.',
  retry_provider: 'Try {provider} again',
  other_way: 'Sign in another way',
  address_title: 'Add an address',
  address_hint:
    'With a confirmed address, you can get back into your account here, even without {provider}. We send a code to it.',
  address_late: 'That took too long. To add an address, sign in again.',
  later: 'Later',
  guest_title: 'You are a guest',
  guest_hint: 'Sign in or create an account to keep what you have here, and to use it on other devices.',
  guest_continue: 'Sign in or create an account',
  waiting: 'Continue in the window of {provider}.',
  not_linked:
    'No account here is linked to this account at {provider}. Sign in another way, and link it in your account.',
  provider_failed: 'The sign-in at {provider} failed. Try again, or sign in another way.',
  recover_password: 'Choose a new password',
  recover_pin: 'Choose a new PIN',
  cancel_pin: 'Cancel a new PIN',
  cancel_pin_hint: 'Enter the code of the message about the new PIN. Your PIN then stays as it is.',
  pin_cancelled: 'The new PIN is cancelled. Your PIN stays as it is.',
  recover_hint: 'You get a code at the address of your account.',
  recover_sent: 'If there is an account with {to}, we sent a code there. It is valid for five minutes.',
  recovered: 'Saved. Sign in with it now.',
  recovered_pin_later: 'Saved. Your new PIN is valid from {time}. Until then, use the old one.',
  register_passkey: 'Use a passkey instead',
  add_pin: 'Add a PIN',
  register_hint: 'You get a code, to check that the address is yours.',
  register_sent: 'We sent a message to {to}. The code in it is valid for five minutes.',
  registered: 'Your account is ready. Sign in now.',
  save: 'Save',
};

export type LaterTexts = { readonly [K in keyof typeof english]: string };

/** The texts of the first view, with those of the others. */
export const withLaterTexts = <W extends object>(words: W) => withLater(english, words);
