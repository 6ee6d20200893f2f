import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { createUser } from '../support/users.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('an export that nobody reads ends, so the user can ask for another one', async () => {
  const { id } = await createUser(app);
  const open = () => app.services.exports.open(id, async () => undefined);
  const unread = (await open())[Symbol.asyncIterator]();
  await expect(open()).rejects.toMatchObject({ code: 'too_many_requests' });
  await unread.return?.();
  const pieces = [];
  for await (const piece of await open()) pieces.push(piece);
  expect(JSON.parse(pieces.join(''))).toMatchObject({ account: { id } });
});
