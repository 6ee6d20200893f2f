import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApiKeys, ensureFirstKey, type FirstKey } from '../../src/sessions/api-keys.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let test: TestDatabase;
let folder: string;
beforeEach(async () => {
  test = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'postern-key-'));
});
afterEach(async () => {
  await test.drop();
  await rm(folder, { recursive: true, force: true });
});

const ensure = (isTerminal: boolean, dataDir = folder): Promise<FirstKey> =>
  ensureFirstKey({ database: test.database, dataDir, isTerminal });
const verify = (key: string) => createApiKeys({ database: test.database }).verify(key);

describe('the first key', () => {
  it('is shown once on a terminal, and written to no file', async () => {
    const { token = '' } = await ensure(true);
    expect(await verify(token)).toMatchObject({ scopes: ['admin'] });
    expect(await ensure(true)).toEqual({});
    expect(await readdir(folder)).toEqual([]);
  });

  it('goes into a private file without a terminal, and each start returns the path while the key is valid', async () => {
    const dataDir = join(folder, 'not', 'there', 'yet');
    const file = join(dataDir, 'admin-key');
    expect(await ensure(false, dataDir)).toEqual({ file });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(await readdir(dataDir)).toEqual(['admin-key']);
    expect(await verify((await readFile(file, 'utf8')).trim())).toMatchObject({ scopes: ['admin'] });
    expect(await ensure(false, dataDir)).toEqual({ file });
    expect(await ensure(true, dataDir)).toEqual({ file });
    await test.database.query(testSql('update api_keys set revoked_at = db_now()'));
    expect(await ensure(false, dataDir)).toEqual({});
  });

  it('is created once, however many instances start at once', async () => {
    const folders = Array.from({ length: 8 }, (_, index) => join(folder, String(index)));
    const results = await Promise.all(folders.map((dataDir) => ensure(false, dataDir)));
    expect(results.filter(({ file }) => file !== undefined)).toHaveLength(1);
    expect(await test.database.query(testSql('select 1 from api_keys'))).toHaveLength(1);
  });

  it('is not created if the file cannot be written', async () => {
    await expect(ensure(false, '/dev/null/nowhere')).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(await test.database.query(testSql('select 1 from api_keys'))).toEqual([]);
    expect(await ensure(true)).toHaveProperty('token');
  });

  it('is not created beside ADMIN_API_KEY', async () => {
    const options = { database: test.database, dataDir: folder, isTerminal: true };
    expect(await ensureFirstKey({ ...options, environmentKey: 'e'.repeat(32) })).toEqual({});
    expect(await test.database.query(testSql('select 1 from api_keys'))).toEqual([]);
  });
});
