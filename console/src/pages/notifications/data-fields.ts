import type { Category } from '../../api/schema.js';

/** How a member of the data is typed. `json`: everything that is no single value. */
export type DataType = 'text' | 'number' | 'switch' | 'choice' | 'json';

/** A member of the data that a schema describes. */
export interface DataField {
  readonly name: string;
  /** The title in the schema, else the name. */
  readonly label: string;
  readonly hint: string | undefined;
  readonly type: DataType;
  readonly isRequired: boolean;
  /** The values of a choice. */
  readonly values: readonly (string | number)[];
  /** A value as it is typed: an example or the default of the schema, else one of the type. */
  readonly example: string;
}

/** Texts by the names of the members. */
export type TypedData = Readonly<Record<string, string>>;
export type Fault = 'missing' | 'notNumber' | 'notJson';

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isValue = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number';

/** The fields of a schema; undefined if it names no members, so that the data are written as JSON. */
export function fieldsOf(schema: Category['data_schema'] | undefined): readonly DataField[] | undefined {
  const properties = schema?.properties;
  if (!isObject(properties) || Object.keys(properties).length === 0) return undefined;
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  const fields = Object.entries(properties).map(([name, property]): DataField => {
    const { title, description, type: kind, enum: values, ...given } = isObject(property) ? property : {};
    const isChoice = Array.isArray(values) && values.length > 0 && values.every(isValue);
    const type = isChoice ? 'choice' : typeOf(kind);
    const [sample = given.default] = Array.isArray(given.examples) ? given.examples : [];
    const example = sample ?? (isChoice ? values[0] : samples[String(kind)]);
    return {
      name,
      label: isText(title) ? title : name,
      hint: isText(description) ? description : undefined,
      type,
      isRequired: required.includes(name),
      values: isChoice ? values : [],
      example: typeof example === 'string' && type !== 'json' ? example : JSON.stringify(example ?? {}),
    };
  });
  // The database does not keep the order of the members.
  return fields.sort((one, other) => Number(other.isRequired) - Number(one.isRequired));
}

const samples: Readonly<Record<string, unknown>> = {
  string: 'abc',
  number: 12.5,
  integer: 12,
  boolean: true,
  array: [],
  object: {},
};

/** The allowed values of required members. */
export const exampleOf = (fields: readonly DataField[]): TypedData =>
  Object.fromEntries(fields.flatMap(({ name, example, isRequired }) => (isRequired ? [[name, example]] : [])));

function typeOf(type: unknown): DataType {
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'switch' : 'json';
}

/** The value of a member. Undefined: it is left out. @throws SyntaxError if its text is no JSON */
function memberValue({ type, values }: DataField, text: string): unknown {
  if (type === 'text') return text === '' ? undefined : text;
  if (text.trim() === '') return undefined;
  if (type === 'choice') return values.find((value) => String(value) === text);
  return JSON.parse(text);
}

const isFaulty = (field: DataField, text: string): Fault | undefined => {
  try {
    const value = memberValue(field, text);
    if (value === undefined) return field.isRequired ? 'missing' : undefined;
    return field.type === 'number' && typeof value !== 'number' ? 'notNumber' : undefined;
  } catch {
    return field.type === 'number' ? 'notNumber' : 'notJson';
  }
};

/** Faults that the form finds before it sends anything, by the names of the members. */
export const dataFaults = (fields: readonly DataField[], typed: TypedData): Readonly<Record<string, Fault>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const fault = isFaulty(field, typed[field.name] ?? '');
      return fault === undefined ? [] : [[field.name, fault]];
    }),
  );

/** The data of the fields. Undefined: there are none. Members with a fault are left out. */
export function dataOf(fields: readonly DataField[], typed: TypedData): Readonly<Record<string, unknown>> | undefined {
  const members = fields.flatMap((field) => {
    const text = typed[field.name] ?? '';
    if (isFaulty(field, text) !== undefined) return [];
    const value = memberValue(field, text);
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

/** Data as JSON. Undefined: there are none, or the text is no JSON object. */
export function dataOfJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = text.trim() === '' ? undefined : JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
