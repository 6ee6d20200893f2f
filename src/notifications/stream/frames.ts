import type { Marker } from '../../contract/changes.js';
import type { Notification } from '../../contract/notification.js';
import type { InboxStates } from '../../contract/notification-states.js';
import { message } from '../../lib/event-stream/frames.js';
import type { ChangeRow } from '../inbox/changes.js';

/* The server-sent events of an inbox. Notifications have no event name. */

export function changeEvent(change: ChangeRow, notification: Notification | null): string {
  const { change_sequence: place, id, sequence } = change;
  if (notification === null) return `event: deleted\n${message(place, { id, sequence })}`;
  return message(place, notification);
}

export function readPositionEvent(data: Marker): string {
  return `event: marker\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Without an id: a client that continues after an event reads the states on its own. */
export function stateEvent(states: InboxStates): string {
  return `event: state\ndata: ${JSON.stringify(states)}\n\n`;
}

export function sessionExpiringEvent(expiresAt: string): string {
  return `event: session_expiring\ndata: ${JSON.stringify({ expires_at: expiresAt })}\n\n`;
}

export function retainedFromEvent(times: Readonly<Record<string, string>>): string {
  return Object.keys(times).length === 0 ? '' : `event: retained_from\ndata: ${JSON.stringify(times)}\n\n`;
}
