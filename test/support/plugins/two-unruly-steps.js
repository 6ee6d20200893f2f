// The right secret is `right`. The challenge of a user whose name begins with `oversized` is too large.
import { setTimeout as wait } from 'node:timers/promises';

export default {
  name: 'unruly-steps',
  steps: 2,
  async begin(user) {
    if (user !== undefined) await wait(250);
    if (user?.username?.startsWith('oversized')) return { kept: { much: 'x'.repeat(5000) } };
    return { kept: { for: user?.id ?? '' }, shown: { type: 'unruly' } };
  },
  async verify({ secret }, user) {
    if (user !== undefined) await wait(250);
    if (secret === 'secret-that-throws') throw new Error(secret);
    return secret === 'right';
  },
};
