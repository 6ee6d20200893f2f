import { withLater } from '../base/texts.js';

/** The texts of dialogs that ask for a proof or show a secret. */
export const english = {
  scan_qr: 'Scan this with your authenticator app, then type the code that it shows.',
  qr: 'QR code for the authenticator app',
  or_type: 'Or type this key into the app:',
  open_app: 'Open in an app on this device',
  copy_key: 'Copy the key',
  recovery_codes_once:
    'Each code works once, if you have lost your second factor. Keep them in a safe place: nobody can show them again.',
  codes_saved: 'I have saved them',
  copy: 'Copy all',
  copied: 'Copied',
  codes_file: 'recovery-codes',
  confirm_address: 'Enter the code',
  code_sent_to: 'We sent a code to {to}. It is valid for five minutes.',
  prove: 'Confirm that it is you',
  prove_why: 'This protects your account if somebody else uses your device.',
  no_proof:
    'Your account has no way to confirm this yet. Set a password with “Forgot your password?” when you sign in.',
  proven: 'You have confirmed that it is you. Finish this within five minutes.',
  use_password: 'Use your password',
  use_app: 'Use the authenticator app',
  use_pin: 'Use your PIN',
  use_provider: 'Continue with {provider}',
  use_provider_hint: 'You sign in there again, and then come back to this page.',
  current_pin: 'Current PIN',
  or_recovery_code: 'A recovery code works too.',
  send_code_to: 'Send a code to {to}',
  resend: 'Send a new code',
  resend_in: 'New code in {time}',
};

export type DialogTexts = { readonly [K in keyof typeof english]: string };

/** The texts of the first view, with those of the dialog. */
export const withDialogTexts = <W extends object>(words: W) => withLater(english, words);
