import type { ErrorTexts } from './error-texts.js';

/** The texts that `<postern-sign-in>` and `<postern-account>` share. */
export const english = {
  continue: 'Continue',
  back: 'Back',
  cancel: 'Cancel',
  optional: '(optional)',
  missing: 'Fill in this field.',
  show_password: 'Show the password',
  loading: 'Loading…',
  try_again: 'Try again',
  identity: 'Email, phone or username',
  email: 'Email',
  phone: 'Phone number',
  username: 'Username',
  name: 'Name',
  password: 'Password',
  new_password: 'New password',
  password_hint: 'At least {count} characters. A few random words work well.',
  pin: 'PIN',
  new_pin: 'New PIN',
  pin_hint: '{min} to {max} digits.',
  code: 'Code',
  authenticator_code: 'Code of your authenticator app',
  recovery_code: 'Recovery code',
  use_passkey: 'Use a passkey',
  wrong_code: 'That code is wrong or has expired. Check it, or get a new one.',
  wait: 'Too many attempts. Try again in {time}.',
  offline: 'No connection. Check your network and try again. Your input is kept.',
  cancelled: 'The passkey did not work. Try again, or sign in another way.',
  unsupported: 'This browser does not support passkeys. Use another browser, or sign in another way.',
  failed: 'Something went wrong on our side. Try again in a moment.',
};

/** The texts of errors load with the first error, unless the page has its own. */
export type FormTexts = { readonly [K in keyof typeof english]: string } & Partial<ErrorTexts>;
