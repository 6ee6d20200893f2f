/** A record of a CSV file. It can span several lines, because quoted cells may contain line ends. */
export interface CsvRecord {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly error?: 'too_long' | 'open_quote';
}

/** Splits a text that arrives in pieces into records (RFC 4180). Empty lines are no records. */
export interface CsvReader {
  feed(text: string): CsvRecord[];
  /** The record after the last line end. */
  end(): CsvRecord[];
}

/**
 * The maximum length of a record in characters. A quote that is never closed would otherwise keep the rest of the file
 * in memory.
 */
export const maxRecord = 64 * 1024;

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** @param delimiter one character. Line ends are LF, CRLF or CR; text after a closing quote belongs to the cell. */
export function createCsvReader(delimiter: string): CsvReader {
  const separator = delimiter.charCodeAt(0);
  let state: 'start' | 'plain' | 'quoted' | 'closing' = 'start';
  let cells: string[] = [];
  let cell = '';
  let length = 0;
  let isQuoted = false;
  let [line, recordLine] = [1, 1];
  let isAfterReturn = false;

  function add(text: string): void {
    length += text.length;
    if (length <= maxRecord) cell += text;
  }
  function endCell(): void {
    length += 1;
    if (length <= maxRecord) cells.push(cell);
    cell = '';
    state = 'start';
  }
  function endRecord(error?: 'open_quote'): CsvRecord[] {
    const isTooLong = length > maxRecord;
    endCell();
    const isEmpty = cells.length === 1 && cells[0] === '' && !isQuoted;
    const record = { line: recordLine, cells };
    [cells, length, isQuoted, recordLine] = [[], 0, false, line];
    if (error !== undefined) return [{ ...record, error }];
    if (isTooLong) return [{ ...record, error: 'too_long' }];
    return isEmpty ? [] : [record];
  }
  /** Counts CRLF as one line end. */
  function countLine(code: number): void {
    if (code === carriageReturn || (code === lineFeed && !isAfterReturn)) line += 1;
    isAfterReturn = code === carriageReturn;
  }

  return {
    feed(text) {
      const records: CsvRecord[] = [];
      /** Where the text begins that is not in the cell yet. */
      let textStart = 0;
      for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        const endsCrLf = code === lineFeed && isAfterReturn;
        countLine(code);
        if (state === 'quoted') {
          if (code !== quote) continue;
          add(text.slice(textStart, index));
          textStart = index + 1;
          state = 'closing';
        } else if (state === 'closing' && code === quote) {
          // Two quotes in a quoted cell are one: the second one is kept.
          textStart = index;
          state = 'quoted';
        } else if (endsCrLf) {
          textStart = index + 1;
        } else if (code === quote && state === 'start') {
          textStart = index + 1;
          state = 'quoted';
          isQuoted = true;
        } else if (code === separator) {
          add(text.slice(textStart, index));
          textStart = index + 1;
          endCell();
        } else if (code === carriageReturn || code === lineFeed) {
          add(text.slice(textStart, index));
          textStart = index + 1;
          records.push(...endRecord());
        } else state = 'plain';
      }
      add(text.slice(textStart));
      return records;
    },
    end() {
      const isOpen = state === 'quoted';
      if (cell === '' && cells.length === 0 && !isQuoted && length === 0) return [];
      return endRecord(isOpen ? 'open_quote' : undefined);
    },
  };
}

const delimiters = [',', ';', '\t', '|'] as const;
export type Delimiter = (typeof delimiters)[number];

/** The delimiter that splits the first record into the most cells. If two are equal, more of the next 19 records have as many cells. */
export function delimiterOf(text: string): Delimiter {
  const score = (delimiter: Delimiter) => {
    const reader = createCsvReader(delimiter);
    const records = [...reader.feed(text), ...reader.end()].slice(0, 20);
    const [first, ...others] = records.map(({ cells }) => cells.length);
    if (first === undefined) return 0;
    return first + others.filter((count) => count === first).length / (others.length + 1);
  };
  const [best] = [...delimiters].sort((one, other) => score(other) - score(one));
  return best ?? ',';
}
