import type { FastifySchema, RouteOptions } from 'fastify';
import type { ErrorCode } from '../../contract/errors/problems.js';
import { isAdmin } from '../plugins/admin-requests.js';
import { closed } from '../plugins/known-names.js';
import { problemsOfSupport } from '../plugins/support-rights.js';
import { type Access, onlyReads, type RecentProof } from '../requests/route.js';
import { type JsonObject, objectAt } from './json-schema.js';
import { problemResponses } from './problems.js';
import { tagOf } from './tags.js';

/** The parts of a route that the OpenAPI document uses. */
export type DescribedRoute = Pick<RouteOptions, 'method' | 'url' | 'config' | 'schema'>;

/**
 * The schema of a route for the OpenAPI document. It shows one form of the body and of the response, even if the route
 * accepts several.
 */
export function documentedSchema({ schema = {}, config, url }: DescribedRoute): FastifySchema {
  if (schema.hide === true) return schema;
  const { ndjson, document = {} } = config ?? {};
  const all = Object.entries({ ...(schema.response as object), ...document.response });
  const answers = Object.fromEntries(all.filter(([, answer]) => answer !== undefined));
  const described = { ...schema, tags: [tagOf(url)], ...securityOf(config?.access), response: answers };
  const proof = proofSentence(config?.recentProof);
  if (proof !== undefined) described.description = [schema.description, proof].filter(Boolean).join(' ');
  if (document.body !== undefined) described.body = isAdmin(url) ? closed(document.body) : document.body;
  if (ndjson !== undefined && document.body === undefined) described.body = ndjsonBody(ndjson);
  if (document.querystring !== undefined) described.querystring = document.querystring;
  return described;
}

/**
 * Only the document needs this. The route has no schema for this content type, so Fastify does not validate the body.
 */
function ndjsonBody(item: object): object {
  const schema = { ...item, description: 'One JSON object per line. Lines end with LF or CRLF.' };
  return { content: { 'application/x-ndjson': { schema } } };
}

function securityOf(access: Access | undefined): object {
  if (access === undefined) return {};
  if (access === 'public') return { security: [] };
  if (access === 'session') return { security: [{ session: [] }] };
  if (access === 'authentication-token') return { security: [{ authenticationToken: [] }] };
  return { security: [{ apiKey: [access.scope] }, { session: [] }] };
}

/** What the description of an operation says about the proof that a session needs. */
function proofSentence(recentProof: RecentProof | undefined): string | undefined {
  if (recentProof === undefined || recentProof === 'not-needed') return undefined;
  const when = recentProof === 'needed' ? '' : ` if ${recentProof.when}`;
  return `With a session, this needs a login or re-authentication that is not older than ADMIN_PROOF_MAX_AGE${when}.`;
}

/**
 * Completes an operation of the finished document. It adds the problems, headers and parameters that follow from the
 * configuration of the route, because the route's schema does not contain them.
 * @returns the codes of its problems
 */
export function completeOperation(operation: JsonObject, route: DescribedRoute): readonly ErrorCode[] {
  const { config } = route;
  if (config?.access === undefined) return [];
  const answers = objectAt(operation, 'responses');
  const headers = headersOf(operation, route);
  for (const answer of Object.values(answers) as JsonObject[]) {
    answer.headers = { ...headers, ...objectAt(answer, 'headers') };
    for (const media of Object.values(objectAt(answer, 'content')) as JsonObject[]) {
      const { description, ...schema } = objectAt(media, 'schema');
      // The framework writes the description to both the response and its schema.
      if (description === answer.description) media.schema = schema;
    }
  }
  const codes = [...impliedProblems(route, config.access), ...(config.problems ?? [])];
  if (config.optionalBody === true) operation.requestBody = { ...objectAt(operation, 'requestBody'), required: false };
  operation.responses = { ...answers, ...problemResponses(codes) };
  const ownParameters = Array.isArray(operation.parameters) ? operation.parameters : [];
  operation.parameters = [...ownParameters, ...headerParameters(operation, route)];
  return codes;
}

function impliedProblems(route: DescribedRoute, access: Access): ErrorCode[] {
  const codes: ErrorCode[] = ['malformed_request', 'internal_error', 'overloaded', 'storage_unavailable'];
  // Any request can have an unreadable body, even if the operation takes none.
  codes.push('unsupported_media_type', 'payload_too_large', 'malformed_json');
  const readsBodies = !onlyReads(route.method);
  if (readsBodies || isAdmin(route.url) || isList(route)) codes.push('validation_failed');
  if (access !== 'public') codes.push('missing_credentials', 'invalid_authorization_header');
  if (access === 'session') codes.push('invalid_session_token', ...supportProblems(route));
  if (access === 'authentication-token') codes.push('invalid_authentication_token');
  if (typeof access === 'object') {
    codes.push('invalid_api_key', 'insufficient_scope', 'invalid_session_token');
    codes.push('role_not_active', 'second_factor_required');
    const { recentProof = 'not-needed' } = route.config ?? {};
    if (recentProof !== 'not-needed') codes.push('fresh_proof_required');
  }
  if (route.config?.idempotent === true) {
    codes.push('idempotency_key_reused', 'request_in_progress', 'secret_unreadable');
  }
  return codes;
}

function supportProblems({ method, url }: DescribedRoute): ErrorCode[] {
  return [...new Set([method].flat().flatMap((one) => problemsOfSupport(one, url)))];
}

const isList = (route: DescribedRoute) => hasParameter(route, 'page');

function hasParameter({ schema }: DescribedRoute, name: string): boolean {
  return name in objectAt((schema?.querystring ?? {}) as JsonObject, 'properties');
}

const text = (description: string) => ({ description, schema: { type: 'string' } });

const listHeaders = {
  Link: text('RFC 8288: first, prev, next and last page, as path-absolute references.'),
  'X-Total-Count': {
    description:
      'The number of items. With a filter, items are counted only up to 1000, unless you prefer count=exact.',
    schema: { type: 'integer' },
  },
  'X-Total-Count-Capped': text('true if there are more items than the count, or if counting them took too long.'),
};
const searchHeaders = {
  'X-Partial': text(
    'Items may be missing; the next page continues the search. time: the search reached its time limit. index: the search is slow, because its index does not exist (yet).',
  ),
};
const exactCountHeaders = { 'Preference-Applied': text('count=exact when the request preferred that.') };
const stateHeaders = { ETag: text('Changes with every change of the list. Send it as If-None-Match.') };
const idempotencyHeaders = {
  'Idempotency-Key': text('The key of the request.'),
  'Idempotent-Replayed': text('true when this is the stored response of an earlier request.'),
};

function headersOf(operation: JsonObject, route: DescribedRoute): JsonObject {
  return {
    'Request-ID': text('The id of this request, also in the log and in problems.'),
    ...(isList(route) && listHeaders),
    ...(hasParameter(route, 'search') && searchHeaders),
    ...(route.config?.countsExactly === true && exactCountHeaders),
    ...((isConditional(operation) || takesIfMatch(route)) && stateHeaders),
    ...(route.config?.idempotent === true && idempotencyHeaders),
  };
}

const takesIfMatch = (route: DescribedRoute) => route.config?.problems?.includes('precondition_failed') === true;
const isConditional = (operation: JsonObject) => '304' in objectAt(operation, 'responses');

/** The parameters in headers. The plugins read them, so no schema of a route contains them. */
function headerParameters(operation: JsonObject, route: DescribedRoute): JsonObject[] {
  const parameter = (name: string, description: string, example: string, limits: object = {}) => ({
    name,
    in: 'header',
    required: false,
    description,
    example,
    schema: { type: 'string', ...limits },
  });
  const parameters = [parameter('Accept-Language', 'The language of messages: en or es.', 'es')];
  if (isConditional(operation)) {
    parameters.push(
      parameter('If-None-Match', 'An ETag of an earlier response: 304 while nothing has changed.', 'W/"0b0ba41c-42"'),
    );
  }
  if (takesIfMatch(route)) {
    parameters.push(parameter('If-Match', 'An ETag: 412 if something has changed since its response.', '"sZ0b0ba41c"'));
  }
  if (route.config?.countsExactly === true) {
    parameters.push(
      parameter('Prefer', 'count=exact counts all items that match the filter (RFC 7240).', 'count=exact'),
    );
  }
  if (route.config?.access === 'authentication-token') {
    const about = 'A DPoP proof (RFC 9449), if the token is bound to a key.';
    parameters.push(parameter('DPoP', about, 'eyJ0eXAiOiJkcG9wK2p3dCIs…', { maxLength: 4096 }));
  }
  if (route.config?.canRepeatApproval === true) {
    const about = 'A repeat with the same key within 10 minutes gets a new token while the first one is unused.';
    parameters.push(parameter('Idempotency-Key', about, '0b0ba41c-1', { maxLength: 255 }));
  }
  if (route.config?.idempotent === true) {
    const about =
      'Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored response.';
    parameters.push(parameter('Idempotency-Key', about, '0b0ba41c-1', { maxLength: 255 }));
  }
  return parameters;
}
