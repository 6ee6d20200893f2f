import { describe, expect, test } from 'vitest';
import { createPacer } from '../../../src/lib/pacing.js';
import { categoryErrors } from '../../../src/notifications/categories/check.js';

const pace = createPacer().begin();
const withMail = { channels: ['push', 'email'] } as const;
const errorsOf = (category: object, hasUnsubscribeLinks: boolean) =>
  categoryErrors(category, { ...withMail, hasUnsubscribeLinks }, pace);
const email = { steps: [{ channel: 'push' }, { channel: 'email' }] };

describe('a step by mail', () => {
  test('needs a public URL for its link to unsubscribe', async () => {
    expect(await errorsOf(email, true)).toEqual([]);
    expect(await errorsOf(email, false)).toEqual([{ field: 'steps.1.channel', code: 'public_url_required' }]);
  });

  test('of a critical category needs none, because nobody can turn it off', async () => {
    expect(await errorsOf({ ...email, is_critical: true }, false)).toEqual([]);
  });
});

describe('caps and digests', () => {
  const faults = async (category: object) =>
    (await errorsOf(category, true)).map(({ field, code }) => `${field} ${code}`);

  test.each(['15m', '36h', '7d', 'daily 00:00', 'weekly sun 23:59'])('every %s is a digest', async (every) => {
    expect(await faults({ digest: { every } })).toEqual([]);
  });

  test.each([
    '14m',
    '8d',
    '1d2h',
    '900000ms',
    'daily',
    'daily 9:00',
    'daily 24:00',
    'weekly 09:00',
    'weekly fr 09:00',
    '',
  ])('every "%s" is none', async (every) => {
    expect(await faults({ digest: { every } })).toEqual(['digest.every invalid_schedule']);
  });

  test('a cap has a period from a minute to 30 days', async () => {
    expect(await faults({ cap: { count: 1, per: '1m' } })).toEqual([]);
    expect(await faults({ cap: { count: 1, per: '59s' } })).toEqual(['cap.per invalid_duration']);
    expect(await faults({ cap: { count: 1, per: '31d' } })).toEqual(['cap.per invalid_duration']);
  });

  test('what needs the digest of the category is refused without one', async () => {
    const category = { cap: { count: 1, per: '1d', overflow: 'digest' }, defaults: { email: 'digest' } };
    expect(await faults(category)).toEqual(['cap.overflow no_digest', 'defaults.email no_digest']);
    expect(await faults({ ...category, digest: { every: '1d' } })).toEqual([]);
  });
});

test('a title has one line, because it comes into the subjects of digests', async () => {
  for (const title of ['News\r\nBcc: all@example.org', 'a\nb', 'a\u2028b']) {
    expect(await errorsOf({ title: { en: title } }, true)).toEqual([{ field: 'title.en', code: 'invalid_characters' }]);
  }
  expect(await errorsOf({ title: { en: 'News' }, description: { en: 'a\nb' } }, true)).toEqual([]);
});
