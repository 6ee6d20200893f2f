import { isJsonObject } from '../../lib/json-object.js';
import { isSame, type JsonObject, objectAt, pascalCase } from './json-schema.js';

/**
 * Moves every schema with a `title` to `components.schemas` and replaces it by a reference, so that generators use this
 * name. Only the document changes: validation and serialisation keep the whole schemas.
 *
 * @throws Error if two different schemas have the same title
 */
export function hoistSchemas(document: JsonObject): void {
  const schemas: JsonObject = {};
  document.paths = replaceSchemas(document.paths, schemas);
  const components = replaceSchemas(document.components, schemas);
  const sorted = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  document.components = { ...(isJsonObject(components) && components), schemas: Object.fromEntries(sorted) };
}

/** Replaces inner schemas first. So when two schemas are compared, their inner schemas are already references. */
function replaceSchemas(value: unknown, schemas: JsonObject): unknown {
  if (Array.isArray(value)) return value.map((item) => replaceSchemas(item, schemas));
  if (!isJsonObject(value)) return value;
  const members: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    // Examples are data, not schemas.
    if (name === 'example' || name === 'examples') members[name] = member;
    // The names in `properties` are no keywords: a property may be called `if`.
    else if (name === 'properties' && isJsonObject(member)) members[name] = replaceEach(member, schemas);
    else members[name] = replaceSchemas(member, schemas);
  }
  return referTo(withPlainTypes(members, schemas), schemas);
}

function replaceEach(properties: JsonObject, schemas: JsonObject): JsonObject {
  const replaced = Object.entries(properties).map(([name, schema]) => [name, replaceSchemas(schema, schemas)]);
  return Object.fromEntries(replaced);
}

function referTo(schema: JsonObject, schemas: JsonObject): JsonObject {
  const { title, description, ...rest } = schema;
  if (typeof title !== 'string') return schema;
  const isNullable = Array.isArray(rest.type) && rest.type.includes('null');
  addSchema(title, isNullable ? withoutNull(rest) : rest, schemas);
  const reference = { $ref: `#/components/schemas/${title}` };
  const about = description === undefined ? {} : { description };
  return isNullable ? { anyOf: [reference, { type: 'null' }], ...about } : { ...reference, ...about };
}

function withoutNull({ type, enum: choices, ...rest }: JsonObject): JsonObject {
  const [only] = [type].flat().filter((one) => one !== 'null');
  return { type: only, ...rest, ...(Array.isArray(choices) && { enum: choices.filter((choice) => choice !== null) }) };
}

/**
 * Adds a named schema, or checks that it equals the one already added. The comparison ignores examples, because the
 * framework removes them from the schemas of bodies and responses.
 */
function addSchema(title: string, schema: JsonObject, schemas: JsonObject): void {
  const existing = schemas[title];
  if (existing === undefined) {
    schemas[title] = schema;
    return;
  }
  if (!isJsonObject(existing) || !isSame(comparable(existing), comparable(schema))) {
    throw new Error(
      `two different schemas are called ${title}: ${JSON.stringify(existing)} and ${JSON.stringify(schema)}`,
    );
  }
  if (existing.examples === undefined && schema.examples !== undefined) existing.examples = schema.examples;
}

function comparable({ examples: _, ...rest }: JsonObject): JsonObject {
  return rest;
}

const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'minItems', 'maxItems', 'uniqueItems'],
};

/**
 * Adapts a schema to generators. They support one type, or one type and null, so several types become `oneOf`. They
 * ignore `if`/`then`/`else`, so descriptions state these conditions. Without a `format`, they do not recognise bytes, and
 * they assume that numbers have 32 bits.
 */
function withPlainTypes({ if: _, then: __, else: ___, ...schema }: JsonObject, schemas: JsonObject): JsonObject {
  const { type, enum: choices } = schema;
  if (type === undefined && typeof schema.contentMediaType === 'string') {
    return { type: 'string', format: 'binary', ...schema };
  }
  const format = numberFormat(schema);
  if (format !== undefined) return { ...schema, format };
  if (Array.isArray(choices) && type === undefined && choices.every((choice) => typeof choice === 'string')) {
    return { type: 'string', ...schema, ...(choices.includes('') && { 'x-enum-varnames': choices.map(nameOfChoice) }) };
  }
  if (!Array.isArray(type) || type.length < 2 || type.includes('null')) return schema;
  const keywords = new Set(type.flatMap((one) => keywordsOf[String(one)] ?? []));
  const shared = Object.entries(schema).filter(([keyword]) => keyword !== 'type' && !keywords.has(keyword));
  const oneOf = type.map((one) => {
    const own = (keywordsOf[String(one)] ?? []).filter((keyword) => keyword in schema);
    const branch = { type: one, ...Object.fromEntries(own.map((keyword) => [keyword, schema[keyword]])) };
    if (typeof schema.title !== 'string') return branch;
    return referTo({ title: `${schema.title}${pascalCase(String(one))}`, ...branch }, schemas);
  });
  return { ...Object.fromEntries(shared), oneOf };
}

/** Generators cannot derive a name from an empty string. */
const nameOfChoice = (choice: string) => (choice === '' ? 'None' : pascalCase(choice));

const largestInt32 = 2 ** 31 - 1;

function numberFormat({ type, format, maximum }: JsonObject): string | undefined {
  if (format !== undefined) return undefined;
  const types = [type].flat();
  if (types.includes('number')) return 'double';
  const isWide = types.includes('integer') && !(typeof maximum === 'number' && maximum <= largestInt32);
  return isWide ? 'int64' : undefined;
}

/**
 * Moves headers that several responses share to the components. If two different headers have the same name, it moves
 * the more frequent one.
 */
export function hoistHeaders(document: JsonObject): void {
  const operations = Object.values(objectAt(document, 'paths')).flatMap((path) => Object.values(path as JsonObject));
  const headers = createComponentCollector('headers');
  for (const operation of operations.filter(isJsonObject)) {
    for (const [name, header] of headersOf(operation)) headers.count(name, header);
  }
  for (const operation of operations.filter(isJsonObject)) {
    for (const answer of Object.values(objectAt(operation, 'responses')).filter(isJsonObject)) {
      const named = Object.entries(objectAt(answer, 'headers'));
      if (named.length > 0) {
        answer.headers = Object.fromEntries(named.map(([name, header]) => [name, headers.refer(name, header)]));
      }
    }
  }
  document.components = { ...objectAt(document, 'components'), headers: headers.components() };
}

function headersOf(operation: JsonObject): [string, unknown][] {
  const answers = Object.values(objectAt(operation, 'responses')).filter(isJsonObject);
  return answers.flatMap((answer) => Object.entries(objectAt(answer, 'headers')));
}

/**
 * Moves parameters that several operations share to the components, such as `Accept-Language` and `page`. If two
 * different parameters have the same name and the same place, it moves the more frequent one.
 */
export function hoistParameters(document: JsonObject): void {
  const operations = Object.values(objectAt(document, 'paths'))
    .flatMap((path) => Object.values(path as JsonObject))
    .filter(isJsonObject);
  const collector = createComponentCollector('parameters');
  const nameOf = (parameter: JsonObject) => `${parameter.name}-${parameter.in}`;
  for (const operation of operations) {
    for (const parameter of parametersOf(operation)) collector.count(nameOf(parameter), parameter);
  }
  for (const operation of operations) {
    const parameters = parametersOf(operation);
    if (parameters.length > 0) {
      operation.parameters = parameters.map((parameter) => collector.refer(nameOf(parameter), parameter));
    }
  }
  document.components = { ...objectAt(document, 'components'), parameters: collector.components() };
}

const parametersOf = ({ parameters }: JsonObject) => (Array.isArray(parameters) ? parameters.filter(isJsonObject) : []);

/**
 * Counts how often each value is used. Values that are used more than once become components, and `refer` refers to them.
 * @param kind the member of `components`
 */
function createComponentCollector(kind: 'headers' | 'parameters') {
  const usesByTitle = new Map<string, { value: unknown; uses: number }[]>();
  const mostUsed = (name: string) => {
    const [most] = [...(usesByTitle.get(name) ?? [])].sort((a, b) => b.uses - a.uses);
    return most !== undefined && most.uses > 1 ? most : undefined;
  };
  return {
    count(name: string, value: unknown): void {
      const variants = usesByTitle.get(name) ?? [];
      const existing = variants.find((variant) => isSame(variant.value, value));
      if (existing === undefined) variants.push({ value, uses: 1 });
      else existing.uses += 1;
      usesByTitle.set(name, variants);
    },
    refer(name: string, value: unknown): unknown {
      const component = mostUsed(name);
      const isShared = component !== undefined && isSame(component.value, value);
      return isShared ? { $ref: `#/components/${kind}/${pascalCase(name)}` } : value;
    },
    components(): JsonObject {
      const names = [...usesByTitle.keys()].filter((name) => mostUsed(name) !== undefined).sort();
      return Object.fromEntries(names.map((name) => [pascalCase(name), mostUsed(name)?.value]));
    },
  };
}
