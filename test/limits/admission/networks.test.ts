import { isIPv4 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNetworkTable, parseNetwork } from '../../../src/limits/admission/networks.js';

const text = (given: string) => parseNetwork(given)?.text;
const contains = (range: string, address: string) => {
  const network = parseNetwork(range);
  if (network === undefined) throw new Error(`${range} is no range`);
  return createNetworkTable([[network, true]]).find(address).length > 0;
};

describe('a network', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['203.0.113.7/32', '203.0.113.7'],
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['2001:db8:1:2:3::/64', '2001:db8:1:2::/64'],
    ['2001:db8::/127', '2001:db8::/127'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
    ['::/0', '::/0'],
    // PostgreSQL shows these addresses with dots. They are not IPv4-mapped.
    ['::203.0.113.7', '::cb00:7107'],
    ['::203.0.113.7/120', '::cb00:7100/120'],
    ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107'],
  ])('has one canonical text: %s', (given, canonical) => {
    expect(text(given)).toBe(canonical);
    expect(text(canonical)).toBe(canonical);
  });

  test.each([
    ...['', 'example.com', '203.0.113', '203.0.113.7/33', '203.0.113.7/-1', '203.0.113.7/', '203.0.113.7/8/8', '/24'],
    ...[
      '2001:db8::/129',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '010.0.0.1',
      'fe80::1%eth0',
      '::ffff:0:0/90',
      '1.2.3.4 ',
    ],
  ])('cannot be written as %j', (given) => expect(text(given)).toBeUndefined());

  test('contains the addresses of its prefix, in every form of them', () => {
    expect(contains('203.0.113.0/24', '203.0.113.255')).toBe(true);
    expect(contains('203.0.113.0/24', '::ffff:203.0.113.255')).toBe(true);
    expect(contains('203.0.113.0/24', '::ffff:cb00:71ff')).toBe(true);
    expect(contains('203.0.113.0/24', '203.0.114.0')).toBe(false);
    expect(contains('::/0', '203.0.113.1')).toBe(false);
    expect(contains('2001:db8::/33', '2001:db8:7fff:ffff::')).toBe(true);
    expect(contains('2001:db8::/33', '2001:db8:8000::')).toBe(false);
    expect(contains('203.0.113.0/24', 'not an address')).toBe(false);
  });

  test('contains exactly the addresses that have its first bits', () => {
    const number = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    const dotted = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
    fc.assert(
      fc.property(number, number, fc.integer({ min: 0, max: 32 }), (first, other, length) => {
        const isInside = Math.floor(first / 2 ** (32 - length)) === Math.floor(other / 2 ** (32 - length));
        expect(isIPv4(dotted(other))).toBe(true);
        expect(contains(`${dotted(first)}/${length}`, dotted(other))).toBe(isInside);
      }),
    );
  });

  test('is found among a hundred thousand', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => {
      const network = parseNetwork(`2001:db8:${(index >> 16).toString(16)}:${(index & 65_535).toString(16)}::/64`);
      if (network === undefined) throw new Error('no network');
      return [network, index] as const;
    });
    const table = createNetworkTable(many);
    expect(table.find('2001:db8:1:1::7')).toEqual([65_537]);
    expect(table.find('2001:db8:7:1::7')).toEqual([]);
  });
});
