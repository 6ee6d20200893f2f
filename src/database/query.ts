import pg from 'pg';
import { instantFromPg } from '../lib/times.js';

/** One SQL statement. With a name it is prepared once per connection: for hot paths. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/** Hears what became of a query: its rows, or why there are none. */
export type Answered<Row extends object> = (error: Error | undefined, rows: Row[]) => void;

/** How columns arrive: times as RFC 3339 with microseconds, bigint as number (sequences stay below 2^53), numeric as text. */
const parsers: Partial<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.TIMESTAMPTZ]: instantFromPg,
  [pg.types.builtins.INT8]: Number,
};
const parserOf = ({ dataTypeID: type }: pg.FieldDef): ((text: string) => unknown) =>
  parsers[type] ?? pg.types.getTypeParser(type, 'text');

/** How the rows of a statement are read. */
interface Reader {
  readonly fields: readonly pg.FieldDef[];
  readonly parsers: readonly ((text: string) => unknown)[];
  /** A row with nothing in it: copied, all rows have one shape, which is what makes objects fast. */
  readonly empty: Readonly<Record<string, unknown>>;
}

/** The readers of prepared statements, by their names: PostgreSQL describes the same columns with every answer. */
export type Readers = Map<string, Reader>;

/**
 * A query for a client of `pg` that does less for each answer than the library's own: that one copies what it is asked
 * property by property, and makes a dictionary of the columns anew, of which it then copies each row.
 */
export class Query<Row extends object> extends pg.Query<Row, unknown[]> {
  private readonly name: string | undefined;
  private readonly found: Row[];
  private reader: Reader | undefined;
  /** Of a value that could not be read. */
  private failure: Error | undefined;

  /**
   * @param patience milliseconds for an answer
   * @param answered called once. After an error that is not PostgreSQL's the connection is not to be used again.
   */
  constructor(
    private readonly readers: Readers,
    { name, text }: Statement,
    values: readonly unknown[],
    patience: number,
    answered: Answered<Row>,
  ) {
    const found: Row[] = [];
    let isAnswered = false;
    const answer = (error: Error | undefined) => {
      // The client calls twice where a value cannot be sent, and once more when the connection ends.
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      answered(error, found);
    };
    // Not the library's own limit: where the process itself stood still, this first reads what has come meanwhile.
    const timer = setTimeout(() => setImmediate(answer, new Error(`no answer within ${patience} ms`)), patience);
    super(text, [...values], (error) => answer(error ?? this?.failure));
    this.name = name;
    this.found = found;
  }

  /** Called by the client. */
  handleRowDescription({ fields }: { readonly fields: readonly pg.FieldDef[] }): void {
    const known = this.name === undefined ? undefined : this.readers.get(this.name);
    this.reader = known !== undefined && isOf(known, fields) ? known : readerOf(fields);
    if (this.name !== undefined) this.readers.set(this.name, this.reader);
  }

  /** Called by the client. */
  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    if (this.reader === undefined || this.failure !== undefined) return;
    try {
      this.found.push(readRow(this.reader, values) as Row);
    } catch (error) {
      this.failure = error as Error;
    }
  }
}

function readerOf(fields: readonly pg.FieldDef[]): Reader {
  const empty = Object.fromEntries(fields.map(({ name }) => [name, null]));
  return { fields, parsers: fields.map(parserOf), empty };
}

/** An update of the schema may have changed what a statement gives. */
function isOf(reader: Reader, fields: readonly pg.FieldDef[]): boolean {
  if (reader.fields.length !== fields.length) return false;
  return reader.fields.every(({ name, dataTypeID }, place) => {
    const field = fields[place];
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
