import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { withUnreadBodies } from '../../src/http/unread-bodies.js';
import { maxPaceMs } from '../../src/lib/byte-pace.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

const megabyte = 1024 * 1024;

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

/** Sends bytes over a connection, and collects what the server answers. */
async function send(url: string, ...parts: readonly (string | Buffer)[]) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const connection = { socket, answers: '' };
  socket.on('data', (bytes) => {
    connection.answers += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  for (const part of parts) socket.write(part);
  return connection;
}

const head = (target: string, length: number, method = 'POST') =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

test.each([
  ['a refused upload', 'POST', '/v1/images', 401],
  ['a request to an unknown path', 'POST', '/nowhere', 404],
  ['a request that needs none', 'GET', '/livez', 200],
])('the body of %s is not read as fast as it arrives', async (_name, method, target, status) => {
  const length = 64 * megabyte;
  const connection = await send(postern.url, head(target, length, method), Buffer.alloc(length));
  await eventually('the answer', async () => connection.answers || undefined);
  expect(connection.answers).toContain(`HTTP/1.1 ${status} `);
  // Time enough to read all of it, if the server did.
  for (let n = 0; n < 50; n += 1) await postern.api('GET', '/livez');
  expect(connection.socket.writableLength).toBe(length);
});

test('the connection of a body over the limit stays open until the client has read the answer', async () => {
  const length = 64 * megabyte;
  const connection = await send(postern.url, head('/v1/tokens', length), Buffer.alloc(length));
  await eventually('the answer', async () => connection.answers || undefined);
  expect(connection.answers).toContain('HTTP/1.1 413 ');
  expect(connection.answers.toLowerCase()).not.toContain('connection: close');
  for (let n = 0; n < 20; n += 1) await postern.api('GET', '/livez');
  expect([connection.socket.destroyed, connection.socket.writableLength]).toEqual([false, length]);
});

/** A server that answers at once, and a pace that stops after each piece until `next` is called. */
async function startStopping(answer: RequestListener, address = '192.0.2.1') {
  const pieces: { readonly key: string; readonly bytes: number; readonly next: () => void }[] = [];
  let last = { key: '', bytes: 0 };
  const pace = (key: string, bytes: number) => {
    last = { key, bytes };
    return 1;
  };
  const wait = (_ms: number, closed: AbortSignal) =>
    new Promise<void>((next, reject) => {
      pieces.push({ ...last, next });
      closed.addEventListener('abort', () => reject(closed.reason));
    });
  const server = createServer(withUnreadBodies(answer, { pace, wait, addressOf: () => address }));
  onTestFinished(() => void server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, pieces };
}

test('nothing more of a body is read until its turn, and then the connection is used again', async () => {
  const { url, pieces } = await startStopping((_request, response) => void response.writeHead(401).end('no'));
  const next = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const connection = await send(url, head('/', 8 * megabyte), Buffer.alloc(8 * megabyte), next);
  await eventually('the first piece', async () => pieces[0]);
  const other = await send(url, next);
  await eventually('another answer', async () => other.answers || undefined);
  expect([pieces.length, pieces[0]?.key]).toEqual([1, '192.0.2.1']);
  expect(connection.answers.match(/401/g)).toHaveLength(1);
  let read = 0;
  while (read < 8 * megabyte) {
    const piece = await eventually('a piece', async () => pieces.shift());
    read += piece.bytes;
    piece.next();
  }
  await eventually('the second answer', async () => connection.answers.match(/401/g)?.length === 2 || undefined);
});

test.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::7', '2001:db8:1:2::/64'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['64:ff9b::c000:207', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
])(
  'the pace of %s is that of its network, %s: another address of a customer gets no burst of its own',
  async (address, key) => {
    const { url, pieces } = await startStopping(
      (_request, response) => void response.writeHead(401).end('no'),
      address,
    );
    await send(url, head('/', megabyte), Buffer.alloc(megabyte));
    expect((await eventually('the first piece', async () => pieces[0])).key).toBe(key);
  },
);

test('a body that a handler reads, and a small one, have no pace', async () => {
  const { url, pieces } = await startStopping(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).length;
    response.end(`read ${bytes}`);
  });
  const large = await send(url, head('/', megabyte), Buffer.alloc(megabyte));
  const small = await send(url, head('/', 10), Buffer.alloc(10));
  await eventually(
    'both answers',
    async () => (/read 1048576/.test(large.answers) && /read 10/.test(small.answers)) || undefined,
  );
  expect(pieces).toEqual([]);
});

test('a client that disconnects ends the wait and the reading', async () => {
  const { url, pieces } = await startStopping((_request, response) => void response.writeHead(401).end('no'));
  const connection = await send(url, head('/', 8 * megabyte), Buffer.alloc(megabyte));
  await eventually('the first piece', async () => pieces[0]);
  connection.socket.destroy();
  const other = await send(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually('another answer', async () => other.answers || undefined);
});

test('a connection that has much more to send than its pace allows is closed', async () => {
  const answer: RequestListener = (_request, response) => void response.writeHead(401).end('no');
  const server = createServer(withUnreadBodies(answer, { pace: () => maxPaceMs, addressOf: () => '192.0.2.1' }));
  onTestFinished(() => void server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { socket } = await send(url, head('/', 8 * megabyte), Buffer.alloc(megabyte));
  await eventually('the end of the connection', async () => socket.destroyed || undefined);
});
