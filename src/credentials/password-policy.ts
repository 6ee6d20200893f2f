import type { FieldError } from '../lib/problem.js';
import type { BreachedPasswords } from './breached-passwords.js';
import { isFrequent, isPattern } from './common-passwords.js';

/** Characters: longer than any passphrase, and still cheap to hash (NIST SP 800-63B-4, 3.1.1.2, asks for at least 64). */
const maxLength = 1024;
/** Shorter words, such as initials, are no words. */
const minWord = 3;

/** The settings of the password policy. */
export interface PasswordRules {
  /** Minimum length in characters. */
  readonly passwordMin: number;
  /** Words that are no passwords here: the names of the service and its operator (ASVS 5.0, 6.1.2). */
  readonly passwordWords: readonly string[];
  readonly breached?: BreachedPasswords | undefined;
  /** Whether passwords are refused while the list of breached ones is unavailable. */
  readonly refuseUnchecked?: boolean;
}

/** What is known of a user: nobody may choose it as a password. */
export interface PersonalWords {
  readonly username?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly name?: string | undefined;
}

/**
 * Checks a new password and returns the errors of the field `password`. It checks length, frequency, the user's own data and
 * leaks only: composition rules make passwords worse (NIST SP 800-63B-4, 3.1.1.2). Lengths count code points after
 * normalization.
 */
export async function passwordErrors(
  password: string,
  { passwordMin, passwordWords, breached, refuseUnchecked = false }: PasswordRules,
  user: PersonalWords = {},
): Promise<FieldError[]> {
  const normalised = password.normalize('NFC');
  const length = [...normalised].length;
  const invalid = (code: FieldError['code'], params = {}): FieldError[] => [{ field: 'password', code, params }];
  if (/[\0\p{Surrogate}]/u.test(normalised)) return invalid('invalid_characters');
  if (length < passwordMin) return invalid('too_short', { min: passwordMin });
  if (length > maxLength) return invalid('too_long', { max: maxLength });
  if (await isCommon(normalised)) return invalid('password_too_common');
  if (isWordOf(normalised, [...passwordWords, ...personalWords(user)])) return invalid('password_too_personal');
  if (breached === undefined) return [];
  const isBreached = await breached.contains(normalised);
  if (isBreached === true) return invalid('password_breached');
  return isBreached === undefined && refuseUnchecked ? invalid('password_not_checked') : [];
}

/** Whether a password is frequent, a repetition of a frequent one or of up to four characters, or only patterns of keys. */
async function isCommon(password: string): Promise<boolean> {
  const unit = repeatedUnit(password.toLowerCase());
  return unit.length <= 4 || isPattern(password) || (await isFrequent(password)) || (await isFrequent(unit));
}

/** The user's own words, whole and in parts: for `mary.johnson@example.com` also `mary.johnson`, `mary`, `johnson` and `johnsonmary`. */
function personalWords({ username, email, phone, name }: PersonalWords): string[] {
  const local = email?.slice(0, email.lastIndexOf('@'));
  const digits = phone?.replaceAll(/\D/g, '');
  // Without the country code, which has up to three digits.
  const numbers =
    digits === undefined ? [] : [0, 1, 2, 3].map((at) => digits.slice(at)).filter((one) => one.length >= 7);
  const parts = [username, local, name].flatMap((word) => {
    const found = (word ?? '').split(/[^\p{L}\p{M}\p{N}]+/u);
    return [...found, found.join(''), found.toReversed().join('')];
  });
  return [username, email, local, name, ...parts, ...numbers].filter((word) => word !== undefined && word !== null);
}

/** Whether a password is one of the words, compared by letters and digits, without case, and without digits at the end. */
function isWordOf(password: string, words: readonly string[]): boolean {
  const folded = new Set(words.flatMap((word) => [plain(word), base(word)]).filter((word) => word.length >= minWord));
  const text = plain(password);
  // `+49151…` and `0151…` are the same number.
  return [text, base(text), base(repeatedUnit(text)), text.replace(/^0+/, '')].some((form) => folded.has(form));
}

const plain = (text: string) =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');
const base = (text: string) => plain(text).replace(/\p{N}+$/u, '');

/** The shortest text that this text repeats; the text itself if it repeats nothing. */
function repeatedUnit(text: string): string {
  // The first offset at which a text occurs in its double is the length of the repeated unit.
  return text.slice(0, `${text}${text}`.indexOf(text, 1));
}
