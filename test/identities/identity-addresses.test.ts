import { describe, expect, it } from 'vitest';
import { canonical, refuses } from './identities.js';

describe('mail addresses', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ["a.b_c-d!#$%&'*/=?^`{|}~@example.co.uk", "a.b_c-d!#$%&'*/=?^`{|}~@example.co.uk"],
    ['JOSE\u0301@example.com', 'jos\u00e9@example.com'],
    ['анна@почта.рф', 'анна@xn--80a1acny.xn--p1ai'],
    ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
    ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@faß.example', 'ada@xn--fa-hia.example'],
    ['ada@日本。jp', 'ada@xn--wgv71a.jp'],
    ['ada@ｅxample.com', 'ada@example.com'],
    ['straße@example.com', 'straße@example.com'],
    ['mi\u212ae@example.com', 'mike@example.com'], // the canonical form of the Kelvin sign is the letter K
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('reads %s as %s', (value, expected) => {
    expect(canonical('email', value)).toBe(expected);
  });

  refuses('email', [
    ['an empty text', ''],
    ['no @', 'ada.example.com'],
    ['no local part', '@example.com'],
    ['no domain', 'ada@'],
    ['two @', 'ada@evil.example@example.com'],
    ['quoted @', '"ada@evil.example"@example.com'],
    ['a quoted local part', '"ada"@example.com'],
    ['a display name', 'Ada <ada@example.com>'],
    ['a list', 'ada@example.com,eve@example.com'],
    ['a list with semicolon', 'a;b@example.com'],
    ['a colon', 'a:b@example.com'],
    ['a backslash', 'a\\b@example.com'],
    ['a comment', 'ada(x)@example.com'],
    ['a leading space', ' ada@example.com'],
    ['a trailing space', 'ada@example.com '],
    ['an inner space', 'a da@example.com'],
    ['a header injection', 'ada@example.com\r\nBcc: eve@example.com'],
    ['NUL', 'ada\0@example.com'],
    ['zero-width space', 'ad\u200ba@example.com'],
    ['soft hyphen in the domain', 'ada@exa\u00admple.com'],
    ['right-to-left override', 'ada\u202e@example.com'],
    ['a leading dot', '.ada@example.com'],
    ['a trailing dot', 'ada.@example.com'],
    ['two dots', 'a..da@example.com'],
    ['a local part of 65 bytes', `${'a'.repeat(65)}@example.com`],
    ['a local part of 66 bytes in 33 characters', `${'é'.repeat(33)}@example.com`],
    ['an address of 255 bytes', `${'a'.repeat(64)}@${`${'b'.repeat(61)}.`.repeat(3)}com.x`],
    [
      '321 code units that normalise to a short address',
      `ada@a.${'𝐚'.repeat(60)}.${'𝐚'.repeat(60)}.${'𝐚'.repeat(35)}.a`.padEnd(321, 'b'),
    ],
    ['a domain without a dot', 'ada@localhost'],
    ['an IPv4 address', 'ada@127.0.0.1'],
    ['an IPv4 address in hexadecimal', 'ada@0x7f.1'],
    ['an IPv4 literal', 'ada@[127.0.0.1]'],
    ['an IPv6 literal', 'ada@[IPv6:::1]'],
    ['a port', 'ada@example.com:25'],
    ['a path', 'ada@example.com/x'],
    ['a full-width slash', 'ada@example.com／x'],
    ['percent encoding', 'ada@ex%61mple.com'],
    ['an underscore in the domain', 'ada@ex_ample.com'],
    ['an empty label', 'ada@example..com'],
    ['a leading empty label', 'ada@.example.com'],
    ['a final dot', 'ada@example.com.'],
    ['a label that starts with a hyphen', 'ada@-example.com'],
    ['a label that ends with a hyphen', 'ada@example-.com'],
    ['a label of 64', `ada@${'a'.repeat(64)}.com`],
    ['a numeric top-level domain', 'ada@example.123'],
    ['a top-level domain that starts with a digit', 'ada@example.1x'],
    ['broken punycode', 'ada@xn--a.com'],
    ['punycode of an ASCII name', 'ada@xn--example-.com'],
    ['a dotless i, because mıke@ and mike@ are two mailboxes', 'mıke@example.com'],
    ['dotted capital I', 'MİKE@example.com'],
    ['long s', 'ſam@example.com'],
    ['a ligature', 'ﬁona@example.com'],
    ['a full-width letter', 'ａda@example.com'],
    ['Latin with Cyrillic', 'аda@example.com'],
    ['all-Cyrillic', 'сосо@example.com'],
    ['emoji', '😀@example.com'],
  ]);
});

describe('phone numbers', () => {
  it.each([
    ['+15551234567', undefined, '+15551234567'],
    ['+1 (555) 123-4567', undefined, '+15551234567'],
    ['+1/555/123.4567', undefined, '+15551234567'],
    ['＋１５５５１２３４５６７', undefined, '+15551234567'],
    ['+١٥٥٥١٢٣٤٥٦٧', undefined, '+15551234567'],
    ['+1\u00a0555\u2011123\u20134567', undefined, '+15551234567'],
    ['+44 (0)20 7946 0958', undefined, '+442079460958'],
    ['+39 06 698 1234', undefined, '+39066981234'],
    ['+290 1234', undefined, '+2901234'],
    ['(555) 123-4567', 'US', '+15551234567'],
    ['020 7946 0958', 'GB', '+442079460958'],
    ['00 1 555 123 4567', 'GB', '+15551234567'],
    ['+442079460958', 'US', '+442079460958'],
  ])('reads %s in region %s as %s', (value, region, expected) => {
    expect(canonical('phone', value, region)).toBe(expected);
  });

  it.each(['ZZ', 'us', '', '__proto__', 'constructor'])(
    'refuses national numbers for the unknown region %j',
    (region) => {
      expect(canonical('phone', '5551234567', region)).toBeUndefined();
      expect(canonical('phone', '+15551234567', region)).toBe('+15551234567');
    },
  );

  refuses('phone', [
    ['an empty text', ''],
    ['a national number without a region', '5551234567'],
    ['an international prefix without a region', '0015551234567'],
    ['only a plus', '+'],
    ['only a country code', '+1'],
    ['an unknown country code', '+999123456789'],
    ['too few digits', '+1555123'],
    ['too many digits', '+1555123456789012'],
    ['a million digits', `+${'1'.repeat(1_000_000)}`],
    ['a doubled trunk prefix, because the library removes only one', '+4900137581136'],
    ['16 digits that the library finds possible', '+6200100000000000'],
    ['320 digits', `+${'1'.repeat(319)}`],
    ['letters', '+1800FLOWERS'],
    ['an extension', '+15551234567 ext. 5'],
    ['an extension by x', '+15551234567x5'],
    ['an extension by #', '+15551234567#5'],
    ['an extension by comma', '+15551234567,,5'],
    ['an RFC 3966 extension', '+15551234567;ext=5'],
    ['a tel: URI', 'tel:+15551234567'],
    ['a phone-context', '5551234567;phone-context=+1'],
    ['two numbers', '+15551234567 / +15551234568'],
    ['a plus inside', '+1555+1234567'],
    ['two pluses', '++15551234567'],
    ['surrounding text', 'call +15551234567'],
    ['a newline', '+15551234567\n'],
    ['NUL', '+15551234567\0'],
    ['bidi marks', '\u202a+15551234567\u202c'],
    ['zero-width space', '+1555\u200b1234567'],
    ['digits of another alphabet', '+१५५५१२३४५६७'],
  ]);
});
