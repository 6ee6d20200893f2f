import { Problem } from '../../lib/problem.js';
import type { TrustProxy } from '../admission/client-address.js';
import type { App } from '../requests/route.js';

/**
 * Refuses requests that came to a trusted proxy by plain http: anyone on the way could read their tokens. A browser that opens
 * a page is redirected. A client of the API gets an error, because a redirect would hide that it sends tokens in clear text.
 * Requests without `X-Forwarded-Proto` do not come from a proxy, or it has not said anything; probes have no tokens.
 * @param publicUrl the URL of this server; undefined: the host that the browser has asked
 */
export function httpsPlugin(
  app: App,
  { publicUrl, isTrusted }: { readonly publicUrl: string | undefined; readonly isTrusted: TrustProxy },
): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers, routeOptions, method, url, socket } = request;
    const isReported = headers['x-forwarded-proto'] !== undefined && isTrusted(socket.remoteAddress ?? '', 0);
    const isPlain = isReported && request.protocol === 'http';
    if (!isPlain || routeOptions.config?.isProbe === true) return done();
    // The routes of pages are not in the document of the API.
    const isPage = routeOptions.schema?.hide === true && (method === 'GET' || method === 'HEAD');
    if (!isPage) throw new Problem('https_required');
    const target = `${publicUrl?.replace(/\/+$/, '') ?? `https://${request.host}`}${url}`;
    reply.redirect(target, 308);
  });
}
