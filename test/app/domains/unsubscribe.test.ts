import { expect, test } from 'vitest';
import { unsubscribeUrl } from '../../../src/app/domains/unsubscribe.js';
import { readConfig } from '../../../src/config/config.js';
import { errorsOf } from '../../support/config.js';

test.each([
  ['https://auth.example.com/postern/', 'https://auth.example.com/postern'],
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
  ['http://auth.example.com', undefined],
  ['http://localhost.example.com', undefined],
])('links to unsubscribe below %s begin with %s', (url, expected) => {
  expect(unsubscribeUrl(readConfig({ PUBLIC_URL: url }))).toBe(expected);
});

test('without PUBLIC_URL there are no links to unsubscribe', () => {
  expect(unsubscribeUrl(readConfig({}))).toBeUndefined();
});

test('MAIL_FOOTER has lines, and no other control characters', () => {
  expect(readConfig({ MAIL_FOOTER: ' Example Ltd \\n1 Main Street\n' }).MAIL_FOOTER).toBe('Example Ltd\n1 Main Street');
  for (const text of ['a\tb', '\\n', 'x'.repeat(1001)]) {
    expect(errorsOf({ MAIL_FOOTER: text })).toEqual(['MAIL_FOOTER must be a text of at most 1000 characters']);
  }
});
