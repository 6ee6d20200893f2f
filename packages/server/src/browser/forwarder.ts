import type { Connection } from '../connection.js';
import { answerToPage, nobody, removeLogin } from './page-answer.js';
import {
  basic,
  bodyToPosternOf,
  type HandlerContext,
  headersToPosternOf,
  type PageRequest,
  readPageRequest,
  type Target,
} from './page-request.js';
import { problemResponse } from './problems.js';

/** How many logins one logout ends, if other hosts have set cookies. */
const maxEnded = 20;

/** Forwards requests of a page to Postern, and keeps authentication tokens in the cookie. */
export function createForwarder({
  connection: { base, fetch, timeout },
  basePath,
  addressOf,
}: {
  readonly connection: Pick<Connection, 'base' | 'fetch' | 'timeout'>;
  readonly basePath: string;
  /** Undefined if the app has no addresses of clients to give. */
  readonly addressOf: ((request: Request, context: HandlerContext) => string | null | undefined) | undefined;
}) {
  /** The time limit ends when the answer begins, because streams have no end. */
  async function send(url: string, init: RequestInit & { duplex?: 'half' }, signal: AbortSignal): Promise<Response> {
    const controller = new AbortController();
    const abort = () => controller.abort();
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    const timer = setTimeout(abort, timeout);
    try {
      return await fetch(url, { ...init, signal: controller.signal, redirect: 'manual' });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends all logins of a browser that has sent several. Which of them is the user's is unknown. */
  async function endAll(page: PageRequest): Promise<Response> {
    const tokens = page.cookies.login.readAll(page.cookieHeader);
    await Promise.allSettled(
      tokens.slice(0, maxEnded).map(async (token) => {
        const init = { method: 'DELETE', headers: { authorization: basic(token) } };
        const answer = await send(base() + page.path, init, page.request.signal);
        await answer.body?.cancel();
      }),
    );
    const headers = new Headers();
    if (tokens.length > 0) removeLogin(page, headers);
    return new Response(null, { status: 204, headers });
  }

  return async function forward(request: Request, context: HandlerContext, target: Target): Promise<Response> {
    const page = readPageRequest(request, target);
    const { endsLogin, usesCookie } = page;
    if (usesCookie && page.login === undefined) return endsLogin ? endAll(page) : nobody(page);
    const address = addressOf === undefined ? undefined : addressOf(request, context) || null;
    const headers = headersToPosternOf(page, address);
    const body = await bodyToPosternOf(page);
    if (body instanceof Response) return body;
    if (body.contentType !== undefined) headers.set('content-type', body.contentType);

    const url = base() + page.path;
    let answer: Response;
    try {
      answer = await send(url, { method: request.method, headers, ...body.init }, request.signal);
    } catch (error) {
      if (request.signal.aborted) throw error;
      const retry = { 'retry-after': '1' };
      const unavailable = problemResponse(503, 'storage_unavailable', 'Postern cannot be reached.', retry);
      // On a shared computer, a logout must work without a network.
      if (endsLogin) removeLogin(page, unavailable.headers);
      return unavailable;
    }

    const isProblem = /\bproblem\+json\b/.test(answer.headers.get('content-type') ?? '');
    if (usesCookie && answer.status === 401 && isProblem) {
      await answer.body?.cancel();
      const ended = nobody(page);
      // Not after a request for a session: while it was on its way, another tab may have got a new token.
      if (endsLogin) removeLogin(page, ended.headers);
      return ended;
    }
    return answerToPage(page, answer, body, basePath);
  };
}
