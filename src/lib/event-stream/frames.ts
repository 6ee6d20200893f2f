/*
 * The text of server-sent events (WHATWG HTML, section 9.2). JSON escapes line breaks, so it is one line. Clients ignore
 * event names that they do not know.
 */

/** The start of a stream. It gives the client an id to resume from before the first event. */
export function opening(id: string | number): string {
  return `:\nretry: ${between(1000, 3000)}\nid: ${id}\n\n`;
}

/** The end of a stream: the client reconnects soon, to another instance or to this one after its restart. */
export function closing(): string {
  return `retry: ${between(100, 1000)}\n\n`;
}

/** Keeps the connection alive. @param id the id to resume from, if it has changed since the last event */
export function heartbeat(id: string | number | undefined): string {
  return id === undefined ? ':\n\n' : `:\nid: ${id}\n\n`;
}

/** An event without a name. */
export function message(id: string | number, data: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The client must list again: not all events since its position are known. */
export function reset(id: string | number): string {
  return `event: reset\nid: ${id}\ndata: ${JSON.stringify({ after: `${id}` })}\n\n`;
}

/** Jitter, so that clients that were disconnected together do not reconnect at the same moment. */
function between(low: number, high: number): number {
  return Math.round(low + Math.random() * (high - low));
}
