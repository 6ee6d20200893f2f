import {
  type Device,
  type HeldSession,
  isProblem,
  type Page,
  type Snapshot,
  type SnapshotParts,
} from '@postern/client';
import { type Call, filterText, UsageError } from '@postern/client/internal';
import { connectionOf, createLazyTransport } from '../connection.js';
import type { PosternServer } from '../server.js';
import { headersOf, type RequestLike } from '../sessions/tokens.js';
import { type CookieOptions, createCookie } from './cookies.js';
import { createForwarder } from './forwarder.js';
import type { HandlerContext } from './page-request.js';
import { problemResponse } from './problems.js';

export interface BrowserSessionOptions {
  /** Where the handler is mounted, such as `/auth`. It is the `url` of the client in the page. */
  readonly basePath: `/${string}`;
  /**
   * The origin that browsers see, such as `https://app.example.com`. Set it behind a proxy that ends TLS: headers of proxies are not
   * trusted. By default the origin of each request.
   */
  readonly origin?: string | undefined;
  /** Other origins whose pages may use the handler. All others get 403. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly cookie?: CookieOptions | undefined;
  /**
   * Where the address of the client comes from, which Postern limits and records. `socket`, the default: from the connection.
   * `expressHandler` and `fastifyHandler` pass it; otherwise pass it to `handler(request, { address })`. `proxy`: the last one in
   * `X-Forwarded-For`, behind a proxy of your own. Postern must trust your backend: name it in `TRUST_PROXY`. Without an address, the first
   * request that Postern limits by address throws. `none`: all users share these limits.
   */
  readonly clientAddress?: 'socket' | 'proxy' | 'none' | ((request: Request) => string | null | undefined) | undefined;
}

export type RouteHandler = (request: Request, context?: HandlerContext) => Promise<Response>;

/** A session of a browser, without its token. `verify` also finds the roles and claims of its user. */
export type PageSession = Omit<HeldSession, 'token'>;

/** The logins of browsers, kept in cookies. */
export interface BrowserSession {
  readonly basePath: string;
  /** As in the options. */
  readonly origin: string | undefined;
  /** Answers the requests under `basePath`: logins, sessions, and the API of the user, with streams. */
  readonly handler: RouteHandler;
  /** The handler by method, for routers of files. The second argument of such a router is not used. */
  readonly routes: Readonly<
    Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', (request: Request) => Promise<Response>>
  >;
  /**
   * The session of a page's visitor, by the cookie. Null if there is none. Calls with the same request object share one session. Use it to
   * read only: changes need a session token. Set `origin`: otherwise Postern may not know that the page uses https, and accepts a cookie
   * of plain http. Another host of the same domain could have set this cookie, and the page then shows the account of somebody else.
   */
  readonly session: (request: RequestLike) => Promise<PageSession | null>;
  /**
   * Like `session`, with data for the first rendering of a page: JSON without tokens, such as for `PosternProvider` of `@postern/react`.
   * Only the parts that you name are read.
   */
  readonly snapshot: <Parts extends SnapshotParts>(request: RequestLike, parts: Parts) => Promise<Snapshot<Parts>>;
}

/**
 * Keeps the login of a browser in an HttpOnly cookie. The page uses `createPostern({ url: '/auth', storage: 'backend' })`: it gets session
 * tokens, and never the authentication token.
 *
 * @example
 * ```ts
 * import { createBrowserSession, createPosternServer, expressHandler, fastifyHandler } from '@postern/server';
 * import express from 'express';
 * import { fastify } from 'fastify';
 *
 * const postern = createPosternServer({ url: 'https://auth.example.com' });
 * const auth = createBrowserSession(postern, { basePath: '/auth', origin: 'https://app.example.com' });
 *
 * // Express, before parsers of bodies
 * express().use(expressHandler(auth));
 * // Fastify
 * fastify().register(fastifyHandler(auth));
 * // Next.js: app/auth/[...path]/route.ts
 * export const { GET, POST, PUT, PATCH, DELETE } = auth.routes;
 * ```
 * @throws UsageError for options that make no sense
 */
export function createBrowserSession(postern: PosternServer, options: BrowserSessionOptions): BrowserSession {
  return createBrowser(postern, options).session;
}

/** A browser session, and two functions for the adapters of frameworks. */
export interface Browser {
  readonly session: BrowserSession;
  /** Sends a request to Postern for the visitor of a page, as the handler does. Only for requests that the app has checked. */
  readonly send: (request: Request, path: string, context?: HandlerContext) => Promise<Response>;
  /** The cookie of a login in the header `Cookie`. */
  readonly loginIn: (request: RequestLike) => string | undefined;
}

export function createBrowser(postern: PosternServer, options: BrowserSessionOptions): Browser {
  const connection = connectionOf(postern);
  const { basePath, allowedOrigins = [], cookie = {} } = options;
  if (!/^(\/[\w.~-]+)+$/.test(basePath ?? '')) {
    throw new UsageError("`basePath` must be the path where the handler is mounted, such as '/auth'.");
  }
  const ownOrigin = options.origin === undefined ? undefined : originOf(options.origin);
  const allowed = allowedOrigins.map(originOf);
  const transport = createLazyTransport(connection);
  const cookiesOf = (isSecure: boolean) => ({
    login: createCookie(isSecure, 'login', cookie),
    device: createCookie(isSecure, 'device', cookie),
    guest: createCookie(isSecure, 'guest', cookie),
    redirect: (id: string) => createCookie(isSecure, `redirect-${id}`, cookie),
  });
  const secureCookies = cookiesOf(true);
  const insecureCookies = cookiesOf(false);
  const forward = createForwarder({
    connection,
    basePath,
    addressOf: addressReader(options.clientAddress ?? 'socket'),
  });
  const originFor = (url: string) => ownOrigin ?? new URL(url).origin;

  const send: Browser['send'] = (request, path, context = {}) =>
    forward(request, context, {
      path,
      cookies: originFor(request.url).startsWith('https:') ? secureCookies : insecureCookies,
    });

  const handler: RouteHandler = async (request, context) => {
    const url = new URL(request.url);
    const path = url.pathname.startsWith(`${basePath}/v1/`) ? url.pathname.slice(basePath.length) : undefined;
    if (path === undefined) return problemResponse(404, 'not_found', 'There is nothing here.');
    if (!isFromOwnPage(request, [originFor(request.url), ...allowed])) {
      return problemResponse(403, 'foreign_origin', 'This request came from another site.');
    }
    return send(request, path + url.search, context);
  };
  const route = (request: Request) => handler(request);

  function loginIn(request: RequestLike): string | undefined {
    const header = headersOf(request)('cookie');
    const origin = ownOrigin ?? shownOrigin(request);
    return secureCookies.login.read(header) ?? (mayBeInsecure(origin) ? insecureCookies.login.read(header) : undefined);
  }

  const sessionFor = createSessionReader(transport, loginIn);
  const session: BrowserSession = {
    basePath,
    origin: ownOrigin,
    handler,
    routes: { GET: route, POST: route, PUT: route, PATCH: route, DELETE: route },
    async session(request) {
      const found = await sessionFor(request);
      return found && withoutToken(found);
    },
    async snapshot(request, parts) {
      const found = await sessionFor(request);
      return found === null ? { session: null } : readSnapshot(transport, found, parts);
    },
  };
  return { session, send, loginIn };
}

type Transport = ReturnType<typeof createLazyTransport>;

/**
 * @returns a function that reads the session of the cookie of a request; null without a valid cookie. One page gets one session, however
 * often it asks
 */
function createSessionReader(transport: Transport, loginIn: Browser['loginIn']) {
  const created = new WeakMap<object, { readonly token: string; readonly session: Promise<HeldSession | null> }>();

  async function createSession(token: string): Promise<HeldSession | null> {
    try {
      const authorization = `Basic ${btoa(`${token}:`)}`;
      return await transport.json<HeldSession>({
        method: 'POST',
        path: '/v1/sessions',
        authorization,
        expects: 'token',
      });
    } catch (error) {
      if (isProblem(error) && error.status === 401) return null;
      throw error;
    }
  }
  return async (request: RequestLike): Promise<HeldSession | null> => {
    const token = loginIn(request);
    if (token === undefined) return null;
    const key = requestOf(request);
    const former = created.get(key);
    // The cookie of a request changes if the request itself logs in or out.
    if (former?.token === token) return former.session;
    const session = createSession(token);
    created.set(key, { token, session });
    session.catch(() => created.delete(key));
    return session;
  };
}

/** Reads the parts that a page asks for, at the same time. */
async function readSnapshot<Parts extends SnapshotParts>(
  transport: Transport,
  session: HeldSession,
  { account, inbox, devices }: Parts,
): Promise<Snapshot<Parts>> {
  const authorization = `Bearer ${session.token}`;
  const read = <T>(path: string, query: NonNullable<Call['query']> = {}) =>
    transport.json<T>({ path, query, authorization });
  const { filter, limit } = inbox === true ? {} : (inbox ?? {});
  const [details, page, marker, deviceList] = await Promise.all([
    account && read('/v1/account'),
    inbox && read('/v1/notifications/page', { filter: filterText(filter), limit }),
    inbox && read('/v1/notifications/marker'),
    devices && read<Page<Device>>('/v1/devices/page', { limit: 100 }),
  ]);
  const snapshot: object = {
    session: withoutToken(session),
    ...(account && { account: details }),
    ...(inbox && { inbox: { page, marker, ...(filter !== undefined && { filter }) } }),
    ...(deviceList && { devices: deviceList.data }),
  };
  return snapshot as Snapshot<Parts>;
}

/**
 * The object that identifies a request. Next.js has no such object. There, it is the object of the headers: each call may get another
 * object around it.
 */
function requestOf(request: RequestLike): object {
  const { headers } = 'headers' in request ? request : request.raw;
  return typeof headers.get === 'function' ? headers : request;
}

const withoutToken = ({ token: _, ...session }: HeldSession): PageSession => session;

/**
 * What a request shows of the origin. The URL of a `Request` has all of it. The socket of a request of Node.js only shows whether it used
 * TLS.
 */
function shownOrigin(request: RequestLike): string | undefined {
  const { url, socket } = request as RequestLike & { readonly url?: unknown; readonly socket?: unknown };
  if (typeof url === 'string' && /^https?:/.test(url)) return url;
  const isEncrypted =
    typeof socket === 'object' && socket !== null && 'encrypted' in socket && socket.encrypted === true;
  return isEncrypted ? 'https:' : undefined;
}

/** Without a known origin, the request may be plain http, as on a developer's machine. */
const mayBeInsecure = (origin: string | undefined) => origin === undefined || origin.startsWith('http:');

function originOf(text: string): string {
  try {
    const { origin, protocol } = new URL(text);
    if (/^https?:$/.test(protocol) && origin === text.replace(/\/$/, '')) return origin;
  } catch {}
  throw new UsageError(`"${text}" is no origin. An origin is such as 'https://app.example.com'.`);
}

/**
 * Whether a page of the own origin sent a request. Browsers send cookies with requests of other sites too, but no site can choose
 * these headers. A request without them does not come from a current browser, so it is refused.
 */
function isFromOwnPage({ method, headers }: Request, origins: readonly string[]): boolean {
  if (method === 'GET' || method === 'HEAD') return true;
  const origin = headers.get('origin');
  if (origin !== null && origins.slice(1).includes(origin)) return true;
  const site = headers.get('sec-fetch-site');
  return site === null ? origin !== null && origins.includes(origin) : site === 'same-origin';
}

function addressReader(from: NonNullable<BrowserSessionOptions['clientAddress']>) {
  if (typeof from === 'function') return from;
  if (from === 'none') return undefined;
  if (from === 'socket') return (_: Request, { address }: HandlerContext) => address;
  if (from === 'proxy') return ({ headers }: Request) => headers.get('x-forwarded-for')?.split(',').at(-1)?.trim();
  throw new UsageError("`clientAddress` must be 'socket', 'proxy', 'none' or a function.");
}
