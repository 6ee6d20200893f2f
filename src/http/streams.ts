import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why there is no next piece. */
export type Pause = 'end' | 'idle' | 'stopped' | 'gone';

/**
 * The next piece of a body, read only when it is asked for: so a sender is never read faster than what it sends is
 * worked off.
 * @param patience milliseconds without a byte until it is `idle`
 */
export async function nextPiece(body: IncomingMessage, patience: number, stop: AbortSignal): Promise<Buffer | Pause> {
  for (;;) {
    if (stop.aborted) return 'stopped';
    const piece = body.read() as Buffer | null;
    if (piece !== null) return piece;
    if (body.readableEnded) return 'end';
    if (body.destroyed) return 'gone';
    if (!(await happens(body, ['readable', 'end', 'close', 'error'], patience, stop)) && !stop.aborted) return 'idle';
  }
}

/**
 * Writes, and waits until the reader has taken enough for more.
 * @param patience milliseconds without a byte taken until the reader is given up
 * @returns whether there is still a reader
 */
export async function writeAll(response: ServerResponse, text: string, patience: number): Promise<boolean> {
  if (response.destroyed || response.socket === null) return false;
  if (response.write(text)) return true;
  if (await happens(response, ['drain', 'close', 'error'], patience)) return !response.destroyed;
  response.destroy();
  return false;
}

/** Milliseconds that a sender whose body nobody reads any more has to read its answer. */
const linger = 2000;

/** Ends an answer. A sender that is not done is heard out for a moment: a closed door would lose it the last line. */
export function endAnswer(body: IncomingMessage, response: ServerResponse): void {
  response.end();
  if (body.complete || body.destroyed) return;
  body.resume();
  const timer = setTimeout(() => body.socket.destroy(), linger);
  body.once('close', () => clearTimeout(timer));
}

/** Whether one of the events happens before time is up. */
function happens(
  emitter: IncomingMessage | ServerResponse,
  events: readonly string[],
  patience: number,
  stop?: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (happened: boolean) => {
      clearTimeout(timer);
      for (const event of events) emitter.off(event, yes);
      stop?.removeEventListener('abort', no);
      resolve(happened);
    };
    const yes = () => settle(true);
    const no = () => settle(false);
    const timer = setTimeout(no, patience);
    for (const event of events) emitter.on(event, yes);
    stop?.addEventListener('abort', no);
  });
}
