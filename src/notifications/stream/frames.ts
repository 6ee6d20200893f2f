import type { Marker } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import type { ChangeRow } from '../inbox/changes.js';

/*
 * The text of server-sent events (WHATWG HTML, section 9.2). JSON escapes line breaks, so it is one line. Clients ignore
 * event names that they do not know; notifications have no event name.
 */

/** The start of a stream. It gives the client an id to resume from before the first event. */
export function opening(position: number): string {
  return `:\nretry: ${between(1000, 3000)}\nid: ${position}\n\n`;
}

/** The end of a stream: the client reconnects soon, to another instance or to this one after its restart. */
export function closing(): string {
  return `retry: ${between(100, 1000)}\n\n`;
}

/** Keeps the connection alive. @param position the id to resume from, if it has changed since the last event */
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

export function readPosition(data: Marker): string {
  return `event: marker\ndata: ${JSON.stringify(data)}\n\n`;
}

export function sessionExpiring(expiresAt: string): string {
  return `event: session_expiring\ndata: ${JSON.stringify({ expires_at: expiresAt })}\n\n`;
}

export function retainedFrom(times: Readonly<Record<string, string>>): string {
  return Object.keys(times).length === 0 ? '' : `event: retained_from\ndata: ${JSON.stringify(times)}\n\n`;
}

/** Jitter, so that clients that were disconnected together do not reconnect at the same moment. */
function between(low: number, high: number): number {
  return Math.round(low + Math.random() * (high - low));
}
