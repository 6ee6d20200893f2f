import { expect, test } from 'vitest';
import { createCookie } from '../../src/browser/cookies.js';

const cookie = createCookie(true, 'login', {});
const { name: known } = cookie;

test.each([`${known}=a`, `x=1; ${known}=a`, `x=1;${known}=a;y=2`, ` \t${known}=a \t;`, `${known}=a; ${known}=a`])(
  '%j is read',
  (header) => {
    expect(cookie.read(header)).toBe('a');
  },
);

test.each([
  ...[undefined, '', ';', `=${known}=a`, known, `x${known}=a`, `${known}x=a`, `${known}-device=a`, `"${known}"=a`],
  // Another site of the domain may set these, because browsers see no prefix.
  ...['\u00a0', '\u0085', '\u001f', '\v', '\f', '\u00c2\u00a0', '\u00ef\u00bb\u00bf', '\u00e2\u0080\u0080'].map(
    (blank) => `${blank}${known}=a`,
  ),
  ...[known.toLowerCase(), known.toUpperCase(), '__Secure-postern', 'postern'].map((other) => `${other}=a`),
  ...[`${known}="a"`, `${known}=a%20`, `${known}=a b`, `${known}=${'a'.repeat(301)}`, `${known}=a; ${known}=b`],
  `x=1,${known}=a`,
])('%j is no login', (header) => {
  expect(cookie.read(header)).toBeUndefined();
});

test('a header of blanks is read in time that grows with its length', () => {
  expect(cookie.read(`x${' '.repeat(1_000_000)}y; ${known}=a`)).toBe('a');
});
