import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { fieldErrors } from '../../contract/errors/fields.js';
import { fieldHints, problemHints } from '../../contract/errors/hints.js';
import { type ErrorCode, errors } from '../../contract/errors/problems.js';
import type { Language } from '../../contract/errors/text.js';
import type { ProblemBody } from '../../contract/problem.js';
import { dpopAlgorithms } from '../../lib/crypto/dpop-proof.js';
import { formatText, preferredLanguage } from '../../lib/language.js';
import { type FieldError, Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';
import { validationErrors } from './validation.js';

/** The framework's error codes and their codes in this API. */
const frameworkCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed_request',
  FST_ERR_BAD_URL: 'malformed_request',
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: 'malformed_request',
  FST_ERR_HANDLER_TIMEOUT: 'overloaded',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  // The client closed the connection while it sent its body.
  ECONNRESET: 'malformed_request',
};

/** Turns every error of a request into a problem. This is the only place where a failure becomes a response. */
export function problemsPlugin(app: App): void {
  app.setErrorHandler((error: FastifyError, request, reply) => sendProblem(asProblem(error), request, reply));
}

/** Sends a problem (RFC 9457) in the client's language, and logs its private cause. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status } = errors[problem.code];
  if (status >= 500) {
    const level = problem.code === 'internal_error' ? 'error' : 'warn';
    request.log[level](
      { err: problem.options.cause ?? problem, code: problem.code, request_id: request.id },
      'request failed',
    );
  }
  if (status < 500) request.server.noteRefusal(request, problem.code);
  const language = preferredLanguage(request.headers['accept-language']);
  const challenge = status === 401 ? challengeOf(problem.code, request) : undefined;
  if (challenge !== undefined) reply.header('WWW-Authenticate', challenge);
  const retryAfter = problem.options.retryAfter ?? (status === 503 || status === 429 ? 1 : undefined);
  if (retryAfter !== undefined) reply.header('Retry-After', String(Math.max(1, Math.ceil(retryAfter))));
  // The framework closes the connection after a body that is too large. A client that still sends would not get the answer.
  // A body that nothing reads is left to `withUnreadBodies`.
  if (problem.code === 'payload_too_large' && request.raw.readableFlowing === null) reply.removeHeader('connection');
  return reply
    .code(status)
    .headers({ ...problem.options.headers, 'Content-Language': language })
    .type('application/problem+json; charset=utf-8')
    .send(JSON.stringify(problemBody(problem, request.id, language)));
}

/** The body of a problem. `errors` always has an entry, so a client can rely on `errors[0].code`. */
export function problemBody(problem: Problem, requestId: string, language: Language): ProblemBody {
  const { code, options } = problem;
  const { status, message } = errors[code];
  const title = formatText(message, language, options.params);
  const detail =
    options.hint === undefined ? title : `${title} ${formatText(problemHints[options.hint], language, options.params)}`;
  const fieldErrors = options.errors ?? [];
  return {
    type: `urn:postern:problem:${code}`,
    title,
    status,
    detail:
      fieldErrors.length === 0
        ? detail
        : `${detail} ${fieldErrors.map((error) => describe(error, language)).join(' ')}`,
    request_id: requestId,
    errors:
      fieldErrors.length === 0
        ? [{ code, message: detail }]
        : fieldErrors.map((error) => fieldProblem(error, language)),
    ...options.members,
  };
}

function fieldProblem({ field, code, params, hint }: FieldError, language: Language) {
  const text = formatText(fieldErrors[code], language, params);
  const message = hint === undefined ? text : `${text} ${formatText(fieldHints[hint], language)}`;
  return field === undefined ? { code, message } : { field, code, message };
}

function describe(error: FieldError, language: Language): string {
  const { message } = fieldProblem(error, language);
  return error.field === undefined ? message : `${error.field}: ${message}`;
}

/** Any thrown error as a problem. An unexpected error becomes `internal_error`; only the log shows its cause. */
export function asProblem(error: FastifyError | Error): Problem {
  if (error instanceof Problem) return error;
  const { validation, code, statusCode = 500 } = error as Partial<FastifyError>;
  if (validation !== undefined) return new Problem('validation_failed', { errors: validationErrors(validation) });
  const problem = code === undefined ? undefined : frameworkCodes[code];
  if (problem !== undefined) return new Problem(problem, { cause: error });
  // The framework or a plugin refused the request with a code that is not in the list above.
  if (statusCode === 403 || statusCode === 404) return new Problem('not_found', { cause: error });
  if (statusCode >= 400 && statusCode < 500) return new Problem('malformed_request', { cause: error });
  return new Problem('internal_error', { cause: error });
}

/** WWW-Authenticate (RFC 9110, 11.6.1; for Bearer RFC 6750, 3; for DPoP RFC 9449, 7.1). */
function challengeOf(code: ErrorCode, request: FastifyRequest): string {
  if (code === 'invalid_dpop_proof' || code === 'use_dpop_nonce') {
    return `DPoP realm="postern", error="${code}", algs="${dpopAlgorithms.join(' ')}"`;
  }
  if (request.routeOptions.config?.access === 'authentication-token') return 'Basic realm="postern", charset="UTF-8"';
  const isInvalid = ['invalid_session_token', 'invalid_api_key', 'invalid_authorization_header'].includes(code);
  return isInvalid ? 'Bearer realm="postern", error="invalid_token"' : 'Bearer realm="postern"';
}
