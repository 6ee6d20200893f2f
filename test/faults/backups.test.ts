import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded.js';
import { migrate } from '../../src/database/migrate.js';
import { runCommand, temporaryFolder } from '../cli/command.js';
import { query } from '../database/embedded-postern.js';
import { isLong } from '../support/fault-injection/service.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const rounds = isLong ? 20 : 2;
const writers = 3;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let server: EmbeddedPostgres;
const at = (name: string) => join(folder.path, name);

beforeAll(async () => {
  folder = await temporaryFolder();
  server = await startEmbeddedPostgres({ dataDir: at('data'), log: silent });
  await migrate(server.address, silent);
  await query(server, 'create table kept (writer int, value text)');
  await query(server, "insert into kept select 0, repeat('row ', 20) from generate_series(1, 20000)");
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

async function postern(...args: string[]): Promise<void> {
  const env = { DATA_DIR: at('data'), SECRET_KEY: 's'.repeat(32) };
  expect(await runCommand(['backup', ...args], env)).toMatchObject({ code: 0, stderr: '' });
}

/** The rows of the writers in a restored copy. */
async function rowsIn(dataDir: string): Promise<number> {
  const copy = await startEmbeddedPostgres({ dataDir, log: silent });
  try {
    const [row] = await query(copy, 'select count(*)::int as rows from kept where writer > 0');
    return Number(row?.rows);
  } finally {
    await copy.stop();
  }
}

it(`${rounds} backups under load contain what was committed before they began, and verify`, async () => {
  let acknowledged = 0;
  let isEnded = false;
  const load = Promise.allSettled(
    Array.from({ length: writers }, async (_, index) => {
      const writer = index + 1;
      while (!isEnded) {
        await query(
          server,
          `insert into kept values (${writer}, 'new'); update kept set value = value || '.' where writer = ${writer} and random() < 0.1`,
        );
        acknowledged += 1;
      }
    }),
  );
  try {
    for (let round = 1; round <= rounds; round += 1) {
      const before = acknowledged;
      await postern('create', '--to', at(`${round}.tar`));
      await postern('verify', at(`${round}.tar`));
      await postern('restore', at(`${round}.tar`), '--to', at(`copy-${round}`));
      expect(await rowsIn(at(`copy-${round}`))).toBeGreaterThanOrEqual(before);
    }
  } finally {
    isEnded = true;
  }
  expect((await load).map(({ status }) => status)).toEqual(Array.from({ length: writers }, () => 'fulfilled'));
  expect(acknowledged).toBeGreaterThan(0);
});
