import { createHook } from 'node:async_hooks';
import { pbkdf2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createPasswordHasher } from '../../../src/authentication/secrets/passwords.js';

test.each([1, 2])(
  'of imported hashes no more than %i are in the pool at a time, if that is the limit',
  async (limit) => {
    const output = pbkdf2Sync('right', 'seasalt', 50_000, 32, 'sha256').toString('base64');
    const hasher = createPasswordHasher({ concurrency: limit });
    const inPool = new Set<number>();
    let most = 0;
    const hook = createHook({
      init(id, type) {
        if (type !== 'PBKDF2REQUEST') return;
        inPool.add(id);
        most = Math.max(most, inPool.size);
      },
      before: (id) => void inPool.delete(id),
    }).enable();
    try {
      const passwords = ['right', 'wrong', 'right', 'right', 'wrong', 'wrong'];
      const verdicts = passwords.map((password) => hasher.verify(`pbkdf2_sha256$50000$seasalt$${output}`, password));
      expect(await Promise.all(verdicts)).toEqual(passwords.map((password) => password === 'right'));
    } finally {
      hook.disable();
    }
    expect(most).toBe(limit);
  },
);
