import pg from 'pg';
import { instantFromPg } from '../lib/times.js';
import type { Statement } from './sql.js';

/** Called with the rows of a query, or with its error. */
export type OnResult<Row extends object> = (error: Error | undefined, rows: Row[]) => void;

/** A value of a result that its parser refuses: a bug of Postern. The connection can be used again. */
export class UnreadableValue extends Error {
  override readonly name = 'UnreadableValue';
}

/** `uuid[]`. The library's list of types does not have it. */
const uuidArray: number = 2951;
const parseArray = pg.types.getTypeParser(uuidArray, 'text');

/** Ids need no quotes, so a text without NULL is taken apart at once. The library looks at each character. */
const uuidsOf = (text: string): unknown =>
  /^\{[0-9a-f]/.test(text) && !text.includes('N') ? text.slice(1, -1).split(',') : parseArray(text);

/** Parsers by type: times become RFC 3339 with microseconds, and bigint a number, because sequences stay below 2^53. */
const parsers: Partial<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.TIMESTAMPTZ]: instantFromPg,
  [pg.types.builtins.INT8]: Number,
  [uuidArray]: uuidsOf,
};
const parserOf = ({ dataTypeID: type }: pg.FieldDef): ((text: string) => unknown) =>
  parsers[type] ?? pg.types.getTypeParser(type, 'text');

/** Reads the rows of a statement. */
interface Reader {
  readonly fields: readonly pg.FieldDef[];
  readonly parsers: readonly ((text: string) => unknown)[];
  /** A row of nulls. Each row starts as a copy of it, so that all rows have the same hidden class in V8. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** The readers of prepared statements, by name. PostgreSQL describes the same columns with each result. */
export type Readers = Map<string, Reader>;

/**
 * A query for a client of `pg` that does less work for each result than the library's own query, which copies its
 * configuration property by property and builds a new dictionary of the columns for each result.
 */
export class Query<Row extends object> extends pg.Query<Row, unknown[]> {
  private readonly name: string | undefined;
  private readonly receivedRows: Row[];
  private reader: Reader | undefined;
  private failure: UnreadableValue | undefined;

  /**
   * @param timeoutMs milliseconds for an answer
   * @param onResult called once. After an error that is neither PostgreSQL's nor an `UnreadableValue` the connection must not
   *   be used again.
   */
  constructor(
    private readonly readers: Readers,
    { name, text, values }: Statement<Row>,
    timeoutMs: number,
    onResult: OnResult<Row>,
  ) {
    const rows: Row[] = [];
    let isAnswered = false;
    const answer = (error: Error | undefined) => {
      // The client calls twice if a value cannot be sent, and once more when the connection ends.
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      onResult(error, rows);
    };
    // This timer replaces the library's timeout. If the process was blocked, `setImmediate` lets it first read the
    // input that has arrived.
    const timer = setTimeout(() => setImmediate(answer, new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    super(text, values, (error) => answer(error ?? this.failure));
    this.name = name;
    this.receivedRows = rows;
  }

  /** Called by the client. */
  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    const cachedReader = this.name === undefined ? undefined : this.readers.get(this.name);
    this.reader = cachedReader !== undefined && hasFields(cachedReader, fields) ? cachedReader : createReader(fields);
    if (this.name !== undefined) this.readers.set(this.name, this.reader);
  }

  /** Called by the client. The library's own method takes the tag of the command apart, and nothing reads the tag. */
  handleCommandComplete(): void {
    // Nothing to do.
  }

  /** Called by the client. */
  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    if (this.reader === undefined || this.failure !== undefined) return;
    try {
      this.receivedRows.push(readRow(this.reader, values) as Row);
    } catch (error) {
      this.failure = new UnreadableValue('a value of the result cannot be read', { cause: error });
    }
  }
}

function createReader(fields: readonly pg.FieldDef[]): Reader {
  const empty = Object.fromEntries(fields.map(({ name }) => [name, null]));
  return { fields, parsers: fields.map(parserOf), empty };
}

/** Whether the columns are the same as before. A migration may have changed the columns of a statement. */
function hasFields(reader: Reader, fields: readonly pg.FieldDef[]): boolean {
  if (reader.fields.length !== fields.length) return false;
  return reader.fields.every(({ name, dataTypeID }, index) => {
    const field = fields[index];
    return field?.name === name && field.dataTypeID === dataTypeID;
  });
}

function readRow({ fields, parsers: read, empty }: Reader, values: readonly (string | null)[]): object {
  const row = { ...empty };
  for (let place = 0; place < fields.length; place += 1) {
    const [field, parse, value] = [fields[place], read[place], values[place]];
    if (field !== undefined && parse !== undefined) row[field.name] = value == null ? null : parse(value);
  }
  return row;
}
