import { zeroOf } from './digits.js';

/**
 * Refuses names that look like another name, by Unicode UTS 39: "highly restrictive" script mixing (section 5.2), one
 * system of digits (5.3), limited marks (5.4) and whole-script confusables (4.1), for the recommended scripts of UAX 31
 * (table 5). Look-alikes inside one script (`rn` and `m`, `l` and `1`) are allowed.
 */

/** Marks without a script of their own (accents) and ASCII other than letters are allowed in every script. */
const neutralCharacters = '\\p{sc=Inherited}\\u0021-\\u0040\\u005B-\\u0060\\u007B-\\u007E';

/**
 * Historic and limited-use scripts are left out, because some of them (Cherokee, Lisu, Coptic) consist of Latin
 * look-alikes.
 */
const singleScripts = (
  'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao ' +
  'Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'
).split(' ');

const scriptGroups = [
  ['Latin', 'Han', 'Hiragana', 'Katakana'],
  ['Latin', 'Han', 'Bopomofo'],
  ['Latin', 'Han', 'Hangul'],
];

const allowedMixes = [...scriptGroups, ...singleScripts.map((script) => [script])].map(
  (scripts) => new RegExp(`^[${neutralCharacters}${scripts.map((script) => `\\p{scx=${script}}`).join('')}]*$`, 'u'),
);

/**
 * Refused everywhere in a name: phonetic and historic Latin letters, because most of them look like ASCII letters
 * (ɑ ɡ ɩ ƽ ǀ); overlays, letters above others, and marks for symbols and phonetics; jamo outside syllables, the Arabic
 * stretching stroke and kana repeat marks (RFC 8264, 9.6 and 9.9).
 */
const refusedCharacters = [
  /(?![ɓɔɖɗəɛɨɲʉʊ])[\u0250-\u02FF\u1D00-\u1DBF\u2C60-\u2C7F\uA720-\uA7FF\uAB30-\uAB6F]/u,
  /[ıĸȷƅƍƨƽƿǀ-ǃȝȣẝỿ]/u,
  /[\u0334-\u0338\u0363-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u20D0-\u20FF\uFE20-\uFE2F]/u,
  /[\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF\u0640\u302E\u302F\u3031-\u3035\u303B]/u,
];

/** For decomposed text. A leading mark, and marks that cannot be seen: a dot on a letter with a dot, a stack of five marks, a doubled mark. */
const hiddenMarks = /^\p{M}|\p{Soft_Dotted}\p{Mn}{0,4}\u0307|\p{Mn}{5}|(\p{Mn})\1/u;

/** Strokes that look like `/`, `-`, `l` or `,` between Latin letters, and the long-vowel bar without a kana before it. */
const strokes = /[ノ一丨丶丿亅ㄧ]/u;
const strayBar = /(?<![\p{sc=Hiragana}\p{sc=Katakana}ー])ー/u;

/**
 * Letters (canonical, so lower case) whose UTS 39 prototype is an ASCII letter: Cyrillic, then Greek, then Armenian, then
 * those of Georgian, Myanmar, Malayalam, Oriya and Ethiopic.
 */
const latinLookalikes = new Set([...'асԁеҽһіӏјорԛгѕѵѡԝхуүьꙇ', ...'αγινοϳρσυ', ...'ցքհոռօգզսա', ...'ჿყဝഠଠሀዐ']);

/**
 * Whether a name looks like another one. Expects canonical text (NFKC, lower case). Capitals have other look-alikes
 * (Cyrillic `ВАСЯ`), so show the canonical form where you show names to other users.
 */
export function isConfusable(name: string): boolean {
  return (
    !allowedMixes.some((mix) => mix.test(name)) ||
    refusedCharacters.some((pattern) => pattern.test(name)) ||
    hiddenMarks.test(name.normalize('NFD')) ||
    strayBar.test(name) ||
    (/\p{sc=Latin}/u.test(name) && strokes.test(name)) ||
    mixesDigits(name) ||
    reordersOnScreen(name) ||
    looksLatinThroughout(name)
  );
}

/** Digits of different systems look alike: ۱ and ١ have one shape, and ৪ (four) looks like 8. Expects NFKC. */
function mixesDigits(name: string): boolean {
  const digits = name.match(/\p{Nd}/gu) ?? [];
  return new Set(digits.map(zeroOf)).size > 1;
}

/** `1אב` and `אב1` look alike, so a right-to-left name must start with a letter and end in a letter or digit (RFC 5893). */
function reordersOnScreen(name: string): boolean {
  const rightToLeft = /[\p{sc=Arabic}\p{sc=Hebrew}\p{sc=Thaana}]/u.test(name);
  return rightToLeft && !(/^\p{L}/u.test(name) && /[\p{L}\p{Nd}]\p{Mn}{0,4}$/u.test(name));
}

/** Ignores marks: ё looks like ë as much as е looks like e. */
function looksLatinThroughout(name: string): boolean {
  const letters = name.normalize('NFD').match(/\p{L}/gu) ?? [];
  return letters.length > 0 && letters.every((letter) => latinLookalikes.has(letter));
}
