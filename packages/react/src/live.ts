import type { Inbox, LiveQuery, Postern, StatefulInboxEvent } from '@postern/client';
import { throwIfAborted } from '@postern/client/internal';

interface Follower {
  onEvent(event: StatefulInboxEvent): void;
  onEnd(error?: unknown): void;
}

interface Stream {
  readonly followers: Set<Follower>;
  readonly controller: AbortController;
  /** The state of the connection. A follower that joins later starts with it. */
  connection: StatefulInboxEvent | undefined;
}

/** An inbox whose views share a stream: one for each filter, with states and without. It ends with the last view. */
export function shareStreams(postern: Postern, inbox: Inbox): Inbox {
  const streams = new Map<string, Stream>();

  function open(key: string, query: LiveQuery): Stream {
    const controller = new AbortController();
    const stream: Stream = { followers: new Set(), controller, connection: undefined };
    streams.set(key, stream);
    async function forwardEvents(): Promise<void> {
      for await (const event of inbox.live({ ...query, signal: controller.signal })) {
        if (event.type === 'connection') stream.connection = event;
        for (const follower of stream.followers) follower.onEvent(event);
      }
    }
    const endAll = (error?: unknown) => {
      close(key, stream);
      for (const follower of stream.followers) follower.onEnd(error);
    };
    forwardEvents().then(() => endAll(), endAll);
    return stream;
  }
  function close(key: string, stream: Stream): void {
    stream.controller.abort();
    if (streams.get(key) === stream) streams.delete(key);
  }

  async function* live({ filter, include, signal }: LiveQuery = {}): AsyncGenerator<StatefulInboxEvent> {
    const { current } = postern;
    // After a logout, the next user must not see the former stream.
    const key = JSON.stringify(['user_id' in current && current.user_id, filter, include]);
    const stream = streams.get(key) ?? open(key, { filter, include });
    const events = stream.connection === undefined ? [] : [stream.connection];
    let ended: { readonly error: unknown } | undefined;
    let wake = () => {};
    const follower: Follower = {
      onEvent(event) {
        events.push(event);
        wake();
      },
      onEnd(error) {
        ended ??= { error };
        wake();
      },
    };
    const onAbort = () => wake();
    stream.followers.add(follower);
    signal?.addEventListener('abort', onAbort);
    try {
      for (;;) {
        throwIfAborted(signal);
        const event = events.shift();
        if (event !== undefined) {
          yield event;
        } else if (ended === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else if (ended.error === undefined) {
          return;
        } else {
          throw ended.error;
        }
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      stream.followers.delete(follower);
      if (stream.followers.size === 0) close(key, stream);
    }
  }
  return { ...inbox, live: live as Inbox['live'] };
}
