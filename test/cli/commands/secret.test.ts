import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { query } from '../../embedded/embedded-postern.js';
import { startMigratedPostgres } from '../../support/cluster.js';
import { pinHashOf } from '../../support/pins.js';
import { runCommand, temporaryFolder } from '../command.js';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let DATA_DIR: string;
let server: EmbeddedPostgres;
beforeAll(async () => {
  folder = await temporaryFolder();
  DATA_DIR = join(folder.path, 'data');
  server = await startMigratedPostgres(DATA_DIR);
  await writeFile(join(DATA_DIR, 'secret-key'), `${'k'.repeat(40)}\n`, { mode: 0o600 });
});
afterAll(async () => {
  await server.stop();
  await folder.remove();
});

const secret = (command: string) => runCommand(['secret', command], { DATA_DIR });

describe('postern secret', () => {
  it('rotates the key of the embedded database, and removes the old key when no value needs it', async () => {
    const created = await runCommand(['users', 'create', '--username', 'ada', '--json'], { DATA_DIR });
    const { id } = JSON.parse(created.stdout);
    await query(server, `update users set pin_hash = '${await pinHashOf('k'.repeat(40), id)}'`);
    expect((await secret('status')).stdout).toMatch(/^current {2}[0-9a-f]{8}\n$/);

    const rotated = await secret('rotate');
    expect(rotated).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Restart Postern now') });
    expect((await readFile(join(DATA_DIR, 'secret-key'), 'utf8')).trim().split('\n')).toHaveLength(2);
    const { stdout } = await secret('status');
    expect(stdout).toMatch(/^current {2}[0-9a-f]{8}\nold {6}[0-9a-f]{8}\nAn old key is still needed by 1 PINs\.\n$/);
    expect(await secret('remove-old')).toMatchObject({ code: 1, stderr: 'An old key is still needed by 1 PINs.\n' });

    await query(server, 'delete from users');
    // A service that still uses the old key: it would write values that nobody can read after the removal.
    const running = `insert into instances (id, host, process_id, version, node, streams, flushes, started_at, seen_at)
      values (gen_random_uuid(), 'here', 1, '1', '20', 0, 1, now(), now())`;
    await query(server, running);
    const message = 'An old key is still needed by 1 running processes, which you must restart.\n';
    expect(await secret('remove-old')).toMatchObject({ code: 1, stderr: message });
    await query(server, "update instances set seen_at = now() - interval '2 minutes'");
    expect((await secret('status')).stdout).toContain('No value needs an old key');
    expect((await secret('remove-old')).stdout).toMatch(/^Removed [0-9a-f]{8}\. Restart Postern\.\n$/);
    expect((await readFile(join(DATA_DIR, 'secret-key'), 'utf8')).trim().split('\n')).toHaveLength(1);
  });
});
