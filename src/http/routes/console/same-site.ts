import type { FastifyRequest } from 'fastify';
import { Problem } from '../../../lib/problem.js';

/**
 * A hook that refuses requests from pages of other sites: the browser attaches the console's cookie by itself. Browsers
 * send `Sec-Fetch-Site`, which no page can set. Older browsers send only `Origin`. A client that sends neither is no
 * browser.
 *
 * @param publicUrl the URL by which clients reach the service, if it is configured
 */
export function refuseOtherSites(publicUrl: string | undefined): (request: FastifyRequest) => Promise<void> {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  return async (request) => {
    const { 'sec-fetch-site': site, origin } = request.headers;
    const isSame =
      site === undefined
        ? origin === undefined || origin === publicOrigin || origin === `${request.protocol}://${request.host}`
        : site === 'same-origin';
    if (!isSame) throw new Problem('cross_site_request');
  };
}
