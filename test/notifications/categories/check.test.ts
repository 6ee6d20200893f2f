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
