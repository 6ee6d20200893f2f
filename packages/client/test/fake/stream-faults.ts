// What proxies, scanners and networks do to a stream.
import { lost, problem } from '../support.js';

const encoder = new TextEncoder();
/** A stream whose start arrives, and nothing else. */
function streamOf(text: string, then: 'silence' | 'end'): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (text !== '') controller.enqueue(encoder.encode(text));
      if (then === 'end') controller.close();
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
}
/** A stream whose bytes arrive one by one, each after some seconds, as scanners do that read all of an answer first. */
function trickle(text: string): Response {
  let timer: ReturnType<typeof setInterval>;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => {
        controller.enqueue(encoder.encode(text[sent % text.length]));
        sent += 1;
      }, 4000);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
/** A page of a proxy. */
export const html = (status: number) =>
  new Response('<h1>Blocked</h1>\n\n<p>by the scanner</p>\n\n', { status, headers: { 'content-type': 'text/html' } });

const firstLine = ':\nretry: 1000\nid: 0\n\n';
export const streamFaults: readonly [string, () => Response | Promise<Response>][] = [
  ['never answers', () => new Promise(() => {})],
  ['sends only the head', () => streamOf('', 'silence')],
  ['is held back after its first line', () => streamOf(firstLine, 'silence')],
  ['arrives byte by byte', () => trickle(firstLine)],
  ['ends at once', () => streamOf('', 'end')],
  ['ends after its first line', () => streamOf(firstLine, 'end')],
  ['is a page of a scanner', () => html(200)],
  ['is JSON', () => Response.json([])],
  ['is forbidden by a proxy', () => html(403)],
  ['is not found by a proxy', () => html(404)],
  ['is a bad gateway', () => html(502)],
  ['is refused, because there are too many', () => problem(429, 'too_many_streams', { 'retry-after': '60' })],
  ['is not known to the service', () => problem(404, 'not_found')],
  ['is cut by the network', lost],
];
