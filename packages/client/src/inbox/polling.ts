import type { Core } from '../core.js';
import type { Changes } from '../wire.js';
import { filterText } from './filter.js';
import type { Notification } from './notification.js';
import type { InboxEvent, LiveQuery } from './types.js';

/** The changes after a position, up to now. @param limit changes of each request */
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
      const at = { position: `${change_sequence}` };
      yield notification === null
        ? { type: 'delete', id, sequence, ...at }
        : { type: 'put', notification: notification as Notification, ...at };
    }
    position = page.after;
    if (!page.has_more) return;
  }
}

/** Asks once for what changed since `at.position`, and moves it on. */
export async function* poll(
  core: Pick<Core, 'call'>,
  at: { position: string | undefined },
  { filter, signal }: { readonly filter: LiveQuery['filter']; readonly signal: AbortSignal },
): AsyncGenerator<InboxEvent> {
  at.position ??= await headOf(core, signal);
  yield { type: 'connection', connection: 'polling' };
  for await (const event of changesOf(core, { after: at.position, filter, signal })) {
    at.position = event.position;
    yield event;
  }
}

/** The newest position: where a client starts that polls from now on. */
async function headOf(core: Pick<Core, 'call'>, signal: AbortSignal): Promise<string> {
  let position = '0';
  for await (const event of changesOf(core, { limit: 1000, signal })) position = event.position;
  return position;
}
