import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import type { Database, Shard } from '../../../src/database/database.js';
import type { Statement } from '../../../src/database/sql.js';
import { createUserList } from '../../../src/users/list.js';
import { startShardedApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { moveUsers } from '../../support/moves.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { createUser, newEmail } from '../../support/users.js';

let shards: TestShards;
let app: TestApp;
/** The database as the service uses it: statements of `app.database` run on every server. */
let database: Database;
/** In the order of their creation. */
let people: User[];
beforeAll(async () => {
  shards = await createTestShards(3);
  app = await startShardedApp(shards);
  database = await shards.open();
  people = [];
  for (let count = 0; count < 4; count += 1) {
    people.push(await createUser(app, { email: newEmail(), name: `Ada ${count}` }));
  }
});
afterAll(async () => {
  await database.close();
  await app.close();
});

const firstPage = { page: 1, limit: 20, filter: [], sort: [{ field: 'created_at', direction: 'asc' }] } as const;
/** Milliseconds. It only makes moves during a list likely: the rows of a bucket are on both servers for a shorter time. */
const eastDelay = 1000;

const ids = () => people.map(({ id }) => id);
const move = (to: string) => moveUsers(shards, ids(), to);
/** The list of users over servers whose statements `query` runs. */
function listWith(query: <Row extends object>(shard: Shard, statement: Statement<Row>) => Promise<Row[]>) {
  const replaced = database.shards.map(
    (shard): Shard => ({ ...shard, everyone: { ...shard.everyone, query: (statement) => query(shard, statement) } }),
  );
  return createUserList({ database: { ...database, shards: replaced }, concurrency: 4, defaultRegion: undefined });
}

for (const [what, searchFor] of [
  ['a list of all users', () => ({})],
  ['a search for a part of names', () => ({ search: 'Ada' })],
  ['a search for an id', ([first]: User[]) => ({ search: first?.id ?? '' })],
] as const) {
  test(`${what} finds users who move to a server that was read before their former one`, async () => {
    await move('east');
    const search = searchFor(people);
    let hasMoved = false;
    let isWestRead = false;
    const list = listWith(async (shard, statement) => {
      if (shard.name === 'east') await eventually('the answer of west', async () => isWestRead || undefined);
      const rows = await shard.everyone.query(statement);
      if (shard.name === 'west' && !hasMoved) {
        hasMoved = true;
        await move('west');
        isWestRead = true;
      }
      return rows;
    });
    const { items } = await list({ ...firstPage, ...search });
    expect(items.map(({ id }) => id)).toEqual(ids().slice(0, what === 'a search for an id' ? 1 : undefined));
  });
}

test('each list contains every user once while buckets move to and fro, or says that it is not complete', async () => {
  // The server that users leave or get is read later than the others.
  const lists = listWith(async (shard, statement) => {
    if (shard.name === 'east') await wait(eastDelay);
    return shard.everyone.query(statement);
  });
  const all = ids().join();
  let isOver = false;
  const wrong: string[] = [];
  let complete = 0;
  /** On a slow machine, the move ends connections that do not get the new map in time. An answer says that it lacks a server. */
  const note = (users: readonly User[], isIncomplete: boolean) => {
    if (isIncomplete) return;
    complete += 1;
    const found = users.map(({ id }) => id).join();
    if (found !== all) wrong.push(found);
  };
  const read = async (what: object) => {
    const { items, missingShards } = await lists({ ...firstPage, ...what });
    note(items, missingShards !== undefined);
  };
  const request = async () => {
    const path = '/admin/v1/users?sort=created_at:asc&limit=100&filter=name:like:Ada';
    const { status, headers, body } = await app.api<User[]>('GET', path, { bearer: app.adminKey });
    expect([200, 503]).toContain(status);
    note(body, status === 503 || headers['postern-missing-shards'] !== undefined);
  };
  const reading = [() => read({}), () => read({ search: 'Ada' }), request].map(async (readOnce) => {
    while (!isOver || complete < 10) await readOnce();
  });
  try {
    for (const to of ['east', 'west', 'east', 'west']) await move(to);
  } finally {
    isOver = true;
  }
  await Promise.all(reading);
  expect(wrong).toEqual([]);
});
