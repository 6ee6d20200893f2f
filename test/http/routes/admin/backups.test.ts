import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../../src/contract/administration.js';
import type { BackupState } from '../../../../src/contract/operation/backups.js';
import { startTestApp, type TestApp } from '../../../support/app.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const routes = [
  ['GET', '/admin/v1/backups'],
  ['POST', '/admin/v1/backups'],
  ['POST', `/admin/v1/backups/${randomUUID()}/verify`],
] as const;

describe('the routes of backups', () => {
  test('say that Postern makes none without BACKUP_TO', async () => {
    const bearer = postern.adminKey;
    const { body } = await postern.api<BackupState>('GET', '/admin/v1/backups', { bearer });
    expect(body).toMatchObject({ place: null, next_at: null, is_running: false, archive: null, backups: [] });
    for (const [method, path] of routes.slice(1)) {
      const { status, body: problem } = await postern.api(method, path, { bearer });
      expect([status, problem]).toMatchObject([409, { errors: [{ code: 'backups_off' }] }]);
    }
  });

  test('require the scope admin, and return 404 for a text that is no id', async () => {
    const { body: key } = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
      bearer: postern.adminKey,
      body: { name: 'support', scopes: ['users:read', 'users:write'] },
    });
    for (const [method, path] of routes) {
      expect((await postern.api(method, path, { bearer: key.token })).status).toBe(403);
    }
    const unknown = await postern.api('POST', '/admin/v1/backups/x/verify', { bearer: postern.adminKey });
    expect(unknown.status).toBe(404);
  });
});
