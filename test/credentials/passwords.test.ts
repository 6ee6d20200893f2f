import { createHook } from 'node:async_hooks';
import { pbkdf2Sync } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { hash as argon2 } from '@node-rs/argon2';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { HashThreads } from '../../src/credentials/hash-threads.js';
import { dummyHashFor } from '../../src/credentials/hashes/registry.js';
import { createPasswordHasher, type PasswordHasher } from '../../src/credentials/passwords.js';

test.each([1, 2])('at most %i imported hashes run in the pool at a time, if that is the limit', async (limit) => {
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
    const verdicts = passwords.map((password) =>
      hasher.verify(`pbkdf2_sha256$50000$seasalt$${output}`, password, null),
    );
    expect(await Promise.all(verdicts)).toEqual(passwords.map((password) => password === 'right'));
  } finally {
    hook.disable();
  }
  expect(most).toBe(limit);
});

describe('many passwords at once', () => {
  let started: Worker[];
  const onWorker = (worker: Worker) => void started.push(worker);
  beforeEach(() => {
    started = [];
    process.on('worker', onWorker);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    process.off('worker', onWorker);
    await Promise.all(started.map((worker) => worker.terminate()));
  });

  /** Starts `count` threads and resolves when each was sent a hash. `sent` is called for every further hash. */
  async function startThreads(hasher: PasswordHasher, count: number) {
    const sent = vi.spyOn(Worker.prototype, 'postMessage');
    const until = performance.now() + 120_000;
    while (new Set(sent.mock.contexts).size < count) {
      await Promise.all([1, 2, 3].map(() => hasher.verify(undefined, 'x', null)));
      expect(performance.now()).toBeLessThan(until);
    }
    sent.mockClear();
    return sent;
  }

  test('are verified while threads start, and refused when the queue is full', async () => {
    const hasher = createPasswordHasher({ concurrency: 1, queue: 3 });
    const stored = await hasher.hash('right', null);
    const results = await Promise.allSettled(
      ['right', 'wrong', 'right', 'wrong', 'right', 'right'].map((password) => hasher.verify(stored, password, null)),
    );
    const refused = { reason: expect.objectContaining({ code: 'overloaded' }) };
    const [right, wrong] = [{ value: true }, { value: false }];
    expect(results).toMatchObject([right, wrong, right, wrong, refused, refused]);
    expect(started).toHaveLength(1);
  });

  test('are verified by threads, except imported hashes', async () => {
    const hasher = createPasswordHasher({ concurrency: 1 });
    const stored = await hasher.hash('right', null);
    const imported = await argon2('right', { algorithm: 2, memoryCost: 1024, timeCost: 2, parallelism: 1 });
    const sent = await startThreads(hasher, 1);
    const all = (hash: string) => Promise.all([1, 2, 3].map(() => hasher.verify(hash, 'right', null)));
    expect(await all(imported)).toEqual([true, true, true]);
    expect(sent).not.toHaveBeenCalled();
    expect(await all(stored)).toEqual([true, true, true]);
    expect(sent).toHaveBeenCalled();
  });

  test.each([
    ['behind', ['pbkdf2_sha256$1$seasalt$I3JGYOyHUYGjY4Hz9tbxmBRpvhPh9wTBBWRYMZ0VKVk=', undefined]],
    ['before', [undefined, 'pbkdf2_sha256$1$seasalt$I3JGYOyHUYGjY4Hz9tbxmBRpvhPh9wTBBWRYMZ0VKVk=']],
  ])('start a thread also %s an imported hash', async (_, pair) => {
    const hasher = createPasswordHasher({ concurrency: 1 });
    expect(await Promise.all(pair.map((stored) => hasher.verify(stored, 'x', null)))).toEqual([false, false]);
    expect(started).toHaveLength(1);
  });

  test('are verified even if a thread is lost, and the loss is reported', async () => {
    const onThreadLost = vi.fn();
    const hasher = createPasswordHasher({ concurrency: 1, onThreadLost });
    await startThreads(hasher, 1);
    const open = Promise.all([1, 2, 3].map(() => hasher.verify(undefined, 'x', null)));
    await started[0]?.terminate();
    expect(await open).toEqual([false, false, false]);
    expect(onThreadLost).toHaveBeenCalledOnce();
  });
});

test.each([
  ['plain', 1],
  ['contraseña', 1],
  ['contrasen\u0303a', 2],
  ['\ufb01n', 2],
  ['nin\u0303o \ufb01n', 3],
])('verifies the different forms of %j, always all of them: %d', async (typed, forms) => {
  const verified: string[] = [];
  const threads: HashThreads = {
    hash: async () => '',
    verify: async (_stored, form) => {
      verified.push(form);
      return form === typed;
    },
    runInPool: (compute) => compute(),
  };
  const hasher = createPasswordHasher({ threads });
  const stored = dummyHashFor('$argon2id$v=19$m=19456,t=2,p=1') ?? '';
  expect(await hasher.verify(stored, typed, null)).toBe(true);
  expect(await hasher.verify(undefined, typed, null)).toBe(false);
  const texts = [...new Set([typed, typed.normalize('NFC'), typed.normalize('NFKC')])];
  expect(texts).toHaveLength(forms);
  expect(verified).toEqual([...texts, ...texts]);
});
