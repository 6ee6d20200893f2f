import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  checkTargetUrl,
  createOutbound,
  type OutboundError,
  type OutboundOptions,
} from '../../src/delivery/outbound.js';
import { startHttp, startSelfSigned, startTcp } from './local-server.js';

/** So long that a test ends by its own cause or by Vitest's limit, never by this one. */
const NEVER_MS = 600_000;

function outbound(options: Partial<OutboundOptions> = {}) {
  const made = createOutbound({ allowPrivateNetworkTargets: true, ...options });
  onTestFinished(() => made.close());
  return made;
}

const guarded = (options: Partial<OutboundOptions> = {}) => outbound({ allowPrivateNetworkTargets: false, ...options });

/** A resolver that waits to be told to answer, always with a private address. */
function slowResolver() {
  const asked: string[] = [];
  const answers = new Map<string, () => void>();
  const resolve = (hostname: string) => {
    asked.push(hostname);
    return new Promise<string[]>((done) => answers.set(hostname, () => done(['10.0.0.1'])));
  };
  return { resolve, asked, answer: (hostname: string) => answers.get(hostname)?.() };
}

/** Sends chunks for as long as the client takes them. */
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

  it('uses no proxy from the environment', async () => {
    const proxy = await startHttp((_request, response) => response.writeHead(502).end());
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY']) vi.stubEnv(name, proxy.url);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = await startHttp((_request, response) => response.end());
    expect(await outbound().request({ url: server.url, method: 'GET' })).toMatchObject({ status: 200 });
    expect(proxy.received).toEqual([]);
  });

  it('is refused once the way out is closed', async () => {
    const server = await startHttp((_request, response) => response.end());
    const closed = createOutbound({ allowPrivateNetworkTargets: true });
    await closed.close();
    await expect(closed.request({ url: server.url, method: 'GET' })).rejects.toMatchObject({ code: 'unreachable' });
    expect(server.received).toEqual([]);
  });
});

describe('the limits', () => {
  it('accepts a body of exactly the limit and cuts one of a byte more', async () => {
    const server = await startHttp((request, response) => response.end('x'.repeat(Number(request.url?.slice(1)))));
    const out = outbound();
    const atLimit = await out.request({ url: `${server.url}/65536`, method: 'GET' });
    expect(atLimit.body).toHaveLength(65_536);
    const over = out.request({ url: `${server.url}/65537`, method: 'GET' });
    await expect(over).rejects.toMatchObject({ code: 'too_large', status: 200 });
    const own = out.request({ url: `${server.url}/11`, method: 'GET', maxResponseBytes: 10 });
    await expect(own).rejects.toMatchObject({ code: 'too_large' });
  });

  it('cuts an endless body, and its connection', async () => {
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

  it('ends a body that trickles for ever', async () => {
    const server = await startHttp((_request, response) => trickle(response, '.'));
    const slow = outbound({ totalTimeoutMs: 200 }).request({ url: server.url, method: 'GET' });
    await expect(slow).rejects.toMatchObject({ code: 'timeout', status: 200 });
  });

  it('ends a head that trickles for ever', async () => {
    const server = await startTcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const timer = setInterval(() => socket.write('.'), 5);
      socket.on('close', () => clearInterval(timer));
    });
    const slow = outbound({ totalTimeoutMs: 200 }).request({ url: `http://127.0.0.1:${server.port}`, method: 'GET' });
    await expect(slow).rejects.toMatchObject({ code: 'timeout', status: undefined });
  });

  it("ends a request without an answer by the request's own time or by the general one", async () => {
    const server = await startHttp(() => {});
    const general = outbound({ totalTimeoutMs: 100 }).request({ url: server.url, method: 'POST', body: '{}' });
    await expect(general).rejects.toMatchObject({ code: 'timeout' });
    const own = outbound().request({ url: server.url, method: 'POST', body: '{}', totalTimeoutMs: 100 });
    await expect(own).rejects.toMatchObject({ code: 'timeout' });
  });

  it('gives a silent TLS handshake only the time to connect', async () => {
    const server = await startTcp(() => {});
    const out = outbound({ connectTimeoutMs: 100, totalTimeoutMs: NEVER_MS });
    const silent = out.request({ url: `https://127.0.0.1:${server.port}`, method: 'GET' });
    await expect(silent).rejects.toMatchObject({ code: 'timeout' });
  });

  it('gives a silent name server only the time to connect', async () => {
    const resolve = () => new Promise<never>(() => {});
    const out = guarded({ connectTimeoutMs: 100, totalTimeoutMs: NEVER_MS, resolve });
    await expect(out.request({ url: 'https://silent.test', method: 'GET' })).rejects.toMatchObject({ code: 'timeout' });
  });

  it('ends in time although connecting takes longer', async () => {
    const { resolve, answer } = slowResolver();
    const out = guarded({ connectTimeoutMs: NEVER_MS, resolve });
    const request = out.request({ url: 'https://silent.test', method: 'GET', totalTimeoutMs: 50 });
    await expect(request).rejects.toMatchObject({ code: 'timeout' });
    answer('silent.test');
  });

  it('resolves one name once for many and two names at a time, so that silent name servers take few threads', async () => {
    const { resolve, answer, asked } = slowResolver();
    const out = guarded({ resolve });
    const requests = ['a.test', 'a.test', 'b.test', 'c.test', 'd.test'].map((name) =>
      out.request({ url: `https://${name}`, method: 'GET' }).catch((error: OutboundError) => error.code),
    );
    await vi.waitFor(() => expect(asked).toEqual(['a.test', 'b.test']));
    answer('b.test');
    await vi.waitFor(() => expect(asked).toEqual(['a.test', 'b.test', 'c.test']));
    answer('a.test');
    await vi.waitFor(() => expect(asked).toEqual(['a.test', 'b.test', 'c.test', 'd.test']));
    answer('c.test');
    answer('d.test');
    expect(await Promise.all(requests)).toEqual(Array(5).fill('blocked_target'));
  });
});

describe('what cannot be reached', () => {
  it.each([
    ['closes at once', ''],
    ['speaks another protocol', '220 mail.test ESMTP\r\n'],
    ['breaks off within the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['breaks off within the body', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
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

  it('is a port without a server, and the message keeps the path of the URL to itself', async () => {
    const request = outbound().request({ url: 'http://127.0.0.1:1/secret-path', method: 'GET' });
    await expect(request).rejects.toThrow('127.0.0.1 cannot be reached (ECONNREFUSED)');
  });

  it('is a server with a certificate that nobody vouches for, whatever the environment says', async () => {
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

const blocked = [
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['link-local and cloud metadata', '169.254.169.254', 'fe80::1', 'febf::1'],
  ['carrier-grade NAT', '100.64.0.1', '100.127.255.255', '100.100.100.200'],
  ['multicast', '224.0.0.1', '239.255.255.250', 'ff02::1'],
  ['broadcast and reserved', '255.255.255.255', '240.0.0.1', '192.0.0.1', '192.88.99.1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarking', '198.18.0.1', '198.19.255.255', '2001:2::1'],
  ['unique local and site-local', 'fc00::1', 'fd12:3456::1', 'fec0::1'],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1', '::a00:1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1'],
  ['6to4', '2002:7f00:1::', '2002:a00:1::1'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  ['other special purposes', '100::1', '2001:10::1', '2001:20::1', '5f00::1'],
  ['never allotted', '4000::1', '1::1', '::1:0:0:1'],
].flatMap(([range, ...addresses]) => addresses.map((address) => [range, address] as const));

const urlOf = (address: string) => (address.includes(':') ? `https://[${address}]/` : `https://${address}/`);

describe('the guard', () => {
  it.each(blocked)('refuses an address in a URL, %s: %s', async (_range, address) => {
    const url = urlOf(address);
    expect(checkTargetUrl(url, { allowPrivateNetworkTargets: false })).toBe('the address is not public');
    await expect(guarded().request({ url, method: 'GET' })).rejects.toMatchObject({ code: 'blocked_target' });
    expect(checkTargetUrl(url, { allowPrivateNetworkTargets: true })).toBeUndefined();
  });

  it.each(blocked)('refuses a name with one among public addresses, %s: %s', async (_range, address) => {
    const out = guarded({ resolve: async () => ['93.184.215.14', address] });
    const request = out.request({ url: 'https://rebound.test/', method: 'GET' });
    await expect(request).rejects.toMatchObject({ code: 'blocked_target' });
    await expect(request).rejects.toThrow('rebound.test has an address that is not public');
  });

  it.each([
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.1',
    '127.0.1',
    '127.0.0.1.',
    '0',
    '①②⑦.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '[::ffff:127.0.0.1]',
    '[0:0:0:0:0:ffff:7f00:0001]',
  ])('refuses loopback spelt as %s', async (host) => {
    const request = guarded().request({ url: `https://${host}/`, method: 'GET' });
    await expect(request).rejects.toMatchObject({ code: 'blocked_target' });
  });

  it.each(['localhost', 'LOCALHOST'])('refuses the name %s by what it resolves to', async (name) => {
    const server = await startTcp(() => expect.unreachable('connected'));
    const url = `https://${name}:${server.port}/`;
    expect(checkTargetUrl(url, { allowPrivateNetworkTargets: false })).toBeUndefined();
    await expect(guarded().request({ url, method: 'GET' })).rejects.toMatchObject({ code: 'blocked_target' });
  });

  it('refuses an address that cannot be read', async () => {
    const out = guarded({ resolve: async () => ['not an address'] });
    await expect(out.request({ url: 'https://a.test', method: 'GET' })).rejects.toMatchObject({
      code: 'blocked_target',
    });
  });

  it('resolves a name once and connects to the address that it got', async () => {
    const server = await startHttp((_request, response) => response.end('pinned'));
    const resolve = vi.fn(async () => ['127.0.0.1']);
    const response = await outbound({ resolve }).request({ url: `http://name.test:${server.port}/`, method: 'GET' });
    expect(response.body.toString()).toBe('pinned');
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(server.received).toMatchObject([{ headers: { host: `name.test:${server.port}` } }]);
  });

  it('connects by the system resolver to localhost where private targets are allowed', async () => {
    const server = await startHttp((_request, response) => response.end('local'));
    const out = outbound();
    const url = `http://localhost:${server.port}/`;
    const all = await Promise.all(Array.from({ length: 8 }, () => out.request({ url, method: 'GET' })));
    expect(all.map(({ body }) => body.toString())).toEqual(Array(8).fill('local'));
  });
});

describe('a target URL', () => {
  const closed = { allowPrivateNetworkTargets: false };
  const open = { allowPrivateNetworkTargets: true };

  it.each([
    'https://example.com',
    'https://example.com/a?b=c',
    'https://example.com:443/',
    'https://example.com:8443/',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
  ])('may be %s', (url) => {
    expect(checkTargetUrl(url, closed)).toBeUndefined();
    expect(checkTargetUrl(url, open)).toBeUndefined();
  });

  it.each([
    ['', 'not a valid URL'],
    ['example.com', 'not a valid URL'],
    ['//example.com', 'not a valid URL'],
    ['https://', 'not a valid URL'],
    ['https://exa mple.com', 'not a valid URL'],
    [' https://example.com', 'not a valid URL'],
    ['https://example.com\n', 'not a valid URL'],
    ['ht\ttps://example.com', 'not a valid URL'],
    ['https://example.com\0', 'not a valid URL'],
    ['https://example.com:65536', 'not a valid URL'],
    ['https://1.2.3.256', 'not a valid URL'],
    ['https://[fe80::1%25eth0]/', 'not a valid URL'],
    [`https://example.com/${'a'.repeat(2048)}`, 'not a valid URL'],
    ['ftp://example.com', 'the scheme must be https'],
    ['file:///etc/passwd', 'the scheme must be https'],
    ['gopher://example.com:70/_x', 'the scheme must be https'],
    ['javascript:alert(1)', 'the scheme must be https'],
    ['data:text/plain,x', 'the scheme must be https'],
    ['ws://example.com', 'the scheme must be https'],
    ['unix:/run/docker.sock', 'the scheme must be https'],
    ['https://user@example.com', 'a URL must not hold a user name or password'],
    ['https://user:pass@example.com', 'a URL must not hold a user name or password'],
    ['https://:pass@example.com', 'a URL must not hold a user name or password'],
    ['https://example.com@127.0.0.1', 'a URL must not hold a user name or password'],
    ['https://example.com:0', 'port 0 cannot be called'],
  ])('may never be %j', async (url, reason) => {
    expect(checkTargetUrl(url, closed)).toBe(reason);
    expect(checkTargetUrl(url, open)).toBe(reason);
    await expect(outbound().request({ url, method: 'GET' })).rejects.toMatchObject({ code: 'invalid_url' });
  });

  it.each([
    ['http://example.com', 'the scheme must be https'],
    ['https://example.com:25', 'the port must be 443 or at least 1024'],
    ['https://example.com:80', 'the port must be 443 or at least 1024'],
  ])('may be %s only where private targets are allowed', (url, reason) => {
    expect(checkTargetUrl(url, closed)).toBe(reason);
    expect(checkTargetUrl(url, open)).toBeUndefined();
  });
});
