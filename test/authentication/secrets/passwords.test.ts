import { createHook } from 'node:async_hooks';
import { pbkdf2Sync } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { hash as argon2 } from '@node-rs/argon2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createPasswordHasher, type PasswordHasher } from '../../../src/authentication/secrets/passwords.js';

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

describe('passwords that come together', () => {
  let begun: Worker[];
  const notice = (worker: Worker) => void begun.push(worker);
  beforeEach(() => {
    begun = [];
    process.on('worker', notice);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    process.off('worker', notice);
    await Promise.all(begun.map((worker) => worker.terminate()));
  });

  /** Those of `count` threads that have begun, once each was sent a hash; `sent` is called for every further one. */
  async function warm(hasher: PasswordHasher, count: number) {
    const sent = vi.spyOn(Worker.prototype, 'postMessage');
    const until = performance.now() + 20_000;
    while (new Set(sent.mock.contexts).size < count) {
      await Promise.all([1, 2, 3].map(() => hasher.verify(undefined, 'x')));
      expect(performance.now()).toBeLessThan(until);
    }
    sent.mockClear();
    return sent;
  }

  test('are verified beside threads that begin, and those that find no room are refused', async () => {
    const hasher = createPasswordHasher({ concurrency: 1, queue: 3 });
    const stored = await hasher.hash('right');
    const results = await Promise.allSettled(
      ['right', 'wrong', 'right', 'wrong', 'right', 'right'].map((password) => hasher.verify(stored, password)),
    );
    const refused = { reason: expect.objectContaining({ code: 'overloaded' }) };
    const [right, wrong] = [{ value: true }, { value: false }];
    expect(results).toMatchObject([right, wrong, right, wrong, refused, refused]);
    expect(begun).toHaveLength(1);
  });

  test('are verified by threads, but for those that were hashed in another way', async () => {
    const hasher = createPasswordHasher({ concurrency: 1 });
    const stored = await hasher.hash('right');
    const imported = await argon2('right', { algorithm: 2, memoryCost: 1024, timeCost: 2, parallelism: 1 });
    const sent = await warm(hasher, 1);
    const all = (hash: string) => Promise.all([1, 2, 3].map(() => hasher.verify(hash, 'right')));
    expect(await all(imported)).toEqual([true, true, true]);
    expect(sent).not.toHaveBeenCalled();
    expect(await all(stored)).toEqual([true, true, true]);
    expect(sent).toHaveBeenCalled();
  });

  test.each([
    ['behind', ['pbkdf2_sha256$1$seasalt$I3JGYOyHUYGjY4Hz9tbxmBRpvhPh9wTBBWRYMZ0VKVk=', undefined]],
    ['before', [undefined, 'pbkdf2_sha256$1$seasalt$I3JGYOyHUYGjY4Hz9tbxmBRpvhPh9wTBBWRYMZ0VKVk=']],
  ])('have a thread begin also %s one that was hashed in another way', async (_, pair) => {
    const hasher = createPasswordHasher({ concurrency: 1 });
    expect(await Promise.all(pair.map((stored) => hasher.verify(stored, 'x')))).toEqual([false, false]);
    expect(begun).toHaveLength(1);
  });

  test('are verified all the same where a thread is lost, which is told', async () => {
    const onThreadLost = vi.fn();
    const hasher = createPasswordHasher({ concurrency: 1, onThreadLost });
    await warm(hasher, 1);
    const open = Promise.all([1, 2, 3].map(() => hasher.verify(undefined, 'x')));
    await begun[0]?.terminate();
    expect(await open).toEqual([false, false, false]);
    expect(onThreadLost).toHaveBeenCalledOnce();
  });
});
