import { tmpdir } from 'node:os';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionFields } from '../../src/database/connections/target.js';
import { buildIndexes, indexState, searchIndex, startIndexBuild } from '../../src/schema/late-indexes.js';
import { ensureFirstKey } from '../../src/sessions/api-keys.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(() => test.drop());

const run = (text: string, values?: readonly unknown[]) => test.database.query(testSql(text, values));
const neverAborted = new AbortController().signal;
const silent = { info: () => undefined, warn: () => undefined };
const state = () => indexState(test.database);

describe('the indexes that are built late', () => {
  it('exist in a new database after its migrations', async () => {
    expect(await state()).toEqual({ isMigrated: true, missing: [], hasTrigrams: true });
  });

  it('are built again when they are missing or a crash has left them invalid', async () => {
    const damages = [
      `drop index ${searchIndex}`,
      `update pg_index set indisvalid = false where indexrelid = '${searchIndex}'::regclass`,
    ];
    for (const damage of damages) {
      await run(damage);
      expect((await state()).missing).toEqual([searchIndex]);
      expect(await buildIndexes(test.target, neverAborted)).toEqual({ built: [searchIndex], missing: [] });
      expect((await state()).missing).toEqual([]);
    }
    expect(await buildIndexes(test.target, neverAborted)).toEqual({ built: [], missing: [] });
  });

  it('are built while others write: the build blocks no write, and no write fails', async () => {
    await run(`drop index ${searchIndex}`);
    const writer = new pg.Client(connectionFields(test.target));
    await writer.connect();
    // The build waits for this transaction. Other writes go on meanwhile.
    await writer.query('begin');
    await writer.query('insert into users (id, created_at, updated_at) values (gen_random_uuid(), now(), now())');
    const building = buildIndexes(test.target, neverAborted);
    await eventually('the build waits', async () => {
      const waiting = await run(
        `select 1 as one from pg_stat_activity where datname = current_database() and query like 'create index%' and wait_event_type = 'Lock'`,
      );
      return waiting[0];
    });
    await run('insert into users (id, created_at, updated_at) values (gen_random_uuid(), now(), now())');
    // Another instance that starts meanwhile creates the first key under a lock of its own.
    const firstKey = await ensureFirstKey({ database: test.database, dataDir: tmpdir(), isTerminal: true });
    expect(firstKey.token).toMatch(/^psk_/);
    await writer.query('commit');
    await writer.end();
    expect((await building).built).toEqual([searchIndex]);
  });

  it('are built by one instance at a time', async () => {
    await run(`drop index ${searchIndex}`);
    const results = await Promise.all(Array.from({ length: 4 }, () => buildIndexes(test.target, neverAborted)));
    expect(results.flatMap(({ built }) => built)).toEqual([searchIndex]);
  });

  it('are left to the next start when the service stops during the build', async () => {
    await run(`drop index ${searchIndex}`);
    const writer = new pg.Client(connectionFields(test.target));
    await writer.connect();
    await writer.query('begin');
    await writer.query('insert into users (id, created_at, updated_at) values (gen_random_uuid(), now(), now())');
    const build = startIndexBuild(test, silent);
    const started = () =>
      run(`select 1 as one from pg_stat_activity
           where datname = current_database() and query like 'create index%' and wait_event_type = 'Lock'`);
    await eventually('the build waits', async () => (await started())[0]);
    await build.stop();
    // The server notices within a second that the connection is gone.
    await eventually('the build has ended', async () => (await started()).length === 0 || undefined);
    await writer.query('rollback');
    await writer.end();
    expect((await state()).missing).toEqual([searchIndex]);
    const next = startIndexBuild(test, silent, 10);
    await eventually('the index is built', async () => (await state()).missing.length === 0 || undefined);
    await next.stop();
  });

  it('stay missing, and say why, if the role may not install pg_trgm', async () => {
    await run('drop extension pg_trgm cascade');
    const owner = `limited_${test.target.database}`;
    const rows = await run('select current_user::text as name');
    const own = pg.escapeIdentifier(String(Reflect.get(rows[0] ?? {}, 'name')));
    await run(`create role ${owner}`);
    try {
      for (const table of ['users', 'devices']) await run(`alter table ${table} owner to ${owner}`);
      await run(`grant create, usage on schema public to ${owner}`);
      await run(`grant ${owner} to ${own}`);
      // New connections to this database have the rights of the role.
      await run(`alter role ${own} in database ${test.target.database} set role = ${owner}`);
      const result = await buildIndexes(test.target, neverAborted);
      expect(result).toMatchObject({
        built: [],
        missing: [searchIndex],
        installError: { code: '42501' },
      });
      expect(await state()).toEqual({ isMigrated: true, missing: [searchIndex], hasTrigrams: false });
    } finally {
      await run(`alter role ${own} in database ${test.target.database} reset role`);
      await run(`reassign owned by ${owner} to ${own}`);
      await run(`drop owned by ${owner}`);
      await run(`drop role ${owner}`);
    }
  });
});
