import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, errors } from '../contract/errors/problems.js';
import { Problem } from '../lib/problem.js';
import type { RequestObserver } from '../statistics/meters.js';
import { problemBody } from './plugins/problems.js';

/** The errors of Node's parser that have a code of their own. All others are `malformed_request`. */
const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

/** Called with the status of each answer to a request that no route has seen, so that it is counted too. */
type OnRefused = (requestId: string, status: number) => void;

/** Reports requests that no route has seen to the observer. */
export function observeRefused(observe: RequestObserver | undefined, method = 'unknown'): OnRefused {
  return (requestId, status) =>
    observe?.({
      requestId,
      method,
      route: 'unmatched',
      status,
      duration: undefined,
      isStream: false,
      userId: undefined,
      keyId: undefined,
      address: undefined,
    });
}

/** Answers input that is no valid request (bad framing, headers too large or too slow) and closes the connection. */
export function answerBrokenRequest(
  error: { code?: string },
  socket: Socket,
  always: Readonly<Record<string, string>>,
  onRefused: OnRefused,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { requestId, status, headers, body } = bareProblem(codes[error.code ?? ''] ?? 'malformed_request', always);
  onRefused(requestId, status);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}`, ...lines, '', body].join('\r\n'));
}

/** Answers requests with an `Expect` other than `100-continue`. Node passes them here before routing. */
export const answerUnmetExpectation =
  (always: Readonly<Record<string, string>>, onRefused: OnRefused) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    const { requestId, status, headers, body } = bareProblem('expectation_failed', always);
    onRefused(requestId, status);
    response.writeHead(status, headers).end(body);
  };

/** A problem as a response without a Fastify request. @param always the headers of every response */
function bareProblem(
  code: ErrorCode,
  always: Readonly<Record<string, string>>,
): {
  requestId: string;
  status: number;
  headers: Record<string, string>;
  body: string;
} {
  const requestId = randomUUID();
  const body = JSON.stringify(problemBody(new Problem(code), requestId, 'en'));
  return {
    requestId,
    status: errors[code].status,
    headers: {
      ...always,
      'content-type': 'application/problem+json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'request-id': requestId,
      connection: 'close',
    },
    body,
  };
}
