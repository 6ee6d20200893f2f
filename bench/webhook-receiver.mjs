// Receivers of webhooks on bare sockets, in a separate process: an HTTP server would be measured with the service. The
// process prints its URL, and each path is another receiver: `/NAME` answers at once, and `/hangs` does not answer. A
// message with a name is answered with the number of requests of this receiver.
import { createServer } from 'node:net';

const endOfHead = '\r\n\r\n';
const answer = 'HTTP/1.1 204 No Content\r\n\r\n';
/** The number of requests of each path. */
const counts = new Map();

const server = createServer((socket) => {
  let waiting = '';
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    waiting += chunk;
    for (let end = endOf(waiting); end > 0; end = endOf(waiting)) {
      const name = waiting.slice(waiting.indexOf('/') + 1, waiting.indexOf(' HTTP'));
      waiting = waiting.slice(end);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      if (name !== 'hangs') socket.write(answer);
    }
  });
});

/** The length of the first request, or 0 if it is not complete. */
function endOf(text) {
  const head = text.indexOf(endOfHead);
  if (head < 0) return 0;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0);
  const end = head + endOfHead.length + length;
  return text.length >= end ? end : 0;
}

server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
process.on('message', (name) => process.send(counts.get(name) ?? 0));
process.on('disconnect', () => process.exit());
