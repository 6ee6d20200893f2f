import { describe, expect, test } from 'vitest';
import type { NotificationRow } from '../../../src/notifications/inbox/row.js';
import { pushContent } from '../../../src/notifications/push/message.js';

const contentOf = (description: string, actor: string | null = 'Ada') =>
  pushContent({
    ...{
      id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11',
      notification_type: 'payment',
      notification_key: null,
      sequence: 1,
    },
    ...{ actor, description },
  } as NotificationRow);

const family = '👨‍👩‍👧‍👦';
const characters = [
  ['a family', family],
  ['a flag', '🇲🇽'],
  ['a letter with accents', 'e\u0301\u0302'],
  ['a skin tone', '👍🏽'],
  ['a keycap', '1\ufe0f\u20e3'],
  ['Devanagari', 'क्षि'],
  ['a line end', '\r\n'],
] as const;

describe.each(characters)('a long text of %s', (_what, character) => {
  test('is cut between characters', () => {
    const { title, body, ...rest } = contentOf(character.repeat(2000), character.repeat(101));
    for (const text of [title ?? '', body]) {
      expect(text.endsWith('…')).toBe(true);
      expect(text.slice(0, -1).replaceAll(character, '')).toBe('');
      expect(text.length).toBeGreaterThan(character.length);
    }
    expect(Buffer.byteLength(JSON.stringify({ title, body, ...rest }))).toBeLessThanOrEqual(3000);
  });
});

test('texts that fit are not cut', () => {
  expect(contentOf('é'.repeat(1000), 'x'.repeat(100))).toMatchObject({
    title: 'x'.repeat(100),
    body: 'é'.repeat(1000),
  });
  expect(contentOf('short', family.repeat(40)).title).toBe(family.repeat(40));
});

test('one character of many marks cannot fill the message', () => {
  const { title, body } = contentOf('Ada paid you', `a${'\u0301'.repeat(5000)}`);
  expect([title, body]).toEqual(['…', 'Ada paid you']);
  expect(contentOf(`a${'\u0301'.repeat(5000)}`).body).toBe('…');
});
