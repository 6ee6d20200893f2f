import { stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { eventually } from '../../support/eventually.js';
import { type Environment, runCommand, startCommand, temporaryFolder } from '../command.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let env: Environment;
beforeAll(async () => {
  folder = await temporaryFolder();
  env = { DATA_DIR: join(folder.path, 'data'), PORT: '0' };
});
afterAll(() => folder.remove());

describe('without DATABASE_URL and without a service that runs', () => {
  it.each([
    ['migrate'],
    ['users create --username ada'],
    ['users import -'],
    ['users list'],
    ['users find ada'],
    ['users lock ada --permanent'],
    ['users unlock ada'],
    ['users logout ada'],
    ['keys create --name billing --scopes admin'],
    ['keys list'],
    ['keys revoke 01890000-0000-7000-8000-000000000000'],
  ])('%s creates nothing in a mistyped DATA_DIR, and reports that it has no database', async (line) => {
    const DATA_DIR = join(folder.path, 'mistyped');
    const outcome = await runCommand(line.split(' '), { DATA_DIR }, '');
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain(`There is no database in ${DATA_DIR}: check DATA_DIR`);
    await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT');
  });

  it('doctor creates nothing before the first start, and none of its checks fails', async () => {
    const DATA_DIR = join(folder.path, 'mistyped');
    const { code, stdout } = await runCommand(['doctor'], { DATA_DIR, PORT: '0' });
    expect(code).toBe(0);
    expect(stdout).toContain(`warn  data directory: ${DATA_DIR} does not exist`);
    expect(stdout).toContain(`warn  database: There is no database in ${DATA_DIR}`);
    await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT');
  });

  it('serve creates no database if its port is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const DATA_DIR = join(folder.path, 'unused');
    const { code, stderr } = await runCommand(['serve'], { DATA_DIR, PORT: String(port) });
    other.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining(`Port ${port} of 127.0.0.1 is in use`)]);
    await expect(stat(join(DATA_DIR, 'postgres'))).rejects.toThrow('ENOENT');
  });

  it('serve creates the database; other commands start it and stop it', async () => {
    const service = startCommand(['serve'], { ...env, LOG_LEVEL: 'silent' });
    await eventually('the service', async () => (service.printed().includes('ready at') ? true : undefined));
    service.signal('SIGTERM');
    expect((await service.done).code).toBe(0);
    const migrated = await runCommand(['migrate'], env);
    expect(migrated).toEqual({ code: 0, stdout: 'The schema is up to date.\n', stderr: '' });

    const created = await runCommand(['users', 'create', '--username', 'ada', '--json'], env);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(created.stdout) as User).toMatchObject({ username: 'ada', has_pin: false });
    expect((await stat(join(env.DATA_DIR ?? '', 'secret-key'))).mode & 0o777).toBe(0o600);

    const { code, stdout } = await runCommand(['doctor'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}database: PostgreSQL \d+/m);
    // With all files of a real installation: the databases of other tests have no templates.
    const backup = join(folder.path, 'backup.tar');
    expect(await runCommand(['backup', 'create', '--to', backup], env)).toMatchObject({ code: 0, stderr: '' });
    expect(await runCommand(['backup', 'verify', backup], env)).toMatchObject({ code: 0, stderr: '' });
    await expect(stat(join(env.DATA_DIR ?? '', 'postgres', 'postmaster.pid'))).rejects.toThrow('ENOENT');
  });
});
