import type { FieldError } from '../lib/problem.js';
import type { BreachedPasswords } from './breached-passwords.js';

/** Characters: longer than any passphrase, and still cheap to hash (NIST SP 800-63B-4, 3.1.1.2, asks for at least 64). */
const maxLength = 1024;

/** The settings of the password policy. */
export interface PasswordRules {
  /** Minimum length in characters. */
  readonly passwordMin: number;
  readonly breached?: BreachedPasswords | undefined;
}

/**
 * Checks a new password and returns the errors of the field `password`. It checks length, commonness and leaks only:
 * composition rules make passwords worse (NIST SP 800-63B-4, 3.1.1.2). Lengths count code points after normalization.
 */
export async function passwordErrors(
  password: string,
  { passwordMin, breached }: PasswordRules,
): Promise<FieldError[]> {
  const normalised = password.normalize('NFC');
  const length = [...normalised].length;
  const invalid = (code: FieldError['code'], params = {}): FieldError[] => [{ field: 'password', code, params }];
  if (/[\0\p{Surrogate}]/u.test(normalised)) return invalid('invalid_characters');
  if (length < passwordMin) return invalid('too_short', { min: passwordMin });
  if (length > maxLength) return invalid('too_long', { max: maxLength });
  if (await isCommon(normalised)) return invalid('password_too_common');
  return (await breached?.contains(normalised)) === true ? invalid('password_breached') : [];
}

/**
 * Whether a password is one of the 49,000 most common ones, a repetition of one, or a repetition of up to four
 * characters. Ignores letter case.
 */
async function isCommon(password: string): Promise<boolean> {
  const text = password.toLowerCase();
  const unit = repeatedUnit(text);
  const common = await commonPasswords();
  return unit.length <= 4 || common.includes(text) || common.includes(unit);
}

/** Loads the list when a password is first set: it takes half a megabyte, and checking a password does not need it. */
async function commonPasswords(): Promise<readonly string[]> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'];
}

/** The shortest text that this text repeats; the text itself if it repeats nothing. */
function repeatedUnit(text: string): string {
  // The first offset at which a text occurs in its double is the length of the repeated unit.
  return text.slice(0, `${text}${text}`.indexOf(text, 1));
}
