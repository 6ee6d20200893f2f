import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { createUser } from '../../../../test/support/users.js';
import type { Fetch } from '../../../client/src/index.js';
import { InterruptedError, type PublishResult } from '../../src/index.js';
import { backendOf, lost } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const itemsFor = (user_id: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ...{ user_id, notification_type: 'payment', description: `number ${index + 1}` },
  }));
const once = () => ({ idempotencyKey: `run-${randomUUID()}` });

async function all<T>(results: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const result of results) list.push(result);
  return list;
}

/** The texts in the inbox of a user, sorted by their number. */
async function inboxOf(userId: string): Promise<string[]> {
  const found = await all(backendOf(app).server.users.notifications(userId, { limit: 100 }));
  return found.map(({ description }) => description).sort((a, b) => Number(a.slice(7)) - Number(b.slice(7)));
}

/** A request that takes effect at Postern, but whose answer is lost. */
const loseAnswer: Fetch = async (input, init) => {
  await (await fetch(input, init)).text();
  return lost();
};

test('each line is published, and its result comes in the order of the source', async () => {
  const { server } = backendOf(app);
  const [ada, grace] = [await createUser(app), await createUser(app)];
  const source = [
    ...itemsFor(ada.id, 2),
    { user_ids: [ada.id, grace.id], notification_type: 'payment', description: 'number 3' },
  ];
  const results = await all(server.publishAll(source, once()));
  expect(results.map(({ line, ok }) => [line, ok])).toEqual([1, 2, 3].map((line) => [line, true]));
  expect(results.map((result) => (result.ok ? result.ids.length : 0))).toEqual([1, 1, 2]);
  expect(await inboxOf(grace.id)).toEqual(['number 3']);
});

test('generators and streams are sources, and are read only as far as needed', async () => {
  const { server } = backendOf(app);
  const user = await createUser(app);
  let read = 0;
  async function* source() {
    for (const item of itemsFor(user.id, 2000)) {
      read += 1;
      yield item;
    }
  }
  for await (const { line } of server.publishAll(source(), once())) if (line === 3) break;
  expect(read).toBeLessThan(600);
  const stream = new ReadableStream({
    start(controller) {
      for (const item of itemsFor(user.id, 3)) controller.enqueue(item);
      controller.close();
    },
  });
  expect(await all(server.publishAll(stream, once()))).toHaveLength(3);
  expect(await all(server.publishAll([], once()))).toEqual([]);
});

test('invalid lines are reported, and the others are published', async () => {
  const { server } = backendOf(app);
  const user = await createUser(app);
  const source = itemsFor(user.id, 8).map((item, index) => {
    if (index === 1) return { ...item, user_id: randomUUID() };
    return index === 5 ? { ...item, notification_type: '' } : item;
  });
  const results = await all(server.publishAll(source, once()));
  const refused = results.filter((result): result is Extract<PublishResult, { ok: false }> => !result.ok);
  expect(refused.map(({ line, errors }) => [line, errors[0]?.field])).toEqual([
    [2, 'user_id'],
    [6, 'notification_type'],
  ]);
  expect(await inboxOf(user.id)).toEqual([1, 3, 4, 5, 7, 8].map((number) => `number ${number}`));
});

test('a lost answer publishes nothing twice', async () => {
  const user = await createUser(app);
  let batches = 0;
  const { server } = backendOf(app, {
    async fetch(input, init) {
      if (!`${input}`.endsWith('/batch')) return fetch(input, init);
      batches += 1;
      return batches % 2 === 1 ? loseAnswer(input, init) : fetch(input, init);
    },
  });
  const results = await all(server.publishAll(itemsFor(user.id, 1100), once()));
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(batches).toBe(6);
  expect(await inboxOf(user.id)).toEqual(itemsFor(user.id, 1100).map(({ description }) => description));
});

test('after an interruption, another process sends the same source with the same key', async () => {
  const user = await createUser(app);
  const options = once();
  // The second chunk has a faulty line.
  const source = itemsFor(user.id, 1100).map((item, index) =>
    index === 700 ? { ...item, user_id: randomUUID() } : item,
  );
  let batches = 0;
  const first = backendOf(app, {
    retries: 0,
    async fetch(input, init) {
      if (!`${input}`.endsWith('/batch')) return fetch(input, init);
      batches += 1;
      // Three requests: the first chunk, the second chunk with its faulty line, and the second chunk without it, whose
      // answer is lost.
      return batches <= 2 ? fetch(input, init) : loseAnswer(input, init);
    },
  });
  const seen: PublishResult[] = [];
  const error = await (async () => {
    for await (const result of first.server.publishAll(source, options)) seen.push(result);
  })().catch((reason) => reason);
  expect(error).toBeInstanceOf(InterruptedError);
  expect(error).toMatchObject({ kind: 'interrupted', committedLines: 500 });
  expect(seen).toHaveLength(500);

  const results = await all(backendOf(app).server.publishAll(source, options));
  expect(results.filter(({ ok }) => !ok).map(({ line }) => line)).toEqual([701]);
  const expected = itemsFor(user.id, 1100).map(({ description }) => description);
  expect(await inboxOf(user.id)).toEqual(expected.filter((text) => text !== 'number 701'));
});

test('another source with the key of an earlier one is refused', async () => {
  const { server } = backendOf(app);
  const user = await createUser(app);
  const options = once();
  await all(server.publishAll(itemsFor(user.id, 3), options));
  const changed = itemsFor(user.id, 3).map((item) => ({ ...item, description: `${item.description}0` }));
  await expect(all(server.publishAll(changed, options))).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  expect(await inboxOf(user.id)).toHaveLength(3);
});

test('a request is not repeated after a permanent error', async () => {
  const { server, network } = backendOf(app, { apiKey: 'psk_wrong' });
  await expect(all(server.publishAll(itemsFor(randomUUID(), 1), once()))).rejects.toMatchObject({
    code: 'invalid_api_key',
  });
  expect(network.sent).toHaveLength(1);
});

test('a key longer than 200 characters is a usage error', async () => {
  const { server } = backendOf(app);
  const options = { idempotencyKey: 'x'.repeat(201) };
  await expect(all(server.publishAll([], options))).rejects.toMatchObject({ kind: 'usage' });
});
