const digit = /\p{Nd}/u;

/**
 * Replaces the digits of all scripts, such as ٣ and ３, by 0 to 9. Other characters stay.
 *
 * Unicode has each set of decimal digits in order from 0 to 9, and sets without a gap between them begin with a 0 too.
 */
export function westernDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    let first = code;
    while (digit.test(String.fromCodePoint(first - 1))) first -= 1;
    return String((code - first) % 10);
  });
}
