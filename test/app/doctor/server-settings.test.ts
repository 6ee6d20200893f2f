import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { describeSetting, findHarmfulSettings } from '../../../src/app/doctor/server-settings.js';
import { createDatabase } from '../../../src/database/database.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const run = (text: string) => db.database.query(testSql(text));

/** The sentences about a setting on a new connection. */
async function about(name: string, connections = 10): Promise<string[]> {
  const database = createDatabase({ target: db.target, size: 1, onConnectionError: () => undefined });
  try {
    const found = await findHarmfulSettings(database, connections);
    return found.filter((setting) => setting.name === name).map(describeSetting);
  } finally {
    await database.close();
  }
}

/** Sets it for the role in this database until the end of the test. */
async function setForRole(name: string, value: string): Promise<void> {
  const where = `alter role current_user in database ${db.target.database}`;
  onTestFinished(async () => void (await run(`${where} reset ${name}`)));
  await run(`${where} set ${name} = '${value}'`);
}

describe('settings that break promises', () => {
  it.each([
    ['synchronous_commit', 'off', 'can lose changes that Postern has acknowledged'],
    ['track_counts', 'off', 'tables grow'],
    ['zero_damaged_pages', 'on', 'deletes the rows of a damaged page'],
    ['ignore_checksum_failure', 'on', 'returns the rows of a damaged page'],
    ['session_replication_role', 'replica', 'triggers do not run'],
  ])(
    '%s = %s of a role is found with its consequence and the statement that resets it',
    async (name, value, consequence) => {
      await setForRole(name, value);
      const [sentence] = await about(name);
      expect(sentence).toContain(`${name} is ${value}: `);
      expect(sentence).toContain(consequence);
      expect(sentence).toContain(
        `To change it: alter role ${db.target.user} in database ${db.target.database} reset ${name}`,
      );
    },
  );

  // The limit is longer than a busy machine needs for the first statement of a connection, before any statement can change it.
  it('a small limit for the statements of a role is found, and does not apply to connections of Postern', async () => {
    await setForRole('statement_timeout', '3s');
    expect(await about('statement_timeout')).toEqual([expect.stringContaining('statement_timeout is 3000ms: ')]);
    const database = createDatabase({ target: db.target, size: 1, onConnectionError: () => undefined });
    onTestFinished(() => database.close());
    expect(await database.query(testSql("select current_setting('statement_timeout') as value"))).toEqual([
      { value: '4s' },
    ]);
  });

  it('limits that do no harm are not reported', async () => {
    await setForRole('statement_timeout', '1min');
    expect(await about('statement_timeout')).toEqual([]);
    await setForRole('synchronous_commit', 'local');
    expect(await about('synchronous_commit')).toEqual([]);
  });

  it('a limit of the database names the database', async () => {
    const name = db.target.database;
    onTestFinished(async () => void (await run(`alter database ${name} reset statement_timeout`)));
    await run(`alter database ${name} set statement_timeout = '2s'`);
    expect(await about('statement_timeout')).toEqual([
      expect.stringContaining(`To change it: alter database ${name} reset statement_timeout`),
    ]);
  });

  it('the smallest limit of connections is reported if the instance opens more', async () => {
    const [server] = await db.database.query(
      testSql<{ max: string }>("select current_setting('max_connections') as max"),
    );
    expect(await about('max_connections', Number(server?.max))).toEqual([
      expect.stringMatching(/^max_connections is \d+ without those that are reserved: .+ raise max_connections/),
    ]);
    expect(await about('max_connections', 20)).toEqual([]);
    await run(`alter database ${db.target.database} connection limit 15`);
    expect(await about('connection limit of the database', 20)).toEqual([
      expect.stringContaining('connection limit of the database is 15: this instance opens up to 20 connections'),
    ]);
  });
});

it('limits of a role for sessions and transactions do not apply to connections of Postern', async () => {
  const names = ['idle_session_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout'];
  // The limits must differ from Postern's own, and be longer than a busy machine needs until the first statement.
  for (const name of names) await setForRole(name, '7s');
  await setForRole('default_transaction_isolation', 'serializable');
  const database = createDatabase({ target: db.target, size: 1, onConnectionError: () => undefined });
  onTestFinished(() => database.close());
  const read = names.map((name) => `current_setting('${name}') as ${name}`).join(', ');
  const [row] = await database.query(testSql(`select ${read}, current_setting('transaction_isolation') as isolation`));
  expect(row).toEqual({
    idle_session_timeout: '0',
    idle_in_transaction_session_timeout: '10s',
    lock_timeout: '2s',
    statement_timeout: '4s',
    isolation: 'read committed',
  });
});
