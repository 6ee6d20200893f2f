import type { Core } from '../../core.js';
import { isPosternError, isProblem, problemFrom } from '../../errors.js';
import { platform, stopwatch, wait } from '../../platform.js';
import type { Postern } from '../../types.js';
import { filterText } from '../filter.js';
import { follow } from '../live.js';
import { changesOf } from '../polling.js';
import type { InboxEvent, LiveQuery } from '../types.js';
import { openWorker, type TabWorker } from './address.js';
import { beatPause, type ToTab, type ToWorker, type WorkerTransport } from './messages.js';

/** What a tab takes from its queue. `end`: the login, the signal or the client has ended. `lost`: the worker is gone. */
type Taken =
  | Exclude<ToTab, { readonly ask: unknown } | { readonly beat: unknown }>
  | 'end'
  | 'lost'
  | { error: unknown };

/** Milliseconds without a message after which the worker counts as gone: before its first message, and later. */
const [firstLimit, laterLimit] = [10_000, 3.5 * beatPause];

/** Follows an inbox through the worker that all tabs share. Without a worker it has a stream of its own. */
export async function* followShared(
  postern: Postern,
  core: Core,
  transport: WorkerTransport,
  query: LiveQuery,
  workerUrl: string | URL | undefined,
): AsyncGenerator<InboxEvent> {
  const at = { position: query.after };
  for (;;) {
    const state = await postern.ready().then(() => postern.current);
    if (!('user_id' in state)) return;
    const tab = connect(postern, core, transport, query, state.user_id, workerUrl);
    if (tab === undefined) break;
    try {
      const outcome = yield* receive(core, query, at, tab.take);
      query.signal?.throwIfAborted();
      if (outcome === 'end') return;
      // The file of the worker cannot be loaded, or the worker does not run.
      if (!tab.wasHeard()) break;
    } finally {
      tab.leave();
    }
  }
  yield* follow(core, query, false, at);
}

/** Connects to the worker. Undefined if the platform or its policy does not allow it. */
function connect(
  postern: Postern,
  core: Core,
  transport: WorkerTransport,
  { filter, signal }: LiveQuery,
  user: string,
  workerUrl: string | URL | undefined,
) {
  let worker: TabWorker;
  try {
    worker = openWorker(workerUrl);
  } catch {
    return undefined;
  }
  const { port } = worker;
  const queue: Taken[] = [];
  let notify: (() => void) | undefined;
  let heard: (() => number) | undefined;
  const since = stopwatch();
  const put = (taken: Taken) => {
    queue.push(taken);
    notify?.();
  };
  const post = (message: ToWorker) => port.postMessage(message);

  async function answer(fresh: boolean): Promise<void> {
    try {
      const session = await postern.getSession({ fresh });
      const isOwn = session?.user_id === user;
      post({ session: isOwn ? session.token : null });
      if (!isOwn) put('end');
    } catch (error) {
      post({ session: null });
      if (isProblem(error) && error.status < 500 && error.status !== 429) put({ error });
    }
  }
  worker.onerror = () => put('lost');
  port.onmessage = ({ data }) => {
    heard = stopwatch();
    if ('beat' in data) post({ alive: true });
    else if ('ask' in data) void answer(data.ask.fresh);
    else put(data);
  };
  const watch = setInterval(() => {
    if (heard === undefined ? since() > firstLimit : heard() > laterLimit) put('lost');
  }, beatPause / 2);
  const end = () => put('end');
  const hide = () => {
    post({ bye: true });
    // For a page that comes back from the back-forward cache.
    put('lost');
  };
  const offs = [
    core.onClose(end),
    core.onResume(() => post({ wake: true })),
    postern.onChange((state) => {
      if (!('user_id' in state) || state.user_id !== user) end();
    }),
  ];
  signal?.addEventListener('abort', end);
  platform().addEventListener?.call(globalThis, 'pagehide', hide);
  if (signal?.aborted) end();
  post({ open: { transport, user, filter: filterText(filter) } });

  return {
    wasHeard: () => heard !== undefined,
    async take(): Promise<Taken> {
      for (;;) {
        const taken = queue.shift();
        if (taken !== undefined) return taken;
        await new Promise<void>((resolve) => {
          notify = resolve;
        });
      }
    },
    leave(): void {
      clearInterval(watch);
      for (const off of offs) off();
      signal?.removeEventListener('abort', end);
      platform().removeEventListener?.call(globalThis, 'pagehide', hide);
      post({ bye: true });
      port.close();
    },
  };
}

/** Passes on what the worker sends, and reads what this tab has missed. */
async function* receive(
  core: Core,
  { filter, signal }: LiveQuery,
  at: { position: string | undefined },
  take: () => Promise<Taken>,
): AsyncGenerator<InboxEvent, 'end' | 'lost'> {
  for (;;) {
    const taken = await take();
    if (taken === 'end' || taken === 'lost') return taken;
    if ('error' in taken) throw taken.error;
    if ('problem' in taken) {
      const { status, body, retryAfter } = taken.problem;
      const headers = { 'content-type': 'application/problem+json', ...(retryAfter && { 'retry-after': retryAfter }) };
      throw await problemFrom(new Response(body, { status, headers }));
    }
    const { event, position } = taken;
    if (event.type === 'connection') {
      yield event;
      if (event.connection !== 'live' || position === undefined) continue;
      try {
        if (at.position !== undefined && isBefore(at.position, position)) {
          for await (const missed of changesOf(core, { after: at.position, filter, signal })) {
            at.position = missed.position;
            yield missed;
          }
        }
      } catch (error) {
        signal?.throwIfAborted();
        if (!isPosternError(error) || (isProblem(error) && error.status < 500 && error.status !== 429)) throw error;
        yield { type: 'connection', connection: 'offline' };
        await wait(1000 + Math.random() * 1000, signal);
        return 'lost';
      }
      if (at.position === undefined || isBefore(at.position, position)) at.position = position;
    } else if (event.type === 'marker') {
      yield event;
    } else if (event.type === 'reset' || at.position === undefined || isBefore(at.position, event.position)) {
      at.position = event.position;
      yield event;
    }
  }
}

const isBefore = (one: string, other: string) => Number(one) < Number(other);
