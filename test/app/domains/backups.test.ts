import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { BackupState } from '../../../src/contract/operation/backups.js';
import { startEmbeddedPostgres } from '../../../src/embedded/embedded.js';
import { runCommand } from '../../cli/command.js';
import { accessKeyId, bucketName, secretAccessKey, startStore } from '../../delivery/storage/s3-fake.js';
import { eventually } from '../../support/eventually.js';
import { createInstallation, type FaultyService, type Installation } from '../../support/fault-injection/service.js';
import { createUser } from '../../support/users.js';

let installation: Installation;
let service: FaultyService;
beforeAll(async () => {
  installation = await createInstallation();
  service = await installation.start({
    BACKUP_TO: join(installation.folder, 'backups'),
    BACKUP_CONTINUOUS: 'true',
    BACKUP_KEEP: '2',
  });
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
    keep: 2,
    schedule: '24h',
    is_encrypted: false,
  });
  expect(first.archive).toMatchObject({ location: first.place, error: null });
  // One scheduled backup, or several if the first attempts failed.
  const countBefore = first.backups.length;
  for (const round of [1, 2]) {
    const answers = await Promise.all([call('POST', ''), call('POST', ''), call('POST', '')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    await waitForState(({ backups }) => {
      const byHand = backups.filter(({ verified_at, is_scheduled }) => verified_at !== null && !is_scheduled);
      return byHand.length >= round && backups.length <= Math.max(countBefore, 2);
    });
  }
  const { backups } = await waitForState((given) => given.backups.length === 2);
  const files = (await readdir(join(installation.folder, 'backups'))).filter((name) => name.endsWith('.tar'));
  expect(backups.map(({ location }) => location).sort()).toEqual(
    files.sort().map((name) => join(installation.folder, 'backups', name)),
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
  expect(events.map(({ type }) => type).sort()).toEqual([
    'backup.started',
    'backup.started',
    'backup.verification_started',
  ]);
});

/** The texts of the notifications in a restored copy. */
async function textsIn(dataDir: string): Promise<string[]> {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const copy = await startEmbeddedPostgres({ dataDir, log });
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

it('an encrypted log archive in a bucket restores a time between two writes, and the last state', async () => {
  const bucket = await startStore();
  onTestFinished(() => bucket.close());
  const encrypted = await createInstallation();
  onTestFinished(() => encrypted.remove());
  const env = {
    ...{ BACKUP_TO: `s3://${bucketName}/log`, BACKUP_CONTINUOUS: 'true', BACKUP_PASSPHRASE: 'correct horse battery' },
    ...{ BACKUP_S3_ENDPOINT: bucket.url, BACKUP_S3_REGION: 'eu-west-1', SECRET_KEY: 'k'.repeat(40) },
    ...{ BACKUP_S3_ACCESS_KEY_ID: accessKeyId, BACKUP_S3_SECRET_ACCESS_KEY: secretAccessKey },
  };
  const archived = await encrypted.start(env);
  const { api, adminKey: bearer } = archived;
  await eventually('the first backup', async () => {
    const { body } = await api<BackupState>('GET', '/admin/v1/backups', { bearer });
    return body.backups.some(({ verified_at }) => verified_at !== null) ? true : undefined;
  });
  const { id: userId } = await createUser(archived);
  const publish = async (description: string) => {
    const body = { user_id: userId, notification_type: 'payment', description };
    const answer = await api<{ created_at: string }>('POST', '/admin/v1/notifications', { bearer, body });
    expect(answer.status).toBe(201);
  };
  await publish('first');
  const between = new Date().toISOString();
  await publish('second');
  await archived.stop();
  const restore = async (at: string, name: string) => {
    const target = join(encrypted.folder, name);
    const { BACKUP_TO: from } = env;
    expect(await runCommand(['backup', 'restore', from, '--at', at, '--to', target], env)).toMatchObject({ code: 0 });
    return textsIn(target);
  };
  expect(await restore(between, 'between')).toEqual(['first']);
  expect(await restore('latest', 'latest')).toEqual(['first', 'second']);
});
