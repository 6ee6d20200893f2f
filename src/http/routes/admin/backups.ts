import { BackupState } from '../../../contract/operation/backups.js';
import type { Origin } from '../../../lib/origin.js';
import { IdParams, pathId } from '../../requests/parameters.js';
import { type App, originOf } from '../../requests/route.js';

/** The backups that the routes read and begin. */
export interface Backups {
  read(): Promise<BackupState>;
  start(origin: Origin): Promise<void>;
  verify(id: string, origin: Origin): Promise<void>;
}

/** Routes about backups. A backup contains everything, so they demand `admin`. */
export function adminBackupRoutes(app: App, { backups }: { backups: Backups }): void {
  app.route({
    method: 'GET',
    url: '/admin/v1/backups',
    schema: {
      operationId: 'getBackups',
      summary: 'Get the backups',
      description:
        'The backups, how Postern makes them, when the next one is due, and where the archive of the log ends.',
      response: { 200: { ...BackupState, description: 'The state of the backups.' } },
    },
    config: { access: { scope: 'admin' } },
    handler: () => backups.read(),
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/backups',
    schema: {
      operationId: 'startBackup',
      summary: 'Begin a backup',
      description:
        'Makes a backup in BACKUP_TO and verifies it, as the schedule does. `GET /admin/v1/backups` shows it when it is written, and its error if it fails.',
      response: { 202: { ...BackupState, description: 'The backup has begun.' } },
    },
    config: { access: { scope: 'admin' }, recentProof: 'not-needed', problems: ['backups_off', 'backup_running'] },
    async handler(request, reply) {
      await backups.start(originOf(request));
      return reply.code(202).send(await backups.read());
    },
  });

  app.route({
    method: 'POST',
    url: '/admin/v1/backups/:id/verify',
    schema: {
      operationId: 'verifyBackup',
      summary: 'Begin the verification of a backup',
      description:
        'Restores the backup into a temporary folder or database and checks all data, as `postern backup verify` does. Only backups in BACKUP_TO can be verified.',
      params: IdParams,
      response: { 202: { ...BackupState, description: 'The verification has begun.' } },
    },
    config: {
      access: { scope: 'admin' },
      recentProof: 'not-needed',
      problems: ['not_found', 'backups_off', 'backup_running'],
    },
    async handler(request, reply) {
      await backups.verify(pathId(request.params), originOf(request));
      return reply.code(202).send(await backups.read());
    },
  });
}
