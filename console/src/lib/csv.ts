/** Characters that some spreadsheets take for the separator of cells or lines, even inside quotes. */
const separator = String.raw`[;|\t\r\n\u0085\u2028\u2029]`;
/** Characters that some spreadsheets ignore: blanks, controls, and those that nobody sees, such as a soft hyphen. */
const ignored = String.raw`(?:(?!${separator})[\s\p{Cc}\p{Cf}])*`;
/**
 * The place before a sign with which a formula begins, or before a tab or the end of a line at the beginning of a cell. A search
 * reads each character a few times, however many separators and blanks a text has.
 */
const formula = new RegExp(
  String.raw`^(?=[\t\r])|((?:^|${separator})${ignored}"*)(?=[=+\-@＝＋－＠﹢﹣﹦﹫⁺⁻⁼₊₋₌−])`,
  'gu',
);

/**
 * One line of a CSV file (RFC 4180), without its end. A text that a spreadsheet would read as a formula gets an
 * apostrophe before it. So does a formula after blanks or with other forms of its sign, such as full-width ones, and one after
 * a character that some spreadsheets take for the separator of cells or lines, even inside quotes.
 */
export function csvLine(values: readonly unknown[]): string {
  return values
    .map((value) => {
      const text =
        value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
      const escaped = text.replace(formula, "$1'");
      return /[",;\t\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
    })
    .join(',');
}
