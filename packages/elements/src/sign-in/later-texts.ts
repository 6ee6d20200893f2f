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
  waiting: 'Continue in the window of {provider}.',
  not_linked:
    'No account here is linked to this account at {provider}. Sign in another way, and link it in your account.',
  provider_failed: 'The sign-in at {provider} failed. Try again, or sign in another way.',
  recover_password: 'Choose a new password',
  recover_pin: 'Choose a new PIN',
  recover_hint: 'You get a code at the address of your account.',
  recover_sent: 'If there is an account with {to}, we sent a code there. It is valid for five minutes.',
  recovered: 'Saved. Sign in with it now.',
  recovered_pin_later: 'Saved. Your new PIN is valid from {time}. Until then, use the old one.',
  register_hint: 'You get a code, to check that the address is yours.',
  register_sent: 'We sent a message to {to}. The code in it is valid for five minutes.',
  registered: 'Your account is ready. Sign in now.',
  save: 'Save',
};

export type LaterTexts = { readonly [K in keyof typeof english]: string };
