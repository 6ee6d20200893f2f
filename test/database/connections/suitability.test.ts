import { randomBytes } from 'node:crypto';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openClient } from '../../../src/database/connections/open-client.js';
import { migrate } from '../../../src/database/migrate.js';

const log = { warn: () => undefined };

/** The target of an empty database with an encoding and a locale. */
async function createDatabase(options: string) {
  const server = inject('server');
  const name = `postern_unfit_${randomBytes(6).toString('hex')}`;
  const admin = await openClient(
    { ...server, database: 'postgres' },
    { application_name: 'test', connectionTimeoutMillis: 10_000 },
  );
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
  });
  await admin.query(`create database ${name} template template0 ${options}`);
  return { ...server, database: name };
}

test('a database without an encoding is refused with the command that creates a fit one', async () => {
  const target = await createDatabase(`encoding 'SQL_ASCII' locale_provider libc locale 'C'`);
  await expect(migrate(target, log)).rejects.toThrow(
    "The database has the encoding SQL_ASCII, but Postern needs UTF8: create another database: create database … encoding 'UTF8' locale 'C.UTF-8' template template0",
  );
});

test('a database whose locale knows no letters beyond ASCII is refused, before anything is written', async () => {
  const target = await createDatabase(`encoding 'UTF8' locale_provider libc locale 'C'`);
  await expect(migrate(target, log)).rejects.toThrow(
    /^The database has the locale C, which does not convert letters such as I and Ä/,
  );
  const client = await openClient(target, { application_name: 'test', connectionTimeoutMillis: 10_000 });
  const { rows } = await client.query("select to_regclass('schema_migrations') as made");
  await client.end();
  expect(rows).toEqual([{ made: null }]);
});
