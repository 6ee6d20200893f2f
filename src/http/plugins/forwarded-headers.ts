import type { FastifyBaseLogger, FastifyRequest } from 'fastify';
import type { LogAddress } from '../../lib/log-address.js';
import type { App } from '../requests/route.js';

/** Milliseconds until a peer is reported again, and how many peers are reported in that time. */
const reportIntervalMs = 3_600_000;
const maxPeers = 10;

/**
 * Warns operators if a peer that TRUST_PROXY does not name sends X-Forwarded-For or Forwarded. Postern ignores these
 * headers, so all clients behind that peer share one address and its limits.
 */
export function forwardedHeadersPlugin(app: App, log: Pick<FastifyBaseLogger, 'warn'>, logAddress: LogAddress): void {
  const reported = new Set<string>();
  let since = performance.now();

  app.addHook('onRequest', (request, _reply, done) => {
    const header = ignoredHeader(request);
    if (header !== undefined) report(request.socket.remoteAddress ?? 'unknown', header);
    done();
  });

  function report(peer: string, header: string): void {
    if (performance.now() - since > reportIntervalMs) {
      reported.clear();
      since = performance.now();
    }
    // The number is limited, because any client can send these headers.
    if (reported.has(peer) || reported.size >= maxPeers) return;
    reported.add(peer);
    const shown = logAddress(peer);
    log.warn(
      { peer: shown, header },
      `${shown ?? 'a peer'} sends ${header}, but TRUST_PROXY does not name it: its clients share one address and its limits. If it is your proxy or backend, add it to TRUST_PROXY`,
    );
  }
}

/** The header of a request that names another client, if it is ignored. */
function ignoredHeader({ headers, ips = [] }: FastifyRequest): string | undefined {
  // If the peer is trusted, this list also contains the address that the peer names.
  if (ips.length > 1) return undefined;
  if (headers['x-forwarded-for'] !== undefined) return 'X-Forwarded-For';
  return headers.forwarded === undefined ? undefined : 'Forwarded';
}
