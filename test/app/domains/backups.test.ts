import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BackupState } from '../../../src/contract/operation/backups.js';
import { startEmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { runCommand } from '../../cli/command.js';
import { sharedBuffers } from '../../support/cluster.js';
import { eventually } from '../../support/eventually.js';
import { createInstallation, type FaultyService, type Installation } from '../../support/fault-injection/service.js';
import { createUser } from '../../support/users.js';

let installation: Installation;
let service: FaultyService;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  installation = await createInstallation();
  env = {
    ...{ BACKUP_TO: join(installation.folder, 'backups'), BACKUP_CONTINUOUS: 'true', BACKUP_KEEP: '1' },
    ...{ BACKUP_PASSPHRASE: 'correct horse battery', SECRET_KEY: 'k'.repeat(40) },
  };
  service = await installation.start(env);
});
afterAll(async () => {
  await service?.stop();
  await installation?.remove();
});

const call = <T>(method: 'GET' | 'POST', path: string) =>
  service.api<T>(method, `/admin/v1/backups${path}`, { bearer: service.adminKey });

/** The state of the backups, once nothing is running and `isReached` returns true. */
const waitForState = (isReached: (state: BackupState) => boolean) =>
  eventually('the state of the backups', async () => {
    const { body } = await call<BackupState>('GET', '');
    return !body.is_running && isReached(body) ? body : undefined;
  });

it('operators start and verify backups, and deleted ones are not listed', async () => {
  const first = await waitForState(({ backups }) => backups.some(({ verified_at }) => verified_at !== null));
  expect(first).toMatchObject({
    place: join(installation.folder, 'backups'),
    keep: 1,
    schedule: '24h',
    is_encrypted: true,
  });
  expect(first.archive).toMatchObject({ location: first.place, error: null });
  const answers = await Promise.all([call('POST', ''), call('POST', ''), call('POST', '')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  const { backups } = await waitForState(
    ({ backups: listed }) => listed.length === 1 && listed[0]?.verified_at !== null && !listed[0]?.is_scheduled,
  );
  const files = (await readdir(join(installation.folder, 'backups'))).filter((name) => name.endsWith('.tar.age'));
  expect(backups.map(({ location }) => location)).toEqual(
    files.map((name) => join(installation.folder, 'backups', name)),
  );
  const [newest] = backups;
  expect((await call('POST', `/${newest?.id}/verify`)).status).toBe(202);
  await waitForState((given) => (given.backups[0]?.verified_at ?? '') > (newest?.verified_at ?? ''));
  const { body: events } = await service.api<{ type: string }[]>(
    'GET',
    '/admin/v1/events?filter=type:in:backup.started;backup.verification_started',
    {
      bearer: service.adminKey,
    },
  );
  expect(events.map(({ type }) => type).sort()).toEqual(['backup.started', 'backup.verification_started']);
});

/** The texts of the notifications in a restored copy. */
async function textsIn(dataDir: string): Promise<string[]> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const copy = await startEmbeddedPostgres({ dataDir, log, sharedBuffers });
  const client = new pg.Client(copy.address);
  try {
    await client.connect();
    const { rows } = await client.query<{ text: string }>('select description as text from notifications order by id');
    return rows.map(({ text }) => text);
  } finally {
    await client.end();
    await copy.stop();
  }
}

it('an encrypted log archive restores a time between two writes', async () => {
  const { api, adminKey: bearer } = service;
  const { id: userId } = await createUser(service);
  const publish = async (description: string) => {
    const body = { user_id: userId, notification_type: 'payment', description };
    const answer = await api<{ created_at: string }>('POST', '/admin/v1/notifications', { bearer, body });
    expect(answer.status).toBe(201);
  };
  await publish('first');
  const between = new Date().toISOString();
  await publish('second');
  await service.stop();
  const target = join(installation.folder, 'between');
  const command = ['backup', 'restore', env.BACKUP_TO ?? '', '--at', between, '--to', target];
  expect(await runCommand(command, env)).toMatchObject({ code: 0 });
  expect(await textsIn(target)).toEqual(['first']);
});
