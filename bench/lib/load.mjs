import { connect } from 'node:net';
import { median } from './measure.mjs';

const endOfHead = Buffer.from('\r\n\r\n');
const lengthHeader = /content-length: (\d+)/i;

/**
 * Keeps this many connections busy, one request at a time on each. On bare sockets: on a machine with few cores an HTTP
 * client would be measured with the server.
 * @param {{ url: string, path: string, tokens: readonly string[], connections: number, seconds: number }} options
 * Connections share the tokens; without any there is no Authorization.
 */
export async function load({ url, path, tokens, connections, seconds }) {
  const { hostname, port, host } = new URL(url);
  const until = performance.now() + seconds * 1000;
  const times = [];
  const one = (index) =>
    new Promise((resolve, reject) => {
      const authorization = tokens.length === 0 ? '' : `Authorization: Bearer ${tokens[index % tokens.length]}\r\n`;
      const request = Buffer.from(
        `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}Content-Length: 0\r\n\r\n`,
      );
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true);
      let pending = Buffer.alloc(0);
      let sent = 0;
      const send = () => {
        sent = performance.now();
        socket.write(request);
      };
      socket.on('error', reject);
      socket.on('close', resolve);
      socket.on('connect', send);
      socket.on('data', (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const head = pending.indexOf(endOfHead);
        if (head < 0) return;
        const text = pending.latin1Slice(0, head);
        const length = Number(lengthHeader.exec(text)?.[1]);
        if (!text.startsWith('HTTP/1.1 200')) return socket.destroy(new Error(`not 200: ${pending}`));
        if (pending.length < head + 4 + length) return;
        pending = Buffer.alloc(0);
        const now = performance.now();
        times.push(now - sent);
        if (now < until) send();
        else socket.end();
      });
    });
  await Promise.all(Array.from({ length: connections }, (_, index) => one(index)));
  times.sort((a, b) => a - b);
  return { answers: times.length, p50: median(times), p99: times[Math.floor(times.length * 0.99)] };
}
