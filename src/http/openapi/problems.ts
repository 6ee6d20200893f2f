import { Type } from 'typebox';
import { RejectedAuthentication } from '../../contract/authentication.js';
import { type ErrorCode, errors } from '../../contract/errors/problems.js';
import { ProblemBody } from '../../contract/problem.js';
import type { JsonObject } from './json-schema.js';

/** The names that RFC 9110 and RFC 4918 give to the statuses of problems. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  423: 'Locked',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
  507: 'InsufficientStorage',
};

/** The problem with this code has one more member, so its response is a separate component. */
const codeWithMember: ErrorCode = 'authorization_rejected';

/**
 * The problem responses of one operation: one component for each status. The description lists the codes of the
 * operation.
 */
export function problemResponses(codes: readonly ErrorCode[]): JsonObject {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = errors[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, own]) => [status, reference(status, own)]));
}

function reference(status: number, codes: readonly ErrorCode[]): JsonObject {
  const name = codes.includes(codeWithMember) ? 'AuthorizationRejected' : nameOf(status);
  return {
    $ref: `#/components/responses/${name}`,
    description: codes.map((code) => `\`${code}\`: ${errors[code].message.en}`).join(' '),
  };
}

function nameOf(status: number): string {
  const name = statusNames[status];
  if (name === undefined) throw new Error(`no name for status ${status}`);
  return name;
}

/** The shared problem responses. @param usedCodes the codes of all operations */
export function problemComponents(usedCodes: ReadonlySet<ErrorCode>): JsonObject {
  const all = [...usedCodes].sort();
  const statuses = [...new Set(all.map((code) => errors[code].status))].sort((a, b) => a - b);
  const responses = statuses.map((status) => {
    const codes = all.filter((code) => errors[code].status === status && code !== codeWithMember);
    return [nameOf(status), response(status, codes, ProblemBody)];
  });
  // `authentication` is optional, because these operations have other problems with the same status.
  const rejected = Type.Object(
    { ...ProblemBody.properties, authentication: Type.Optional(RejectedAuthentication) },
    { title: 'AuthorizationRejectedProblem' },
  );
  return { ...Object.fromEntries(responses), AuthorizationRejected: response(400, [codeWithMember], rejected) };
}

const retriedStatuses = new Set([409, 423, 429, 503]);

function response(status: number, codes: readonly ErrorCode[], schema: object): JsonObject {
  const text = (description: string) => ({ description, schema: { type: 'string' } });
  return {
    description: codes.map((code) => `\`${code}\`: ${errors[code].message.en}`).join(' '),
    headers: {
      'Request-ID': text('The id of this request, also in the log and in problems.'),
      'Content-Language': text('The language of the messages.'),
      ...(status === 401 && {
        'WWW-Authenticate': text('The authentication scheme that the operation needs (RFC 9110).'),
        'DPoP-Nonce': text('The nonce for the next DPoP proof, if the authentication token is bound to a key.'),
      }),
      ...(retriedStatuses.has(status) && {
        'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
      }),
    },
    content: {
      'application/problem+json': {
        schema,
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ErrorCode): JsonObject {
  const { status, message } = errors[code];
  return {
    type: `urn:postern:problem:${code}`,
    title: message.en,
    status,
    detail: message.en,
    request_id: '5f0d7a52-52a6-4f55-8a5b-0d7c0a7f1f3e',
    errors: [{ code, message: message.en }],
    ...(code === codeWithMember && {
      authentication: {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        status: 'pending',
        error_code: 'authorization_rejected',
        error_message: message.en,
      },
    }),
  };
}
