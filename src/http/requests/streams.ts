import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why there is no next piece: the body has ended, nothing arrived in time, the service stops, or the client is gone. */
export type ReadEnd = 'end' | 'idle' | 'stopped' | 'gone';

/**
 * The next piece of a body. It is read only on demand, so a sender cannot send faster than its data is processed.
 * @param timeoutMs the time without a byte until the result is `idle`
 */
export async function nextPiece(
  body: IncomingMessage,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<Buffer | ReadEnd> {
  for (;;) {
    if (stop.aborted) return 'stopped';
    const piece = body.read() as Buffer | null;
    if (piece !== null) return piece;
    if (body.readableEnded) return 'end';
    if (body.destroyed) return 'gone';
    if (!(await waitForEvent(body, ['readable', 'end', 'close', 'error'], timeoutMs, stop)) && !stop.aborted)
      return 'idle';
  }
}

/**
 * Writes, and waits until the reader has taken enough that more can be written.
 * @param timeoutMs the time without progress after which the response is destroyed
 * @returns whether the reader is still connected
 */
export async function writeAll(response: ServerResponse, text: string, timeoutMs: number): Promise<boolean> {
  if (response.destroyed || response.socket === null) return false;
  if (response.write(text)) return true;
  if (await waitForEvent(response, ['drain', 'close', 'error'], timeoutMs)) return !response.destroyed;
  response.destroy();
  return false;
}

/** How long a client can still read its response after Postern has stopped processing its body, in milliseconds. */
const lingerMs = 2000;

/**
 * Ends a response. If the body has not arrived completely, this discards it for a moment instead of closing the
 * connection at once: a reset could lose the last line of the response.
 */
export function endResponse(body: IncomingMessage, response: ServerResponse): void {
  response.end();
  if (body.complete || body.destroyed) return;
  body.resume();
  const timer = setTimeout(() => body.socket.destroy(), lingerMs);
  body.once('close', () => clearTimeout(timer));
}

/** Waits for one of the events. @returns false after the timeout or when `stop` is aborted */
function waitForEvent(
  emitter: IncomingMessage | ServerResponse,
  events: readonly string[],
  timeoutMs: number,
  stop?: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (hasHappened: boolean) => {
      clearTimeout(timer);
      for (const event of events) emitter.off(event, yes);
      stop?.removeEventListener('abort', no);
      resolve(hasHappened);
    };
    const yes = () => settle(true);
    const no = () => settle(false);
    const timer = setTimeout(no, timeoutMs);
    for (const event of events) emitter.on(event, yes);
    stop?.addEventListener('abort', no);
  });
}
