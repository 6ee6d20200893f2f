import type { RequestListener } from 'node:http';
import type { preValidationHookHandler } from 'fastify';
import { errors } from '../../contract/errors/problems.js';
import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

/** The part of an absolute target before its path (RFC 9112, 3.2.2). */
const schemeAndHost = /^https?:\/\/[^/?#\\]+/i;

/**
 * Gives each request the short form of its target: a path and a query. A client of a proxy sends whole URLs, and everything
 * that reads or remembers a target would otherwise see another one for each host.
 */
export function withOriginForm(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { url = '' } = request;
    if (url.charCodeAt(0) !== 0x2f) request.url = url.replace(schemeAndHost, '').replace(/^(?=\?|$)/, '/');
    listener(request, response);
  };
}

/** A letter or a digit that is percent-encoded, before the query. */
const encodedLetter = /^[^?#]*%(?:3\d|[46][1-9a-f]|[57][0-9a])/i;

/** A byte before the query that no URI has (RFC 3986, 2): a control character, a space, or a byte of a character beyond ASCII. */
const noUriByte = /^[^?]*?[^!-~]/;

/** The character NUL before the query. */
const encodedNul = /^[^?]*%00/;

/**
 * Refuses targets that a proxy could read in another way. No client needs encoded letters or digits in a path (RFC 3986, 2.3), and
 * a proxy that compares paths as they are sent would protect `/admin/`, but not `/%61dmin/`. A fragment is never sent (RFC 9112,
 * 3.2), and where it begins, the path ends for one reader and goes on for another.
 */
export function requestTargetsPlugin(app: App): void {
  app.addHook('onRequest', ({ raw: { url = '' } }, _reply, done) => {
    const isOther = url.charCodeAt(0) !== 0x2f && url !== '*';
    const isRefused =
      isOther || url.includes('#') || (url.includes('%') && encodedLetter.test(url)) || noUriByte.test(url);
    done(isRefused ? new Problem('malformed_request') : undefined);
  });
  // PostgreSQL has no text with NUL, so nothing has such a name, and a statement that looks for it would fail. Routes without a 404
  // look for ids only.
  app.addHook('onRoute', (route) => {
    const code = route.config?.problems?.find((one) => errors[one].status === 404);
    if (!route.url.includes(':') || code === undefined) return;
    const check: preValidationHookHandler = ({ raw: { url = '' } }, _reply, done) => {
      done(encodedNul.test(url) ? new Problem(code) : undefined);
    };
    route.preValidation = [check, ...[route.preValidation ?? []].flat()];
  });
}
