import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formatsPlugin from 'ajv-formats';
import { cacheControlError } from './cache-control.js';

interface Answer {
  readonly content?: Record<string, { schema: object }>;
  readonly headers?: Record<string, unknown>;
}
interface Operation {
  readonly responses: Record<string, Answer | { readonly $ref: string }>;
}
export interface OpenApi {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly responses: Record<string, Answer>; readonly schemas: Record<string, object> };
}

export interface SeenAnswer {
  readonly method: string;
  /** The path, without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Headers that any HTTP response may have. All others must be in the document. */
const usualHeaders = new Set([
  ...['connection', 'keep-alive', 'date', 'content-length', 'content-type', 'transfer-encoding', 'cache-control'],
  ...['x-content-type-options', 'referrer-policy', 'content-security-policy', 'strict-transport-security', 'vary'],
  'content-encoding',
  ...['idempotency-key', 'allow', 'content-language', 'access-control-allow-origin', 'access-control-expose-headers'],
  ...['ratelimit', 'ratelimit-policy'],
]);

/** Blocks of addresses and limits of requests can refuse any request. */
const refusals: Readonly<Record<number, readonly [string, string]>> = {
  403: ['Forbidden', 'urn:postern:problem:address_blocked'],
  429: ['TooManyRequests', 'urn:postern:problem:too_many_requests'],
};

/** If one URL has several forms of responses, the document describes the further ones at their own paths. */
const furtherForms: Readonly<Record<string, readonly string[]>> = {
  'GET /v1/notifications': ['/v1/notifications/page', '/v1/notifications/stream'],
  'GET /admin/v1/users/{id}/notifications': ['/admin/v1/users/{id}/notifications/page'],
  'POST /admin/v1/publications': ['/admin/v1/publications/dry-run'],
  'POST /admin/v1/notifications': [
    '/admin/v1/notifications/batch',
    '/admin/v1/notifications/dry-run',
    '/admin/v1/notifications/ndjson',
  ],
};

/** @throws Error if the answer is not in the document */
export type Conformance = (answer: SeenAnswer) => void;

/** Checks answers strictly against the OpenAPI document: undocumented statuses, members and headers are errors. */
export function createConformance(document: OpenApi): Conformance {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formatsPlugin.default(ajv);
  ajv.addSchema({ $id: 'document', components: closeObjects(document.components) });
  const compiled = new Map<object, ValidateFunction>();
  const routes = Object.entries(document.paths).map(([path, operations]) => ({
    path,
    segments: path.split('/'),
    operations,
  }));

  const validate = (schema: object, value: unknown): string | undefined => {
    const check = compiled.get(schema) ?? ajv.compile(closeObjects(schema) as object);
    compiled.set(schema, check);
    return check(value) ? undefined : ajv.errorsText(check.errors);
  };
  const answerOf = (operation: Operation | undefined, status: number): Answer | undefined => {
    const answer = operation?.responses[status];
    if (answer === undefined || !('$ref' in answer)) return answer;
    return document.components.responses[answer.$ref.replace('#/components/responses/', '')];
  };

  return (answer) => {
    const { method, path, status } = answer;
    const segments = path.split('/');
    const matching = routes.filter((route) => samePath(route.segments, segments));
    // A literal path wins over one with a parameter, as it does in the router.
    const route = matching.find((one) => one.segments.every((part, index) => part === segments[index])) ?? matching[0];
    const operation = route?.operations[method.toLowerCase()];
    if (route === undefined || operation === undefined) return;
    const where = `${method} ${path} -> ${status}`;
    const wrongCache = cacheControlError(`${method} ${route.path}`, status, answer.headers);
    if (wrongCache !== undefined) throw new Error(wrongCache);
    const forms = [route.path, ...(furtherForms[`${method} ${route.path}`] ?? [])];
    const documented = forms.flatMap((form) => {
      const found = answerOf(document.paths[form]?.[method.toLowerCase()], status);
      return found === undefined ? [] : [found];
    });
    const [component = '', type = ''] = refusals[status] ?? [];
    const refusal = document.components.responses[component];
    if (documented.length === 0 && refusal !== undefined && answer.text.includes(type)) documented.push(refusal);
    if (documented.length === 0) throw new Error(`${where} is not in the OpenAPI document: ${answer.text}`);
    const mismatches = documented.map((one) => mismatchOf(one, answer));
    if (mismatches.every((mismatch) => mismatch !== undefined))
      throw new Error(`${where}: ${mismatches.join('; or ')}`);
  };

  function mismatchOf(documented: Answer, { headers, text }: SeenAnswer): string | undefined {
    for (const name of Object.keys(headers)) {
      const known = Object.keys(documented.headers ?? {}).some((header) => header.toLowerCase() === name);
      if (!known && !usualHeaders.has(name)) return `header ${name} is not in the OpenAPI document`;
    }
    if (text === '') return undefined;
    const type = headers['content-type']?.split(';')[0] ?? '';
    const schema = documented.content?.[type]?.schema;
    if (schema === undefined) return `${type} is not in the OpenAPI document`;
    if (!/\b(?:json|x-ndjson)$/.test(type)) return undefined;
    const values = type === 'application/x-ndjson' ? text.trimEnd().split('\n') : [text];
    for (const value of values) {
      const mismatch = validate(schema, JSON.parse(value));
      if (mismatch !== undefined) return `it does not match the OpenAPI document: ${mismatch}\n${value}`;
    }
    return undefined;
  }
}

function samePath(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) => (part.startsWith('{') ? segments[index] !== '' : part === segments[index]))
  );
}

/**
 * Returns the same schema, in which members that it does not name are errors. Problems may have more members (RFC 9457,
 * 3.2), and the parts of an `allOf` together name the members of one object.
 */
function closeObjects(schema: unknown, isPart = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closeObjects(item, isPart));
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema && typeof schema.$ref === 'string') return { $ref: `document${schema.$ref}` };
  const members = Object.entries(schema).map(([key, value]) => [key, closeObjects(value, key === 'allOf')]);
  const copy = Object.fromEntries(members);
  const isProblem =
    'properties' in schema &&
    'request_id' in (schema.properties as object) &&
    'errors' in (schema.properties as object);
  const isOpen = isPart || isProblem || 'additionalProperties' in schema;
  if ('properties' in schema && !isOpen) copy.additionalProperties = false;
  return copy;
}
