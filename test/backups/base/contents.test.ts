import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countRows, nextTransaction } from '../../../src/backups/base/contents.js';
import type { EmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { temporaryFolder } from '../../cli/command.js';
import { query } from '../../embedded/embedded-postern.js';
import { startMigratedPostgres } from '../../support/cluster.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: EmbeddedPostgres;
let client: pg.Client;

async function connect(): Promise<pg.Client> {
  const opened = new pg.Client(server.address);
  await opened.connect();
  return opened;
}

beforeAll(async () => {
  folder = await temporaryFolder();
  const started = await startMigratedPostgres(join(folder.path, 'data'));
  // The database `postgres` has no tables.
  server = { ...started, address: { ...started.address, database: 'postgres' } };
  await query(server, 'create table kept (value text)');
  await query(server, 'create table last (value text)');
  client = await connect();
});
afterAll(async () => {
  await client.end();
  await server.stop();
  await folder.remove();
});
beforeEach(() => query(server, 'truncate kept'));

const write = () => query(server, "insert into kept values ('new')");

describe('counts of rows', () => {
  it('are exact while nothing is written', async () => {
    await write();
    const { rows, next } = await countRows(client);
    expect(rows).toEqual({ 'public.kept': 1, 'public.last': 0 });
    expect(next).toBe(await nextTransaction(client));
    await write();
    expect(await nextTransaction(client)).not.toBe(next);
  });

  it('are not exact if something was written while they were read', async () => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const watched = new Proxy(client, {
      get: (target, name) =>
        name === 'query'
          ? async (...args: unknown[]) => {
              if (String(args[0]).includes('"last"')) await write();
              return query(...args);
            }
          : Reflect.get(target, name),
    });
    const { rows, next } = await countRows(watched);
    expect(rows['public.kept']).toBe(0);
    expect(next).not.toBe(await nextTransaction(client));
  });

  it('are not exact if an older transaction was still writing', async () => {
    const other = await connect();
    await other.query('begin');
    await other.query("insert into kept values ('late')");
    await write();
    const { rows, next } = await countRows(client);
    await other.query('commit');
    await other.end();
    expect(rows['public.kept']).toBe(1);
    expect(next).not.toBe(await nextTransaction(client));
  });
});
