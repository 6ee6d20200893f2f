import { Type } from 'typebox';
import { RejectedAuthentication } from '../../contract/authentication.js';
import { type ErrorCode, errors } from '../../contract/errors/problems.js';
import { HumanCheckChallenge, ProblemBody } from '../../contract/problem.js';
import { PublicationState } from '../../contract/publication.js';
import type { JsonObject } from './json-schema.js';

/** The names that RFC 9110 and RFC 4918 give to the statuses of problems. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  423: 'Locked',
  428: 'PreconditionRequired',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
  507: 'InsufficientStorage',
};

/** The problems with these codes have one more member, so their responses are separate components. */
const withMember = {
  authorization_rejected: { name: 'AuthorizationRejected', members: { authentication: RejectedAuthentication } },
  publication_started: { name: 'PublicationStarted', members: { publication: PublicationState } },
  publication_state: { name: 'PublicationStateConflict', members: { publication: PublicationState } },
  human_check_required: { name: 'HumanCheckRequired', members: { human_check: HumanCheckChallenge } },
} as const satisfies Partial<Record<ErrorCode, { readonly name: string; readonly members: object }>>;
const hasMember = (code: ErrorCode): code is keyof typeof withMember => Object.hasOwn(withMember, code);

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
  const special = codes.find(hasMember);
  const name = special === undefined ? nameOf(status) : withMember[special].name;
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
    const codes = all.filter((code) => errors[code].status === status && !hasMember(code));
    return [nameOf(status), response(status, codes, ProblemBody)];
  });
  // The member is optional, because these operations have other problems with the same status.
  const special = Object.entries(withMember).map(([code, { name, members }]) => {
    const [[member, schema] = ['', {}]] = Object.entries(members);
    const properties = { ...ProblemBody.properties, [member]: Type.Optional(schema) };
    const problem = Type.Object(properties, { title: `${name}Problem` });
    return [name, response(errors[code as ErrorCode].status, [code as ErrorCode], problem)];
  });
  return { ...Object.fromEntries(responses), ...Object.fromEntries(special) };
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

const exampleChallenge = {
  type: 'altcha',
  challenge: {
    algorithm: 'SHA-256',
    challenge: '0b3a4c2f6e5d7a8b9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6b7c8d9e0f1a2b',
    maxnumber: 50_000,
    salt: '5d8f2b1c9e3a7f604b2d8c1e?expires=1508433422',
    signature: '9f1c2b3a4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8',
  },
};

function exampleOf(code: ErrorCode): JsonObject {
  const { status, message } = errors[code];
  return {
    type: `urn:postern:problem:${code}`,
    title: message.en,
    status,
    detail: message.en,
    request_id: '5f0d7a52-52a6-4f55-8a5b-0d7c0a7f1f3e',
    errors: [{ code, message: message.en }],
    ...(code === 'human_check_required' && { human_check: exampleChallenge }),
    ...(code === 'authorization_rejected' && {
      authentication: {
        id: '2c1f8f6e-6f0b-4b9e-9a53-4b7a1d0b8a53',
        status: 'pending',
        error_code: 'authorization_rejected',
        error_message: message.en,
      },
    }),
  };
}
