import type { Marker } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import type { ChangeRow } from '../changes.js';

/*
 * What a stream is made of (WHATWG HTML, section 9.2). JSON has its line breaks escaped, so it is one line. A name that a
 * client does not know is ignored by it; the notifications themselves have none.
 */

/** The first of a stream: a client has an id to go on from before anything happens. */
export function beginning(position: number): string {
  return `:\nretry: ${between(1000, 3000)}\nid: ${position}\n\n`;
}

/** Tells a client to come back soon, to another instance or to this one when it has started again. */
export function farewell(): string {
  return `retry: ${between(100, 1000)}\n\n`;
}

/** Shows everybody on the way that the connection lives. */
export function heartbeat(position: number | undefined): string {
  return position === undefined ? ':\n\n' : `:\nid: ${position}\n\n`;
}

export function changed(change: ChangeRow, notification: Notification | null): string {
  const { change_sequence: place, id, sequence } = change;
  if (notification === null) return `event: deleted\nid: ${place}\ndata: ${JSON.stringify({ id, sequence })}\n\n`;
  return `id: ${place}\ndata: ${JSON.stringify(notification)}\n\n`;
}

export function reset(head: number): string {
  return `event: reset\nid: ${head}\ndata: ${JSON.stringify({ after: `${head}` })}\n\n`;
}

export function marker(data: Marker): string {
  return `event: marker\ndata: ${JSON.stringify(data)}\n\n`;
}

export function sessionExpiring(expiresAt: string): string {
  return `event: session_expiring\ndata: ${JSON.stringify({ expires_at: expiresAt })}\n\n`;
}

export function retainedFrom(times: Readonly<Record<string, string>>): string {
  return Object.keys(times).length === 0 ? '' : `event: retained_from\ndata: ${JSON.stringify(times)}\n\n`;
}

/** Clients that were cut off together must not all come back at the same moment. */
function between(low: number, high: number): number {
  return Math.round(low + Math.random() * (high - low));
}
