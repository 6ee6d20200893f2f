import type { Core } from '../../core.js';
import { isProblem, problemFrom } from '../../errors.js';
import { onAbort, onPageEvent, throwIfAborted, wait } from '../../platform.js';
import { stopwatch } from '../../time.js';
import type { Postern } from '../../types.js';
import { filterText } from '../filter.js';
import { canPass, follow } from '../live.js';
import { changesOf } from '../polling.js';
import { createQueue } from '../queue.js';
import type { LiveQuery, StatefulInboxEvent } from '../types.js';
import type { openWorker, TabWorker } from './address.js';
import { heartbeatMs, type ToTab, type ToWorker, type WorkerTransport } from './messages.js';

/** An item in the queue of a tab. `end`: the login, the signal or the client has ended. `lost`: the worker has ended. */
type QueueItem =
  | Exclude<ToTab, { readonly ask: unknown } | { readonly beat: unknown }>
  | 'end'
  | 'lost'
  | { error: unknown };

/** The times in milliseconds without a message after which the worker counts as gone: before its first message, and later. */
const [firstMessageTimeoutMs, silenceTimeoutMs] = [10_000, 3.5 * heartbeatMs];

/** Follows an inbox through the worker that all tabs share. Without a worker, it opens its own stream. */
export async function* followShared(
  postern: Postern,
  core: Core,
  transport: WorkerTransport,
  query: LiveQuery,
  workerUrl: string | URL | undefined,
): AsyncGenerator<StatefulInboxEvent> {
  const progress = { position: query.after };
  // In a separate file, because a bundle that is no module, as Expo writes it for the web, cannot contain `import.meta`.
  const address = await import('./address.js').catch(() => undefined);
  for (;;) {
    const state = await postern.ready().then(() => postern.current);
    if (!('user_id' in state)) return;
    const tab = connect(postern, core, transport, query, state.user_id, () => address?.openWorker(workerUrl));
    if (tab === undefined) break;
    try {
      const outcome = yield* receive(core, query, progress, tab.take);
      throwIfAborted(query.signal);
      if (outcome === 'end') return;
      // The file of the worker cannot be loaded, or the worker does not run.
      if (!tab.hasAnswered()) break;
    } finally {
      tab.leave();
    }
  }
  yield* follow(core, query, false, progress);
}

/** Connects to the worker. Undefined if the platform or its policy does not allow it. */
function connect(
  postern: Postern,
  core: Core,
  transport: WorkerTransport,
  { filter, include, signal }: LiveQuery,
  user: string,
  open: () => ReturnType<typeof openWorker> | undefined,
) {
  let worker: TabWorker | undefined;
  try {
    worker = open();
  } catch {
    // The policy of the page forbids it.
  }
  if (worker === undefined) return undefined;
  const { port } = worker;
  const { put: enqueue, take } = createQueue<QueueItem>();
  let sinceLastMessage: (() => number) | undefined;
  const sinceStart = stopwatch();
  const post = (message: ToWorker) => port.postMessage(message);

  async function sendSession(fresh: boolean): Promise<void> {
    try {
      const session = await postern.getSession({ fresh });
      const isSameUser = session?.user_id === user;
      post({ session: isSameUser ? session.token : null });
      if (!isSameUser) enqueue('end');
    } catch (error) {
      post({ session: null });
      if (isProblem(error) && !canPass(error)) enqueue({ error });
    }
  }
  worker.onerror = () => enqueue('lost');
  port.onmessage = ({ data }) => {
    sinceLastMessage = stopwatch();
    if ('beat' in data) post({ alive: true });
    else if ('ask' in data) void sendSession(data.ask.fresh);
    else enqueue(data);
  };
  const watch = setInterval(() => {
    if (sinceLastMessage === undefined ? sinceStart() > firstMessageTimeoutMs : sinceLastMessage() > silenceTimeoutMs)
      enqueue('lost');
  }, heartbeatMs / 2);
  const end = () => enqueue('end');
  const removeListeners = [
    core.onClose(end),
    core.onResume(() => post({ wake: true })),
    postern.onChange((state) => {
      if (!('user_id' in state) || state.user_id !== user) end();
    }),
    onAbort(signal, end),
    // A page in the back-forward cache needs no stream. It gets another one when it comes back.
    onPageEvent('pagehide', () => post({ bye: true })),
    onPageEvent('pageshow', ({ persisted }) => persisted && enqueue('lost')),
  ];
  post({ open: { transport, user, filter: filterText(filter), include } });

  return {
    hasAnswered: () => sinceLastMessage !== undefined,
    take,
    leave(): void {
      clearInterval(watch);
      for (const removeListener of removeListeners) removeListener();
      post({ bye: true });
      port.close();
    },
  };
}

/** Passes on what the worker sends, and reads what this tab has missed. */
async function* receive(
  core: Core,
  query: LiveQuery,
  progress: { position: string | undefined },
  take: () => Promise<QueueItem>,
): AsyncGenerator<StatefulInboxEvent, 'end' | 'lost'> {
  for (;;) {
    const item = await take();
    if (item === 'end' || item === 'lost') return item;
    if ('error' in item) throw item.error;
    if ('problem' in item) {
      const { status, body, retryAfter } = item.problem;
      const headers = { 'content-type': 'application/problem+json', ...(retryAfter && { 'retry-after': retryAfter }) };
      throw await problemFrom(new Response(body, { status, headers }));
    }
    const { event, position } = item;
    if (event.type === 'connection') {
      yield event;
      if ((event.connection !== 'live' && event.connection !== 'polling') || position === undefined) continue;
      try {
        if (progress.position !== undefined && isBefore(progress.position, position)) {
          for await (const missed of changesOf(core, { ...query, after: progress.position })) {
            progress.position = missed.position;
            yield missed;
          }
        }
      } catch (error) {
        throwIfAborted(query.signal);
        if (!canPass(error)) throw error;
        yield { type: 'connection', connection: 'offline' };
        await wait(1000 + Math.random() * 1000, query.signal);
        return 'lost';
      }
      if (progress.position === undefined || isBefore(progress.position, position)) progress.position = position;
    } else if (!('position' in event)) {
      yield event;
    } else if (
      event.type === 'reset' ||
      progress.position === undefined ||
      isBefore(progress.position, event.position)
    ) {
      progress.position = event.position;
      yield event;
    }
  }
}

const isBefore = (a: string, b: string) => Number(a) < Number(b);
