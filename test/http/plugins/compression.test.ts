import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Publication } from '../../../src/contract/publication.js';
import { compressFiles } from '../../../src/http/plugins/compression.js';
import { requestTargetsPlugin, withOriginForm } from '../../../src/http/plugins/request-targets.js';
import type { App } from '../../../src/http/requests/route.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createUser, signIn } from '../../support/users.js';

let app: TestApp;
let user: string;
let bearer: string;

beforeAll(async () => {
  app = await startTestApp();
  const created = await Promise.all(
    Array.from({ length: 12 }, () => createUser(app, { name: 'A long name '.repeat(8) })),
  );
  const [first = expect.unreachable('there are users')] = created;
  user = first.id;
  bearer = (await signIn(app, first)).session.token;
  const items = Array.from({ length: 20 }, () => ({ description: 'Lunch '.repeat(30) }));
  for (const { description } of items) {
    const body = { user_id: user, notification_type: 'payment', description };
    await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
  }
});
afterAll(() => app?.close());

/** Sends a request as it is: `fetch` would decompress the answer. */
function send(path: string, token: string, coding?: string): Promise<{ headers: IncomingHttpHeaders; body: Buffer }> {
  const headers = { authorization: `Bearer ${token}`, ...(coding !== undefined && { 'accept-encoding': coding }) };
  return new Promise((resolve, reject) => {
    get(app.url + path, { agent: false, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => resolve({ headers: answer.headers, body: Buffer.concat(parts) }));
    }).on('error', reject);
  });
}

test('a large list of the admin API is compressed as the client asks', async () => {
  const plain = await send('/admin/v1/users', app.adminKey);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.headers.vary).toContain('Accept-Encoding');
  const brotli = await send('/admin/v1/users', app.adminKey, 'gzip, deflate, br');
  expect(brotli.headers).toMatchObject({ 'content-encoding': 'br', 'content-length': String(brotli.body.length) });
  expect(brotli.body.length).toBeLessThan(plain.body.length / 2);
  expect(JSON.parse(String(brotliDecompressSync(brotli.body)))).toEqual(JSON.parse(String(plain.body)));
  const gzipped = await send('/admin/v1/users', app.adminKey, 'gzip');
  expect(gzipped.headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(String(gunzipSync(gzipped.body)))).toEqual(JSON.parse(String(plain.body)));
  expect((await send('/admin/v1/users', app.adminKey, 'br;q=0')).headers['content-encoding']).toBeUndefined();
});

test('a client that decompresses answers reads the same list', async () => {
  // The client of the tests also compares the answer with the OpenAPI document.
  const { status, body } = await app.api<object[]>('GET', '/admin/v1/users?limit=100', { bearer: app.adminKey });
  expect(status).toBe(200);
  expect(body.length).toBeGreaterThanOrEqual(12);
});

test.each(['/admin/v1/users?limit=1', '/admin/v1/nothing', '/livez'])('%s is not compressed', async (path) => {
  expect((await send(path, app.adminKey, 'br, gzip')).headers['content-encoding']).toBeUndefined();
});

test('answers that may contain both a secret and a text of another user are not compressed', async () => {
  const notification = { notification_type: 'payment', description: 'Lunch '.repeat(400) };
  const { body: made } = await app.api<Publication>('POST', '/admin/v1/publications', {
    bearer: app.adminKey,
    body: { to: { user_ids: [user] }, notification, send_at: new Date(Date.now() + 3_600_000).toISOString() },
  });
  for (const [path, token] of [
    ['/v1/notifications', bearer],
    ['/admin/v1/publications', app.adminKey],
    [`/admin/v1/publications/${made.id}`, app.adminKey],
    [`/admin/v1/users/${user}/notifications`, app.adminKey],
  ] as const) {
    const { headers, body } = await send(path, token, 'br, gzip');
    expect(body.length).toBeGreaterThan(2048);
    expect(headers['content-encoding']).toBeUndefined();
  }
});

test.each(['/docs/reference.js', '/docs/reference.css', '/docs'])(
  'the file %s of the API page is compressed, also at the second request',
  async (path) => {
    const plain = await send(path, app.adminKey);
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const round of [1, 2]) {
      const [brotli, gzipped] = await Promise.all([
        send(path, app.adminKey, 'gzip, br'),
        send(`${path}?round=${round}`, app.adminKey, 'gzip'),
      ]);
      expect(brotli.headers).toMatchObject({
        ...{ 'content-encoding': 'br', vary: 'Accept-Encoding', 'content-length': String(brotli.body.length) },
        'content-type': plain.headers['content-type'],
      });
      expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
      expect(gunzipSync(gzipped.body).equals(plain.body)).toBe(true);
      expect(gzipped.body.length).toBeLessThan(plain.body.length);
    }
    const missing = await send('/docs/nothing.js', app.adminKey, 'br');
    expect(missing.headers['content-encoding']).toBeUndefined();
  },
);

test('other spellings of a path share the compressed file, and leave room for other files', async () => {
  const letter = (text: string, index: number) => `%${text.charCodeAt(index).toString(16)}`;
  const spelled = (path: string, index: number) => path.slice(0, index) + letter(path, index) + path.slice(index + 1);
  const path = '/docs/reference.css';
  const spellings = Array.from({ length: 12 }, (_, index) => spelled(path, 6 + index)).flatMap((one) => [
    ...[one, `${one}?a=1`],
  ]);
  for (const one of spellings) {
    const { headers } = await send(one, app.adminKey, 'br');
    expect([undefined, 'br'], one).toContain(headers['content-encoding']);
  }
  for (const other of ['/docs/reference.js', '/docs']) {
    expect((await send(other, app.adminKey, 'br')).headers['content-encoding'], other).toBe('br');
  }
});

test('whole URLs share the compressed file whatever host they name, and fragments get none', async () => {
  const files = Fastify({ serverFactory: (routes) => createServer(withOriginForm(routes)) }) as unknown as App;
  onTestFinished(() => files.close());
  requestTargetsPlugin(files);
  compressFiles(files);
  let reads = 0;
  files.get('/files/*', async () => {
    reads += 1;
    return `read ${reads}`;
  });
  await files.listen({ port: 0, host: '127.0.0.1' });
  const { port } = files.server.address() as AddressInfo;
  const ask = async (target: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n`);
    const [head = '', body = ''] = (await text(socket.setEncoding('latin1'))).split('\r\n\r\n');
    return head.includes('content-encoding') ? String(gunzipSync(Buffer.from(body, 'latin1'))) : head.split(' ')[1];
  };
  const spellings = ['http://a', 'http://b', 'HTTP://c:80', 'https://d', 'http://e@f', ''];
  for (const before of spellings) {
    for (const after of ['', '?x', '?http://y'])
      expect([before, await ask(`${before}/files/one${after}`)]).toEqual([before, 'read 1']);
  }
  for (const fragment of ['#1', '#2', '#1?x']) expect(await ask(`/files/one${fragment}`)).toBe('500');
});
