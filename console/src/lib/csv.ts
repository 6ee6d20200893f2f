/**
 * One line of a CSV file (RFC 4180), without its end. A cell that a spreadsheet would read as a formula gets an
 * apostrophe at its start.
 */
export function csvLine(values: readonly unknown[]): string {
  return values
    .map((value) => {
      const text =
        value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
      const escaped = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
      return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
    })
    .join(',');
}
