import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

let db: TestDatabase;
const quiet = { warn: () => undefined };
const clients: pg.Client[] = [];

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  for (const client of clients) await client.end();
  await db.drop();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ ...db.target });
  clients.push(client);
  await client.connect();
  return client;
}

test('a migration that waits for a table does not block readers, and runs when the table is free', async () => {
  const dump = await connect();
  const reader = await connect();
  const name = '0006_further_factors.sql';
  await dump.query('alter table authentications drop column factor, drop column second_factor');
  await dump.query('alter table authentications drop column approval_secret');
  await dump.query('delete from schema_migrations where name = $1', [name]);
  await dump.query('begin');
  await dump.query('lock table authentications in access share mode');

  const applied = migrate(db.target, quiet);
  await eventually('the migration to wait for the table', async () => {
    const { rows } = await reader.query(
      `select 1 from pg_locks join pg_database d on d.oid = database
       where datname = current_database() and relation = 'authentications'::regclass and mode = 'AccessExclusiveLock'
         and not granted`,
    );
    return rows.at(0);
  });
  // Queued behind the migration, which waits for the running dump.
  await reader.query('select count(*) from authentications');
  await dump.query('commit');
  expect(await applied).toEqual([name]);
});

test('a start that waits for the lock of migrations names the connection that holds it', async () => {
  const holder = await connect();
  await holder.query("set application_name = 'a former start'; select pg_advisory_lock(7203415001)");
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  const messages: string[] = [];
  const applied = migrate(db.target, { warn: (_, message) => void messages.push(message) });
  const message = await eventually('the message', async () => messages.at(0));
  expect(message).toContain(`connection ${rows[0]?.pid} holds: "a former start" from this machine`);
  expect(message).toContain(`pg_terminate_backend(${rows[0]?.pid})`);
  await holder.query('select pg_advisory_unlock(7203415001)');
  expect(await applied).toEqual([]);
});

test('a migration gives a database with the former version of 0013_session_changes.sql the current schema', async () => {
  const former = await createTestDatabase();
  const client = new pg.Client({ ...former.target });
  await client.connect();
  const readSchema = () => client.query(sessionChangesSchema).then(({ rows }) => rows);
  const current = await readSchema();
  await client.query(`alter table session_changes set logged;
    alter table session_changes_floor set logged, drop column run;
    drop function note_every_session_change cascade;
    alter table users enable trigger session_change_of_user, enable trigger session_change_by_user_gone;
    alter table sessions enable trigger session_change_of_session, enable trigger session_change_by_session_gone`);
  const name = '0015_session_changes_after_a_crash.sql';
  await client.query('delete from schema_migrations where name = $1', [name]);
  await client.query("update schema_migrations set digest = $1 where name = '0013_session_changes.sql'", [
    'a2d67676bc9274e90fd34e86c20ff184903d3355d25af9004fce9c2c456a1427',
  ]);
  expect(await readSchema()).not.toEqual(current);

  expect(await migrate(former.target, quiet)).toEqual([name]);
  expect(await readSchema()).toEqual(current);
  await client.end();
  await former.drop();
});

test('an error says how to remove a user with the reserved id, and the next migration succeeds', async () => {
  const former = await createTestDatabase();
  const client = new pg.Client({ ...former.target });
  await client.connect();
  const name = '0023_reserved_user_id.sql';
  await client.query('alter table users drop constraint users_id_is_not_reserved');
  await client.query('delete from schema_migrations where name = $1', [name]);
  const nil = '00000000-0000-0000-0000-000000000000';
  await client.query('insert into users (id, username, created_at, updated_at) values ($1, $2, now(), now())', [
    ...[nil, 'nil'],
  ]);

  await expect(migrate(former.target, quiet)).rejects.toThrow(`DELETE /admin/v1/users/${nil}`);
  await client.query('delete from users');
  expect(await migrate(former.target, quiet)).toEqual([name]);
  await client.end();
  await former.drop();
});

test('a migration registers existing imported hashes, and checks the ids of all users', async () => {
  const former = await createTestDatabase();
  const client = new pg.Client({ ...former.target });
  await client.connect();
  const name = '0024_imported_hashes.sql';
  await client.query(`drop table imported_hashes;
    drop function imported_scheme cascade;
    drop function note_imported_hashes cascade;
    drop function note_changed_hash cascade;
    drop function forget_imported_hash cascade;
    drop function drop_unused_schemes`);
  await client.query('delete from schema_migrations where name = $1', [name]);
  const hashes = [
    '$2b$10$Db6D7gmOnHbGgE5.oj/xneYCTKyHS0DOBpIGEfWyUHRJf7ODCAyCG',
    '$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$b3V0',
  ];
  await client.query(
    `insert into users (id, username, password_hash, created_at, updated_at)
     select gen_random_uuid(), 'user' || place, hash, now() - interval '1 year', now() - interval '1 year'
     from unnest($1::text[]) with ordinality as given (hash, place)`,
    [[...hashes, null]],
  );

  expect(await migrate(former.target, quiet)).toEqual([name]);
  const { rows } = await client.query('select scheme from imported_hashes');
  expect(rows).toEqual([{ scheme: '$2b$10' }]);
  const constraint = `select convalidated as valid from pg_constraint where conname = 'users_id_is_not_reserved'`;
  expect((await client.query(constraint)).rows).toEqual([{ valid: true }]);
  await client.end();
  await former.drop();
});

test('a migration that was changed after it was applied is refused', async () => {
  const client = await connect();
  await client.query("update schema_migrations set digest = 'other' where name = '0013_session_changes.sql'");
  await expect(migrate(db.target, quiet)).rejects.toThrow('0013_session_changes.sql was changed after it was applied');
});

/** The tables, indexes, columns and triggers that record changes of sessions. */
const sessionChangesSchema = `select relname as name, relpersistence::text as kind from pg_class
    where relname like 'session_change%' and relkind in ('r', 'i')
  union all
  select attname, attrelid::regclass::text from pg_attribute where attrelid = 'session_changes_floor'::regclass
    and attnum > 0 and not attisdropped
  union all
  select tgname, tgenabled::text from pg_trigger where tgname like 'session_change%'
  order by name, kind`;
