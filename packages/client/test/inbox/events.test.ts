// The bytes of a stream as networks and proxies deliver them: cut anywhere, with other line ends, with a mark at the start.
import { expect, test } from 'vitest';
import { readEvents, type ServerEvent } from '../../src/inbox/events.js';
import { follow, type StreamCore } from '../../src/inbox/live.js';
import type { InboxEvent } from '../../src/inbox/types.js';
import { withFastTime } from '../support.js';

const encoder = new TextEncoder();

/** A body that delivers its bytes in pieces of this size, and then ends. */
function bodyOf(bytes: Uint8Array, size = bytes.length): ReadableStream<Uint8Array> {
  let start = 0;
  return new ReadableStream({
    pull(controller) {
      if (start >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(start, start + size));
      start += size;
    },
  });
}
async function read(body: ReadableStream<Uint8Array>): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(body, new AbortController().signal)) events.push(event);
  return events;
}

const text =
  ':\nretry: 1000\nid: 4\n\nid: 5\ndata: {"a":"é \u{1f600}"}\n\n:\n\nevent: reset\nid: 9\ndata: {}\n\nid: 10\ndata: cut';
const events = [
  { event: 'message', data: '', id: '4' },
  { event: 'message', data: '{"a":"é \u{1f600}"}', id: '5' },
  { event: 'message', data: '', id: undefined },
  { event: 'reset', data: '{}', id: '9' },
];

test.each<[string, string]>([
  ['as Postern writes it', text],
  ['with a byte order mark', `\ufeff${text}`],
  ['with the line ends of Windows', text.replaceAll('\n', '\r\n')],
  ['with both', `\ufeff${text.replaceAll('\n', '\r\n')}`],
])('a stream %s is the same events in pieces of any size, and an event that is cut is none', async (_, sent) => {
  const bytes = encoder.encode(sent);
  for (let size = 1; size <= bytes.length; size += 1)
    expect([size, await read(bodyOf(bytes, size))]).toEqual([size, events]);
});

test.each(['\u2028', '\u2029', '\u0085', '\v', '\f', '\0', '\ufeff'])(
  'data with the character %j arrives whole',
  async (character) => {
    const data = JSON.stringify({ description: `before${character}after` });
    expect(await read(bodyOf(encoder.encode(`id: 7\ndata: ${data}\n\n`)))).toEqual([
      { event: 'message', data, id: '7' },
    ]);
  },
);

test('a stream that is cut after each of its bytes, one after the other, loses and repeats nothing', async () => {
  withFastTime(1000);
  const descriptions = ['one', 'zwölf \u2028', '\u{1f600}\u{1f600}', 'vier'];
  const blocks = descriptions.map(
    (description, index) => `id: ${index + 1}\ndata: ${JSON.stringify({ id: `${index}`, description })}\n\n`,
  );
  const length = encoder.encode(blocks.join('')).length + 40;
  for (let cut = 0; cut < length; cut += 1) {
    let connections = 0;
    const core: StreamCore = {
      async raw({ headers }) {
        const after = Number(headers?.['last-event-id'] ?? 0);
        const whole = encoder.encode(`:\nretry: 1000\nid: ${after}\n\n${blocks.slice(after).join('')}`);
        connections += 1;
        const body = bodyOf(connections === 1 ? whole.slice(0, cut) : whole);
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
      // The proxy lets nothing but streams pass.
      call: () => Promise.reject(new TypeError('lost')),
      onResume: () => () => undefined,
      onClose: () => () => undefined,
    };
    const seen: string[] = [];
    const end = new AbortController();
    for await (const event of follow(core, { signal: end.signal, after: '0' }, false) as AsyncIterable<InboxEvent>) {
      if (event.type === 'put') seen.push(event.notification.description);
      if (event.type === 'put' && event.position === '4') break;
    }
    expect([cut, seen]).toEqual([cut, descriptions]);
  }
});
