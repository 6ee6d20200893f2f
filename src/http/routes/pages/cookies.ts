import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookieTokens, cookieValue, cookieValues } from '../../requests/cookies.js';

/** The cookies of browsers at the pages. Scripts cannot read them. */
export interface PageCookies {
  /**
   * The authentication token of the login of the pages. Undefined also if the browser sends several: then another host of the
   * domain has set one of them.
   */
  token(request: FastifyRequest): string | undefined;
  /** Every token that the browser sends, four at most. */
  allTokens(request: FastifyRequest): string[];
  /** The token ends by itself, so the cookie stays as long as browsers keep one. */
  store(reply: FastifyReply, token: string): void;
  clear(reply: FastifyReply): void;
  /** The mark of a browser that logins by redirect have set, see `redirects.ts`. */
  redirectBrowser(request: FastifyRequest): string | undefined;
  /** Whether this browser was just sent to the host of PUBLIC_URL, and has come back to this one. */
  wasSentOn(request: FastifyRequest): boolean;
  noteSentOn(reply: FastifyReply): void;
}

/** Seconds: the longest time that browsers keep a cookie (400 days). */
const maxAge = 34_560_000;
/** Seconds in which a browser follows a redirect. */
const redirectAge = 10;
const sentOnName = 'postern-page-host';

/** @param isSecure whether PUBLIC_URL is https. Otherwise it is a loopback host */
export function createPageCookies(isSecure: boolean): PageCookies {
  const prefix = isSecure ? '__Host-' : '';
  const name = `${prefix}postern-page`;
  const attributes = { path: '/', httpOnly: true, secure: isSecure, sameSite: 'lax' } as const;
  const set = (reply: FastifyReply, cookie: { name: string; value: string; maxAge: number }) =>
    reply.header('set-cookie', stringifySetCookie({ ...attributes, ...cookie }));
  return {
    token: (request) => cookieValue(request, name),
    allTokens: (request) => cookieTokens(request, [name]),
    store: (reply, value) => void set(reply, { name, value, maxAge }),
    clear: (reply) => void set(reply, { name, value: '', maxAge: 0 }),
    redirectBrowser: (request) => cookieValue(request, `${prefix}postern-redirect`),
    wasSentOn: (request) => cookieValues(request, [sentOnName]).length > 0,
    // The host that sets it may be reached by http.
    noteSentOn: (reply) =>
      void reply.header(
        'set-cookie',
        stringifySetCookie({ ...attributes, secure: false, name: sentOnName, value: '1', maxAge: redirectAge }),
      ),
  };
}
