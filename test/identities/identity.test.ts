import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalIdentity, type IdentityType } from '../../src/identities/identity.js';
import { anyText } from '../support/any-text.js';
import { runs } from '../support/rounds.js';
import { canonical, refuses } from './identities.js';

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
    ['an empty text', ''],
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

  it('accepts no invisible and no unstable character at any place', () => {
    const wronglyAccepted: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      const name = canonical('username', `a${character}a`);
      if (name === undefined) continue;
      if (/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}@]/u.test(name) || canonical('username', name) !== name) {
        wronglyAccepted.push(code.toString(16));
      }
    }
    expect(wronglyAccepted).toEqual([]);
  });

  it('have one canonical form for upper case, lower case and every normalisation form', () => {
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

describe('canonical forms', () => {
  const types = fc.constantFrom<IdentityType>('email', 'phone', 'username');
  const regions = fc.constantFrom(undefined, 'US', 'GB', 'IT', 'AR', 'MX', 'BR');
  const values = fc.oneof(
    anyText({ maxLength: 80 }),
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

  it('are fixed points for every input, without an exception', () => {
    fc.assert(
      fc.property(types, values, regions, (type, value, region) => {
        const once = canonicalIdentity(type, value, region);
        if (once !== undefined) expect(canonicalIdentity(type, once.canonical, region)).toEqual(once);
      }),
      { numRuns: runs(1000, 5000) },
    );
  });

  it('do not change with the region', () => {
    fc.assert(
      fc.property(values, regions, regions, (value, firstRegion, secondRegion) => {
        const once = canonical('phone', value, firstRegion);
        if (once !== undefined) expect(canonical('phone', once, secondRegion)).toBe(once);
      }),
      { numRuns: runs(500, 2000) },
    );
  });

  it('contain only characters of their alphabets', () => {
    fc.assert(
      fc.property(values, regions, (value, region) => {
        expect(canonical('phone', value, region) ?? '+1234567').toMatch(/^\+[1-9][0-9]{5,14}$/);
        expect(canonical('email', value) ?? 'a@b.c').toMatch(
          /^[^\s@"<>,;:\\]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62}$/u,
        );
        expect(canonical('username', value) ?? 'a').toMatch(/^[^\s@\p{C}]{1,64}$/u);
      }),
      { numRuns: runs(1000, 5000) },
    );
  });
});
