import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { createImageUrls } from '../../../src/notifications/images/url.js';
import { publish } from '../../../src/notifications/publishing/publish.js';
import { type DividePlaces, placesByShard } from '../../../src/notifications/publishing/publish-spread.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { createTestShards } from '../../support/shards.js';
import { createUser } from '../../support/users.js';

let app: TestApp;
beforeAll(async () => {
  app = await startShardedApp(await createTestShards(2));
});
afterAll(() => app.close());

async function userOn(server: string): Promise<User> {
  for (;;) {
    const user = await createUser(app);
    if (app.database.shardOf(user.id).name === server) return user;
  }
}

test('users who move while a publication begins are not reported as unknown', async () => {
  const users = [await userOn('main'), await userOn('east'), await userOn('east')];
  const divideByMap = placesByShard(app.database);
  if (divideByMap === undefined) throw new Error('there is one server');
  let isFirst = true;
  // Before the move, all three were on the server of the first one.
  const divide: DividePlaces = (userIds) => {
    if (!isFirst) return divideByMap(userIds);
    isFirst = false;
    return [[0, 1, 2]];
  };
  const rules = {
    ...{ types: ['payment'], checkUrl: () => undefined, imageUrlsOf: createImageUrls(() => 'https://a.example') },
    ...{ pushes: false, divide },
  };
  const request = { user_ids: users.map(({ id }) => id), notification_type: 'payment', description: 'You were paid' };
  let runs = 0;
  const published = await app.database.spanning.transaction((tx) => {
    runs += 1;
    return publish(tx, rules, request, []);
  });
  expect(published).toHaveLength(3);
  expect(runs).toBe(2);
});
