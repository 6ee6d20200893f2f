import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDatabase } from './database.js';

it('a database that allows no connections is dropped with a transaction that is prepared in it', async () => {
  const { target, drop } = await createTestDatabase();
  const postgres = new pg.Client({ ...target, database: 'postgres' });
  await postgres.connect();
  onTestFinished(() => postgres.end());
  const client = new pg.Client(target);
  await client.connect();
  await client.query('begin');
  await client.query(`prepare transaction '${target.database}'`);
  await client.end();
  await postgres.query(`alter database ${target.database} allow_connections false`);

  await drop();
  const { rows } = await postgres.query(
    'select (select count(*) from pg_database where datname = $1)::int as databases,' +
      ' (select count(*) from pg_prepared_xacts where gid = $1)::int as prepared',
    [target.database],
  );
  expect(rows).toEqual([{ databases: 0, prepared: 0 }]);
});
