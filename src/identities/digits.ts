/**
 * The digit zero of the system of a decimal digit (`\p{Nd}`), as a code point. Decimal digits are runs of ten code points.
 * Only mathematical runs are adjacent, so they must be normalized to NFKC before.
 */
export function zeroOf(digit: string): number {
  let zero = digit.codePointAt(0) ?? 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return zero;
}

/** NFKC, and decimal digits of all scripts as ASCII: keyboards of many languages type their own digits. */
export function withAsciiDigits(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[^\P{Nd}0-9]/gu, (digit) => String((digit.codePointAt(0) ?? 0) - zeroOf(digit)));
}
