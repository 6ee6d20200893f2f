/**
 * SQL as tagged templates. A statement is built once, when its module loads. Its parameters have names, and its text stays constant,
 * so PostgreSQL can keep it prepared.
 *
 * ```ts
 * const findDevice = statement<{ userId: string; deviceId: string }, DeviceRow>('device_find', (p) => sql`
 *   select ${deviceColumns} from devices where user_id = ${p.userId} and id = ${p.deviceId}`);
 * const [device] = await database.user(userId).query(findDevice({ userId, deviceId }));
 * ```
 */

/** A part of a statement: text with parameters and other parts in it. */
class Sql {
  constructor(
    readonly texts: readonly string[],
    readonly parts: readonly SqlPart[],
  ) {}
}

export type { Sql };

/** A named parameter of a statement. */
class Parameter {
  constructor(readonly name: string) {}
}

/** A value in a statement that is composed for one request. */
class BoundValue {
  constructor(readonly value: unknown) {}
}

/** The values that a template accepts. It accepts no strings, because they would allow SQL injection. */
export type SqlPart = Sql | Parameter | BoundValue;

/** The parameters of a statement, to place in its template. Each use of one name is the same `$n`. */
export type Parameters<Values extends object> = { readonly [Name in keyof Values]-?: Parameter };

/** A statement with its values, ready to run. */
export interface Statement<Row extends object = object> {
  /** Prepared under this name, once for each connection. Names are unique. Undefined: planned at each use. */
  readonly name?: string;
  readonly text: string;
  /** The values for this use of the statement. */
  readonly values: unknown[];
  /** Never set: TypeScript reads the type of the rows from it. */
  readonly row?: Row;
}

/** Returns a statement with the values of its parameters. */
export type StatementWith<Values extends object, Row extends object> = (values: Values) => Statement<Row>;

/** Builds a part of a statement. */
export function sql(texts: TemplateStringsArray, ...parts: SqlPart[]): Sql {
  return new Sql(texts, parts);
}

/** A value of a composed statement. Cast it in the text, such as `${bound(id)}::uuid`. */
export function bound(value: unknown): BoundValue {
  return new BoundValue(value);
}

/**
 * The name of a table or column, which must come from a fixed list.
 * @throws Error for anything but lower-case words, with dots between them
 */
export function identifier(name: string): Sql {
  if (!/^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*$/.test(name)) throw new Error(`"${name}" is not a name of a column`);
  return new Sql([name], []);
}

/**
 * A fixed whole number, written into the text. The planner then knows it, for example as a limit. It does not know the
 * value of a parameter.
 * @throws Error for anything but a safe integer
 */
export function literal(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`);
  return new Sql([String(value)], []);
}

/** Parts with the same text between them. */
export function join(parts: readonly SqlPart[], separator: ', ' | ' and ' | ' or ' | ' union all '): Sql {
  // One text more than parts: the ends are empty. For no parts, there is only one.
  return new Sql(['', ...parts.slice(1).map(() => separator), ''].slice(0, parts.length + 1), parts);
}

/**
 * The texts of the prepared statements, by name. This is state of the module, because statements are defined while
 * modules load: a second text with the same name is refused at that time.
 */
const texts = new Map<string, string>();

/**
 * Defines a prepared statement.
 * @param name unique among all statements. Traces and `pg_prepared_statements` show it
 */
export function statement<Values extends object, Row extends object = Record<never, never>>(
  name: string,
  build: (parameters: Parameters<Values>) => Sql,
): StatementWith<Values, Row> {
  const { text, names } = compile(build(namedParameters<Values>()), () => {
    throw new Error(`the statement ${name} contains a value: make it a parameter`);
  });
  if ((texts.get(name) ?? text) !== text) throw new Error(`two statements have the name ${name}`);
  texts.set(name, text);
  const order = names as (keyof Values)[];
  return (values) => ({ name, text, values: order.map((parameter) => values[parameter]) });
}

/**
 * The same statement without its name: PostgreSQL plans it at each use. For statements over arrays of any length, where a
 * plan from a time when the tables were nearly empty would read whole tables.
 */
export function unprepared<Values extends object, Row extends object>(
  prepared: StatementWith<Values, Row>,
): StatementWith<Values, Row> {
  return (values) => {
    const { name: _, ...unnamed } = prepared(values);
    return unnamed;
  };
}

/** Composes a statement for one request, of parts and bound values. */
export function compose<Row extends object>(part: Sql): Statement<Row> {
  const values: unknown[] = [];
  const { text, names } = compile(part, ({ value }) => `$${values.push(value)}`);
  if (names.length > 0) throw new Error(`a composed statement may not have parameters, but has ${names.join(', ')}`);
  return { text, values };
}

function namedParameters<Values extends object>(): Parameters<Values> {
  return new Proxy({} as Parameters<Values>, { get: (_, name) => new Parameter(String(name)) });
}

/** The text of a part, and the names of its parameters in their order. */
function compile(part: Sql, bindValue: (value: BoundValue) => string): { text: string; names: string[] } {
  const names: string[] = [];
  const textOf = (fragment: SqlPart): string => {
    if (fragment instanceof BoundValue) return bindValue(fragment);
    if (fragment instanceof Sql) {
      return fragment.texts.map((text, index) => text + partAt(fragment, index)).join('');
    }
    if (!names.includes(fragment.name)) names.push(fragment.name);
    return `$${names.indexOf(fragment.name) + 1}`;
  };
  const partAt = ({ parts }: Sql, index: number) => {
    const next = parts[index];
    return next === undefined ? '' : textOf(next);
  };
  return { text: textOf(part).trim(), names };
}
