import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { english as activity } from '../../src/account/activity-texts.js';
import { spanish } from '../../src/account/es.js';
import { eventText } from '../../src/account/history.js';
import { english as account } from '../../src/account/texts.js';

const english = { ...account, ...activity };

/** Events about the service, such as those of API keys. No user sees them as an own event. */
const ofService =
  /^(users|webhook|key|backup|block|sms|setup_link|categories|channel|topic|publication|audience|signing_keys)\.|^test_identity\.(created|deleted)$|^(user|suppression)\.deleted$/;

test('every event of a user has a text of its own in both languages', async () => {
  const source = await readFile(new URL('../../../../src/audit/events.ts', import.meta.url), 'utf8');
  const types = [...source.matchAll(/^ {2}\| '([\w.]+)'/gm)].map(([, type = '']) => type);
  const own = types.filter((type) => !ofService.test(type));
  expect(own.length).toBeGreaterThan(40);
  for (const words of [english, spanish]) {
    const texts = own.map((type) => eventText({ type, params: {} }, words, 'en'));
    expect(texts).not.toContain(words.event_other);
    expect(new Set(texts).size).toBe(own.length);
  }
});

test.each([
  ['user.changed', { fields: 'name, email' }, 'Changed: Name and Email', 'Cambios: Nombre y Correo electrónico'],
  ['user.changed', { fields: 'name, avatar' }, 'Your account was changed.', 'Cambió tu cuenta.'],
  ['user.changed', {}, 'Your account was changed.', 'Cambió tu cuenta.'],
  [
    'external_identity.linked',
    { provider: 'google' },
    'An account of google was linked.',
    'Se vinculó una cuenta de google.',
  ],
  [
    'recovery_code.used',
    { left: '1' },
    'A recovery code was used. 1 is left.',
    'Se usó un código de recuperación. Queda 1.',
  ],
  [
    'recovery_code.used',
    { left: '7' },
    'A recovery code was used. 7 are left.',
    'Se usó un código de recuperación. Quedan 7.',
  ],
  ['recovery.completed', { recovers: 'pin' }, 'Your account was recovered: PIN', 'Se recuperó tu cuenta: PIN'],
  ['something.new', { field: 'x' }, 'Your account was used.', 'Se usó tu cuenta.'],
])('%s with %j has a text in the language of the reader', (type, params, inEnglish, inSpanish) => {
  expect(eventText({ type, params }, english, 'en')).toBe(inEnglish);
  expect(eventText({ type, params }, spanish, 'es')).toBe(inSpanish);
});
