import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createUser } from '../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

test('the name of a deleted user disappears from the inboxes of other users', async () => {
  const { api, adminKey } = postern;
  const grace = await createUser(postern, { name: 'Grace Hopper' });
  const reader = await createUser(postern);
  await api('POST', '/admin/v1/notifications', {
    bearer: adminKey,
    body: {
      user_id: reader.id,
      notification_type: 'payment',
      description: 'You were paid',
      actor_id: grace.id,
      actor: grace.name,
    },
  });
  const inbox = async () =>
    (await api<Notification[]>('GET', `/admin/v1/users/${reader.id}/notifications`, { bearer: adminKey })).body;
  const [before] = await inbox();
  expect(before?.actor).toBe('Grace Hopper');
  expect((await api('DELETE', `/admin/v1/users/${grace.id}`, { bearer: adminKey })).status).toBe(204);
  const after = await eventually('the name to go', async () => (await inbox()).find(({ actor }) => actor === null));
  expect(after).toEqual({ ...before, actor: null, updated_at: after.updated_at });
  expect(after.updated_at > (before?.updated_at ?? '')).toBe(true);
});
