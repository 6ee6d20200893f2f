import { type FormTexts, english as forms } from '../base/form-texts.js';

const own = {
  sign_in: 'Sign in',
  or: 'or',
  use_sms: 'Text me a code',
  use_email: 'Email me a code',
  use_password: 'Use a password',
  use_provider: 'Continue with {provider}',
  use_custom: 'Use {authenticator}',
  secret: 'Answer',
  wrong: 'That did not match. Check what you typed and try again.',
  lapsed: 'That took too long, so you have to start again.',
  enter_code: 'Enter the code',
  code_to: 'We sent it to {to}, if this is the address of an account. It is valid for five minutes.',
  code_to_you: 'We sent it to you, if there is such an account. It is valid for five minutes.',
  resend: 'Send a new code',
  resend_in: 'New code in {time}',
  second_step: 'One more step',
  second_step_hint: 'Your account is protected by a second factor.',
  use_app: 'Use the authenticator app',
  use_recovery_code: 'Use a recovery code',
  start_again: 'Start again',
  locked: 'Too many attempts',
  locked_until: 'Nothing is checked until then, not even the right answer. Try again in {time}.',
  locked_for_good: 'This account is locked. The people who run this service can unlock it.',
  waiting: 'Continue in the window of {provider}.',
  signed_in: 'You are signed in.',
  suspended: 'Your account is locked or was closed. The people who run this service can help.',
  sign_out: 'Sign out',
  forgot_password: 'Forgot your password?',
  forgot_pin: 'Forgot your PIN?',
  recover_password: 'Choose a new password',
  recover_pin: 'Choose a new PIN',
  recover_hint: 'You get a code at the address of your account.',
  address: 'Email or phone number',
  recovered: 'Saved. Sign in with it now.',
  recovered_pin_later: 'Saved. Your new PIN is valid from {time}. Until then, the old one is.',
  register: 'Create an account',
  register_hint: 'You get a code to show that the address is yours.',
  new_here: 'New here?',
  registered: 'Your account is ready. Sign in now.',
  save: 'Save',
};

export const english = { ...forms, ...own };

/** The keys of the texts of `<postern-sign-in>`. */
export type SignInTexts = FormTexts & { readonly [K in keyof typeof own]: string };
