import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectionString, type TestDatabase } from '../../support/database.js';
import { startPoolerWithoutBegin } from '../../support/pooler.js';
import { createTestShards, type TestShards } from '../../support/shards.js';
import { type Environment, runCommand, temporaryFolder } from '../command.js';

let shards: TestShards;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let env: Environment;
beforeAll(async () => {
  [shards, folder] = await Promise.all([createTestShards(3), temporaryFolder()]);
  env = { ...shards.env, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path, PORT: '0', SMS_PROVIDER: 'none' };
});
afterAll(async () => {
  await shards.drop();
  await folder.remove();
});

function databaseOf(name: string): TestDatabase {
  const database = shards.databases.get(name);
  if (database === undefined) throw new Error(`there is no server ${name}`);
  return database;
}
const urlOf = (name: string) => databaseOf(name).url;

/** The exit code of the doctor, and its lines about one server. */
async function about(server: string, more: Environment = {}): Promise<readonly [number, readonly string[]]> {
  const { code, stdout } = await runCommand(['doctor'], { ...env, ...more });
  return [code, stdout.split('\n').filter((line) => line.slice(6).split(':')[0]?.endsWith(` of ${server}`))];
}

test('the doctor checks each server of SHARDS: whether it answers and is the right one, its schema and its settings', async () => {
  const okLines = [
    'ok    database of east: PostgreSQL 15',
    'ok    migrations of east: all applied',
    'ok    indexes of east: all are built',
    'ok    clock of east:',
    'ok    encrypted values of east:',
    'ok    prepared transactions of east: max_prepared_transactions is 100',
  ].map((line) => expect.stringContaining(line.replace('PostgreSQL 15', 'PostgreSQL ')));
  expect(await about('east')).toEqual([
    0,
    ['warn  database of east: the server is new: the next start adds it', ...okLines],
  ]);
  expect((await runCommand(['shards', 'add'], env)).code).toBe(0);
  expect(await about('east')).toEqual([0, okLines]);
  expect((await about('main'))[1]).toEqual(['ok    prepared transactions of main: max_prepared_transactions is 100']);
  const swapped = { SHARDS: `east=${urlOf('west')};west=${urlOf('east')}` };
  const [code, [first]] = await about('east', swapped);
  expect([code, first]).toEqual([1, 'FAIL  database of east: it is the server west: check the addresses in SHARDS']);
});

test('the doctor says why a server cannot be used: it does not answer, or its pooler is unfit', async () => {
  await shards.stop('west');
  try {
    expect(await about('west')).toEqual([
      1,
      [expect.stringMatching(/^FAIL {2}database of west: it does not answer \(.*not currently accepting connections/)],
    ]);
  } finally {
    await shards.start('west');
  }
  const target = databaseOf('east').target;
  const port = await startPoolerWithoutBegin(target);
  const pooled = connectionString({ ...target, host: '127.0.0.1', port });
  const SHARDS = `east=${pooled};west=${urlOf('west')}`;
  const refusal = 'The pooler does not send BEGIN to the server';
  expect(await about('east', { SHARDS })).toEqual([1, [expect.stringContaining(`FAIL  database of east: ${refusal}`)]]);
  const start = await runCommand(['migrate'], { ...env, SHARDS });
  expect(start).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The server east of SHARDS cannot be used: ${refusal}`),
  });
});
