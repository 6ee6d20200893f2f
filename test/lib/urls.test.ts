import { expect, test } from 'vitest';
import { parseUrl } from '../../src/lib/urls.js';

test('a host with other letters than ASCII is read, also after many calls', () => {
  const hosts = new Set<string | undefined>();
  // URL.canParse of Node.js 20 refuses it after about 10,000 calls.
  for (let count = 0; count < 50_000; count += 1) hosts.add(parseUrl('https://bücher.example/')?.host);
  expect([...hosts]).toEqual(['xn--bcher-kva.example']);
});

test.each(['', 'example.com', 'https://', 'https://a b/'])('%o is not a URL', (text) => {
  expect(parseUrl(text)).toBeUndefined();
});
