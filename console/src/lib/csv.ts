/**
 * One line of a CSV file (RFC 4180), without its end. A text that a spreadsheet would read as a formula gets an
 * apostrophe before it. So does a formula with full-width signs, and one after a character that some spreadsheets take for
 * the separator of cells, even inside quotes.
 */
export function csvLine(values: readonly unknown[]): string {
  return values
    .map((value) => {
      const text =
        value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
      const escaped = text.replace(/(^|[;\t\r\n] *"?)(?=[=+\-@＝＋－＠\t\r])/g, "$1'");
      return /[",;\t\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
    })
    .join(',');
}
