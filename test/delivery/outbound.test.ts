import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../src/delivery/outbound.js';
import type { OutboundError } from '../../src/delivery/outbound-guard.js';
import { eventually } from '../support/eventually.js';
import { startHttp, startResetting, startSelfSigned, startTcp } from './local-server.js';

/** Long enough that a test never ends by this limit. */
const NEVER_MS = 600_000;

function outbound(options: Partial<OutboundOptions> = {}) {
  const made = createOutbound({ allowPrivateNetworkTargets: true, ...options });
  onTestFinished(() => made.close());
  return made;
}

const guarded = (options: Partial<OutboundOptions> = {}) => outbound({ allowPrivateNetworkTargets: false, ...options });

/** A resolver that waits for the test before it answers with a private address. */
function slowResolver() {
  const resolvedNames: string[] = [];
  const answers = new Map<string, () => void>();
  const resolve = (hostname: string) => {
    resolvedNames.push(hostname);
    return new Promise<string[]>((done) => answers.set(hostname, () => done(['10.0.0.1'])));
  };
  return { resolve, resolvedNames, answer: (hostname: string) => answers.get(hostname)?.() };
}

/** Sends chunks as long as the client reads them. */
function trickle(response: ServerResponse, chunk: string) {
  const timer = setInterval(() => response.write(chunk), 5);
  response.on('close', () => clearInterval(timer));
}

describe('an outgoing request', () => {
  it('sends method, path, headers and body, and returns status, headers and body', async () => {
    const server = await startHttp((_request, response) => {
      response.writeHead(
        202,
        [
          ['Content-Type', 'text/plain'],
          ['X-Two', 'a'],
          ['X-Two', 'b'],
        ].flat(),
      );
      response.end('grüße');
    });
    const response = await outbound().request({
      url: `${server.url}/a%20b?c=d#e`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"ü":1}',
    });
    expect(server.received).toMatchObject([
      { method: 'POST', url: '/a%20b?c=d', body: '{"ü":1}', headers: { 'content-type': 'application/json' } },
    ]);
    expect(response.status).toBe(202);
    expect(response.headers).toMatchObject({ 'content-type': 'text/plain', 'x-two': 'a, b' });
    expect(response.body.toString()).toBe('grüße');
  });

  it('sends the bytes of a buffer', async () => {
    const server = await startHttp((_request, response) => response.end());
    await outbound().request({ url: server.url, method: 'POST', body: Buffer.from('bytes') });
    expect(server.received).toMatchObject([{ body: 'bytes' }]);
  });

  it.each([301, 302, 303, 307, 308])('returns a redirect (%i) instead of following it', async (status) => {
    const server = await startHttp((_request, response) => {
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    const response = await outbound().request({ url: server.url, method: 'GET' });
    expect(response).toMatchObject({ status, headers: { location: '/elsewhere' } });
    expect(server.received).toHaveLength(1);
  });

  it.each([400, 404, 500, 503])('returns a failure status (%i)', async (status) => {
    const server = await startHttp((_request, response) => response.writeHead(status).end('no'));
    expect(await outbound().request({ url: server.url, method: 'GET' })).toMatchObject({ status });
  });

  it.each(['HTTP/1.0', 'HTTP/1.1'])('accepts a response of %s that ends with its connection', async (version) => {
    const server = await startTcp((socket) => socket.resume().end(`${version} 200 OK\r\n\r\n{"approved":true}`));
    const response = await outbound().request({ url: `http://127.0.0.1:${server.port}`, method: 'GET' });
    expect(response.body.toString()).toBe('{"approved":true}');
  });

  it('uses no proxy from the environment', async () => {
    const proxy = await startHttp((_request, response) => response.writeHead(502).end());
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await startHttp((_request, response) => response.end());
    expect(await outbound().request({ url: server.url, method: 'GET' })).toMatchObject({ status: 200 });
    expect(proxy.received).toEqual([]);
  });

  it('fails after the client was closed', async () => {
    const server = await startHttp((_request, response) => response.end());
    const closed = createOutbound({ allowPrivateNetworkTargets: true });
    await closed.close();
    await expect(closed.request({ url: server.url, method: 'GET' })).rejects.toMatchObject({ code: 'unreachable' });
    expect(server.received).toEqual([]);
  });
});

describe('the limits', () => {
  it('accepts a body of exactly the limit and refuses a body that is one byte longer', async () => {
    const server = await startHttp((request, response) => response.end('x'.repeat(Number(request.url?.slice(1)))));
    const out = outbound();
    const atLimit = await out.request({ url: `${server.url}/65536`, method: 'GET' });
    expect(atLimit.body).toHaveLength(65_536);
    const over = out.request({ url: `${server.url}/65537`, method: 'GET' });
    await expect(over).rejects.toMatchObject({ code: 'too_large', status: 200 });
    const own = out.request({ url: `${server.url}/11`, method: 'GET', maxResponseBytes: 10 });
    await expect(own).rejects.toMatchObject({ code: 'too_large' });
  });

  it('stops an endless body and closes its connection', async () => {
    let cut = () => {};
    const closed = new Promise<void>((resolve) => {
      cut = resolve;
    });
    const server = await startHttp((_request, response) => {
      response.on('close', cut);
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(16_384)));
      };
      response.on('drain', pour);
      pour();
    });
    const endless = outbound({ totalTimeoutMs: NEVER_MS }).request({ url: server.url, method: 'GET' });
    await expect(endless).rejects.toMatchObject({ code: 'too_large', status: 200 });
    await closed;
  });

  it('stops a body that trickles forever', async () => {
    const server = await startHttp((_request, response) => trickle(response, '.'));
    // Long enough for the head of the response on a busy machine.
    const slow = outbound({ totalTimeoutMs: 4000 }).request({ url: server.url, method: 'GET' });
    await expect(slow).rejects.toMatchObject({ code: 'timeout', status: 200 });
  });

  it('stops a head that trickles forever', async () => {
    const server = await startTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const timer = setInterval(() => socket.write('.'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    const slow = outbound({ totalTimeoutMs: 200 }).request({ url: `http://127.0.0.1:${server.port}`, method: 'GET' });
    await expect(slow).rejects.toMatchObject({ code: 'timeout', status: undefined });
  });

  it("stops a request without a response after the request's own timeout or the general one", async () => {
    const server = await startHttp(() => {});
    const general = outbound({ totalTimeoutMs: 100 }).request({ url: server.url, method: 'POST', body: '{}' });
    await expect(general).rejects.toMatchObject({ code: 'timeout' });
    const own = outbound().request({ url: server.url, method: 'POST', body: '{}', totalTimeoutMs: 100 });
    await expect(own).rejects.toMatchObject({ code: 'timeout' });
  });

  it('applies the connect timeout to a TLS handshake without an answer', async () => {
    const server = await startTcp(() => {});
    const out = outbound({ connectTimeoutMs: 100, totalTimeoutMs: NEVER_MS });
    const silent = out.request({ url: `https://127.0.0.1:${server.port}`, method: 'GET' });
    await expect(silent).rejects.toMatchObject({ code: 'timeout' });
  });

  it('applies the connect timeout to a name server without an answer', async () => {
    const resolve = () => new Promise<never>(() => {});
    const out = guarded({ connectTimeoutMs: 100, totalTimeoutMs: NEVER_MS, resolve });
    await expect(out.request({ url: 'https://silent.test', method: 'GET' })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('applies the total timeout while it still connects', async () => {
    const { resolve, answer } = slowResolver();
    const out = guarded({ connectTimeoutMs: NEVER_MS, resolve });
    const request = out.request({ url: 'https://silent.test', method: 'GET', totalTimeoutMs: 50 });
    await expect(request).rejects.toMatchObject({ code: 'timeout' });
    answer('silent.test');
  });

  it('resolves a name once for parallel requests and two names at a time, to block few threads', async () => {
    const { resolve, answer, resolvedNames } = slowResolver();
    const out = guarded({ resolve });
    const requests = ['a.test', 'a.test', 'b.test', 'c.test', 'd.test'].map((name) =>
      out.request({ url: `https://${name}`, method: 'GET' }).catch((error: OutboundError) => error.code),
    );
    await expect.poll(() => resolvedNames).toEqual(['a.test', 'b.test']);
    answer('b.test');
    await expect.poll(() => resolvedNames).toEqual(['a.test', 'b.test', 'c.test']);
    answer('a.test');
    await expect.poll(() => resolvedNames).toEqual(['a.test', 'b.test', 'c.test', 'd.test']);
    answer('c.test');
    answer('d.test');
    expect(await Promise.all(requests)).toEqual(Array(5).fill('blocked_target'));
  });

  it('resolves a name while the name servers of several others do not respond, as soon as it knows these', async () => {
    const failures = new Map<string, (error: Error) => void>();
    const out = guarded({
      connectTimeoutMs: NEVER_MS,
      totalTimeoutMs: NEVER_MS,
      resolve: async (name) =>
        name === 'good.test' ? ['10.0.0.1'] : new Promise((_, fail) => failures.set(name, fail)),
    });
    const silent = ['a.test', 'b.test', 'c.test'];
    const codesOf = (names: readonly string[]) =>
      names.map((name) =>
        out.request({ url: `https://${name}`, method: 'GET' }).catch(({ code }: OutboundError) => code),
      );
    const failNext = async () => {
      const [name, fail] = await eventually('a query', async () => [...failures][0]);
      failures.delete(name);
      fail(new Error('the name server does not respond'));
    };
    const first = codesOf(silent);
    for (const _ of silent) await failNext();
    expect(await Promise.all(first)).toEqual(['unreachable', 'unreachable', 'unreachable']);

    const second = codesOf(silent);
    await expect.poll(() => failures.size).toBe(1);
    expect(await Promise.all(codesOf(['good.test']))).toEqual(['blocked_target']);
    for (const _ of silent) await failNext();
    expect(await Promise.all(second)).toEqual(['unreachable', 'unreachable', 'unreachable']);
  });
});

describe('an unreachable target', () => {
  it.each([
    ['closes at once', ''],
    ['uses another protocol', '220 mail.test ESMTP\r\n'],
    ['breaks off within the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['breaks off within the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['breaks off within the body of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['sends no last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
    [
      'sends no last chunk and announces the close',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n',
    ],
    ['sends a head without end', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['frames its body twice', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('is a server that %s', async (_what, bytes) => {
    const server = await startTcp((socket) => {
      socket.resume();
      socket.end(bytes);
    });
    const request = outbound().request({
      url: `http://127.0.0.1:${server.port}/secret-path?key=secret`,
      method: 'GET',
    });
    await expect(request).rejects.toMatchObject({ code: 'unreachable' });
    await expect(request).rejects.toThrow(/^127\.0\.0\.1 cannot be reached \(\w+\)$/);
  });

  const complete = '{"approved":true}';
  const chunk = `${complete.length.toString(16)}\r\n${complete}\r\n`;
  it.each([
    ['without a length', complete],
    ['without a length, as HTTP/1.0', complete, 'HTTP/1.0 200 OK\r\n'],
    ['without a length, but to be kept open', complete, 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n'],
    ['of an encoding other than chunks', complete, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n'],
    ['without the last chunk', chunk, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'],
    [
      'without the last chunk, with connection: close',
      chunk,
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n',
    ],
    ['shorter than its length', complete, 'HTTP/1.1 200 OK\r\nContent-Length: 18\r\n'],
    [
      'shorter than its length, with connection: close',
      complete,
      'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 18\r\n',
    ],
    ['shorter than its length, as HTTP/1.0', complete, 'HTTP/1.0 200 OK\r\nContent-Length: 18\r\n'],
  ])('is a server that resets the connection in a response %s', async (_what, body, head = 'HTTP/1.1 200 OK\r\n') => {
    const { port, reset } = await startResetting(`${head}\r\n${body}`);
    const request = outbound().request({ url: `http://127.0.0.1:${port}`, method: 'POST', body: '{}' });
    await expect(request).rejects.toMatchObject({ code: 'unreachable', status: 200 });
    expect(reset()).toBe(1);
  });

  it('is a port without a server, and the message does not hold the path of the URL', async () => {
    const request = outbound().request({ url: 'http://127.0.0.1:1/secret-path', method: 'GET' });
    await expect(request).rejects.toThrow('127.0.0.1 cannot be reached (ECONNREFUSED)');
  });

  it('is a server with an untrusted certificate, even if the environment disables the check', async () => {
    const port = await startSelfSigned();
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const request = outbound().request({ url: `https://127.0.0.1:${port}`, method: 'GET' });
    await expect(request).rejects.toThrow('127.0.0.1 cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)');
  });

  it('is a name without an address', async () => {
    const nothing = guarded({ resolve: async () => [] });
    await expect(nothing.request({ url: 'https://a.test', method: 'GET' })).rejects.toMatchObject({
      code: 'unreachable',
    });
    const unknown = guarded({ resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) });
    await expect(unknown.request({ url: 'https://a.test', method: 'GET' })).rejects.toThrow('(ENOTFOUND)');
  });
});
