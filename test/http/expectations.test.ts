import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser, signIn } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

/** Sends the head of a request that waits for `100 Continue`. @returns the statuses that come before the body, or after it */
function statusesOf(lines: readonly string[], body: string, connection = 'close'): Promise<number[]> {
  const socket = connect(Number(new URL(postern.url).port), '127.0.0.1');
  const head = [
    ...lines,
    'Host: x',
    'Expect: 100-continue',
    `Connection: ${connection}`,
    `Content-Length: ${body.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\nContent-Type: application/json\r\n\r\n`);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
    if (text.endsWith('100 Continue\r\n\r\n')) socket.write(body);
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))));
  });
}

test('a request that a route reads gets 100 Continue before its answer', async () => {
  const { session } = await signIn(postern, await createUser(postern));
  const upload = ['POST /v1/images HTTP/1.1', `Authorization: Bearer ${session.token}`];
  expect(await statusesOf(upload, '{"encoded":"no base64"}')).toEqual([100, 422]);
});

test.each([
  ['without a session', ['POST /v1/images HTTP/1.1'], 401],
  ['with an unknown session', ['POST /v1/images HTTP/1.1', 'Authorization: Bearer pss_x'], 401],
  ['to an unknown path', ['POST /nowhere HTTP/1.1'], 404],
  ['with a compressed body', ['POST /v1/images HTTP/1.1', 'Content-Encoding: gzip'], 415],
])('a request %s is refused, and its body is not asked for', async (_name, lines, status) => {
  expect(await statusesOf(lines, '{}')).toEqual([status]);
});

test('a connection is closed after a refusal without 100 Continue: the server cannot know whether a body follows', async () => {
  expect(await statusesOf(['POST /nowhere HTTP/1.1'], '{}', 'keep-alive')).toEqual([404]);
});
