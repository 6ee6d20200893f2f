/** An event as EventSource dispatches it. */
interface SourceEvent {
  readonly type: string;
  readonly data: string;
}
type Listener = (event: SourceEvent) => void;
type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/**
 * EventSource (HTML, 9.2) on a given fetch, since Node.js 20 has none: it reconnects with `Last-Event-ID` after a lost
 * connection, and closes permanently after a response that is not 200.
 */
export function eventSourceOn(fetch: Fetch) {
  return class EventSourceOnFetch {
    static readonly CLOSED = 2;
    readyState = 0;
    onopen: (() => void) | undefined;
    onmessage: Listener | undefined;
    onerror: (() => void) | undefined;
    readonly #url: string;
    readonly #listeners = new Map<string, Listener>();
    readonly #closing = new AbortController();
    #retry = 1000;
    #lastEventId = '';

    constructor(url: string) {
      this.#url = url;
      void this.#connect();
    }

    addEventListener(type: string, listener: Listener): void {
      this.#listeners.set(type, listener);
    }

    close(): void {
      this.readyState = EventSourceOnFetch.CLOSED;
      this.#closing.abort();
    }

    async #connect(): Promise<void> {
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (this.#lastEventId !== '') headers['last-event-id'] = this.#lastEventId;
      const { signal } = this.#closing;
      const answer = await fetch(this.#url, { headers, signal }).catch(() => undefined);
      if (this.readyState === EventSourceOnFetch.CLOSED) return;
      if (answer?.status === 200) {
        this.readyState = 1;
        this.onopen?.();
        await this.#read(answer).catch(() => undefined);
      } else if (answer !== undefined) {
        this.readyState = EventSourceOnFetch.CLOSED;
      }
      if (signal.aborted) return;
      if (this.readyState !== EventSourceOnFetch.CLOSED) {
        this.readyState = 0;
        setTimeout(() => void this.#connect(), this.#retry);
      }
      this.onerror?.();
    }

    async #read({ body }: Response): Promise<void> {
      if (body === null) return;
      let rest = '';
      const decoder = new TextDecoder();
      for await (const part of body) {
        const blocks = (rest + decoder.decode(part, { stream: true })).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) this.#dispatch(block);
      }
    }

    #dispatch(block: string): void {
      const fields = new Map(block.split('\n').map((line) => splitField(line)));
      this.#lastEventId = fields.get('id') ?? this.#lastEventId;
      this.#retry = Number(fields.get('retry') ?? this.#retry);
      const data = fields.get('data');
      if (data === undefined) return;
      const type = fields.get('event') ?? 'message';
      if (type === 'message') this.onmessage?.({ type, data });
      this.#listeners.get(type)?.({ type, data });
    }
  };
}

function splitField(line: string): [string, string] {
  const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
  return [name, value];
}
