import { type FormTexts, english as forms } from '../base/form-texts.js';
import type { EnrolmentTexts } from './enrolment-texts.js';
import type { LaterTexts } from './later-texts.js';

const signInTexts = {
  sign_in: 'Sign in',
  or: 'or',
  use_sms: 'Text me a code',
  use_email: 'Email me a code',
  use_password: 'Use a password',
  use_provider: 'Continue with {provider}',
  use_custom: 'Use {authenticator}',
  secret: 'Answer',
  other_ways: 'Other ways to sign in',
  last_way: 'Last used',
  change: 'Change',
  have_pin: 'I have a PIN',
  email_or_username: 'Email or username',
  not_email: 'Enter a mail address, such as ada@example.com.',
  not_phone: 'Enter a phone number with its country code, such as +1 555 123 4567.',
  wrong_password: '{identity} or password is wrong.',
  wrong_passkey: 'This passkey belongs to no account here.',
  wrong: 'That is wrong. Check your input and try again.',
  lapsed: 'That took too long. Start again.',
  signed_in: 'You are signed in.',
  suspended: 'Your account is locked or was closed. The people who run this service can help.',
  sign_out: 'Sign out',
  forgot_password: 'Forgot your password?',
  forgot_pin: 'Forgot your PIN?',
  address: 'Email or phone number',
  register: 'Create an account',
  new_here: 'New here?',
  guest: 'Continue as a guest',
  provider_cancelled: 'You have cancelled. Try again, or sign in another way.',
};

/** The texts of the first view. */
export const english = { ...forms, ...signInTexts };

/** The texts that the first view needs. Those of the other views load with them, unless the page has its own. */
export type StartTexts = FormTexts & { readonly [K in keyof typeof signInTexts]: string } & Partial<
    LaterTexts & EnrolmentTexts
  >;

/** The keys of the texts of `<postern-sign-in>`. */
export type SignInTexts = StartTexts & LaterTexts;
