import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../src/delivery/outbound.js';
import { createWebhookSender } from '../../src/delivery/webhook-sender.js';
import { blocked, loopbackForms, urlOf } from './addresses.js';
import { startHttp, startTcp } from './local-server.js';

const attempt = { id: crypto.randomUUID(), body: '{}', secrets: [`whsec_${'A'.repeat(43)}=`], key: undefined };

/** Sends one event, by default as a service does that may call public addresses only. */
function send(url: string, options: Partial<OutboundOptions> = {}) {
  const outbound = createOutbound({ allowPrivateNetworkTargets: false, ...options });
  onTestFinished(() => outbound.close());
  return createWebhookSender(outbound).send({ ...attempt, url });
}

describe('an event is not sent', () => {
  it.each(blocked)('to an address in the URL, %s: %s', async (_range, address) => {
    const result = await send(urlOf(address));
    expect(result).toMatchObject({ ok: false, error: 'the address is not public' });
    expect(result.status).toBeUndefined();
  });

  it.each(blocked)('if one of the addresses of the name is %s: %s', async (_range, address) => {
    const result = await send('https://rebound.test/', { resolve: async () => ['93.184.215.14', address] });
    expect(result).toMatchObject({ ok: false, error: 'rebound.test has an address that is not public' });
  });

  it.each(loopbackForms)('to loopback written as %s', async (host) => {
    expect(await send(`https://${host}/`)).toMatchObject({ ok: false, error: 'the address is not public' });
  });

  it.each([
    ['http://example.com/', 'the scheme must be https'],
    ['ftp://example.com/', 'the scheme must be https'],
    ['file:///etc/passwd', 'the scheme must be https'],
    ['gopher://example.com:70/', 'the scheme must be https'],
    ['https://user:password@example.com/', 'a URL must not hold a user name or password'],
    ['https://example.com@127.0.0.1/', 'a URL must not hold a user name or password'],
    ['https://example.com:22/', 'the port must be 443 or at least 1024'],
    ['https://example.com:0/', 'port 0 cannot be called'],
    ['https://[fe80::1%25eth0]/', 'not a valid URL'],
    ['https://[fe80::1%eth0]/', 'not a valid URL'],
  ])('to %s', async (url, error) => {
    expect(await send(url)).toMatchObject({ ok: false, error });
  });

  it('if the name has resolved to another address since the last attempt', async () => {
    const target = await startTcp(() => expect.unreachable('connected'));
    // The second answer of the name server would be allowed: it is not asked again within an attempt.
    const resolve = vi.fn().mockResolvedValueOnce(['127.0.0.1']).mockResolvedValue(['93.184.215.14']);
    const result = await send(`https://rebinding.test:${target.port}/`, { resolve });
    expect(result).toMatchObject({ ok: false, error: 'rebinding.test has an address that is not public' });
    expect(resolve).toHaveBeenCalledTimes(1);
  });
});

it.each([301, 302, 303, 307, 308])('a redirect (%i) is a failure, and is not followed', async (status) => {
  const other = await startHttp((_request, response) => response.end());
  const server = await startHttp((_request, response) => response.writeHead(status, { location: other.url }).end());
  const result = await send(server.url, { allowPrivateNetworkTargets: true });
  expect(result).toMatchObject({ ok: false, status, error: `the endpoint answered with the status ${status}` });
  expect([server.received.length, other.received.length]).toEqual([1, 0]);
});
