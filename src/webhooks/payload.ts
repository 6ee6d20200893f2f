import type { StoredEvent } from './relay-queries.js';

/** Reads what an event is about, for full payloads. */
export interface WebhookResources {
  /** The members to add, such as `user`. Null values: the resource was deleted. */
  read(event: Pick<StoredEvent, 'user_id' | 'type' | 'data'>): Promise<Readonly<Record<string, unknown>>>;
}

/** The values of an event that a body shows. */
export type ShownEvent = Omit<StoredEvent, 'id'> & { readonly event_id: string };

/**
 * The body of a delivery. `endpoint_id` is part of what is signed: the signature `v1a` is valid for one endpoint only.
 * @param resources more members of `data`
 */
export function bodyOf(
  endpointId: string,
  event: ShownEvent,
  resources: Readonly<Record<string, unknown>> = {},
): string {
  const { event_id: id, type, created_at: timestamp, user_id, sequence, data } = event;
  return JSON.stringify({
    id,
    type,
    timestamp,
    endpoint_id: endpointId,
    data: { user_id, sequence, ...data, ...resources },
  });
}
