import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../src/contract/user.js';
import { type Environment, runCommand, temporaryFolder } from './command.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let env: Environment;
beforeAll(async () => {
  folder = await temporaryFolder();
  env = { DATA_DIR: join(folder.path, 'data'), PORT: '0' };
});
afterAll(() => folder.remove());

describe('without DATABASE_URL and without a service that runs', () => {
  it('commands start the embedded database, and stop it', async () => {
    const tooEarly = await runCommand(['keys', 'list'], env);
    expect(tooEarly).toMatchObject({ code: 1, stderr: expect.stringContaining('run `postern migrate`') });
    const migrated = await runCommand(['migrate'], env);
    expect(migrated).toMatchObject({ code: 0, stderr: '' });
    expect(migrated.stdout).toMatch(/^applied 0001_foundation\.sql\n(?:applied \S+\n)*The schema is up to date\.\n$/);

    const created = await runCommand(['users', 'create', '--username', 'ada', '--pin', '2468', '--json'], env);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(created.stdout) as User).toMatchObject({ username: 'ada', has_pin: true });
    expect((await stat(join(env.DATA_DIR ?? '', 'secret-key'))).mode & 0o777).toBe(0o600);

    const { code, stdout } = await runCommand(['doctor'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}database: PostgreSQL \d+/m);
    await expect(stat(join(env.DATA_DIR ?? '', 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });
});
