import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { DeliveryTrace, Mute } from '../../../../src/contract/push.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { type FcmFake, startFcm } from '../../../support/push-fakes/fcm.js';
import { testSql } from '../../../support/sql.js';
import { createUser, signIn } from '../../../support/users.js';

let fcm: FcmFake;
let app: TestApp;

beforeAll(async () => {
  fcm = await startFcm();
  // Twelve requests wait for the queue of one user, on a busy machine for a long time.
  app = await startTestApp({ ...fcm.env, LOGIN_LIMIT_PER_ADDRESS: '0' }, { queryTimeout: 60_000 });
});
afterAll(async () => {
  await app.close();
  await fcm.close();
});

async function newPerson() {
  const user = await createUser(app);
  const token = `token-of-${user.username}`;
  const { session } = await signIn(app, user, { gcm_device_token: token });
  return { user, token, session: session.token };
}

const mute = (session: string, filter: unknown) =>
  app.api<Mute & ProblemAnswer>('POST', '/v1/notifications/mutes', { bearer: session, body: { filter } });

async function publish(userId: string, content: object): Promise<Notification> {
  const { body } = await app.api<Notification>('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: userId, notification_type: 'pool', description: 'A new pool', ...content },
  });
  return body;
}

const pushIn = (id: string, state: string) =>
  eventually(`the push of ${id} to be ${state}`, async () => {
    const { body } = await app.api<DeliveryTrace>('GET', `/admin/v1/notifications/${id}/deliveries`, {
      bearer: app.adminKey,
    });
    return body.push.find((push) => push.state === state);
  });

describe('a mute', () => {
  test('prevents the push of matching notifications, but not their listing', async () => {
    const { user, token, session } = await newPerson();
    expect((await mute(session, 'notification_type:pool,object_data_number:lt:10')).status).toBe(201);
    const small = await publish(user.id, { object_data_number: 9.99 });
    const large = await publish(user.id, { object_data_number: 10 });
    const other = await publish(user.id, { notification_type: 'payment', object_data_number: 1 });
    expect(await pushIn(small.id, 'muted')).toMatchObject({ reason: 'muted', channel: 'fcm', attempts: 0 });
    await pushIn(large.id, 'sent');
    await pushIn(other.id, 'sent');
    const pushed = fcm.received.filter(({ to }) => to === token).map(({ content }) => content.data.id);
    expect(new Set(pushed)).toEqual(new Set([large.id, other.id]));
    const { body: listed } = await app.api<Notification[]>('GET', '/v1/notifications', { bearer: session });
    expect(listed.map(({ id }) => id)).toContain(small.id);
  });

  test('applies only to its user, until it is removed', async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { body } = await mute(one.session, 'description:like:pool');
    await pushIn((await publish(two.user.id, {})).id, 'sent');
    await pushIn((await publish(one.user.id, {})).id, 'muted');
    const removed = await app.api('DELETE', `/v1/notifications/mutes/${body.id}`, { bearer: one.session });
    expect(removed.status).toBe(204);
    await pushIn((await publish(one.user.id, {})).id, 'sent');
  });

  test('that is created while a push is queued stops this push', async () => {
    const { user, token, session } = await newPerson();
    fcm.behave({ status: 503 }, token);
    const { id } = await publish(user.id, {});
    await eventually('the first attempt to fail', async () => {
      const push = await pushIn(id, 'queued');
      return push.attempts === 1 ? push : undefined;
    });
    await mute(session, 'notification_type:pool');
    fcm.behave({ status: 200 }, token);
    await app.database.query(testSql('update graphile_worker._private_jobs set run_at = now()'));
    await app.database.query(testSql(`select pg_notify('jobs:insert', '{"count":10}')`));
    await pushIn(id, 'muted');
  });

  test('with a time in its filter ends automatically', async () => {
    const { user, session } = await newPerson();
    await mute(session, 'created_at:lt:2020-01-01 00:00:00');
    await pushIn((await publish(user.id, {})).id, 'sent');
    await mute(session, 'created_at:lt:2100-01-01 00:00:00');
    await pushIn((await publish(user.id, {})).id, 'muted');
  });

  test('with a type that the operator has removed has no effect', async () => {
    const { user } = await newPerson();
    await app.database.query(
      testSql(
        "insert into mutes (user_id, id, filter, created_at) values ($1, gen_random_uuid(), 'notification_type:gone', now())",
        [user.id],
      ),
    );
    await pushIn((await publish(user.id, {})).id, 'sent');
  });
});

describe('mutes', () => {
  test('are listed, newest first', async () => {
    const { session } = await newPerson();
    const first = await mute(session, 'notification_type:pool');
    const second = await mute(session, 'actor:Ada');
    const { body } = await app.api<Mute[]>('GET', '/v1/notifications/mutes', { bearer: session });
    expect(body).toEqual([second.body, first.body]);
  });

  test('with the same filter are stored once', async () => {
    const { session } = await newPerson();
    const first = await mute(session, 'notification_type:pool');
    expect(await mute(session, 'notification_type:pool')).toMatchObject({ status: 200, body: first.body });
  });

  test.each([
    ['notification_typ:pool', 'unknown_filter_field'],
    ['notification_type:pigeon', 'invalid_filter_value'],
    ['notification_type', 'invalid_filter_syntax'],
    ['', 'required'],
    [7, 'invalid_type'],
    [undefined, 'required'],
  ])('with the filter %o are refused', async (filter, code) => {
    const { session } = await newPerson();
    const { status, body } = await mute(session, filter);
    expect(status).toBe(422);
    expect(body.errors).toEqual([expect.objectContaining({ field: 'filter', code })]);
  });

  test('are limited to a hundred, also in parallel requests', async () => {
    const { user, session } = await newPerson();
    await app.database.query(
      testSql(
        `insert into mutes (user_id, id, filter, created_at)
           select $1, gen_random_uuid(), 'actor:' || n, now() from generate_series(1, 95) n`,
        [user.id],
      ),
    );
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => mute(session, `actor:more ${index}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status === 422);
    expect(refused.map(({ body }) => body.errors[0]?.code)).toEqual(Array(7).fill('too_many_items'));
  });

  test("of other users cannot be listed or removed, and the user's own can be removed once", async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { body } = await mute(one.session, 'notification_type:pool');
    expect((await app.api('GET', '/v1/notifications/mutes', { bearer: two.session })).body).toEqual([]);
    const remove = (bearer: string, id: string) => app.api('DELETE', `/v1/notifications/mutes/${id}`, { bearer });
    expect((await remove(two.session, body.id)).status).toBe(404);
    expect((await remove(one.session, 'no-id')).status).toBe(404);
    expect((await remove(one.session, body.id)).status).toBe(204);
    expect((await remove(one.session, body.id)).status).toBe(404);
  });
});
