import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, test } from 'vitest';
import { createAddressReader, trustedProxies } from '../../../src/http/admission/client-address.js';
import { clientAddress } from '../../../src/http/requests/route.js';
import { runs } from '../../support/rounds.js';

/** The client address that the routes read, and the one that the fast path reads. */
async function addressesOf(trust: number | readonly string[] | undefined, peer: string, header: string | undefined) {
  const isTrusted = trustedProxies(trust);
  const read = createAddressReader(isTrusted);
  const app: FastifyInstance = Fastify({ trustProxy: isTrusted });
  app.get('/', async (request) => [clientAddress(request), read(request.raw as IncomingMessage)]);
  const headers = header === undefined ? {} : { 'x-forwarded-for': header };
  const answer = await app.inject({ url: '/', remoteAddress: peer, headers });
  await app.close();
  return answer.json<[string, string]>();
}

describe('the address of a client', () => {
  test.each([
    [undefined, '198.51.100.9', '203.0.113.7', '198.51.100.9'],
    [1, '198.51.100.9', '203.0.113.7', '203.0.113.7'],
    [1, '198.51.100.9', '10.0.0.1, 203.0.113.7', '203.0.113.7'],
    [2, '198.51.100.9', '10.0.0.1, 203.0.113.7', '10.0.0.1'],
    [['198.51.100.0/24'], '198.51.100.9', '10.0.0.1,203.0.113.7', '203.0.113.7'],
    [['198.51.100.0/24'], '::ffff:198.51.100.9', '10.0.0.1,203.0.113.7', '203.0.113.7'],
    [['::ffff:198.51.100.0/120'], '198.51.100.9', '203.0.113.7', '203.0.113.7'],
    [['2001:db8::/32'], '2001:db8::1', '[2001:db9::7]:4711', '2001:db9::7'],
    [['10.0.0.0/8'], '198.51.100.9', '203.0.113.7', '198.51.100.9'],
    [1, '198.51.100.9', 'unknown', '198.51.100.9'],
    // What a client puts before the entries of the proxies never counts.
    [1, '198.51.100.9', '127.0.0.1, 10.0.0.1, 203.0.113.7', '203.0.113.7'],
    [1, '198.51.100.9', '203.0.113.7, ', '203.0.113.7'],
    [1, '198.51.100.9', '203.0.113.7,,,', '203.0.113.7'],
    [['198.51.100.0/24'], '198.51.100.9', '203.0.113.7, 198.51.100.1, 198.51.100.2', '203.0.113.7'],
    [['198.51.100.0/24'], '198.51.100.9', '127.0.0.1, 203.0.113.7, 198.51.100.2', '203.0.113.7'],
    [['198.51.100.0/24'], '198.51.100.9', '203.0.113.7, ::ffff:198.51.100.2', '203.0.113.7'],
    [['198.51.100.0/24'], '198.51.100.9', '203.0.113.7, ::ffff:c633:6402', '203.0.113.7'],
    // Not an address: the proxy counts, so that nobody gets a limit of their own by such a text.
    [1, '198.51.100.9', '203.0.113.7;', '198.51.100.9'],
    [1, '198.51.100.9', '"203.0.113.7"', '198.51.100.9'],
    [1, '198.51.100.9', '203.0.113.07', '198.51.100.9'],
    [1, '198.51.100.9', '3405803783', '198.51.100.9'],
    [1, '198.51.100.9', '0xcb.0.113.7', '198.51.100.9'],
    [1, '198.51.100.9', '２０３.0.113.7', '198.51.100.9'],
    [1, '198.51.100.9', '_hidden, for=203.0.113.7', '198.51.100.9'],
    [1, '198.51.100.9', '[2001:db8::7', '198.51.100.9'],
    [1, '198.51.100.9', '2001:db8::7]:80', '198.51.100.9'],
    // Ports and zones are no part of an address.
    [1, '198.51.100.9', '203.0.113.7:65535', '203.0.113.7'],
    [1, '198.51.100.9', '[2001:db8::7]', '2001:db8::7'],
    [1, '198.51.100.9', 'fe80::7%25eth0', 'fe80::7'],
    [1, '198.51.100.9', '[fe80::7%eth0]:80', 'fe80::7'],
    [undefined, 'fe80::1%eth0', undefined, 'fe80::1'],
    [undefined, 'fe80::1%eth0', '203.0.113.7', 'fe80::1'],
    [1, 'fe80::1%eth0', undefined, 'fe80::1'],
  ])('with TRUST_PROXY=%s, of the peer %s with X-Forwarded-For %s, is %s', async (trust, peer, header, address) => {
    expect(await addressesOf(trust, peer, header)).toEqual([address, address]);
  });

  test('is the same for the routes and for the fast path, whatever X-Forwarded-For contains', async () => {
    const part = fc.constantFrom(
      '10.0.0.1',
      '203.0.113.7',
      '::1',
      'fe80::1%eth0',
      '[::1]:80',
      '1.2.3.4:80',
      '',
      ' ',
      'x',
      '::ffff:10.0.0.9',
    );
    const trust = fc.constantFrom(undefined, 1, 2, ['10.0.0.0/8'], ['::1', '10.0.0.0/8']);
    const header = fc.array(part, { maxLength: 4 }).map((parts) => parts.join(','));
    await fc.assert(
      fc.asyncProperty(
        trust,
        fc.constantFrom('10.0.0.1', '198.51.100.9', '::1'),
        header,
        async (trusted, peer, text) => {
          const [ofRoutes, ofFastPath] = await addressesOf(trusted, peer, text);
          expect(ofFastPath).toBe(ofRoutes);
        },
      ),
      { numRuns: runs(30, 60) },
    );
  });

  test('is remembered for short headers only, because a client can send many long ones', () => {
    let hops = 0;
    const read = createAddressReader((_address, hop) => {
      hops += 1;
      return hop < 1;
    });
    const hopsOf = (header: string) => {
      hops = 0;
      const socket = new Socket();
      Object.defineProperty(socket, 'remoteAddress', { value: '198.51.100.9' });
      const request = new IncomingMessage(socket);
      request.headers = { 'x-forwarded-for': header };
      expect(read(request)).toBe('203.0.113.7');
      return hops;
    };
    expect(hopsOf('10.0.0.1, 203.0.113.7')).toBe(2);
    expect(hopsOf('10.0.0.1, 203.0.113.7')).toBe(0);
    const long = `${'x'.repeat(14_000)}, 203.0.113.7`;
    expect(hopsOf(long)).toBe(2);
    expect(hopsOf(long)).toBe(2);
  });
});
