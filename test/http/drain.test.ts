import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/app/base/log.js';
import { drainConnections } from '../../src/http/drain.js';
import type { App } from '../../src/http/requests/route.js';
import { eventually } from '../support/eventually.js';

/**
 * A server whose route `/endless` never ends its answer, and that never reads NDJSON.
 * @param answerTime milliseconds. By default far longer than the test: on a busy machine, the first look at the connections can be late
 */
async function startServer(answerTime = 60_000) {
  const lines: string[] = [];
  const loggerInstance = createLog('warn', { write: (line) => void lines.push(line) });
  const app = Fastify({ loggerInstance, return503OnClosing: false }) as unknown as App;
  const mayTakeLonger = new WeakSet<Socket>();
  drainConnections(app, mayTakeLonger, (address) => address, { firstRequest: 10, body: 50, answer: answerTime });
  app.post('/items/:id', async () => 'stored');
  app.get('/endless', async () => new PassThrough());
  let answer = () => {};
  app.get('/slow', () => new Promise((resolve) => (answer = () => resolve('late'))));
  app.addContentTypeParser('application/x-ndjson', ({ raw }: FastifyRequest) => {
    mayTakeLonger.add(raw.socket);
  });
  let started = 0;
  app.server.on('request', () => (started += 1));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const open = async (text: string) => {
    const socket = connect({ host: '127.0.0.1', port: (app.server.address() as AddressInfo).port });
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    socket.on('error', () => undefined).write(text);
    return socket;
  };
  const requests = (count: number) => eventually('the requests', async () => started === count || undefined);
  const logged = () => lines.map((line) => JSON.parse(line) as { method: string; route: string; msg: string });
  return { app, open, requests, logged, answer: () => answer() };
}

const head = (type = 'application/json') =>
  `POST /items/secret?key=secret HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n`;

test('a server that closes cuts requests whose body does not arrive, and logs their routes', async () => {
  const { app, open, requests, logged } = await startServer();
  const cut = await open(`${head()}{"a":`);
  const closed = once(cut, 'close');
  await requests(1);
  await app.close();
  await closed;
  expect(logged()).toMatchObject([{ method: 'POST', route: '/items/:id' }]);
  expect(logged()[0]?.msg).toContain('the rest of its body did not arrive within 50 ms');
  expect(JSON.stringify(logged())).not.toContain('secret');
});

test('a server that closes cuts answers that do not end, and requests that may take longer to arrive, later', async () => {
  const { app, open, requests, logged } = await startServer(300);
  await open('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n');
  await open(`${head('application/x-ndjson')}{`);
  await requests(2);
  await app.close();
  expect(
    logged()
      .map(({ route }) => route)
      .toSorted(),
  ).toEqual(['/endless', '/items/:id']);
  for (const { msg } of logged()) expect(msg).toContain('not answered within 300 ms');
});

test('a server that closes waits for no half of a next request, and answers a request that is complete', async () => {
  const { app, open, requests, logged, answer } = await startServer();
  await open('GET /nothing HTTP/1.1\r\nHost: a\r\n\r\nGET /nothing HT');
  await open('GET /not');
  const waiting = await open('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
  const answered = once(waiting, 'data');
  await requests(2);
  const closed = app.close();
  await eventually('the other connections', async () => {
    const count = await new Promise<number>((resolve) => app.server.getConnections((_, open) => resolve(open)));
    return count === 1 || undefined;
  });
  answer();
  expect(String((await answered)[0])).toContain('late');
  await closed;
  expect(logged()).toEqual([]);
});
