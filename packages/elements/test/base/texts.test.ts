import { expect, test } from 'vitest';
import { english as englishActivity } from '../../src/account/activity-texts.js';
import { spanish as spanishAccount } from '../../src/account/es.js';
import { english as englishAccount } from '../../src/account/texts.js';
import { english as englishErrors } from '../../src/base/error-texts.js';
import { fill, wordsOf } from '../../src/base/texts.js';
import { spanish as spanishInbox } from '../../src/inbox/es.js';
import { english as englishPushes } from '../../src/inbox/push-texts.js';
import { english as englishInbox } from '../../src/inbox/texts.js';
import { spanish as spanishSignIn } from '../../src/sign-in/es.js';
import { english as englishLater } from '../../src/sign-in/later-texts.js';
import { english as englishSignIn } from '../../src/sign-in/texts.js';

const holes = (text: string) => [...new Set([...text.matchAll(/\{\w+\}/g)].map(String))].sort();

test.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>]>([
  ['the inbox', { ...englishInbox, ...englishPushes }, spanishInbox],
  ['sign-in', { ...englishErrors, ...englishSignIn, ...englishLater }, spanishSignIn],
  ['the account', { ...englishErrors, ...englishAccount, ...englishActivity }, spanishAccount],
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

test('custom texts override built-in ones, regions override languages, and English replaces missing texts', async () => {
  const english = { yes: 'Yes', no: 'No', maybe: 'Maybe', never: 'Never' };
  const languages = { es: async () => ({ ...english, yes: 'Sí', no: 'No', maybe: 'Quizás' }) };
  const own = { es: { no: 'Nada' }, 'es-MX': { no: 'Nel' }, ar: { yes: 'نعم' } };
  expect(await wordsOf('es-MX', english, languages, own)).toMatchObject({ yes: 'Sí', no: 'Nel' });
  expect(await wordsOf('es', english, languages, own)).toMatchObject({ no: 'Nada', maybe: 'Quizás' });
  expect(await wordsOf('ar', english, languages, own)).toEqual({ ...english, yes: 'نعم' });
  const lost = { es: () => Promise.reject(new Error('no network')) };
  expect(await wordsOf('es', english, lost)).toEqual(english);
});
