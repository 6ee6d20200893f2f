/**
 * Which names may not exist because they read as another name. The rules are Unicode's: UTS 39 "highly restrictive"
 * script mixing (section 5.2), one system of digits (5.3), bounded marks (5.4) and whole-script confusables (4.1),
 * over the recommended scripts of UAX 31 (table 5).
 *
 * Not decidable for one name alone, and so not refused: look-alikes inside one script (`rn` and `m`, `l` and `1`).
 */

/** Marks without a script of their own (accents) and ASCII other than letters go with every script. */
const NEUTRAL = '\\p{sc=Inherited}\\u0021-\\u0040\\u005B-\\u0060\\u007B-\\u007E';

/** Historic and limited-use scripts are left out: some of them (Cherokee, Lisu, Coptic) are Latin look-alikes throughout. */
const SCRIPTS_ALONE = [
  ...['Arabic', 'Armenian', 'Bengali', 'Cyrillic', 'Devanagari', 'Ethiopic', 'Georgian', 'Greek', 'Gujarati'],
  ...['Gurmukhi', 'Hebrew', 'Kannada', 'Khmer', 'Lao', 'Malayalam', 'Myanmar', 'Oriya', 'Sinhala', 'Tamil', 'Telugu'],
  ...['Thaana', 'Thai', 'Tibetan'],
];

const SCRIPTS_TOGETHER = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

const ALLOWED_MIXES = [...SCRIPTS_TOGETHER, ...SCRIPTS_ALONE.map((script) => [script])].map(
  (scripts) => new RegExp(`^[${NEUTRAL}${scripts.map((script) => `\\p{scx=${script}}`).join('')}]*$`, 'u'),
);

/**
 * Refused wherever they stand. Latin: phonetic and historic letters, most of them ASCII look-alikes (ɑ ɡ ɩ ƽ ǀ), but
 * for those of living orthographies that look like no ASCII letter. Marks: overlays, letters above, and marks for
 * symbols and phonetics. Jamo outside syllables, the Arabic stretching stroke and kana repeat marks, as RFC 8264
 * (9.6, 9.9) refuses them.
 */
const NEVER = [
  /(?![ɓɔɖɗəɛɨɲʉʊ])[\u0250-\u02FF\u1D00-\u1DBF\u2C60-\u2C7F\uA720-\uA7FF\uAB30-\uAB6F]/u,
  /[ıĸȷƅƍƨƽƿǀ-ǃȝȣẝỿ]/u,
  /[\u0334-\u0338\u0363-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]/u,
  /[\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF\u0640\u302E\u302F\u3031-\u3035\u303B]/u,
];

/** For decomposed text. A dot on a letter that has one cannot be seen; a pile of marks hides what is under it, a doubled one itself. */
const HIDDEN_MARKS = /^\p{M}|\p{Soft_Dotted}\p{Mn}{0,4}\u0307|\p{Mn}{5}|(\p{Mn})\1/u;

/** Strokes that read as `/`, `-`, `l` or `,` between Latin letters, and the long-vowel bar without a kana before it. */
const STROKES = /[ノ一丨丶丿亅ㄧ]/u;
const STRAY_BAR = /(?<![\p{sc=Hiragana}\p{sc=Katakana}ー])ー/u;

/**
 * Letters (canonical, so lower case) whose UTS 39 prototype is an ASCII letter, by script: Cyrillic, Greek, Armenian,
 * then the few of Georgian, Myanmar, Malayalam, Oriya and Ethiopic.
 */
const LATIN_LOOKALIKES = new Set([...'асԁеҽһіӏјорԛгѕѵѡԝхуүьꙇ', ...'αγινοϳρσυ', ...'ցքհոռօգզսա', ...'ჿყဝഠଠሀዐ']);

/**
 * Whether a name reads as another one. Expects canonical text (NFKC, lower case): capitals have look-alikes of their
 * own (Cyrillic `ВАСЯ`), so the canonical form is also the one to show where names of others are shown.
 */
export function isConfusable(name: string): boolean {
  return (
    !ALLOWED_MIXES.some((mix) => mix.test(name)) ||
    NEVER.some((refused) => refused.test(name)) ||
    HIDDEN_MARKS.test(name.normalize('NFD')) ||
    STRAY_BAR.test(name) ||
    (/\p{sc=Latin}/u.test(name) && STROKES.test(name)) ||
    mixesDigits(name) ||
    reordersOnScreen(name) ||
    looksLatinThroughout(name)
  );
}

/** Systems share shapes: ۱ and ١ are one drawing, and ৪ is a four. */
function mixesDigits(name: string): boolean {
  const digits = name.match(/\p{Nd}/gu) ?? [];
  return new Set(digits.map(zeroOf)).size > 1;
}

/** Decimal digits stand in runs of ten code points; runs that touch are mathematical, and NFKC makes those ASCII. */
function zeroOf(digit: string): number {
  let zero = digit.codePointAt(0) ?? 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return zero;
}

/** `1אב` and `אב1` are drawn alike: a right-to-left name starts with a letter and ends in a letter or digit (RFC 5893). */
function reordersOnScreen(name: string): boolean {
  const rightToLeft = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Thaana}]/u.test(name);
  return rightToLeft && !(/^\p{L}/u.test(name) && /[\p{L}\p{Nd}]\p{Mn}{0,4}$/u.test(name));
}

/** Marks are taken off first: ё looks like ë as much as е looks like e. */
function looksLatinThroughout(name: string): boolean {
  const letters = name.normalize('NFD').match(/\p{L}/gu) ?? [];
  return letters.length > 0 && letters.every((letter) => LATIN_LOOKALIKES.has(letter));
}
