import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BackupState } from '../../../src/contract/operation/backups.js';
import { eventually } from '../../support/eventually.js';
import { createInstallation, type FaultyService, type Installation } from '../../support/fault-injection/service.js';

let place: Installation;
let service: FaultyService;
beforeAll(async () => {
  place = await createInstallation();
  service = await place.start({
    BACKUP_TO: join(place.folder, 'backups'),
    BACKUP_CONTINUOUS: 'true',
    BACKUP_KEEP: '2',
  });
});
afterAll(async () => {
  await service?.stop();
  await place?.remove();
});

const call = <T>(method: 'GET' | 'POST', path: string) =>
  service.api<T>(method, `/admin/v1/backups${path}`, { bearer: service.adminKey });

/** The state when nothing is running and `isReached`. */
const state = (isReached: (state: BackupState) => boolean) =>
  eventually('the state of the backups', async () => {
    const { body } = await call<BackupState>('GET', '');
    return !body.is_running && isReached(body) ? body : undefined;
  });

it('operators start and verify backups, and deleted ones are not listed', async () => {
  const first = await state(({ backups }) => backups.some(({ verified_at }) => verified_at !== null));
  expect(first).toMatchObject({ place: join(place.folder, 'backups'), keep: 2, schedule: '24h', is_encrypted: false });
  expect(first.archive).toMatchObject({ location: first.place, error: null });
  const count = first.backups.length;
  for (const made of [1, 2]) {
    const answers = await Promise.all([call('POST', ''), call('POST', ''), call('POST', '')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    await state(({ backups }) => {
      const good = backups.filter(({ verified_at, is_scheduled }) => verified_at !== null && !is_scheduled);
      return good.length >= Math.min(made, 2) && backups.length <= Math.max(count, 2);
    });
  }
  const { backups } = await state((given) => given.backups.length === 2);
  const files = (await readdir(join(place.folder, 'backups'))).filter((name) => name.endsWith('.tar'));
  expect(backups.map(({ location }) => location).sort()).toEqual(
    files.sort().map((name) => join(place.folder, 'backups', name)),
  );
  const [newest] = backups;
  expect((await call('POST', `/${newest?.id}/verify`)).status).toBe(202);
  await state((given) => (given.backups[0]?.verified_at ?? '') > (newest?.verified_at ?? ''));
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
