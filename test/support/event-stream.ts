import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { eventually } from './eventually.js';

/** One event as a client of the WHATWG's standard dispatches it. */
export interface StreamEvent {
  readonly event: string;
  /** The last id before or in this event. */
  readonly id: string;
  readonly data: string;
}

/** A stream at its client. */
export interface EventStream {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly events: readonly StreamEvent[];
  /** The last `retry` of the server, in milliseconds. */
  readonly retry: number | undefined;
  /** The last id, also without an event. */
  readonly lastEventId: string;
  /** Lines of comment. */
  readonly comments: number;
  /** How it ended. Undefined while it is open. */
  readonly end: 'ended' | 'broken' | undefined;
  /** All received data, as text. */
  readonly text: string;
  /** Breaks the connection. */
  destroy(): void;
}

export interface StreamOptions {
  readonly bearer: string;
  /** The list's own path unless it is given. */
  readonly path?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly lastEventId?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a stream on a separate connection. */
export async function openStream(url: string, options: StreamOptions): Promise<EventStream> {
  const { bearer, path = '/v1/notifications', query = {}, lastEventId } = options;
  const sent = request(`${url}${path}?${new URLSearchParams(query)}`, {
    agent: false,
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${bearer}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...options.headers,
    },
  });
  // An error before the response rejects the promise. Later errors arrive on the response.
  sent.on('error', () => undefined);
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return read(response, lastEventId ?? '', () => sent.destroy());
}

function read(response: IncomingMessage, from: string, destroy: () => void): EventStream {
  const events: StreamEvent[] = [];
  const state = { retry: undefined as number | undefined, lastEventId: from, comments: 0, text: '' };
  let end: EventStream['end'];
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    state.text += chunk;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) readBlock(block);
  });
  response.on('end', () => {
    end = 'ended';
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    end ??= 'broken';
  });

  function readBlock(block: string): void {
    let event = 'message';
    const data: string[] = [];
    for (const line of block.split('\n')) {
      const [, field, value = ''] = /^([a-z]*):? ?(.*)$/s.exec(line) ?? [];
      if (line.startsWith(':')) state.comments += 1;
      else if (field === 'event') event = value;
      else if (field === 'data') data.push(value);
      else if (field === 'id') state.lastEventId = value;
      else if (field === 'retry') state.retry = Number(value);
      else throw new Error(`a line of a stream cannot be read: ${line}`);
    }
    if (data.length > 0) events.push({ event, id: state.lastEventId, data: data.join('\n') });
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    get retry() {
      return state.retry;
    },
    get lastEventId() {
      return state.lastEventId;
    },
    get comments() {
      return state.comments;
    },
    get text() {
      return state.text;
    },
    get end() {
      return end;
    },
    destroy,
  };
}

/** Waits for a number of events with a name, and returns their data. */
export function eventsOf<Data>(stream: EventStream, event: string, count: number): Promise<Data[]> {
  return eventually(`${count} events ${event}`, async () => {
    const found = stream.events.filter((candidate) => candidate.event === event);
    if (found.length >= count) return found.map(({ data }) => JSON.parse(data) as Data);
    if (stream.end !== undefined) throw new Error(`the stream has ended after ${stream.text}`);
    return undefined;
  });
}

/** Waits for a stream's end. */
export function endOf(stream: EventStream, deadline?: number): Promise<'ended' | 'broken'> {
  return eventually('the end of a stream', async () => stream.end, deadline);
}
