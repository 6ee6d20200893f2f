import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalIdentity, type IdentityType } from '../../src/authentication/identity.js';

const canonical = (type: IdentityType, value: string, region?: string) =>
  canonicalIdentity(type, value, region)?.canonical;

const printable = (text: string) =>
  JSON.stringify(text).replace(/[^\x20-\x7e]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);

/** Named by escapes, since most hostile values cannot be told from harmless ones on a screen. */
function refuses(type: IdentityType, values: readonly (readonly [reason: string, value: string])[]) {
  it.each(values.map(([reason, value]) => [reason, printable(value).slice(0, 60), value] as const))(
    'refuses %s: %s',
    (_reason, _shown, value) => {
      expect(canonicalIdentity(type, value)).toBeUndefined();
    },
  );
}

describe('usernames', () => {
  it.each([
    ['ada', 'ada'],
    ['Ada', 'ada'],
    ['john.doe_42-x', 'john.doe_42-x'],
    ["O'Brien", "o'brien"],
    ['DOMAIN\\user', 'domain\\user'],
    ['+15551234567', '+15551234567'],
    ['x', 'x'],
    ['42', '42'],
    ['Ａｄａ１２', 'ada12'],
    ['ﬁona', 'fiona'],
    ['JOSE\u0301', 'jos\u00e9'],
    ['Nguyễn', 'nguyễn'],
    ['Øystein', 'øystein'],
    ['Straße', 'strasse'],
    ['STRASSE', 'strasse'],
    ['STRAẞE', 'strasse'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
    ['Οδυσσευς', 'οδυσσευσ'],
    ['İSTANBUL', 'istanbul'],
    ['ıstanbul', 'istanbul'],
    ['Татьяна', 'татьяна'],
    ['ИВАН', 'иван'],
    ['Νίκος', 'νίκοσ'],
    ['Արամ', 'արամ'],
    ['משה', 'משה'],
    ['מַשֶּׁה7', 'מַשֶּׁה7'.normalize('NFKC')],
    ['علی۱۲', 'علی۱۲'],
    ['प्रिया', 'प्रिया'],
    ['สมชาย', 'สมชาย'],
    ['ချွေး', 'ချွေး'],
    ['ლუკა', 'ლუკა'],
    ['用户', '用户'],
    ['太郎Taro', '太郎taro'],
    ['ジョン', 'ジョン'],
    ['ﾀﾛｰ', 'タロー'],
    ['김철수kim', '김철수kim'],
    ['김철수'.normalize('NFD'), '김철수'],
    ['ɔkɛ', 'ɔkɛ'],
    ['a'.repeat(64), 'a'.repeat(64)],
    ['𠮷'.repeat(64), '𠮷'.repeat(64)],
  ])('reads %s as %s', (value, expected) => {
    expect(canonical('username', value)).toBe(expected);
  });

  refuses('username', [
    ['nothing', ''],
    ['65 characters', 'a'.repeat(65)],
    ['65 characters after folding', 'ß'.repeat(33)],
    ['a million characters', 'a'.repeat(1_000_000)],
    ['one character that normalises to a sentence', '\ufdfa'],
    ['leading space', ' ada'],
    ['trailing space', 'ada '],
    ['inner space', 'ada l'],
    ['no-break space', 'ada\u00a0l'],
    ['ideographic space', 'ada\u3000l'],
    ['line separator', 'ada\u2028l'],
    ['NUL', 'ada\0'],
    ['newline', 'ada\n'],
    ['escape', 'ada\u001b[2J'],
    ['C1 control', 'ada\u0085'],
    ['right-to-left override', 'ada\u202egnp'],
    ['isolate', '\u2066ada\u2069'],
    ['Arabic letter mark', 'ada\u061c'],
    ['zero-width space', 'ad\u200ba'],
    ['zero-width joiner', 'ad\u200da'],
    ['byte order mark', '\ufeffada'],
    ['soft hyphen', 'ad\u00ada'],
    ['word joiner', 'ad\u2060a'],
    ['combining grapheme joiner', 'ad\u034fa'],
    ['variation selector', 'ada\ufe0f'],
    ['variation selector of plane 14', 'ada\u{e0100}'],
    ['tag characters', 'ada\u{e0061}'],
    ['Hangul filler', '\u3164'],
    ['half-width Hangul filler', 'ada\uffa0'],
    ['Mongolian vowel separator', 'ada\u180e'],
    ['lone high surrogate', 'ada\ud800'],
    ['lone low surrogate', '\udc00ada'],
    ['private use', 'ada\ue000'],
    ['unassigned', 'ada\u0378'],
    ['noncharacter', 'ada\uffff'],
    ['a mail address', 'ada@example.com'],
    ['full-width @', 'ada＠example.com'],
    ['only punctuation', '...'],
    ['emoji', 'ada😀'],
    ['symbol', 'ada™☃'],
    ['non-ASCII punctuation', 'ada‐l'],
    ['fraction slash from a fraction', 'ada½'],
    ['letter number', 'ⅿↀ'],
    ['Latin with Cyrillic a', 'pаypal'],
    ['Latin with Greek o', 'gοogle'],
    ['Latin with Armenian o', 'gօogle'],
    ['Latin with Cherokee', 'Ꭺda'],
    ['Cyrillic with Greek', 'диδα'],
    ['Latin with Arabic', 'adaعلي'],
    ['Latin with Devanagari', 'adaप्रि'],
    ['Hangul with Kana', '김タロー'],
    ['a historic script', '𐌰𐌳𐌰'],
    ['a limited-use script like Latin capitals', 'ꓮꓓꓮ'],
    ['Cherokee', 'ᎪᎠᎪ'],
    ['all-Cyrillic soso', 'сосо'],
    ['all-Cyrillic apple', 'аррӏе'],
    ['all-Cyrillic in capitals', 'СОСО'],
    ['all-Cyrillic with digits and a hyphen', 'сосо-1'],
    ['all-Cyrillic with diaeresis', 'осё'],
    ['all-Greek', 'ονο'],
    ['all-Greek with accent', 'όνο'],
    ['all-Armenian', 'հոս'],
    ['IPA a', 'ɑda'],
    ['script g', 'ɡoogle'],
    ['click letter as l', 'appǀe'],
    ['tone six as b', 'ƅob'],
    ['small capital', 'ᴀda'],
    ['modifier apostrophe', 'oʼbrien'],
    ['dotless j', 'ȷohn'],
    ['stroke overlay', 'ad\u0336a'],
    ['combining letter above', 'ad\u0363a'],
    ['enclosing circle', 'ada\u20dd'],
    ['leading mark', '\u0301ada'],
    ['five marks in a row', 'a\u0323\u0301\u0302\u0303\u0304'],
    ['a doubled mark', 'b\u0307\u0307'],
    ['a dot on j', 'j\u0307ohn'],
    ['a dot on i under a cedilla', 'i\u0327\u0307'],
    ['Katakana no as slash', 'adaノl'],
    ['Han one as dash', 'ada一l'],
    ['Hangul jamo i as l', 'appㅣe'],
    ['Bopomofo i as l', 'appㄧe'],
    ['long-vowel bar as dash', 'adaーl'],
    ['Arabic stretching stroke', 'علـي'],
    ['two systems of digits', 'علی۱١'],
    ['Bengali digit among Latin', 'ada৪'],
    ['right-to-left name behind a digit', '1משה'],
    ['right-to-left name before a hyphen', 'משה-'],
  ]);

  it('lets no character through that cannot be seen, or that is not stable, wherever it stands', () => {
    const through: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      const name = canonical('username', `a${character}a`);
      if (name === undefined) continue;
      if (/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}@]/u.test(name) || canonical('username', name) !== name) {
        through.push(code.toString(16));
      }
    }
    expect(through).toEqual([]);
  }, 60_000);

  it('finds the same user in capitals, in small letters and in any normalisation form', () => {
    const letters = [...'abißẞıİſσςΣΐᾳéǆﬁŉÅøđжщяіήώώДΩ太ひカ김'];
    const names = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 8 }).map((all) => all.join(''));
    fc.assert(
      fc.property(names, (name) => {
        const expected = canonical('username', name);
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'])
          expect(canonical('username', name.normalize(form))).toBe(expected);
        expect(canonical('username', name.toUpperCase())).toBe(expected);
        expect(canonical('username', name.toLowerCase())).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

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
    ['mi\u212ae@example.com', 'mike@example.com'], // the Kelvin sign is canonically the letter K
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('reads %s as %s', (value, expected) => {
    expect(canonical('email', value)).toBe(expected);
  });

  refuses('email', [
    ['nothing', ''],
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
      '321 code units, though they normalise to a short address',
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
    ['dotless i, another mailbox than i', 'mıke@example.com'],
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
    'knows no national numbers for the unknown region %j',
    (region) => {
      expect(canonical('phone', '5551234567', region)).toBeUndefined();
      expect(canonical('phone', '+15551234567', region)).toBe('+15551234567');
    },
  );

  refuses('phone', [
    ['nothing', ''],
    ['a national number without a region', '5551234567'],
    ['an international prefix without a region', '0015551234567'],
    ['only a plus', '+'],
    ['only a country code', '+1'],
    ['an unknown country code', '+999123456789'],
    ['too few digits', '+1555123'],
    ['too many digits', '+1555123456789012'],
    ['a million digits', `+${'1'.repeat(1_000_000)}`],
    ['a trunk prefix written twice, of which the library takes off one', '+4900137581136'],
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

describe('canonical forms', () => {
  const types = fc.constantFrom<IdentityType>('email', 'phone', 'username');
  const regions = fc.constantFrom(undefined, 'US', 'GB', 'IT', 'AR', 'MX', 'BR');
  const values = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 80 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.string({ unit: fc.constantFrom(...'aAßİıéсоΣ太ー김\u0301\u0307\u0327-._1'), maxLength: 12 }),
    fc.emailAddress(),
    fc.tuple(fc.string({ unit: 'grapheme', maxLength: 10 }), fc.domain()).map((parts) => parts.join('@')),
    fc
      .tuple(fc.constantFrom('a', 'é', 'жд'), fc.string({ unit: 'grapheme', maxLength: 10 }))
      .map(([l, d]) => `${l}@${d}.com`),
    fc.stringMatching(/^\+?[0-9]{3,16}$/),
    fc.stringMatching(/^\+(52|54|39|44|7|55|225|1)[0-9 ()-]{5,14}$/),
  );

  it('are fixed points, and nothing makes the check throw', () => {
    fc.assert(
      fc.property(types, values, regions, (type, value, region) => {
        const once = canonicalIdentity(type, value, region);
        if (once !== undefined) expect(canonicalIdentity(type, once.canonical, region)).toEqual(once);
      }),
      { numRuns: 5000 },
    );
  });

  it('do not depend on the region once they are made', () => {
    fc.assert(
      fc.property(values, regions, regions, (value, made, read) => {
        const once = canonical('phone', value, made);
        if (once !== undefined) expect(canonical('phone', once, read)).toBe(once);
      }),
      { numRuns: 2000 },
    );
  });

  it('keep to their alphabets', () => {
    fc.assert(
      fc.property(values, regions, (value, region) => {
        expect(canonical('phone', value, region) ?? '+1234567').toMatch(/^\+[1-9][0-9]{5,14}$/);
        expect(canonical('email', value) ?? 'a@b.c').toMatch(
          /^[^\s@"<>,;:\\]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62}$/u,
        );
        expect(canonical('username', value) ?? 'a').toMatch(/^[^\s@\p{C}]{1,64}$/u);
      }),
      { numRuns: 5000 },
    );
  });
});
