import { onAbort } from '../platform.js';
import { startTimer } from '../time.js';

/** One event of a stream of server-sent events. */
export interface ServerEvent {
  /** `message` if the event has no name. */
  readonly event: string;
  /** Empty for a block without data, which only moves `id`. */
  readonly data: string;
  readonly id: string | undefined;
}

/** The longest time in milliseconds without any data. Postern sends something every 15 seconds. */
const maxSilenceMs = 20_000;

/**
 * Reads server-sent events (WHATWG HTML, section 9.2) as Postern writes them. Ends with the connection, when nothing arrives
 * for 20 seconds, or when the signal aborts.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffered = '';
  let silenceTimer: ReturnType<typeof setTimeout> | undefined;
  const end = () => void reader.cancel().catch(() => undefined);
  const removeListener = onAbort(signal, end);
  try {
    for (;;) {
      silenceTimer = startTimer(end, maxSilenceMs);
      const { done, value } = await reader.read();
      clearTimeout(silenceTimer);
      if (done) return;
      // Some proxies write the line ends of Windows.
      const blocks = (buffered + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      buffered = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = new Map<string, string>();
        for (const line of block.split(/\r?\n/)) {
          // JSON may contain U+2028, which is a line end only for a dot without the flag.
          const [, name, text = ''] = /^(\w+): ?(.*)/s.exec(line) ?? [];
          if (name !== undefined) fields.set(name, text);
        }
        yield { event: fields.get('event') ?? 'message', data: fields.get('data') ?? '', id: fields.get('id') };
      }
    }
  } finally {
    clearTimeout(silenceTimer);
    removeListener();
    end();
  }
}
