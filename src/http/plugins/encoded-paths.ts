import { Problem } from '../../lib/problem.js';
import type { App } from '../requests/route.js';

/** A letter or a digit that is percent-encoded, before the query. */
const encodedLetter = /^[^?#]*%(?:3\d|[46][1-9a-f]|[57][0-9a])/i;

/**
 * Refuses paths with encoded letters or digits. No client needs them (RFC 3986, 2.3), and a proxy that compares paths as they
 * are sent would protect `/admin/`, but not `/%61dmin/`.
 */
export function encodedPathsPlugin(app: App): void {
  app.addHook('onRequest', ({ raw: { url = '' } }, _reply, done) => {
    const isRefused = url.includes('%') && encodedLetter.test(url);
    done(isRefused ? new Problem('malformed_request') : undefined);
  });
}
