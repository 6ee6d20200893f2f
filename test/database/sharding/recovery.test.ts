import { expect, onTestFinished, test } from 'vitest';
import { createServer, nextDeadline } from '../../../src/database/server.js';
import { cleanUp } from '../../../src/database/sharding/recovery.js';
import { createTestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

test('old outcomes stay while the process does not know one of the servers, which may need them', async () => {
  const { target, database, drop } = await createTestDatabase();
  onTestFinished(drop);
  const map = { version: () => 0, onRefused: () => undefined };
  const main = createServer({ target, size: 1, onConnectionError: () => undefined }, map);
  onTestFinished(() => main.close());
  const run = (text: string) => database.everyone.query(testSql(text));
  const outcomes = () => main.query(testSql('select from transaction_outcomes'), nextDeadline());
  await run(`insert into transaction_outcomes values (gen_random_uuid(), true, now() - interval '2 hours')`);
  await run(`insert into shards (name) values ('main'), ('west')`);
  const servers = new Map([['main', main]]);
  await cleanUp(servers, []);
  expect(await outcomes()).toHaveLength(1);
  await run(`delete from shards where name = 'west'`);
  await cleanUp(servers, []);
  expect(await outcomes()).toEqual([]);
});
