import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseId } from '../../../lib/ids.js';

/**
 * The cookies of the console. Scripts cannot read them. Browsers send them only to `/console`, and only with requests
 * from pages of the same site.
 */
export interface ConsoleCookies {
  /** The authentication token of this browser. */
  token(request: FastifyRequest): string | undefined;
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

/** @param behindTls whether clients always use https */
export function createConsoleCookies(behindTls: boolean): ConsoleCookies {
  const isSecure = (request: FastifyRequest) => behindTls || request.protocol === 'https';
  // A page over plain http cannot set or replace a cookie whose name begins with `__Secure-`.
  const nameOf = (request: FastifyRequest, name: string) => (isSecure(request) ? `__Secure-${name}` : name);
  const read = (request: FastifyRequest, name: string) =>
    parseCookie(request.headers.cookie ?? '')[nameOf(request, name)];
  const write = (request: FastifyRequest, name: string, value: string, maxAge?: number) =>
    stringifySetCookie({
      ...{ name: nameOf(request, name), value, path: '/console', httpOnly: true, sameSite: 'strict' },
      ...(isSecure(request) && { secure: true }),
      ...(maxAge !== undefined && { maxAge }),
    });
  return {
    token: (request) => read(request, tokenName),
    device: (request) => parseId(read(request, deviceName) ?? ''),
    store(request, reply, { token, deviceId }) {
      reply.header('set-cookie', [write(request, tokenName, token), write(request, deviceName, deviceId, deviceAge)]);
    },
    clear(request, reply) {
      reply.header('set-cookie', write(request, tokenName, '', 0));
    },
  };
}
