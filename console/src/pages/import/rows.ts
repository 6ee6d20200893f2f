import { createCsvReader, type Delimiter, maxRecord } from '../../../../src/users/import-file/csv.js';
import { type Encoding, textOf } from '../../../../src/users/import-file/decode.js';
import { type Target, userOf } from '../../../../src/users/import-file/mapping.js';

/** How to read a file of users. */
export interface Reading {
  readonly file: File;
  readonly encoding: Encoding;
  /** Undefined: NDJSON, one user per line. */
  readonly csv?: {
    readonly delimiter: Delimiter;
    readonly hasHeadings: boolean;
    readonly headings: readonly string[];
    readonly columns: readonly Target[];
  };
}

/** Why a row cannot be sent. The service finds all other errors. */
export type RowError = 'too_long' | 'open_quote' | 'too_many_cells';

/** A user to import. */
export interface Row {
  readonly line: number;
  /** The user in the form of the API. Empty if there is an error. */
  readonly json: string;
  readonly error?: RowError;
  /** The displayed name of the user. */
  readonly displayName: string;
  /** The identities, to find the same one in two rows. */
  readonly identities: readonly (readonly [field: string, value: string])[];
  readonly hasId: boolean;
  /** The service must hash a secret, which is slow. */
  readonly needsHash: boolean;
}

/** Rows, and the part of the file that is read by then, from 0 to 1. */
export interface Rows {
  readonly rows: readonly Row[];
  readonly part: number;
}

export async function* readRows({ file, encoding, csv }: Reading): AsyncGenerator<Rows> {
  const reader = csv === undefined ? ndjsonReader() : csvReader(csv);
  for await (const { text, part } of textOf(file, encoding)) yield { rows: reader.feed(text), part };
  yield { rows: reader.end(), part: 1 };
}

function csvReader({ delimiter, hasHeadings, headings, columns }: NonNullable<Reading['csv']>) {
  const reader = createCsvReader(delimiter);
  let isFirst = hasHeadings;
  const rowsOf = (records: ReturnType<typeof reader.feed>) =>
    records.flatMap(({ line, cells, error }): Row[] => {
      if (isFirst) {
        isFirst = false;
        return [];
      }
      if (error !== undefined) return [invalidRow(line, error)];
      if (cells.slice(headings.length).some((cell) => cell !== '')) return [invalidRow(line, 'too_many_cells')];
      const user = userOf(cells, columns, headings);
      return [{ ...describe(user), line, json: JSON.stringify(user) }];
    });
  return { feed: (text: string) => rowsOf(reader.feed(text)), end: () => rowsOf(reader.end()) };
}

function ndjsonReader() {
  let rest = '';
  let line = 0;
  let isTooLong = false;
  const rowOf = (text: string): Row[] => {
    line += 1;
    const json = text.replace(/\r$/, '');
    if (isTooLong || json.length > maxRecord) {
      isTooLong = false;
      return [invalidRow(line, 'too_long')];
    }
    return json.trim() === '' ? [] : [{ ...describe(parseJson(json)), line, json }];
  };
  return {
    feed(text: string): Row[] {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      const rows = lines.flatMap(rowOf);
      if (rest.length > maxRecord) [isTooLong, rest] = [true, ''];
      return rows;
    },
    end: () => (rest === '' && !isTooLong ? [] : rowOf(rest)),
  };
}

const invalidRow = (line: number, error: RowError): Row => ({
  line,
  error,
  json: '',
  displayName: '',
  identities: [],
  hasId: false,
  needsHash: false,
});

const fields = ['username', 'email', 'phone'] as const;

function describe(user: Readonly<Record<string, unknown>>): Omit<Row, 'line' | 'json'> {
  const text = (name: string) => (typeof user[name] === 'string' ? user[name] : '');
  const identities = fields.map((field) => [field, canonicalValue(field, text(field))] as const);
  return {
    displayName: [...fields, 'name', 'id'].map(text).find((value) => value !== '') ?? '',
    identities: identities.filter(([, value]) => value !== ''),
    hasId: text('id') !== '',
    needsHash: user.password !== undefined || user.pin !== undefined,
  };
}

/** The value for comparisons, nearly as the service makes it. The service decides whether two identities are equal. */
function canonicalValue(field: (typeof fields)[number], value: string): string {
  return field === 'phone' ? value.replace(/[^\d+]/g, '') : value.trim().normalize('NFC').toLowerCase();
}

function parseJson(json: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // The service reports the error of the line.
    return {};
  }
}
