import { englishFor } from '../base/words.js';

/** The texts of an enrolment, which few users see. They are loaded with its views. */
export const english = {
  scan_qr: 'Scan this with your authenticator app, then type the code that it shows.',
  qr: 'QR code for the authenticator app',
  or_type: 'Or type this key into the app:',
  add_passkey: 'Add a passkey',
  recovery_codes: 'Recovery codes',
  recovery_codes_once:
    'Each code works once, if you have lost your second factor. Keep them in a safe place: nobody can show them again.',
  codes_saved: 'I have saved them',
  copy: 'Copy all',
  copied: 'Copied',
  download: 'Download',
  codes_file: 'recovery-codes',
};

export type EnrolmentTexts = { readonly [K in keyof typeof english]: string };

export const enrolmentTexts = (language: string): EnrolmentTexts => englishFor(english, language);
