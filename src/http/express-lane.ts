import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Session } from '../contract/session.js';
import { maxCredentials, type Verifiers } from './plugins/authorization.js';
import { isPlainJsonType } from './plugins/json-body.js';

/**
 * Checks of sessions that hold, answered before the framework has a part in them: of what they cost it would be a fifth.
 * Every other request goes on to the routes, and so do a check that is in any way out of the ordinary, one that the
 * session does not pass, and one that fails: what is refused is refused in one place.
 */
export interface ExpressLane {
  /** Stands in front of the listener that serves all routes. */
  listener(routes: RequestListener): RequestListener;
  /** The check that a request has begun with here, for the authorization of its route to go on from. */
  checkOf(request: IncomingMessage): Promise<Session> | undefined;
  /** From now on routes answer everything: only they tell clients that connections come to their end. */
  close(): void;
}

export interface ExpressLaneOptions {
  /** Those that every answer of the routes carries, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it begins with answering. */
  readonly isOpen: boolean;
}

export function createExpressLane(
  { verifySession }: Pick<Verifiers, 'verifySession'>,
  options: ExpressLaneOptions,
): ExpressLane {
  let { isOpen } = options;
  const headers = [...Object.entries(options.headers).flat(), 'content-type', 'application/json; charset=utf-8'];
  const checks = new WeakMap<IncomingMessage, Promise<Session>>();
  const textOf = createTexts();

  function answer(session: Session, response: ServerResponse): void {
    try {
      const text = textOf(session);
      response.writeHead(200, [...headers, 'request-id', randomUUID(), 'content-length', String(text.length)]);
      response.write(text, 'latin1');
      // Sends the head and the text as one string. Node.js 20 would send what `end` is given as a list of two, which
      // costs a microsecond more; 24 would not.
      response.socket?.uncork();
      response.end();
    } catch (error) {
      // Nobody waits for this, and what is thrown here would end the process.
      response.destroy(error as Error);
    }
  }

  return {
    listener: (routes) => (request, response) => {
      const token = isOpen ? plainCheck(request) : undefined;
      if (token === undefined) return routes(request, response);
      const check = verifySession(token);
      const goOn = () => {
        checks.set(request, check);
        routes(request, response);
      };
      check.then((session) => (isOpen ? answer(session, response) : goOn()), goOn);
    },
    checkOf: (request) => checks.get(request),
    close() {
      isOpen = false;
    },
  };
}

/**
 * A session that is remembered is the same object whenever it is checked: its text is made once. All of the object is sent,
 * and nothing in it is anything but ASCII: `sessionOf` in session-checks.ts makes it of ids and times.
 */
function createTexts(): (session: Session) => string {
  const texts = new WeakMap<Session, string>();
  return (session) => {
    const kept = texts.get(session);
    if (kept !== undefined) return kept;
    const text = JSON.stringify(session);
    texts.set(session, text);
    return text;
  };
}

/**
 * The token of a check that says nothing else that a route would look at; `undefined` for any other request, including
 * those that are to be refused. By `rawHeaders`: of several headers Node keeps one silently.
 */
function plainCheck({ url, method, httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  if (url !== '/v1/sessions/verify' || (method !== 'POST' && method !== 'GET') || httpVersion !== '1.1')
    return undefined;
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
      case 'origin':
        return undefined;
    }
  }
  return hosts === 1 && authorization?.startsWith('Bearer pss_') === true ? authorization.slice(7) : undefined;
}
