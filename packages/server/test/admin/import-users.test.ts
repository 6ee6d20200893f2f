import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { newEmail } from '../../../../test/support/users.js';
import { backendOf, lost } from '../support.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const usersOf = (count: number) => Array.from({ length: count }, () => ({ id: randomUUID(), email: newEmail() }));

async function all<T>(results: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const result of results) list.push(result);
  return list;
}

test('users are created with their ids, and a repeat creates nothing', async () => {
  const { server } = backendOf(app);
  const source = usersOf(3);
  const ids = source.map(({ id }) => id);
  const [first, second] = [await all(server.users.import(source)), await all(server.users.import(source))];
  expect(first).toEqual(ids.map((id, index) => ({ line: index + 1, result: 'created', id })));
  expect(second).toEqual(ids.map((id, index) => ({ line: index + 1, result: 'exists', id })));
});

test('an invalid line does not affect the others', async () => {
  const { server } = backendOf(app);
  const [good, bad] = [...usersOf(1), { id: randomUUID(), email: 'no address' }];
  const results = await all(server.users.import([bad ?? {}, good ?? {}]));
  expect(results).toMatchObject([
    { line: 1, result: 'failed', errors: [{ field: 'email' }] },
    { line: 2, result: 'created' },
  ]);
});

test('a dry run shows what would happen, and creates nothing', async () => {
  const { server } = backendOf(app);
  const [user = { id: '', email: '' }] = usersOf(1);
  expect(await all(server.users.import([user], { dryRun: true }))).toEqual([{ line: 1, result: 'valid' }]);
  expect(await server.users.get(user.id)).toBeNull();
});

test('after a connection is cut in the middle of a response, the import continues and creates each user once', async () => {
  const source = usersOf(450);
  let requests = 0;
  const { server } = backendOf(app, {
    async fetch(input, init) {
      requests += 1;
      const answer = await fetch(input, init);
      if (requests % 2 === 0) return answer;
      // A third of the answer, in the middle of a line.
      const text = await answer.text();
      const start = new TextEncoder().encode(text.slice(0, Math.floor(text.length / 3)));
      const cut = new ReadableStream(
        {
          start: (controller) => controller.enqueue(start),
          pull: (controller) => controller.error(new TypeError('terminated')),
        },
        { highWaterMark: 0 },
      );
      return new Response(cut, { status: answer.status, headers: answer.headers });
    },
  });
  const results = await all(server.users.import(source));
  expect(results.map(({ line }) => line)).toEqual(source.map((_, index) => index + 1));
  expect(results.map((result) => ('id' in result ? result.id : null))).toEqual(source.map(({ id }) => id));
  expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['created', 'exists']));
  expect(requests).toBeGreaterThan(3);
});

test('if Postern stays unavailable, the import reports its position', async () => {
  const { server, network } = backendOf(app, { retries: 0 });
  network.answer = (_, number) => (number > 1 ? lost() : undefined);
  const seen: number[] = [];
  const error = await (async () => {
    for await (const { line } of server.users.import(usersOf(250))) seen.push(line);
  })().catch((reason) => reason);
  expect(error).toMatchObject({ kind: 'interrupted', committedLines: 200 });
  expect(seen).toHaveLength(200);
});

test('an import ends when its signal aborts', async () => {
  const { server } = backendOf(app);
  const controller = new AbortController();
  const ending = (async () => {
    for await (const _ of server.users.import(usersOf(450), { signal: controller.signal })) {
      controller.abort(new Error('gone'));
    }
  })();
  await expect(ending).rejects.toThrow('gone');
});
