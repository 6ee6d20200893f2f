import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { cookieValue, cookieValues } from '../../../src/http/requests/cookies.js';

const known = '__Host-postern_console';
const request = (cookie: string | undefined) => ({ headers: { cookie } }) as FastifyRequest;
const valueIn = (cookie: string | undefined) => cookieValue(request(cookie), known);

test.each([
  [`${known}=a`, 'a'],
  [`x=1; ${known}=a;y=2`, 'a'],
  [`x=1;${known}=a`, 'a'],
  [` \t${known}=a \t;`, 'a'],
  [`${known} =a`, 'a'],
  [`${known}=a; ${known}=a`, 'a'],
  [`${known}=a=b`, 'a=b'],
  // Quotation marks are part of the value, which is then no token.
  [`${known}="a"`, '"a"'],
  [`${known}=`, ''],
])('%j has the value %j', (cookie, value) => {
  expect(valueIn(cookie)).toBe(value);
});

test.each([
  ...[undefined, '', ';', '=', `=${known}=a`, `${known}`, `x${known}=a`, `${known}x=a`, `${known}.=a`, `"${known}"=a`],
  // Another host of the domain may set these, because browsers see no prefix.
  ...[
    '\u00a0',
    '\u0085',
    '\u001f',
    '\v',
    '\f',
    '\u00c2\u00a0',
    '\u00ef\u00bb\u00bf',
    '\u00e2\u0080\u0080',
    '$',
    '%20',
  ].flatMap((blank) => [`${blank}${known}=a`, `${known}${blank}=a`, ` ${blank} ${known}=a`]),
  ...[
    known.toLowerCase(),
    known.toUpperCase(),
    '__host-postern_console',
    '__Secure-postern_console',
    'postern_console',
  ].map((other) => `${other}=a`),
  `%5F%5FHost-postern_console=a`,
  `x=1,${known}=a`,
  `$Version=1,${known}=a`,
])('%j has no such cookie', (cookie) => {
  expect(valueIn(cookie)).toBeUndefined();
});

test.each([
  `${known}=a; ${known}=b`,
  `${known}=a;${known}=`,
  `${known}=a; x=1; ${known} = b`,
  `${known}=a; ${known}="a"`,
])('%j has two values, so none counts', (cookie) => {
  expect(valueIn(cookie)).toBeUndefined();
  expect(cookieValues(request(cookie), [known])).toHaveLength(2);
});

test('a header of blanks is read in time that grows with its length', () => {
  const blanks = `x${' '.repeat(1_000_000)}y`;
  expect(valueIn(`${blanks}=${blanks}; ${known}=a`)).toBe('a');
});
