import type { IncomingMessage, RequestListener } from 'node:http';
import { type BytePace, maxPaceMs, waitForPace } from '../lib/byte-pace.js';
import { network } from '../limits/limit-counts.js';

/** Bodies up to this length arrive with their head, or soon after it. */
const smallBytes = 64 * 1024;

export interface UnreadBodiesOptions {
  /** Its keys are the networks of clients. */
  readonly pace: BytePace;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly wait?: typeof waitForPace;
}

/**
 * Reads bodies that nothing has read when the response ends, at the pace of their client. Node.js would read them as fast as
 * they arrive, and the garbage of this would delay everybody: a client that is refused can send large bodies without end. The
 * client has its response meanwhile, and the connection stays usable.
 */
export function withUnreadBodies(
  routes: RequestListener,
  { pace, addressOf, wait = waitForPace }: UnreadBodiesOptions,
): RequestListener {
  return (request, response) => {
    // At `finish`, Node.js would already read.
    if (mayBeLarge(request)) response.once('prefinish', () => void drop(request));
    routes(request, response);
  };

  async function drop(request: IncomingMessage): Promise<void> {
    const isUntouched = request.readableFlowing === null && !request.complete;
    if (!isUntouched) return;
    const from = network(addressOf(request));
    const closing = new AbortController();
    request.once('close', () => closing.abort());
    try {
      for await (const chunk of request) {
        const ms = pace(from, (chunk as Buffer).length);
        // So much is left to read that no client waits for it.
        if (ms >= maxPaceMs) request.destroy();
        else if (ms > 0) await wait(ms, closing.signal);
      }
    } catch {
      // The connection has closed.
    }
  }
}

const mayBeLarge = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > smallBytes;
