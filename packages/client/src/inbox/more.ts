// The parts of the inbox that a page loads when it first uses one of them.
import type { Core } from '../core.js';
import { listOf } from '../lists.js';
import type { Abortable } from '../platform.js';
import type { DeliveryTrace, Image, Marker, Mute } from '../wire.js';
import { filterText, type NotificationFilter } from './filter.js';
import type { Notification } from './notification.js';
import type { NotificationQuery } from './types.js';

export { follow } from './live.js';
export { changesOf } from './polling.js';
export { followShared } from './shared/follow-shared.js';
export { createViewUpdates } from './view-updates.js';

const path = '/v1/notifications';

export const listOfNotifications = (core: Core, { filter, ...query }: NotificationQuery) =>
  listOf<Notification>(core, path, { ...query, filter: filterText(filter) });
export const readMarker = (core: Core, { signal }: Abortable = {}) =>
  core.call<Marker>({ path: `${path}/marker`, signal });
export function markRead(
  core: Core,
  upTo: Pick<Notification, 'sequence'> | Pick<Notification, 'id'>,
  { signal }: Abortable = {},
) {
  const body = 'sequence' in upTo ? { last_read_sequence: upTo.sequence } : { last_read_id: upTo.id };
  return core.call<Marker>({ method: 'PUT', path: `${path}/marker`, body, signal });
}

export const listMutes = (core: Core, { signal }: Abortable = {}) =>
  core.call<readonly Mute[]>({ path: `${path}/mutes`, signal });
export const addMute = (core: Core, filter: NotificationFilter, { signal }: Abortable = {}) =>
  core.call<Mute>({ method: 'POST', path: `${path}/mutes`, body: { filter: filterText(filter) }, signal });
export const removeMute = (core: Core, id: string, { signal }: Abortable = {}) =>
  core.call<void>({ method: 'DELETE', path: `${path}/mutes/${encodeURIComponent(id)}`, signal });

export const traceOf = (core: Core, id: string, { signal }: Abortable = {}) =>
  core.call<DeliveryTrace>({ path: `${path}/${encodeURIComponent(id)}/deliveries`, signal });

export function uploadImage(core: Core, file: Blob | { readonly url: string }, { signal }: Abortable = {}) {
  const body = file instanceof Blob ? new FormData() : file;
  if (body instanceof FormData) body.append('file', file as Blob, 'image');
  return core.call<Image>({ method: 'POST', path: '/v1/images', body, signal });
}
