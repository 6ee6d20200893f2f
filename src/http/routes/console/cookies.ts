import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseId } from '../../../lib/ids.js';
import { isLoopback, parseUrl } from '../../../lib/urls.js';
import { cookieTokens, cookieValue } from '../../requests/cookies.js';

/**
 * The cookies of the console. Scripts cannot read them. Browsers send them only with requests from pages of the same
 * site. Only the routes of the console's sign-in read them.
 */
export interface ConsoleCookies {
  /**
   * The authentication token of this browser. Undefined also if the browser sends several: then another host of the
   * domain has set one of them, and Postern cannot know which.
   */
  token(request: FastifyRequest): string | undefined;
  /** Every authentication token that the browser sends in a cookie of the console, also under its name of http or https. Four at most. */
  allTokens(request: FastifyRequest): string[];
  /** The device on which this browser last signed in. */
  device(request: FastifyRequest): string | undefined;
  /** Stores the token until the browser closes, and the device for 400 days. */
  store(
    request: FastifyRequest,
    reply: FastifyReply,
    login: { readonly token: string; readonly deviceId: string },
  ): void;
  /** Removes the token. */
  clear(request: FastifyRequest, reply: FastifyReply): void;
}

/** The header of responses that set or remove cookies, for the OpenAPI document. */
export const setCookie = {
  'Set-Cookie': { type: 'string', description: 'The cookies of the console. Scripts cannot read them.' },
};

const tokenName = 'postern_console';
const deviceName = 'postern_console_device';
/** Seconds: the longest time that browsers keep a cookie (400 days). */
const deviceAge = 34_560_000;

/**
 * @param usesHttps whether browsers reach this server by https. `except_loopback`: they do, except on the machine itself and
 *   through a tunnel, where browsers differ in what they accept over http.
 */
export function createConsoleCookies(usesHttps: boolean | 'except_loopback'): ConsoleCookies {
  const isSecure = (request: FastifyRequest) =>
    request.protocol === 'https' || (usesHttps === 'except_loopback' ? !isOnLoopback(request) : usesHttps);
  // Only this host, over https, can set a cookie whose name begins with `__Host-` (RFC 6265bis, 4.1.3.2). Another host of
  // the domain could otherwise replace the operator's login with its own. The prefix requires `Path=/`.
  const nameOf = (request: FastifyRequest, name: string) => (isSecure(request) ? `__Host-${name}` : name);
  const read = (request: FastifyRequest, name: string) => cookieValue(request, nameOf(request, name));
  const write = (request: FastifyRequest, name: string, value: string, maxAge?: number) =>
    stringifySetCookie({
      name: nameOf(request, name),
      value,
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      ...(isSecure(request) && { secure: true }),
      ...(maxAge !== undefined && { maxAge }),
    });
  return {
    token: (request) => read(request, tokenName),
    allTokens: (request) => cookieTokens(request, [`__Host-${tokenName}`, tokenName]),
    device: (request) => parseId(read(request, deviceName) ?? ''),
    store(request, reply, { token, deviceId }) {
      reply.header('set-cookie', [write(request, tokenName, token), write(request, deviceName, deviceId, deviceAge)]);
    },
    clear(request, reply) {
      reply.header('set-cookie', write(request, tokenName, '', 0));
    },
  };
}

/** Whether the page was opened by http on a loopback host. A proxy may change the Host header, but not the origin of the page. */
function isOnLoopback({ headers: { origin }, host }: FastifyRequest): boolean {
  const url = parseUrl(origin ?? `http://${host}`);
  return url?.protocol === 'http:' && isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
}
