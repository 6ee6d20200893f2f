import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';

interface Operation {
  readonly responses: Record<
    string,
    { content?: Record<string, { schema: object }>; headers?: Record<string, unknown> }
  >;
}
export interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>;
}

export interface SeenAnswer {
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Headers that any HTTP answer may carry; all others must be in the document. */
const ambient = new Set([
  ...['connection', 'keep-alive', 'date', 'content-length', 'content-type', 'transfer-encoding', 'cache-control'],
  ...['x-content-type-options', 'referrer-policy', 'content-security-policy', 'strict-transport-security', 'vary'],
  ...['idempotency-key', 'allow', 'content-language', 'access-control-allow-origin', 'access-control-expose-headers'],
]);

/** Checks answers against the OpenAPI document, strictly: undocumented statuses, members and headers are faults. */
export function createConformance(document: OpenApi): (answer: SeenAnswer) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formatsPlugin.default(ajv);
  const compiled = new Map<object, ValidateFunction>();
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    segments: path.split('/'),
    operations,
  }));

  const validate = (schema: object, value: unknown): string | undefined => {
    const check = compiled.get(schema) ?? ajv.compile(closeObjects(schema) as object);
    compiled.set(schema, check);
    return check(value) ? undefined : ajv.errorsText(check.errors);
  };

  return ({ method, path, status, headers, text }) => {
    const segments = path.split('/');
    const matching = routes.filter((route) => samePath(route.segments, segments));
    // A literal path wins over one with a parameter, as it does in the router.
    const operations = (
      matching.find((route) => route.segments.every((part, index) => part === segments[index])) ?? matching[0]
    )?.operations;
    const operation = operations?.[method.toLowerCase()];
    if (operation === undefined) return;
    const where = `${method} ${path} -> ${status}`;
    const documented = operation.responses[status];
    if (documented === undefined) throw new Error(`${where} is not in the OpenAPI document: ${text}`);
    for (const name of Object.keys(headers)) {
      const known = Object.keys(documented.headers ?? {}).some((header) => header.toLowerCase() === name);
      if (!known && !ambient.has(name)) throw new Error(`${where}: header ${name} is not in the OpenAPI document`);
    }
    if (text === '') return;
    const type = headers['content-type']?.split(';')[0] ?? '';
    const schema = documented.content?.[type]?.schema;
    if (schema === undefined) throw new Error(`${where}: ${type} is not in the OpenAPI document`);
    if (!/\b(?:json|x-ndjson)$/.test(type)) return;
    const values = type === 'application/x-ndjson' ? text.trimEnd().split('\n') : [text];
    for (const value of values) {
      const fault = validate(schema, JSON.parse(value));
      if (fault !== undefined) throw new Error(`${where} does not match the OpenAPI document: ${fault}\n${value}`);
    }
  };
}

function samePath(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : part === segments[index]))
  );
}

/** The same schema, but members that it does not name are faults. Problems may carry more (RFC 9457, 3.2). */
function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closeObjects(value)]));
  const isProblem =
    'properties' in schema &&
    'request_id' in (schema.properties as object) &&
    'errors' in (schema.properties as object);
  if ('properties' in schema && !('additionalProperties' in schema) && !isProblem) copy.additionalProperties = false;
  return copy;
}
