import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type Session, sessionHeadersOf } from '../../contract/session.js';
import { isPlainJsonType, maxCredentials } from '../../lib/http-headers.js';
import type { Counters } from '../../statistics/counters.js';
import type { Meters, RequestObserver } from '../../statistics/meters.js';
import type { SessionVerifier } from '../verifier.js';

/**
 * Answers plain requests to verify a session before the framework sees them (decision 45). Every other request goes to
 * the routes: a request with anything unusual in it, one whose session is invalid, and one whose check ends with an
 * error. So only the routes refuse requests.
 */
export interface VerifyHandler {
  /** Wraps the listener of the routes. */
  listener(routes: RequestListener): RequestListener;
  /** The check that this handler began for a request. The route uses its result and does not check again. */
  checkOf(request: IncomingMessage): Promise<Session> | undefined;
  /** From now on the routes answer all requests, because only they announce that the connection will close. */
  close(): void;
}

/** Blocks of addresses and limits of requests. A request that is not admitted goes to the routes, which refuse it. */
export interface FastPathAdmission {
  admits(request: IncomingMessage): boolean;
  admitsSession(request: IncomingMessage, sessionId: string): boolean;
  /** Further headers of the response: names and values in turn. */
  headersOf(request: IncomingMessage): readonly string[];
}

export interface VerifyHandlerOptions {
  /** The headers of every response of the routes, by lower-case name, in their order. */
  readonly headers: Readonly<Record<string, string>>;
  readonly admission: FastPathAdmission;
  /** False: the routes answer all requests. */
  readonly isOpen: boolean;
  readonly counters: Counters;
  /** Reads the address of the client, for `onAnswered`. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Whether the routes refuse requests that came to the proxy by plain http. */
  readonly demandsHttps: boolean;
  /** Undefined without metrics. */
  readonly meters: Pick<Meters, 'sessionChecked'> | undefined;
  /** Called for each request that this handler has answered. */
  readonly onAnswered: RequestObserver | undefined;
  /** Called for each such request before it is answered. Undefined without tracing. */
  readonly onMatched?: ((request: IncomingMessage, route: string, requestId: string) => void) | undefined;
}

/** Creates the handler in front of the framework: see `VerifyHandler`. */
export function createVerifyHandler(verifier: SessionVerifier, options: VerifyHandlerOptions): VerifyHandler {
  let { isOpen } = options;
  const { counters, meters, onAnswered, onMatched, admission } = options;
  const headers = Object.entries(options.headers).flat();
  const checks = new WeakMap<IncomingMessage, Promise<Session>>();
  const formOf = createFormCache();

  /** @param since when the request arrived, by `performance.now()` */
  function respond(session: Session, request: IncomingMessage, response: ServerResponse, since: number): void {
    try {
      const { json, sessionHeaders } = formOf(session);
      const requestId = randomUUID();
      onMatched?.(request, path, requestId);
      response.writeHead(200, [
        ...headers,
        ...admission.headersOf(request),
        'request-id',
        requestId,
        ...(request.method === 'GET' ? sessionHeaders : []),
        'content-type',
        'application/json; charset=utf-8',
        'content-length',
        String(json.length),
      ]);
      response.write(json, 'latin1');
      // After `uncork`, head and body go out as one string. `end(json)` would send a list of two buffers in Node.js 20, which costs a
      // microsecond more.
      response.socket?.uncork();
      response.end();
      counters.add('sessions.verified');
      meters?.sessionChecked('valid');
      onAnswered?.({
        requestId,
        method: request.method ?? '',
        route: path,
        status: 200,
        duration: performance.now() - since,
        isStream: false,
        userId: session.user_id,
        keyId: undefined,
        address: options.addressOf(request),
      });
    } catch (error) {
      // Nothing awaits this function: an error thrown here would end the process.
      response.destroy(error as Error);
    }
  }

  return {
    listener: (routes) => (request, response) => {
      const isPassedOn = !isOpen || (options.demandsHttps && mayBePlain(request));
      const token = isPassedOn ? undefined : tokenOfPlainRequest(request);
      if (token === undefined || !admission.admits(request)) return routes(request, response);
      const since = onAnswered === undefined ? 0 : performance.now();
      const check = verifier.verify(token);
      const passOn = () => {
        checks.set(request, check);
        routes(request, response);
      };
      check.then((session) => {
        const isAnswered = isOpen && admission.admitsSession(request, session.id);
        return isAnswered ? respond(session, request, response, since) : passOn();
      }, passOn);
    },
    checkOf: (request) => checks.get(request),
    close() {
      isOpen = false;
    },
  };
}

/** The parts of a response that depend only on the session. */
interface SessionForm {
  /** The bytes of the JSON in UTF-8, one character for each byte: claims can have any character. */
  readonly json: string;
  /** Names and values alternate. */
  readonly sessionHeaders: readonly string[];
}

/** A cached session is the same object at each check, so its JSON and its headers are created once. */
function createFormCache(): (session: Session) => SessionForm {
  const cache = new WeakMap<Session, SessionForm>();
  return (session) => {
    const cached = cache.get(session);
    if (cached !== undefined) return cached;
    const json = Buffer.from(JSON.stringify(session)).toString('latin1');
    const form = { json, sessionHeaders: Object.entries(sessionHeadersOf(session)).flat() };
    cache.set(session, form);
    return form;
  };
}

/** Whether a proxy may have got the request by plain http. */
const mayBePlain = ({ headers }: IncomingMessage) => (headers['x-forwarded-proto'] ?? 'https') !== 'https';

const path = '/v1/sessions/verify';

/**
 * The token of a plain request. Undefined for every other request, including those to refuse. It reads `rawHeaders`,
 * because Node.js silently keeps only one of several headers with the same name.
 */
function tokenOfPlainRequest({ url, method, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const isVerify = url === path && (method === 'POST' || method === 'GET');
  if (!isVerify || httpVersion !== '1.1') return undefined;
  let hosts = 0;
  let authorization: string | undefined;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const value = rawHeaders[index + 1] ?? '';
    switch (rawHeaders[index]?.toLowerCase()) {
      case 'host':
        hosts += 1;
        break;
      case 'authorization':
        if (authorization !== undefined || value.length > maxCredentials) return undefined;
        authorization = value;
        break;
      case 'content-length':
        if (value !== '0') return undefined;
        break;
      case 'content-type':
        if (!isPlainJsonType(value)) return undefined;
        break;
      case 'transfer-encoding':
      case 'content-encoding':
      case 'idempotency-key':
      case 'postern-client-address':
      case 'origin':
        return undefined;
    }
  }
  return hosts === 1 && authorization?.startsWith('Bearer pss_') === true ? authorization.slice(7) : undefined;
}
