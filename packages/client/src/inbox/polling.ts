import type { Core } from '../core.js';
import type { Changes } from '../wire.js';
import { filterText } from './filter.js';
import type { Notification } from './notification.js';
import type { InboxEvent, LiveQuery } from './types.js';

/** The changes after a position, up to now. @param limit the maximum number of changes of each request */
export async function* changesOf(
  core: Pick<Core, 'call'>,
  { after, filter, signal, limit }: LiveQuery & { readonly limit?: number | undefined },
): AsyncGenerator<InboxEvent & { readonly position: string }> {
  let position = after;
  for (;;) {
    const query = { after: position, filter: filterText(filter), limit };
    const page: Changes = await core.call<Changes>({ path: '/v1/notifications/changes', query, signal });
    if (page.reset) {
      position = undefined;
      yield { type: 'reset', position: '0' };
      continue;
    }
    for (const { id, sequence, notification, change_sequence } of page.changes) {
      const reached = { position: `${change_sequence}` };
      yield notification === null
        ? { type: 'delete', id, sequence, ...reached }
        : { type: 'put', notification: notification as Notification, ...reached };
    }
    position = page.after;
    if (!page.has_more) return;
  }
}

/** Reads once what changed since `progress.position`, and updates it. */
export async function* poll(
  core: Pick<Core, 'call'>,
  progress: { position: string | undefined },
  { filter, signal }: { readonly filter: LiveQuery['filter']; readonly signal: AbortSignal },
): AsyncGenerator<InboxEvent> {
  progress.position ??= await newestPosition(core, signal);
  yield { type: 'connection', connection: 'polling' };
  for await (const event of changesOf(core, { after: progress.position, filter, signal })) {
    progress.position = event.position;
    yield event;
  }
}

/** The position of the newest change. A client that starts to poll now reads only the changes after it. */
async function newestPosition(core: Pick<Core, 'call'>, signal: AbortSignal): Promise<string> {
  let position = '0';
  for await (const event of changesOf(core, { limit: 1000, signal })) position = event.position;
  return position;
}
