import { Ajv, type ValidateFunction } from 'ajv';
import { isJsonObject } from '../../lib/json-object.js';
import { nearest } from '../../lib/nearest.js';
import type { FieldError } from '../../lib/problem.js';

/** The most bytes of a schema as JSON. */
const maxBytes = 16 * 1024;
/** The most parts of a schema when each `$ref` is replaced by what it refers to. It bounds the time of a check. */
const maxParts = 5000;
/** The most errors that one value reports. */
const maxErrors = 20;

/** Keywords whose value is a schema, a list of schemas, and an object of schemas. */
const schemaKeywords = ['additionalProperties', 'items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'];
const listKeywords = ['allOf', 'anyOf', 'oneOf'];
const mapKeywords = ['properties', 'definitions', '$defs'];
/**
 * The keywords that schemas may use. Without patterns, which could take any time. Without names for schemas: only pointers
 * within the schema are followed.
 */
const keywords = [
  ...schemaKeywords,
  ...listKeywords,
  ...mapKeywords,
  '$schema',
  '$comment',
  '$ref',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'type',
  'enum',
  'const',
  'required',
  'minProperties',
  'maxProperties',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minContains',
  'maxContains',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'format',
];

/** Everything that is wrong with the schema of a category. @param field its path in the request */
export function schemaErrors(schema: Readonly<Record<string, unknown>>, field: string): FieldError[] {
  if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes) {
    return [{ field, code: 'too_many_bytes', params: { max: maxBytes } }];
  }
  const errors: FieldError[] = [];
  const fail = (path: readonly string[], reason: string, suggestion?: string) => {
    const place = [field, ...path].join('.');
    errors.push({
      field: place,
      code: 'bad_schema',
      params: { reason, ...(suggestion !== undefined && { suggestion }) },
    });
  };
  eachSchema(schema, [], (part, path) => {
    for (const keyword of Object.keys(part)) {
      if (!keywords.includes(keyword))
        fail([...path, keyword], 'this keyword is not supported', nearest(keyword, keywords));
    }
    const { $ref: reference } = part;
    if (reference !== undefined && (typeof reference !== 'string' || find(schema, reference) === undefined)) {
      fail([...path, '$ref'], 'a reference starts with # and points to a part of this schema');
    }
  });
  if (errors.length > 0) return errors.slice(0, maxErrors);
  const parts = countParts(schema, schema, new Map());
  if (parts > maxParts) fail([], 'references lead in a circle, or repeat too many parts');
  if (errors.length > 0) return errors;
  try {
    createAjv().compile(schema);
  } catch (error) {
    fail([], error instanceof Error ? error.message.slice(0, 300) : 'it is not valid');
  }
  return errors;
}

/** Calls `visit` with the schema and each schema in it, and the path of each. */
function eachSchema(
  schema: unknown,
  path: readonly string[],
  visit: (schema: Readonly<Record<string, unknown>>, path: readonly string[]) => void,
): void {
  if (!isJsonObject(schema)) return;
  visit(schema, path);
  for (const [keyword, part] of innerSchemas(schema)) eachSchema(part, [...path, ...keyword], visit);
}

function innerSchemas(schema: Readonly<Record<string, unknown>>): [string[], unknown][] {
  return Object.entries(schema).flatMap(([keyword, value]): [string[], unknown][] => {
    if (schemaKeywords.includes(keyword) && isJsonObject(value)) return [[[keyword], value]];
    if ((listKeywords.includes(keyword) || keyword === 'items') && Array.isArray(value)) {
      return value.map((part, index) => [[keyword, String(index)], part]);
    }
    if (mapKeywords.includes(keyword) && isJsonObject(value)) {
      return Object.entries(value).map(([name, part]) => [[keyword, name], part]);
    }
    return [];
  });
}

/** The number of parts with all references replaced; infinite if they lead in a circle. */
function countParts(schema: unknown, root: Readonly<Record<string, unknown>>, known: Map<unknown, number>): number {
  if (!isJsonObject(schema)) return 1;
  const counted = known.get(schema);
  if (counted !== undefined) return counted;
  known.set(schema, Number.POSITIVE_INFINITY);
  let parts = 1;
  // Definitions are only counted where they are referred to.
  for (const [[keyword], part] of innerSchemas(schema)) {
    if (keyword !== 'definitions' && keyword !== '$defs') parts += countParts(part, root, known);
  }
  if (typeof schema.$ref === 'string') parts += countParts(find(root, schema.$ref), root, known);
  known.set(schema, parts);
  return parts;
}

/** The part that a pointer names (RFC 6901, as the fragment of a URI); undefined if there is none. */
function find(root: Readonly<Record<string, unknown>>, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((value, name) => {
      const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
      return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined;
    }, root);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function createAjv(): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    strict: false,
    validateFormats: false,
    allowUnionTypes: true,
    validateSchema: true,
  });
  // The library compares each item with each other one, which takes quadratic time.
  ajv.removeKeyword('uniqueItems');
  return ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    error: { message: 'must NOT have duplicate items' },
    validate: (isUnique: boolean, items: readonly unknown[]) =>
      !isUnique || new Set(items.map((item) => JSON.stringify(item, sorted))).size === items.length,
  });
}

/** For JSON.stringify: the same text for objects whose members differ in their order only. */
const sorted = (_name: string, value: unknown): unknown =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;

/** The most bytes of `data` as JSON. */
const maxDataBytes = 8 * 1024;

type Data = Readonly<Record<string, unknown>> | null | undefined;

/** Whether `data` has more bytes than a notification may have. A check would then take too much time. */
export const isTooLong = (data: Data): boolean => Buffer.byteLength(JSON.stringify(data ?? null)) > maxDataBytes;

/** The error of `data` that is too long; empty if it is not. */
export const lengthErrors = (data: Data, field: string): FieldError[] =>
  isTooLong(data) ? [{ field, code: 'too_many_bytes', params: { max: maxDataBytes } }] : [];

/** The errors of `data` for a schema. */
export type CheckData = (data: Data, field: string) => FieldError[];

/** Compiles a schema. @param schema has passed `schemaErrors` */
export function createDataCheck(schema: Readonly<Record<string, unknown>>): CheckData {
  const validate: ValidateFunction = createAjv().compile(schema);
  return (data, field) => {
    if (validate(data ?? {})) return [];
    return (validate.errors ?? []).slice(0, maxErrors).map(({ instancePath, message = 'is not valid' }) => ({
      field: [field, ...instancePath.split('/').slice(1)].join('.').replaceAll('~1', '/').replaceAll('~0', '~'),
      code: 'data_invalid' as const,
      params: { reason: message },
    }));
  };
}
