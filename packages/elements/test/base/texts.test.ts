import { expect, test } from 'vitest';
import { english as englishActivity } from '../../src/account/activity-texts.js';
import { english as englishDialog } from '../../src/account/dialog-texts.js';
import { spanish as spanishAccount } from '../../src/account/es.js';
import { english as englishSupport } from '../../src/account/support-texts.js';
import { english as englishAccount } from '../../src/account/texts.js';
import { english as englishErrors } from '../../src/base/error-texts.js';
import { countText, fill, isFallback, withLater, withoutMarks } from '../../src/base/texts.js';
import { wordsOf } from '../../src/base/words.js';
import { spanish as spanishInbox } from '../../src/inbox/es.js';
import { english as englishItems } from '../../src/inbox/item-texts.js';
import { english as englishList } from '../../src/inbox/list-texts.js';
import { english as englishPushes } from '../../src/inbox/push-texts.js';
import { english as englishInbox } from '../../src/inbox/texts.js';
import { spanish as spanishPreferences } from '../../src/preferences/es.js';
import { english as englishPreferences } from '../../src/preferences/texts.js';
import { english as englishEnrolment } from '../../src/sign-in/enrolment-texts.js';
import { spanish as spanishSignIn } from '../../src/sign-in/es.js';
import { english as englishLater } from '../../src/sign-in/later-texts.js';
import { english as englishSignIn } from '../../src/sign-in/texts.js';

const holes = (text: string) => [...new Set([...text.matchAll(/\{\w+\}/g)].map(String))].sort();

test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
  ['the inbox', { ...englishInbox, ...englishList, ...englishPushes, ...englishItems }, spanishInbox],
  ['the preferences', englishPreferences, spanishPreferences],
  ['sign-in', { ...englishErrors, ...englishSignIn, ...englishLater, ...englishEnrolment }, spanishSignIn],
  [
    'the account',
    { ...englishErrors, ...englishAccount, ...englishActivity, ...englishDialog, ...englishSupport },
    spanishAccount,
  ],
])(
  'the Spanish texts of %s have the same keys and places for values as the English ones',
  (_name, english, spanish) => {
    expect(Object.keys(spanish).sort()).toEqual(Object.keys(english).sort());
    for (const [key, text] of Object.entries(english))
      expect([key, holes(spanish[key] ?? '')]).toEqual([key, holes(text)]);
  },
);

test('a value is inserted into a text unchanged, and an unknown placeholder stays', () => {
  expect(fill('{count} of {all}', { count: '{all}' })).toBe('{all} of {all}');
  expect(fill('{toString}', {})).toBe('{toString}');
});

test('custom texts override built-in ones, regions override languages, and texts of an element those of all', async () => {
  const english = { yes: 'Yes', no: 'No', maybe: 'Maybe', never: 'Never' };
  const languages = { es: async () => ({ ...english, yes: 'Sí', no: 'No', maybe: 'Quizás' }) };
  const own = {
    es: { shared: { no: 'Nada', maybe: 'Puede' }, inbox: { maybe: 'A lo mejor' }, account: { yes: 'Vale' } },
    'es-MX': async () => ({ inbox: { no: 'Nel' } }),
  };
  expect(await wordsOf('es-MX', english, languages, own, 'inbox')).toMatchObject({
    yes: 'Sí',
    no: 'Nel',
    maybe: 'A lo mejor',
  });
  expect(await wordsOf('es', english, languages, own, 'account')).toMatchObject({
    yes: 'Vale',
    no: 'Nada',
    maybe: 'Puede',
  });
  expect(await wordsOf('en', english, languages, own, 'inbox')).toMatchObject(english);
});

test('a missing text is the English one, and is marked', async () => {
  const english = { yes: 'Yes', no: 'No', unread: '{count} letter|{count} letters' };
  const words = await wordsOf('ar', english, {}, { ar: async () => ({ shared: { yes: 'نعم' } }) }, 'inbox');
  expect([words.yes, isFallback(words.yes)]).toEqual(['نعم', false]);
  expect([withoutMarks(words.no), isFallback(words.no)]).toEqual(['No', true]);
  // Texts that are loaded later are marked as well.
  expect(isFallback(withLater({ later: 'Later' }, words).later)).toBe(true);
  expect(isFallback(withLater({ later: 'Later' }, await wordsOf('en-GB', english, {})).later)).toBe(false);
  // English forms follow the plurals of English.
  expect(withoutMarks(countText(words.unread, 1, 'ar'))).toBe('1 letter');
  expect(withoutMarks(countText(words.unread, 2, 'ar'))).toBe('2 letters');
});

test('a language that cannot be loaded is English', async () => {
  const english = { yes: 'Yes' };
  const lost = () => Promise.reject(new Error('no network'));
  const words = await wordsOf('es', english, { es: lost }, { es: lost });
  expect(withoutMarks(words.yes)).toBe('Yes');
});

test.each([
  ['en', ['0 items', '1 item', '2 items', '5 items', '1,000 items']],
  ['ar', ['none', 'a single one', 'a pair', 'few: 5', 'other: 1,000']],
  ['pl', ['many: 0', 'one: 1', 'few: 2', 'many: 5', 'many: 1000']],
])('a number chooses its form in %s', (language, expected) => {
  const text = {
    en: '{count} item|{count} items',
    ar: 'none|a single one|a pair|few: {count}|many: {count}|other: {count}',
    pl: 'one: {count}|few: {count}|many: {count}|other: {count}',
  };
  const shown = [0, 1, 2, 5, 1000].map((count) => countText(text[language as keyof typeof text], count, language));
  const digits = (value: string) =>
    value.replace(/[٠-٩]/g, (digit) => `${digit.charCodeAt(0) - 0x660}`).replace('٬', ',');
  expect(shown.map(digits)).toEqual(expected);
});

test.each<[string, Readonly<Record<string, string>>]>([
  [
    'en',
    { ...englishInbox, ...englishPushes, ...englishSignIn, ...englishLater, ...englishAccount, ...englishActivity },
  ],
  ['es', { ...spanishInbox, ...spanishSignIn, ...spanishAccount }],
])('a text of %s with several forms has one for each plural of the language', (language, texts) => {
  const plurals = new Intl.PluralRules(language).resolvedOptions().pluralCategories.length;
  for (const [key, text] of Object.entries(texts)) {
    const forms = text.split('|').length;
    expect([key, forms]).toEqual([key, forms === 1 ? 1 : plurals]);
  }
});
