import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifySchema, RouteOptions } from 'fastify';
import { RejectedAuthentication } from '../../contract/authentication.js';
import { type ErrorCode, errors } from '../../contract/errors.js';
import { ProblemBody } from '../../contract/problem.js';
import type { Access, App } from '../route.js';
import { isAdmin } from './admin-requests.js';

/** The document is generated from the schemas that validate and serialise; this plugin adds what all routes share. */
export async function openApiPlugin(
  app: App,
  options: { readonly version: string; readonly publicUrl: string | undefined },
): Promise<void> {
  // A GET route comes by twice, the second time as its own HEAD route with the same schema object.
  const described = new WeakSet<object>();
  app.addHook('onRoute', (route) => {
    if (route.schema === undefined || described.has(route.schema)) return;
    described.add(route.schema);
    describeRoute(route);
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Postern',
        version: options.version,
        description:
          'Two-token authentication and per-user notifications. Log in for an authentication token, exchange it for short session tokens, use those for everything else.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: options.publicUrl ?? '/' }],
      tags: [
        { name: 'Tokens', description: 'Logging in and out.' },
        { name: 'Sessions', description: 'Short tokens for every other operation.' },
        { name: 'Devices', description: 'Where a user is logged in.' },
        { name: 'Account', description: "Looking after one's own account." },
        { name: 'Notifications', description: 'What happened, per user.' },
        { name: 'Images', description: 'For notifications to show.' },
        { name: 'Devices', description: 'Where a user is logged in, and is reached by push.' },
        { name: 'Administration', description: "For operators, support and the app's own servers, with an API key." },
        { name: 'Operation', description: 'Probes and this document.' },
      ],
      components: {
        securitySchemes: {
          authenticationToken: {
            type: 'http',
            scheme: 'basic',
            description:
              'The authentication token as user name, with an empty password or none: base64 of `psa_…` or `psa_…:`.',
          },
          session: { type: 'http', scheme: 'bearer', bearerFormat: 'pss_…', description: 'A session token.' },
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            bearerFormat: 'psk_…',
            description: 'An API key; the scope stands with the operation.',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => ({ schema: withLines(schema, route.config?.ndjson), url }),
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { deepLinking: true },
    staticCSP: true,
    // Behind plain HTTP there is nothing that answers the upgraded requests: the page would stay empty.
    transformStaticCSP: (policy) => policy.replace(' upgrade-insecure-requests;', ''),
  });
}

/** Beside the body in JSON, if there is one, that of lines. Only the document says so: in Fastify a type without a schema is not checked. */
function withLines(schema: FastifySchema, line: object | undefined): FastifySchema {
  if (line === undefined) return schema;
  const lines = { schema: { ...line, description: 'One such object a line; LF or CRLF ends it.' } };
  const json = schema.body === undefined ? {} : { 'application/json': { schema: schema.body } };
  const content = { ...json, 'application/x-ndjson': lines };
  return { ...schema, body: { content } };
}

const string = (description: string) => ({ type: 'string', description });
const commonHeaders = { 'Request-ID': string('Names this request in the log and in problems.') };
const listHeaders = {
  Link: string('RFC 8288: first, prev, next and last page, as path-absolute references.'),
  'X-Total-Count': { type: 'integer', description: 'How many there are; with a filter counted up to 1000.' },
  'X-Total-Count-Capped': string('true when there are more than were counted.'),
  'Preference-Applied': string('count=exact when that was preferred.'),
};
const stateHeaders = { ETag: string('Changes whenever anything of this does: send it as If-None-Match.') };
const idempotencyHeaders = {
  'Idempotency-Key': string('The key that was sent.'),
  'Idempotent-Replayed': string('true when this is the stored answer of an earlier request.'),
};

/** Completes a route's schema: security, problems of every status, and the headers of its answers. */
function describeRoute(route: RouteOptions): void {
  const { schema, config } = route;
  if (schema === undefined || schema.hide === true || config?.access === undefined) return;
  const headers = {
    ...commonHeaders,
    ...(isList(schema.querystring) ? listHeaders : {}),
    ...(Object.hasOwn(schema.response ?? {}, '304') ? stateHeaders : {}),
    ...(config.idempotent === true ? idempotencyHeaders : {}),
  };
  const successes = Object.entries((schema.response ?? {}) as Record<string, object>).map(
    ([status, answer]) =>
      [
        status,
        { ...answer, headers: { ...headers, ...('headers' in answer ? (answer.headers as object) : {}) } },
      ] as const,
  );
  const codes = [...impliedProblems(route, config.access), ...(config.problems ?? [])];
  schema.response = { ...problemResponses(codes), ...Object.fromEntries(successes) };
  Object.assign(schema, securityOf(config.access));
  if (config.idempotent === true) schema.headers ??= idempotencyRequestHeader;
}

const idempotencyRequestHeader = {
  type: 'object',
  properties: {
    'idempotency-key': {
      ...string(
        'Up to 255 printable characters. A repeat with the same key and body within 24 h gets the stored answer.',
      ),
      maxLength: 255,
    },
  },
};

function isList(querystring: unknown): boolean {
  const properties = (querystring as { properties?: object } | undefined)?.properties;
  return properties !== undefined && 'page' in properties;
}

function impliedProblems(route: RouteOptions, access: Access): ErrorCode[] {
  const codes: ErrorCode[] = ['malformed_request', 'internal_error', 'overloaded', 'storage_unavailable'];
  // Any request may carry a body that cannot be read, also where none is asked for.
  codes.push('unsupported_media_type', 'payload_too_large', 'malformed_json');
  const readsBodies = [route.method].flat().some((method) => method !== 'GET' && method !== 'HEAD');
  if (readsBodies || isAdmin(route.url) || isList(route.schema?.querystring)) codes.push('validation_failed');
  if (access !== 'public') codes.push('missing_credentials', 'invalid_authorization_header');
  if (access === 'session') codes.push('invalid_session_token');
  if (access === 'authentication-token') codes.push('invalid_authentication_token');
  if (typeof access === 'object') {
    codes.push('invalid_api_key', 'insufficient_scope', 'invalid_session_token');
    codes.push('role_not_active', 'second_factor_required');
  }
  if (route.config?.idempotent === true)
    codes.push('idempotency_key_reused', 'request_in_progress', 'secret_unreadable');
  return codes;
}

function securityOf(access: Access): object {
  if (access === 'public') return { security: [] };
  if (access === 'session') return { security: [{ session: [] }] };
  if (access === 'authentication-token') return { security: [{ authenticationToken: [] }] };
  return { security: [{ apiKey: [access.scope] }, { session: [] }] };
}

function problemResponses(codes: readonly ErrorCode[]): Record<string, object> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codesOfStatus]) => [status, problemResponse(status, codesOfStatus)]),
  );
}

function problemResponse(status: number, codes: readonly ErrorCode[]): object {
  const retried = status === 409 || status === 423 || status === 429 || status === 503;
  const extra = codes.includes('authorization_rejected') ? { authentication: RejectedAuthentication } : {};
  const properties = { ...ProblemBody.properties, ...extra };
  const examples = codes.map((code) => {
    const title = errors[code].message.en;
    return {
      type: `urn:postern:problem:${code}`,
      title,
      status,
      detail: title,
      request_id: '5f0d7a52-52a6-4f55-8a5b-0d7c0a7f1f3e',
      errors: [{ code, message: title }],
    };
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].message.en}`).join(' '),
    content: { 'application/problem+json': { schema: { ...ProblemBody, properties, examples } } },
    headers: {
      ...commonHeaders,
      'Content-Language': string('Language of the messages.'),
      ...(status === 401 ? { 'WWW-Authenticate': string('The scheme that is wanted (RFC 9110).') } : {}),
      ...(retried ? { 'Retry-After': { type: 'integer', minimum: 1, description: 'Seconds to wait.' } } : {}),
    },
  };
}
