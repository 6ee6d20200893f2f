import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServers } from '../../src/database/connections/servers.js';
import type { Database } from '../../src/database/database.js';
import { migrateAll } from '../../src/database/sharding/open.js';
import { newId } from '../../src/lib/ids.js';
import { type ImportRow, insertImported } from '../../src/users/import-queries.js';
import { eventually } from '../support/eventually.js';
import { moveUsers } from '../support/moves.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';

let shards: TestShards;
let database: Database;
beforeAll(async () => {
  shards = await createTestShards(3);
  const targets = [...shards.databases].map(([name, { url }]) => ({ name, target: createServers(url) }));
  const [main, ...others] = targets;
  if (main === undefined) throw new Error('there is no directory');
  const log = { info: () => undefined, warn: () => undefined };
  await migrateAll({ target: main.target, shards: others, close: async () => undefined }, log);
  database = await shards.open();
});
afterAll(async () => {
  await database.close();
  await shards.drop();
});

/** A user to import whose bucket is on a server. */
function newRowOn(server: string): ImportRow {
  const id = newId();
  if (database.shardOf(id).name !== server) return newRowOn(server);
  const candidate = { id, hasGivenId: true, identities: [], scheme: undefined, createdAt: undefined };
  const empty = { username: null, email: null, phone: null, external_id: null, locale: null };
  const values = { ...empty, name: '', role: 'user', password_hash: null, pin_hash: null, metadata: '{}' } as const;
  return { candidate, identities: [], values };
}

async function serversOf(userId: string): Promise<string[]> {
  const found = await Promise.all(
    database.shards.map(async ({ name, everyone }) => {
      const rows = await everyone.query(testSql('select from users where id = $1', [userId]));
      return rows.map(() => name);
    }),
  );
  return found.flat();
}

test('each imported user is on the own server, also if one of them moves during the import', async () => {
  const [east, moving, staying] = [newRowOn('east'), newRowOn('west'), newRowOn('west')];
  let hasMoved = false;
  const imported = await database.spanning.transaction((tx) => {
    const query: typeof tx.query = async (statement) => {
      const rows = await tx.query(statement);
      if (statement.name === 'import_insert_users' && !hasMoved) {
        hasMoved = true;
        await moveUsers(shards, [moving.candidate.id], 'main');
        await eventually('the new map', async () => database.shardOf(moving.candidate.id).name === 'main' || undefined);
      }
      return rows;
    };
    return insertImported(database, { query }, [east, moving, staying], { actor: 'system' });
  });
  expect(imported).toBe(true);
  expect(await serversOf(east.candidate.id)).toEqual(['east']);
  expect(await serversOf(moving.candidate.id)).toEqual(['main']);
  expect(await serversOf(staying.candidate.id)).toEqual(['west']);
});
