import { createHook } from 'node:async_hooks';
import { pbkdf2Sync } from 'node:crypto';
import type { Worker } from 'node:worker_threads';
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

test('passwords that come together are verified by threads, and those that find no room are refused', async () => {
  const hasher = createPasswordHasher({ concurrency: 1, queue: 3 });
  const begun: Worker[] = [];
  const notice = (worker: Worker) => void begun.push(worker);
  process.on('worker', notice);
  try {
    const stored = await hasher.hash('right');
    const results = await Promise.allSettled(
      ['right', 'wrong', 'right', 'wrong', 'right', 'right'].map((password) => hasher.verify(stored, password)),
    );
    const refused = { reason: expect.objectContaining({ code: 'overloaded' }) };
    expect(results).toMatchObject([
      { value: true },
      { value: false },
      { value: true },
      { value: false },
      refused,
      refused,
    ]);
    expect(begun).toHaveLength(1);
  } finally {
    process.off('worker', notice);
    await Promise.all(begun.map((worker) => worker.terminate()));
  }
});
