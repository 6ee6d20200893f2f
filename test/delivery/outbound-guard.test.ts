import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../src/delivery/outbound.js';
import { checkTargetUrl } from '../../src/delivery/outbound-guard.js';
import { blocked, loopbackForms, urlOf } from './addresses.js';
import { startHttp, startTcp } from './local-server.js';

function outbound(options: Partial<OutboundOptions> = {}) {
  const made = createOutbound({ allowPrivateNetworkTargets: true, ...options });
  onTestFinished(() => made.close());
  return made;
}

const guarded = (options: Partial<OutboundOptions> = {}) => outbound({ allowPrivateNetworkTargets: false, ...options });

describe('the guard', () => {
  it.each(blocked)('refuses an address in a URL, %s: %s', async (_range, address) => {
    const url = urlOf(address);
    expect(checkTargetUrl(url, { allowPrivateNetworkTargets: false })).toBe('the address is not public');
    await expect(guarded().request({ url, method: 'GET' })).rejects.toMatchObject({ code: 'blocked_target' });
    expect(checkTargetUrl(url, { allowPrivateNetworkTargets: true })).toBeUndefined();
  });

  it.each(blocked)('refuses a name with a blocked address among public ones, %s: %s', async (_range, address) => {
    const out = guarded({ resolve: async () => ['93.184.215.14', address] });
    const request = out.request({ url: 'https://rebound.test/', method: 'GET' });
    await expect(request).rejects.toMatchObject({ code: 'blocked_target' });
    await expect(request).rejects.toThrow('rebound.test has an address that is not public');
  });

  it.each(loopbackForms)('refuses loopback written as %s', async (host) => {
    const request = guarded().request({ url: `https://${host}/`, method: 'GET' });
    await expect(request).rejects.toMatchObject({ code: 'blocked_target' });
  });

  it.each(['localhost', 'LOCALHOST'])('refuses the name %s because of its address', async (name) => {
    const server = await startTcp(() => expect.unreachable('connected'));
    const url = `https://${name}:${server.port}/`;
    expect(checkTargetUrl(url, { allowPrivateNetworkTargets: false })).toBeUndefined();
    await expect(guarded().request({ url, method: 'GET' })).rejects.toMatchObject({ code: 'blocked_target' });
  });

  it('refuses an invalid address', async () => {
    const out = guarded({ resolve: async () => ['not an address'] });
    await expect(out.request({ url: 'https://a.test', method: 'GET' })).rejects.toMatchObject({
      code: 'blocked_target',
    });
  });

  it('resolves a name once and connects to that address', async () => {
    const server = await startHttp((_request, response) => response.end('pinned'));
    const resolve = vi.fn(async () => ['127.0.0.1']);
    const response = await outbound({ resolve }).request({ url: `http://name.test:${server.port}/`, method: 'GET' });
    expect(response.body.toString()).toBe('pinned');
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(server.received).toMatchObject([{ headers: { host: `name.test:${server.port}` } }]);
  });

  it('connects to localhost through the system resolver if private targets are allowed', async () => {
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
  ])('may be %s only if private targets are allowed', (url, reason) => {
    expect(checkTargetUrl(url, closed)).toBe(reason);
    expect(checkTargetUrl(url, open)).toBeUndefined();
  });
});
