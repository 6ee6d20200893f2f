import { UsageError } from '@postern/client/internal';
import type { Cookie } from './cookies.js';
import { problemResponse } from './problems.js';
import { mayRedirect, parseObject, type RedirectBody, withPkce } from './redirects.js';

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

/** A request of a page: what it does with the login, and what its cookies contain. */
export interface PageRequest {
  readonly request: Request;
  /** The path at Postern, with the query. */
  readonly path: string;
  /** The path without the query. */
  readonly route: string;
  readonly cookies: Target['cookies'];
  readonly cookieHeader: string | undefined;
  readonly asksForSession: boolean;
  readonly endsLogin: boolean;
  /** Whether it is sent with the token in the cookie. */
  readonly usesCookie: boolean;
  readonly mergesGuest: boolean;
  /** The token of the login. Undefined: there is none, or the request does not use it. */
  readonly login: string | undefined;
  /** The token of a guest. */
  readonly guest: string | undefined;
}

/** What is sent to Postern in addition to the headers of the page. */
export interface ForwardedBody {
  readonly init: Pick<RequestInit & { duplex?: 'half' }, 'body' | 'duplex'>;
  readonly contentType?: string;
  /** The redirect that the request begins or ends. */
  readonly redirect?: RedirectBody | undefined;
  /** Whether it starts the login of a guest. */
  readonly asksForGuest: boolean;
}

/** Postern counts these requests by the address of the client, unless they only read. */
const limitedByAddress = /^\/v1\/(account|recoveries|recovery-cancellations|registrations|tokens)(\/|$)/;

/** Their body may name the device of a login. */
const startsLogin = /^\/v1\/(tokens|registrations\/[^/]+)$/;

/** The handler forwards no other headers of the page. */
const headersToPostern = [
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-none-match',
  'last-event-id',
  'prefer',
];
const maxLoginBytes = 65_536;

/** Reads what the forwarder has to know about a request. */
export function readPageRequest(request: Request, { path, cookies }: Target): PageRequest {
  const { method } = request;
  const [route = ''] = path.split('?', 1);
  const cookieHeader = request.headers.get('cookie') ?? undefined;
  const asksForSession = method === 'POST' && route === '/v1/sessions';
  const endsLogin = method === 'DELETE' && route === '/v1/tokens';
  const usesCookie = asksForSession || endsLogin;
  return {
    request,
    path,
    route,
    cookies,
    cookieHeader,
    asksForSession,
    endsLogin,
    usesCookie,
    mergesGuest: method === 'PUT' && route === '/v1/account/guest',
    login: usesCookie ? cookies.login.read(cookieHeader) : undefined,
    guest: cookies.guest.read(cookieHeader),
  };
}

/** The header `authorization` of a token. */
export const basic = (token: string): string => `Basic ${btoa(`${token}:`)}`;

/**
 * The headers for Postern.
 *
 * @param address of the client. Null: it is missing, which requests that Postern counts by address do not allow
 * @throws UsageError
 */
export function headersToPosternOf(page: PageRequest, address: string | null | undefined): Headers {
  const { request, login } = page;
  const headers = copyOf(request.headers, headersToPostern);
  if (address) headers.set('x-forwarded-for', address);
  else if (address === null && !onlyReads(request) && !page.usesCookie) requireAddressFor(page.route);
  const bearer = request.headers.get('authorization');
  if (login !== undefined) headers.set('authorization', basic(login));
  else if (bearer !== null && /^bearer /i.test(bearer)) headers.set('authorization', bearer);
  return headers;
}

/** The body for Postern, or an answer that refuses the request. */
export async function bodyToPosternOf(page: PageRequest): Promise<ForwardedBody | Response> {
  const { request, route, cookies, cookieHeader, guest } = page;
  if (page.mergesGuest) {
    // Only this handler knows the token of the guest.
    if (guest === undefined) return problemResponse(400, 'guest_rejected', 'This browser has no guest.');
    await request.body?.cancel();
    const init = { body: JSON.stringify({ token: guest }) };
    return { init, contentType: 'application/json', asksForGuest: false };
  }
  const isStart = request.method === 'POST' && startsLogin.test(route);
  const redirects = mayRedirect(request.method, route);
  if (request.body !== null && !onlyReads(request) && (isStart || redirects)) {
    const text = await limitedText(request);
    if (text === undefined) return problemResponse(413, 'payload_too_large', 'The body is too large.');
    const redirect = redirects ? await withPkce(route, text, cookieHeader, cookies.redirect) : undefined;
    const body = withDevice(redirect?.text ?? text, isStart ? cookies.device.read(cookieHeader) : undefined);
    return { init: { body }, redirect, asksForGuest: isStart && parseObject(text)?.authenticator === 'guest' };
  }
  const streams = request.body !== null && !onlyReads(request) && !page.usesCookie;
  return { init: streams ? { body: request.body, duplex: 'half' } : {}, asksForGuest: false };
}

/** The headers with these names. */
export function copyOf(headers: Headers, names: readonly string[]): Headers {
  const copy = new Headers();
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) copy.set(name, value);
  }
  return copy;
}

const onlyReads = ({ method }: Request) => method === 'GET' || method === 'HEAD';

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
