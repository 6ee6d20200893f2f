import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DryRun } from '../../../../src/contract/push.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let fcm: FcmFake;
let app: TestApp;

beforeAll(async () => {
  fcm = await startFcm();
  app = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(async () => {
  await app.close();
  await fcm.close();
});

const post = <Body = DryRun & ProblemAnswer>(body: unknown, query = '?dry_run=true', headers = {}) =>
  app.api<Body>('POST', `/admin/v1/notifications${query}`, { bearer: app.adminKey, body, headers });

const rowsWritten = async () => {
  const [row] = await app.database.query<{ rows: number }>(
    testSql(`select (select count(*) from notifications) + (select count(*) from push_fan_outs) + (select count(*) from images)
           + (select count(*) from push_deliveries) + (select count(*) from idempotency_keys)
           + (select coalesce(sum(last_change_sequence), 0) from inboxes) as rows`),
  );
  return Number(row?.rows);
};

/** A user with one device that can get pushes, and with a mute with this filter. */
async function newPerson(filter?: string) {
  const user = await createUser(app);
  const { session, authentication } = await signIn(app, user, { gcm_device_token: `token-of-${user.username}` });
  if (filter !== undefined) {
    await app.api('POST', '/v1/notifications/mutes', { bearer: session.token, body: { filter } });
  }
  return { user, deviceId: authentication.device_id };
}

describe('a dry run', () => {
  test('reports the recipients and their devices, and writes nothing', async () => {
    const loud = await newPerson();
    const quiet = await newPerson('notification_type:pool,object_data_number:gte:12.5,sequence:neq:7');
    const absent = await createUser(app);
    const before = await rowsWritten();
    const { status, body } = await post(
      {
        user_ids: [loud.user.id, quiet.user.id, absent.id],
        notification_type: 'pool',
        description: 'A new pool',
        object_data_number: 12.5,
        image: 'https://images.example.com/pool.png',
      },
      '?dry_run=true',
      { 'Idempotency-Key': 'a-key' },
    );
    expect(status).toBe(200);
    const item = { notification_type: 'pool', description: 'A new pool', inbox: true };
    const step = (state: string, reason: string | null, explanation: unknown = expect.any(String)) => ({
      steps: [{ channel: 'push', after: '0s', if: 'always', state, reason, explanation }],
    });
    const push = (deviceId: string, muted: boolean) => [{ device_id: deviceId, channel: 'fcm', muted }];
    expect(body).toEqual({
      deliveries: 3,
      push: { apns: 0, fcm: 1, web_push: 0, muted: 1 },
      steps: [
        { channel: 'push', state: 'send', reason: null, count: 1 },
        { channel: 'push', state: 'skipped', reason: 'muted', count: 1 },
        { channel: 'push', state: 'skipped', reason: 'no_address', count: 1 },
      ],
      items: [
        { user_id: loud.user.id, ...item, ...step('send', null, null), push: push(loud.deviceId, false) },
        { user_id: quiet.user.id, ...item, ...step('skipped', 'muted'), push: push(quiet.deviceId, true) },
        { user_id: absent.id, ...item, ...step('skipped', 'no_address'), push: [] },
      ],
    });
    expect(await rowsWritten()).toBe(before);
    expect(fcm.received).toEqual([]);
  });

  test('refuses what publishing refuses, with the same errors', async () => {
    const { user } = await newPerson();
    const requests = [
      { notification_type: 'payment', description: 'to nobody' },
      { user_id: user.id, notification_type: 'pigeon', description: '' },
      { user_id: '0b0ba41c-5a2f-4c53-a1b8-2f5f0a9c1a11', notification_type: 'payment', description: 'to a stranger' },
      [
        { user_id: user.id, notification_type: 'payment', description: 'right' },
        { user_id: user.id, notification_type: 'payment', description: 'wrong', image_id: user.id },
      ],
      { user_ids: [user.id, user.id], notification_type: 'payment', description: 'twice', image: 'ftp://x' },
    ];
    for (const request of requests) {
      const dry = await post(request);
      const real = await post<ProblemAnswer>(request, '');
      expect(dry.status).toBe(422);
      expect(dry.body.errors).toEqual(real.body.errors);
    }
  });

  test('shows the first hundred recipients, and counts all', async () => {
    const { user } = await newPerson();
    const one = { user_id: user.id, notification_type: 'payment', description: 'one of many' };
    const { body } = await post(Array(101).fill(one));
    expect(body).toMatchObject({ deliveries: 101, push: { fcm: 101 } });
    expect(body.items).toHaveLength(100);
  });

  test.each(['?dry_run=yes', '?dry_run=', '?dry_run=true&dry_run=false'])(
    'with the invalid parameter %s is refused',
    async (query) => {
      const { user } = await newPerson();
      const { status, body } = await post(
        { user_id: user.id, notification_type: 'payment', description: 'paid' },
        query,
      );
      expect(status).toBe(422);
      expect(body.errors[0]?.field).toBe('dry_run');
    },
  );

  test('with dry_run=false publishes', async () => {
    const { user } = await newPerson();
    const { status } = await post(
      { user_id: user.id, notification_type: 'payment', description: 'x' },
      '?dry_run=false',
    );
    expect(status).toBe(201);
  });
});
