import { createStore, type Store } from '../lib/store.js';
import { send } from './client.js';
import { textLines } from './ndjson.js';
import { isTemporary, SignedOutError } from './problem.js';

/** `waiting`: disconnected, and the next attempt follows. `ended`: disconnected, and no attempt follows. */
export type StreamState = 'connecting' | 'live' | 'waiting' | 'ended';

export interface StreamEvent {
  /** The type of the event: `message`, unless the service gives another one. */
  readonly event: string;
  readonly data: string;
}

export interface EventStream {
  readonly state: Store<StreamState>;
  stop(): void;
}

export interface StreamOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** The id after which the stream starts, for its first connection. */
  readonly afterId?: string;
  readonly onEvent: (event: StreamEvent) => void;
  /** Something is missing between the last event and the next: read the list again. */
  readonly onReset?: () => void;
}

/** The delay before a new attempt in milliseconds. It doubles each time, up to the maximum. */
const retryDelay = { first: 1000, max: 30_000 };

/** Reads a stream of events with the session of the operator, and resumes it after its last event. */
export function openStream(url: string, options: StreamOptions): EventStream {
  const state = createStore<StreamState>('connecting');
  const controller = new AbortController();
  let lastId = options.afterId;
  let delay = retryDelay.first;

  async function connect(): Promise<void> {
    const headers = { Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) };
    const { signal } = controller;
    const response = await send('GET', url, { query: options.query, headers, signal });
    state.set('live');
    for await (const block of readBlocks(textLines(response, signal))) {
      delay = retryDelay.first;
      if (block.id !== undefined) lastId = block.id;
      if (block.retry !== undefined) delay = block.retry;
      if (block.event === 'reset') options.onReset?.();
      else if (block.data !== undefined) options.onEvent({ event: block.event ?? 'message', data: block.data });
    }
  }

  async function run(): Promise<void> {
    while (!controller.signal.aborted) {
      try {
        await connect();
      } catch (error) {
        if (controller.signal.aborted) return;
        if (error instanceof SignedOutError || !isTemporary(error)) {
          state.set('ended');
          return;
        }
        delay = Math.min(delay * 2, retryDelay.max);
      }
      if (controller.signal.aborted) return;
      state.set('waiting');
      // Half of it is random, so that many consoles do not return at the same moment.
      await pause(delay / 2 + (Math.random() * delay) / 2, controller.signal);
    }
  }

  void run();
  return { state, stop: () => controller.abort() };
}

interface Block {
  id?: string;
  event?: string;
  data?: string;
  retry?: number;
}

/** The blocks of an event stream (WHATWG HTML, 9.2.6). Lines of comments keep the connection open. */
async function* readBlocks(lines: AsyncIterable<string>): AsyncGenerator<Block> {
  let block: Block = {};
  for await (const line of lines) {
    if (line === '') {
      if (Object.keys(block).length > 0) yield block;
      block = {};
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') block.data = block.data === undefined ? value : `${block.data}\n${value}`;
    else if (field === 'event') block.event = value;
    else if (field === 'id') block.id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) block.retry = Number(value);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
