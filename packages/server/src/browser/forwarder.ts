import { UsageError } from '@postern/client/internal';
import type { Connection } from '../connection.js';
import type { Cookie } from './cookies.js';
import { problemResponse } from './problems.js';
import { mayRedirect, objectOf, parseObject, type RedirectBody, withPkce } from './redirects.js';

/** What a handler knows about a request beyond the `Request` itself. */
export interface HandlerContext {
  /** The address of the connection. */
  readonly address?: string | undefined;
}
export interface Target {
  /** The path at Postern, with the query. */
  readonly path: string;
  readonly cookies: {
    readonly login: Cookie;
    readonly device: Cookie;
    /** The login of a guest, until the guest is merged into an account. */
    readonly guest: Cookie;
    readonly redirect: (id: string) => Cookie;
  };
}

/** Postern counts these requests by the address of the client, unless they only read. */
const limitedByAddress = /^\/v1\/(account|recoveries|recovery-cancellations|registrations|tokens)(\/|$)/;

/** Their body may name the device of a login. */
const startsLogin = /^\/v1\/(tokens|registrations\/[^/]+)$/;

/** The handler forwards no other headers of the page. */
const headersToPostern = [
  ...['accept', 'accept-language', 'content-type', 'idempotency-key', 'if-none-match', 'last-event-id', 'prefer'],
];
const headersToPage = [
  ...[
    'cache-control',
    'content-type',
    'etag',
    'idempotent-replayed',
    'preference-applied',
    'request-id',
    'retry-after',
  ],
  ...['vary', 'www-authenticate', 'x-accel-buffering', 'x-total-count', 'x-total-count-capped'],
];
/**
 * The challenge of a 401 for the cookie. After a challenge with Basic, a browser asks for a name and a password in a window of
 * its own, and the page waits until the user closes it.
 */
const cookieChallenge = 'Cookie realm="postern"';
const maxLoginBytes = 65_536;
/** How many logins one logout ends, if other hosts have set cookies. */
const maxEnded = 20;
const yearInSeconds = 31_536_000;

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

  return async function forward(
    request: Request,
    context: HandlerContext,
    { path, cookies }: Target,
  ): Promise<Response> {
    const { method } = request;
    const [route = ''] = path.split('?', 1);
    const cookieHeader = request.headers.get('cookie') ?? undefined;
    const asksForSession = method === 'POST' && route === '/v1/sessions';
    const endsLogin = method === 'DELETE' && route === '/v1/tokens';
    const usesCookie = asksForSession || endsLogin;
    const mergesGuest = method === 'PUT' && route === '/v1/account/guest';
    const guest = cookies.guest.read(cookieHeader);
    const removeGuest = (to: Headers) => {
      if (guest !== undefined) to.append('set-cookie', cookies.guest.remove());
    };
    const removeLogin = (to: Headers) => {
      to.append('set-cookie', cookies.login.remove());
      removeGuest(to);
    };
    if (endsLogin && cookies.login.read(cookieHeader) === undefined) {
      const tokens = cookies.login.readAll(cookieHeader);
      // Which of them is the user's login is unknown, so all of them end.
      await Promise.allSettled(
        tokens.slice(0, maxEnded).map((token) => {
          const headers = { authorization: `Basic ${btoa(`${token}:`)}` };
          return send(base() + path, { method, headers }, request.signal).then((answer) => answer.body?.cancel());
        }),
      );
      const headers = new Headers();
      if (tokens.length > 0) removeLogin(headers);
      return new Response(null, { status: 204, headers });
    }
    const login = usesCookie ? cookies.login.read(cookieHeader) : undefined;
    // A page asks when it loads, and browsers show each 401 in their console as an error.
    const nobody = () =>
      asksForSession
        ? Response.json({ token: null }, { headers: { 'cache-control': 'no-store' } })
        : new Response(null, { status: 204 });
    if (usesCookie && login === undefined) return nobody();

    const headers = new Headers();
    for (const name of headersToPostern) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const address = addressOf?.(request, context);
    if (address) headers.set('x-forwarded-for', address);
    else if (addressOf !== undefined && method !== 'GET' && method !== 'HEAD' && !usesCookie) requireAddressFor(route);
    const bearer = request.headers.get('authorization');
    if (login !== undefined) headers.set('authorization', `Basic ${btoa(`${login}:`)}`);
    else if (bearer !== null && /^bearer /i.test(bearer)) headers.set('authorization', bearer);

    let body: Pick<RequestInit & { duplex?: 'half' }, 'body' | 'duplex'> = {};
    let redirect: RedirectBody | undefined;
    const isStart = method === 'POST' && startsLogin.test(route);
    const hasBody = method !== 'GET' && method !== 'HEAD';
    let asksForGuest = false;
    if (mergesGuest) {
      // Only this handler knows the token of the guest.
      if (guest === undefined) return problemResponse(400, 'guest_rejected', 'This browser has no guest.');
      await request.body?.cancel();
      headers.set('content-type', 'application/json');
      body = { body: JSON.stringify({ token: guest }) };
    } else if (request.body !== null && hasBody && (isStart || mayRedirect(method, route))) {
      const text = await limitedText(request);
      if (text === undefined) return problemResponse(413, 'payload_too_large', 'The body is too large.');
      if (mayRedirect(method, route)) redirect = await withPkce(route, text, cookieHeader, cookies.redirect);
      asksForGuest = isStart && parseObject(text)?.authenticator === 'guest';
      body = { body: withDevice(redirect?.text ?? text, isStart ? cookies.device.read(cookieHeader) : undefined) };
    } else if (request.body !== null && hasBody && !usesCookie) {
      body = { body: request.body, duplex: 'half' };
    }

    const url = base() + path;
    let answer: Response;
    try {
      answer = await send(url, { method, headers, ...body }, request.signal);
    } catch (error) {
      if (request.signal.aborted) throw error;
      const unavailable = problemResponse(503, 'storage_unavailable', 'Postern cannot be reached.', {
        'retry-after': '1',
      });
      // On a shared computer, a logout must work without a network.
      if (endsLogin) removeLogin(unavailable.headers);
      return unavailable;
    }

    const isProblem = /\bproblem\+json\b/.test(answer.headers.get('content-type') ?? '');
    if (usesCookie && answer.status === 401 && isProblem) {
      await answer.body?.cancel();
      const ended = nobody();
      // Not after a request for a session: while it was on its way, another tab may have got a new token.
      if (endsLogin) removeLogin(ended.headers);
      return ended;
    }

    const pageHeaders = new Headers();
    for (const name of headersToPage) {
      const value = answer.headers.get(name);
      if (value !== null) pageHeaders.set(name, value);
    }
    if (/\bbasic\b/i.test(pageHeaders.get('www-authenticate') ?? ''))
      pageHeaders.set('www-authenticate', cookieChallenge);
    const link = answer.headers.get('link');
    if (link !== null)
      pageHeaders.set(
        'link',
        link.replace(/<(?:\/[^>?]*?)?\/v1\//g, () => `<${basePath}/v1/`),
      );
    if (endsLogin) removeLogin(pageHeaders);
    // A guest who has become a user is refused, too.
    if (mergesGuest && (answer.ok || answer.status === 400)) removeGuest(pageHeaders);

    const addRedirectCookies = (answerText: string) => {
      const values = redirect?.cookiesAfter(parseObject(answerText) ?? {}) ?? [];
      for (const value of values) pageHeaders.append('set-cookie', value);
    };
    const mayContainToken = method !== 'GET' && answer.ok && /\bjson\b/.test(answer.headers.get('content-type') ?? '');
    if (!mayContainToken) {
      const hasNoBody = method === 'HEAD' || [204, 205, 304].includes(answer.status);
      if (answer.ok) addRedirectCookies('');
      return new Response(hasNoBody ? null : answer.body, { status: answer.status, headers: pageHeaders });
    }
    const answerText = await answer.text();
    addRedirectCookies(answerText);
    const { text, token, seconds, device } = withoutToken(answerText);
    if (token !== undefined) {
      pageHeaders.append('set-cookie', cookies.login.set(token, seconds));
      if (asksForGuest) pageHeaders.append('set-cookie', cookies.guest.set(token, seconds));
      pageHeaders.set('cache-control', 'no-store');
    }
    if (device !== undefined) pageHeaders.append('set-cookie', cookies.device.set(device, yearInSeconds));
    return new Response(text, { status: answer.status, headers: pageHeaders });
  };
}

/** Without addresses, all users of the app would share the limits of one client. @throws UsageError */
function requireAddressFor(route: string): void {
  if (!limitedByAddress.test(decoded(route))) return;
  throw new UsageError(
    'createBrowserSession does not know the address of the client, so all users would share one limit. Pass `clientAddress`: ' +
      "'proxy' behind your own proxy, a function that returns the address, or 'none' to accept this.",
  );
}

/** The path as the router of Postern reads it. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The body of a login. Undefined if it is too long. */
async function limitedText(request: Request): Promise<string | undefined> {
  if (request.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > maxLoginBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Adds the device of this browser, so that a login is not one on a new device. */
function withDevice(text: string, id: string | undefined): string {
  if (id === undefined) return text;
  const body = parseObject(text);
  const device = body?.device;
  if (typeof device !== 'object' || device === null || 'id' in device) return text;
  return JSON.stringify({ ...body, device: { ...device, id } });
}

/** Takes the authentication token out of an answer. */
function withoutToken(text: string) {
  const body = parseObject(text);
  // A registration answers with the account, and with its first login.
  const nested = objectOf(body?.authentication);
  const login = nested ?? body;
  const token = login?.token;
  if (login === undefined || typeof token !== 'string' || !token.startsWith('psa_')) return { text };
  const { token: _, ...loginForPage } = login;
  const bodyForPage = nested ? { ...body, authentication: loginForPage } : loginForPage;
  const { expires_at: end, device_id: device } = login;
  const secondsLeft = typeof end === 'string' ? Math.floor((Date.parse(end) - Date.now()) / 1000) : Number.NaN;
  return {
    text: JSON.stringify(bodyForPage),
    token,
    seconds: secondsLeft > 0 ? secondsLeft : yearInSeconds,
    device: typeof device === 'string' ? device : undefined,
  };
}
