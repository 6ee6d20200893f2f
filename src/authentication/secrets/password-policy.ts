import type { FieldError } from '../../lib/problem.js';
import type { BreachedPasswords } from './breached-passwords.js';

/** Characters; more than any passphrase, and still cheap to hash (NIST SP 800-63B-4, 3.1.1.2, wants at least 64). */
const MAX_LENGTH = 1024;

/** What the rules of a new password depend on. */
export interface PasswordRules {
  /** Characters. */
  readonly passwordMin: number;
  readonly breached?: BreachedPasswords | undefined;
}

/**
 * What is wrong with a new password, as faults of the field `password`. Length, commonness and leaks only: rules about its
 * composition make passwords worse (NIST SP 800-63B-4, 3.1.1.2). Lengths count code points after normalisation.
 */
export async function passwordFaults(
  password: string,
  { passwordMin, breached }: PasswordRules,
): Promise<FieldError[]> {
  const normalised = password.normalize('NFC');
  const length = [...normalised].length;
  const fault = (code: FieldError['code'], params = {}): FieldError[] => [{ field: 'password', code, params }];
  if (/[\0\p{Surrogate}]/u.test(normalised)) return fault('invalid_characters');
  if (length < passwordMin) return fault('too_short', { min: passwordMin });
  if (length > MAX_LENGTH) return fault('too_long', { max: MAX_LENGTH });
  if (await isCommon(normalised)) return fault('password_too_common');
  return (await breached?.contains(normalised)) === true ? fault('password_breached') : [];
}

/**
 * Whether a password is among the 49,000 that people were seen to use most, alone or over and over, or is nothing but a
 * few characters over and over. Letter case hides nothing.
 */
async function isCommon(password: string): Promise<boolean> {
  const text = password.toLowerCase();
  const unit = repeatedUnit(text);
  const common = await commonPasswords();
  return unit.length <= 4 || common.includes(text) || common.includes(unit);
}

/** Loaded when a password is set for the first time: a process that only checks them has no need of half a megabyte. */
async function commonPasswords(): Promise<readonly string[]> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'];
}

/** The shortest text of which this one is a repetition; the text itself when it repeats nothing. */
function repeatedUnit(text: string): string {
  // A text turns into itself for the first time when it is turned by one unit.
  return text.slice(0, `${text}${text}`.indexOf(text, 1));
}
