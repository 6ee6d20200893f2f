import type { Core } from '../core.js';
import type { Changes, Marker } from '../wire.js';
import { filterText } from './filter.js';
import type { Notification } from './notification.js';
import type { InboxEvent, LiveQuery } from './types.js';

/** How far a stream or polling has come. */
export interface PollProgress {
  position: string | undefined;
  /** The read position that was read last, as JSON. */
  marker?: string;
}

/** A position after the end of every inbox. Postern answers with the position of the end. */
export const afterTheEnd = '999999999999999';

const readChanges = (
  core: Pick<Core, 'call'>,
  after: string | undefined,
  { filter, include, signal, limit }: LiveQuery & { readonly limit?: number | undefined },
) =>
  core.call<Changes>({
    path: '/v1/notifications/changes',
    query: { after, filter: filterText(filter), include, limit },
    signal,
    expects: 'changes',
  });

function* eventsOf({ changes }: Changes): Generator<InboxEvent & { readonly position: string }> {
  for (const { id, sequence, notification, change_sequence } of changes) {
    const reached = { position: `${change_sequence}` };
    yield notification === null
      ? { type: 'delete', id, sequence, ...reached }
      : { type: 'put', notification: notification as Notification, ...reached };
  }
}

/** The changes after a position, up to now. @param limit the maximum number of changes of each request */
export async function* changesOf(
  core: Pick<Core, 'call'>,
  query: LiveQuery & { readonly limit?: number | undefined },
): AsyncGenerator<InboxEvent & { readonly position: string }> {
  let position = query.after;
  for (;;) {
    const page: Changes = await readChanges(core, position, query);
    if (page.reset) {
      position = undefined;
      yield { type: 'reset', position: '0' };
      continue;
    }
    yield* eventsOf(page);
    position = page.after;
    if (!page.has_more) return;
  }
}

/** Reads once what changed since `progress.position`, and updates it. Without a position, it starts now. */
export async function* poll(
  core: Pick<Core, 'call'>,
  progress: PollProgress,
  query: LiveQuery,
): AsyncGenerator<InboxEvent> {
  let hasMore = true;
  while (hasMore) {
    const { position } = progress;
    const page = await readChanges(core, position ?? afterTheEnd, query);
    progress.position ??= page.after;
    yield { type: 'connection', connection: 'polling' };
    if (page.reset && position !== undefined) yield { type: 'reset', position: page.after };
    for (const event of eventsOf(page)) {
      progress.position = event.position;
      yield event;
    }
    progress.position = page.after;
    hasMore = page.has_more;
  }
  const marker = await core.call<Marker>({
    path: '/v1/notifications/marker',
    signal: query.signal,
    expects: 'unread_count',
  });
  const text = JSON.stringify(marker);
  if (text !== progress.marker) yield { type: 'marker', marker };
  progress.marker = text;
}
