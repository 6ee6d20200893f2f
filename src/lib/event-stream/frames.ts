/*
 * The text of server-sent events (WHATWG HTML, section 9.2). JSON escapes line breaks, so the data of an event is always one
 * line. Clients ignore events with names that they do not know.
 */

/** The first text of a stream. The client can resume from its id if the connection breaks before the first event. */
export function opening(id: string | number): string {
  return `:\nretry: ${randomBetween(1000, 3000)}\nid: ${id}\n\n`;
}

/**
 * The last text of a stream. The client then reconnects soon: to another instance, or to this instance after its
 * restart.
 */
export function closing(): string {
  return `retry: ${randomBetween(100, 1000)}\n\n`;
}

/** Text that keeps the connection open. @param id the id to resume from; undefined if the client already has it */
export function heartbeat(id: string | number | undefined): string {
  return id === undefined ? ':\n\n' : `:\nid: ${id}\n\n`;
}

/** An event without a name, which browsers report as `message`. */
export function message(id: string | number, data: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An event with a name. @param id undefined: the id before it stays */
export function event(name: string, id: string | undefined, data: object): string {
  return `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Tells the client to read the list again, because the server does not know all events since the client's position. */
export function reset(id: string | number): string {
  return `event: reset\nid: ${id}\ndata: ${JSON.stringify({ after: `${id}` })}\n\n`;
}

/** A random number, so that clients that were disconnected at the same time do not all reconnect at the same moment. */
function randomBetween(low: number, high: number): number {
  return Math.round(low + Math.random() * (high - low));
}
