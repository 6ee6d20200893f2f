import { expect, onTestFinished, test } from 'vitest';
import { openClient } from '../../src/database/connections/open-client.js';
import { migrate } from '../../src/schema/migrate.js';
import { createTestDatabase } from '../support/database.js';
import { databaseDigest } from '../support/digests.js';
import { startPoolerWithoutBegin } from '../support/pooler.js';

const log = { warn: () => undefined };

/** The target of an empty database with an encoding and a locale. */
async function createDatabase(options: string) {
  const db = await createTestDatabase(`template template0 ${options}`);
  onTestFinished(() => db.drop());
  return db.target;
}

test('a database without an encoding is refused with the command that creates a fit one, and nothing is written', async () => {
  const target = await createDatabase(`encoding 'SQL_ASCII' locale_provider libc locale 'C'`);
  const before = await databaseDigest(target);
  await expect(migrate(target, log)).rejects.toThrow(
    "The database has the encoding SQL_ASCII, but Postern needs UTF8: create another database: create database … encoding 'UTF8' locale_provider libc locale 'C.UTF-8' template template0",
  );
  expect(await databaseDigest(target)).toBe(before);
});

test('a database whose locale knows no letters beyond ASCII is refused, and nothing is written', async () => {
  const target = await createDatabase(`encoding 'UTF8' locale_provider libc locale 'C'`);
  const before = await databaseDigest(target);
  await expect(migrate(target, log)).rejects.toThrow(
    /^The database has the locale C, which does not convert letters such as I and Ä/,
  );
  expect(await databaseDigest(target)).toBe(before);
});

test('a database with an ICU locale that has other rules is refused by the name of that locale, with a command that works', async () => {
  const target = await createDatabase(`encoding 'UTF8' locale_provider icu icu_locale 'tr-TR' locale 'C'`);
  await expect(migrate(target, log)).rejects.toThrow(
    /^The database has the ICU locale tr.*, which does not convert letters such as I and Ä .+: create another database: create database … encoding 'UTF8' locale_provider libc locale 'C.UTF-8' template template0$/,
  );
});

test('a session that does not keep its settings is refused, because its statements would have no time limits', async () => {
  const target = await createDatabase(`encoding 'UTF8'`);
  const client = await openClient(target, { application_name: 'test', connectionTimeoutMillis: 10_000 });
  // A pooler that gives a session to another client may reset its settings. This function keeps none.
  await client.query(`create schema fake;
    create function fake.set_config(text, text, boolean) returns text language sql as $$ select $2 $$;
    alter database ${target.database} set search_path = public, fake, pg_catalog`);
  await client.end();
  await expect(migrate(target, log)).rejects.toThrow(
    /^The session does not keep its setting \w+ = .+, but has .+: if a pooler is in use, set pool_mode = session/,
  );
});

test('a pooler that keeps BEGIN for itself is refused, because a rollback would undo nothing', async () => {
  const target = await createDatabase(`encoding 'UTF8'`);
  const port = await startPoolerWithoutBegin(target);
  await expect(migrate({ ...target, host: '127.0.0.1', port }, log)).rejects.toThrow(
    /^The pooler does not send BEGIN to the server/,
  );
});
