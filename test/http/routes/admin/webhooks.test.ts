import { randomUUID } from 'node:crypto';
import { createReplaySet, createWebhookVerifier } from '@postern/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import { webhookEventSchema } from '../../../../src/contract/webhook-events.js';
import type {
  IssuedWebhook,
  Webhook,
  WebhookDelivery,
  WebhookPublicKey,
  WebhookReplay,
  WebhookTest,
} from '../../../../src/contract/webhooks.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { stepClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { testSql } from '../../../support/sql.js';
import { createUser } from '../../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.js';

let postern: TestApp;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [postern, receiver] = await Promise.all([
    startTestApp({ ALLOW_PRIVATE_NETWORK_TARGETS: 'true' }),
    startWebhookReceiver(),
  ]);
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

const { admin, refused } = createAdministration(() => postern);
/** Creates an endpoint with its own path. `end` deletes it. */
async function subscribe(fields: object = {}) {
  const path = `/${randomUUID()}`;
  const body = { url: `${receiver.url}${path}`, events: ['user.*'], ...fields };
  const { body: webhook } = await admin<IssuedWebhook>('POST', '/webhooks', body);
  return { path, webhook, end: () => admin('DELETE', `/webhooks/${webhook.id}`) };
}
const change = (user: { id: string }, fields: object) => admin('PATCH', `/users/${user.id}`, fields);
const deliveriesOf = async ({ id }: { id: string }, query = '') =>
  (await admin<WebhookDelivery[]>('GET', `/webhooks/${id}/deliveries${query}`)).body;
const delivered = (webhook: { id: string }, count: number) =>
  eventually(`${count} deliveries`, async () => {
    const all = await deliveriesOf(webhook, '?filter=state:delivered&sort=created_at:asc');
    return all.length >= count ? all : undefined;
  });

describe('webhooks', () => {
  test('an endpoint is created, shown, changed and deleted, and its secret is shown once', async () => {
    const { webhook, path } = await subscribe({ description: 'crm', events: ['user.created', 'login.*'] });
    expect(webhook).toMatchObject({
      url: `${receiver.url}${path}`,
      events: ['user.created', 'login.*'],
      payload: 'thin',
      enabled: true,
      pending: 0,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...shown } = webhook;
    expect((await admin<Webhook>('GET', `/webhooks/${webhook.id}`)).body).toEqual(shown);
    const list = await admin<Webhook[]>('GET', `/webhooks?filter=id:${webhook.id}`);
    expect(list.body).toEqual([shown]);
    const [row] = await postern.database.query<{ text: string }>(
      testSql('select e::text as text from webhook_endpoints e where id = $1', [webhook.id]),
    );
    expect(row?.text).not.toContain(Buffer.from(secret.slice(6)).toString('hex'));
    expect(row?.text).not.toContain(secret.slice(6));

    const changed = await admin<Webhook>('PATCH', `/webhooks/${webhook.id}`, { enabled: false, events: ['*'] });
    expect(changed.body).toMatchObject({ enabled: false, disabled_reason: 'operator', events: ['*'] });
    expect((await admin('DELETE', `/webhooks/${webhook.id}`)).status).toBe(204);
    expect((await admin('GET', `/webhooks/${webhook.id}`)).status).toBe(404);
    expect((await admin('PATCH', `/webhooks/${webhook.id}`, {})).status).toBe(404);
    expect((await admin('DELETE', `/webhooks/${webhook.id}`)).status).toBe(404);

    const events = await admin<Event[]>(
      'GET',
      '/events?filter=type:in:webhook.created;webhook.changed;webhook.deleted',
    );
    const own = events.body.filter(({ data }) => data.webhook_id === webhook.id);
    expect(own.map(({ type }) => type)).toEqual(['webhook.deleted', 'webhook.changed', 'webhook.created']);
    expect(JSON.stringify(own)).not.toContain('whsec_');
  });

  test('errors are reported together', async () => {
    const body = { url: 'ftp://example.com', events: ['user.*', 'nothing.*'], filter: 'colour:red' };
    expect(await refused('POST', '/webhooks', body)).toEqual({
      status: 422,
      errors: [
        ['url', 'invalid_url'],
        ['events.1', 'invalid_choice'],
        ['filter', 'unknown_filter_field'],
      ],
    });
    expect((await refused('POST', '/webhooks', { url: receiver.url, events: [] })).status).toBe(422);
    expect((await refused('GET', `/webhooks/${randomUUID()}/deliveries`)).status).toBe(404);
    const { webhook, end } = await subscribe();
    const replay = (given: object) => refused('POST', `/webhooks/${webhook.id}/replay`, given);
    expect((await replay({})).errors).toEqual([['from', 'required']]);
    expect((await replay({ from: 'yesterday' })).errors).toEqual([['from', 'invalid_time']]);
    const both = { from: '2026-01-01T00:00:00Z', delivery_ids: [randomUUID()] };
    expect((await replay(both)).errors).toEqual([['delivery_ids', 'conflicting_fields']]);
    const unknown = await replay({ delivery_ids: [randomUUID(), 'no-id'] });
    expect(unknown).toEqual({ status: 422, errors: [['delivery_ids.1', 'invalid_format']] });
    const backwards = { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' };
    expect(await replay(backwards)).toEqual({ status: 422, errors: [['to', 'not_later']] });
    await end();
  });

  test('a filter with a value that no delivery and no webhook has is refused', async () => {
    const { webhook, end } = await subscribe();
    const deliveries = `/webhooks/${webhook.id}/deliveries`;
    for (const list of [`${deliveries}?filter=state:sent`, `${deliveries}?filter=type:user.moved`]) {
      expect(await refused('GET', list)).toEqual({ status: 422, errors: [['filter', 'invalid_filter_value']] });
    }
    const webhooks = await refused('GET', '/webhooks?filter=disabled_reason:unknown');
    expect(webhooks).toEqual({ status: 422, errors: [['filter', 'invalid_filter_value']] });
    await end();
  });

  test('a key needs the scope webhooks:write', async () => {
    const keyWith = async (scope: string) =>
      (await admin<IssuedApiKey>('POST', '/keys', { name: scope, scopes: [scope] })).body.token;
    const [other, own] = [await keyWith('users:write'), await keyWith('webhooks:write')];
    const statusOf = async (bearer: string, method = 'GET', path = '/webhooks') =>
      (await admin(method, path, method === 'POST' ? {} : undefined, { bearer })).status;
    expect(await statusOf(other)).toBe(403);
    expect(await statusOf(other, 'POST')).toBe(403);
    expect(await statusOf(own)).toBe(200);
    expect(await statusOf(own, 'GET', '/users')).toBe(403);
  });
});

describe('deliveries', () => {
  test('a delivery has a body with ids and names, and signatures of both kinds', async () => {
    const { webhook, path, end } = await subscribe();
    const user = await createUser(postern, { name: 'Ada' });
    await change(user, { name: 'Ada Lovelace', locale: 'es' });
    const event = await receiver.wait(path, 'the change', ({ type }) => type === 'user.updated');
    expect(JSON.parse(event.text)).toEqual({
      id: event.headers['webhook-id'],
      type: 'user.updated',
      timestamp: expect.stringMatching(/\.\d{6}Z$/),
      endpoint_id: webhook.id,
      data: { user_id: user.id, sequence: 2, changed_fields: ['name', 'locale'], actor: 'key:environment' },
    });
    expect(event.text).not.toContain('Ada');

    const message = { headers: event.headers as Record<string, string>, body: event.text };
    const jwks = await postern.api<{ keys: WebhookPublicKey[] }>('GET', '/.well-known/jwks.json');
    const verifiers = [
      createWebhookVerifier({ secrets: [webhook.secret] }),
      createWebhookVerifier({ jwks: jwks.body }),
    ];
    for (const verify of verifiers) {
      expect((await verify(message)).payload).toEqual(JSON.parse(event.text));
      await expect(verify({ ...message, body: event.text.replace('locale', 'localf') })).rejects.toMatchObject({
        code: 'wrong_signature',
      });
    }
    const standard = new StandardWebhook(webhook.secret);
    expect(standard.verify(event.text, message.headers)).toEqual(JSON.parse(event.text));
    expect(() => standard.verify(`${event.text} `, message.headers)).toThrow();
    await end();
  });

  test('a replayed or late delivery is refused by the documented check', async () => {
    const { webhook, path, end } = await subscribe();
    await createUser(postern);
    const { headers, text: body } = await receiver.wait(path, 'the creation');
    const message = { headers: headers as Record<string, string>, body };
    const verify = createWebhookVerifier({ secrets: [webhook.secret], replays: createReplaySet() });
    await verify(message);
    await expect(verify(message)).rejects.toMatchObject({ code: 'replayed' });
    const standard = new StandardWebhook(webhook.secret);
    const [id, old] = [String(headers['webhook-id']), new Date(Date.now() - 3_600_000)];
    const late = {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(old.getTime() / 1000)),
      'webhook-signature': standard.sign(id, old, body),
    };
    await expect(verify({ headers: late, body })).rejects.toMatchObject({ code: 'too_old' });
    expect(() => standard.verify(body, late)).toThrow();
    await end();
  });

  test('the events of a user arrive in order, and a full payload has the resource', async () => {
    const { webhook, path, end } = await subscribe({ payload: 'full' });
    const user = await createUser(postern);
    for (const name of ['one', 'two', 'three', 'four']) await change(user, { name });
    await receiver.wait(path, 'the last change', ({ data }) => data.sequence === 5);
    const own = receiver.received.filter((event) => event.path === path && event.data.user_id === user.id);
    expect(own.map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4, 5]);
    const last = own.at(-1)?.data.user as Record<string, unknown>;
    expect(last).toMatchObject({ id: user.id, name: 'four', username: user.username });
    expect(Object.keys(last).join()).not.toMatch(/hash|secret$/);
    expect((await delivered(webhook, 5)).map(({ sequence, status }) => [sequence, status])).toEqual(
      [1, 2, 3, 4, 5].map((sequence) => [sequence, 204]),
    );
    await end();
  });

  test('an endpoint gets only the events that match its filter and its types', async () => {
    const [wanted, other] = [await createUser(postern), await createUser(postern)];
    const filtered = await subscribe({ filter: `user_id:${wanted.id}`, events: ['user.updated'] });
    const all = await subscribe({ events: ['user.updated'] });
    await change(other, { name: 'other' });
    await change(wanted, { name: 'wanted' });
    await receiver.wait(filtered.path, 'the wanted change');
    await receiver.wait(all.path, 'the other change', ({ data }) => data.user_id === other.id);
    const received = receiver.received.filter(({ path }) => path === filtered.path);
    expect(received.map(({ data }) => data.user_id)).toEqual([wanted.id]);
    await Promise.all([filtered.end(), all.end()]);
  });

  test('both secrets sign after a rotation, and a test event says what the endpoint answers', async () => {
    const { webhook, path, end } = await subscribe();
    const rotated = await admin<{ secret: string }>('POST', `/webhooks/${webhook.id}/rotate-secret`);
    expect(rotated.body.secret).not.toBe(webhook.secret);
    receiver.answer = (event) => (event.path === path ? { status: 400, body: 'no' } : 204);
    const tested = await admin<WebhookTest>('POST', `/webhooks/${webhook.id}/test`, { type: 'login.approved' });
    expect(tested.body).toMatchObject({
      ok: false,
      status: 400,
      answer: 'no',
      error: 'the endpoint answered with the status 400',
    });
    const event = await receiver.wait(path, 'the test');
    expect(event).toMatchObject({ type: 'login.approved', data: { is_test: true, sequence: 0 } });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    expect([ajv.validate(webhookEventSchema('login.approved'), JSON.parse(event.text)), ajv.errors]).toEqual([
      true,
      null,
    ]);
    const message = { headers: event.headers as Record<string, string>, body: event.text };
    for (const secret of [webhook.secret, rotated.body.secret]) {
      expect((await createWebhookVerifier({ secrets: [secret] })(message)).id).toBe(event.id);
    }
    receiver.answer = () => 204;
    await end();
  });

  test('an endpoint that does not answer for one user gets the events of other users meanwhile', async () => {
    const { webhook, path, end } = await subscribe({ events: ['user.created'] });
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let first: string | undefined;
    receiver.answer = (event) => {
      if (event.path !== path) return 204;
      first ??= event.data.user_id;
      return event.data.user_id === first ? { status: 204, after: released } : 204;
    };
    const slow = await createUser(postern);
    await receiver.wait(path, 'the slow delivery', ({ data }) => data.user_id === slow.id);
    const other = await createUser(postern);
    await receiver.wait(path, 'the other delivery', ({ data }) => data.user_id === other.id);
    const [waiting] = await deliveriesOf(webhook, `?filter=user_id:${slow.id}`);
    expect(waiting).toMatchObject({ state: 'pending', attempts: 0 });
    release();
    await delivered(webhook, 2);
    receiver.answer = () => 204;
    await end();
  });

  /** Lets the delivery of a new user fail, and gives it the pause after many attempts. @returns its user */
  async function holdBack({ webhook, path }: Awaited<ReturnType<typeof subscribe>>) {
    receiver.answer = (event) => (event.path === path ? 500 : 204);
    const held = await createUser(postern);
    await eventually('the failure', async () => {
      const [first] = await deliveriesOf(webhook, `?filter=user_id:${held.id}`);
      return first?.attempts === 1 || undefined;
    });
    await eventually('the long pause', async () => {
      const moved = await postern.database.query(
        testSql(
          `with queue as (
             update webhook_queues set due_at = now() + interval '29 minutes'
             where endpoint_id = $1 and user_id = $2 and lease is null returning user_id, endpoint_id)
           update webhook_deliveries d
           set attempts = 5, last_attempt_at = now() - interval '1 minute', next_attempt_at = now() + interval '29 minutes'
           from queue where d.user_id = queue.user_id and d.endpoint_id = queue.endpoint_id returning id`,
          [webhook.id, held.id],
        ),
      );
      return moved.length > 0 || undefined;
    });
    return held;
  }

  test('a delivery that is replayed while it waits is tried now, once, and the later events of its user follow', async () => {
    const subscribed = await subscribe();
    const { webhook, path, end } = subscribed;
    const held = await holdBack(subscribed);
    await change(held, { name: 'Later' });
    const later = await eventually('the later delivery', async () => {
      const all = await deliveriesOf(webhook, `?filter=user_id:${held.id}&sort=created_at:asc`);
      return all.length === 2 ? all : undefined;
    });
    receiver.answer = () => 204;
    const before = receiver.received.length;
    // Also by the delivery that waits behind the other one.
    await admin('POST', `/webhooks/${webhook.id}/replay`, { delivery_ids: [later[1]?.id] });
    await delivered(webhook, 2);
    expect(
      receiver.received.slice(before).flatMap((event) => (event.path === path ? event.data.sequence : [])),
    ).toEqual([1, 2]);
    await end();
  });

  test('a delivery that is replayed is tried now, although an event before it fails again', async () => {
    const subscribed = await subscribe();
    const { webhook, path, end } = subscribed;
    const held = await holdBack(subscribed);
    // More events than a sender takes at a time.
    const last = 70;
    for (let number = 2; number <= last; number += 1) await change(held, { name: `Name ${number}` });
    const waiting = await eventually('the waiting deliveries', async () => {
      const all = await deliveriesOf(webhook, `?filter=user_id:${held.id}&sort=created_at:asc&limit=100`);
      return all.length === last ? all : undefined;
    });
    receiver.answer = (event) => (event.path === path && event.data.sequence === 1 ? 500 : 204);
    const before = receiver.received.length;
    const ids = [1, last - 1].map((place) => waiting[place]?.id);
    await admin('POST', `/webhooks/${webhook.id}/replay`, { delivery_ids: ids });
    await delivered(webhook, 2);
    const sequences = () =>
      receiver.received.slice(before).flatMap((event) => (event.path === path ? event.data.sequence : []));
    // The failing event is tried first. The events between them keep waiting for it.
    expect(sequences()).toEqual([1, 2, last]);
    // One that has arrived, although the failing event stands before it.
    await admin('POST', `/webhooks/${webhook.id}/replay`, { delivery_ids: [ids[1]] });
    await eventually(
      'the repetition',
      async () => sequences().filter((sequence) => sequence === last).length > 1 || undefined,
    );
    expect(sequences()).not.toContain(3);
    receiver.answer = () => 204;
    await end();
  });

  test('a replay of a time span tries the failing event before it now, and keeps the order', async () => {
    const subscribed = await subscribe();
    const { webhook, path, end } = subscribed;
    const held = await holdBack(subscribed);
    const changed = (await change(held, { name: 'Later' })).body as { updated_at: string };
    // The later event has arrived already.
    await eventually('the later delivery', async () => {
      const settled = await postern.database.query(
        testSql(
          `with settled as (
             update webhook_deliveries set state = 'delivered'
             where endpoint_id = $1 and user_id = $2 and sequence = 2 returning user_id, endpoint_id)
           update webhook_queues q set pending = 1 from settled
           where q.user_id = settled.user_id and q.endpoint_id = settled.endpoint_id returning q.user_id`,
          [webhook.id, held.id],
        ),
      );
      return settled.length > 0 || undefined;
    });
    receiver.answer = () => 204;
    const before = receiver.received.length;
    // The failing event is older than the span.
    await admin('POST', `/webhooks/${webhook.id}/replay`, { from: changed.updated_at });
    await delivered(webhook, 3);
    expect(
      receiver.received.slice(before).flatMap((event) => (event.path === path ? event.data.sequence : [])),
    ).toEqual([1, 2]);
    await end();
  });

  test('a delivery that has arrived is replayed at once, although a later event waits', async () => {
    const subscribed = await subscribe();
    const { webhook, path, end } = subscribed;
    const held = await holdBack(subscribed);
    // An older event that has arrived.
    const [arrived] = await postern.database.query<{ id: string }>(
      testSql(
        `with event as (
           insert into webhook_events (user_id, sequence, id, type, data, created_at)
           values ($1, 0, gen_random_uuid(), 'user.updated', '{}', now()) returning *)
         insert into webhook_deliveries (user_id, id, endpoint_id, sequence, event_id, type, state, created_at)
         select user_id, gen_random_uuid(), $2, sequence, id, type, 'delivered', now() from event returning id`,
        [held.id, webhook.id],
      ),
    );
    receiver.answer = (event) => (event.path === path && event.data.sequence !== 0 ? 500 : 204);
    await admin('POST', `/webhooks/${webhook.id}/replay`, { delivery_ids: [arrived?.id] });
    await receiver.wait(path, 'the replay', ({ data }) => data.user_id === held.id && data.sequence === 0);
    receiver.answer = () => 204;
    await end();
  });

  test('a delivery that waits long is tried within a minute after the endpoint accepts another event', async () => {
    const subscribed = await subscribe({ events: ['user.created'] });
    const { webhook, path, end } = subscribed;
    const held = await holdBack(subscribed);
    receiver.answer = (event) => (event.path === path && event.data.user_id === held.id ? 500 : 204);
    await createUser(postern);
    const soon = await eventually('the earlier attempt', async () => {
      const [state] = await postern.database.query<{ delivery: number; queue: number }>(
        testSql(
          `select extract(epoch from d.next_attempt_at - db_now())::float8 as delivery,
                  extract(epoch from q.due_at - db_now())::float8 as queue
           from webhook_deliveries d join webhook_queues q using (user_id, endpoint_id)
           where d.endpoint_id = $1 and d.user_id = $2`,
          [webhook.id, held.id],
        ),
      );
      return state !== undefined && state.delivery < 120 ? state : undefined;
    });
    expect(soon.delivery).toBeLessThanOrEqual(60);
    expect(soon.queue).toBeLessThanOrEqual(60);
    receiver.answer = () => 204;
    await end();
  });

  test('an endpoint that fails many attempts in a row gets all events after it works again', async () => {
    const { webhook, path, end } = await subscribe({ events: ['user.created'] });
    const failures = 25;
    // By user: on a busy machine, the first retries arrive before the last first attempts.
    const failed = new Set<string>();
    receiver.answer = ({ path: at, data }) => {
      if (at !== path || failed.size === failures || failed.has(data.user_id)) return 204;
      failed.add(data.user_id);
      return 500;
    };
    const users = await Promise.all(Array.from({ length: 40 }, () => createUser(postern)));
    await eventually('the first attempts', async () => {
      const tried = new Set(receiver.received.flatMap((event) => (event.path === path ? event.data.user_id : [])));
      return users.every(({ id }) => tried.has(id)) ? true : undefined;
    });
    await stepClock(postern.database, '1 minute');
    const all = await eventually('all deliveries', async () => {
      const found = await deliveriesOf(webhook, '?filter=state:delivered&limit=100');
      return found.length === users.length ? found : undefined;
    });
    expect(new Set(all.map(({ user_id }) => user_id))).toEqual(new Set(users.map(({ id }) => id)));
    expect(all.filter(({ attempts }) => attempts === 2)).toHaveLength(failures);
    receiver.answer = () => 204;
    await end();
  });

  test('a failed delivery is shown with its answer, and 410 disables the endpoint at once', async () => {
    const { webhook, path, end } = await subscribe();
    receiver.answer = (event) => (event.path === path ? { status: 500, body: 'broken' } : 204);
    const user = await createUser(postern);
    const [failed] = await eventually('the failure', async () => {
      const all = await deliveriesOf(webhook);
      return all[0]?.attempts === 1 ? all : undefined;
    });
    expect(failed).toMatchObject({
      state: 'pending',
      status: 500,
      answer: 'broken',
      error: 'the endpoint answered with the status 500',
      user_id: user.id,
      next_attempt_at: expect.any(String),
    });
    expect(JSON.parse(failed?.request ?? '')).toMatchObject({ type: 'user.created', data: { user_id: user.id } });
    const health = await eventually('the health', async () => {
      const { body } = await admin<Webhook>('GET', `/webhooks/${webhook.id}`);
      return body.failing_since === null ? undefined : body;
    });
    expect(health).toMatchObject({
      enabled: true,
      pending: 1,
      last_error: 'the endpoint answered with the status 500',
    });

    receiver.answer = (event) => (event.path === path ? 410 : 204);
    await stepClock(postern.database, '1 minute');
    const gone = await eventually('the disabling', async () => {
      const { body } = await admin<Webhook>('GET', `/webhooks/${webhook.id}`);
      return body.enabled ? undefined : body;
    });
    expect(gone.disabled_reason).toBe('gone');

    receiver.answer = () => 204;
    await change(user, { name: 'while disabled' });
    await admin('PATCH', `/webhooks/${webhook.id}`, { enabled: true });
    // The events of the user wait for the next attempt of the failed one.
    await stepClock(postern.database, '2 minutes');
    const replay = await admin<WebhookReplay>('POST', `/webhooks/${webhook.id}/replay`, { from: user.created_at });
    expect(replay.status).toBe(202);
    await receiver.wait(path, 'the replayed change', ({ type }) => type === 'user.updated');
    const [first] = await delivered(webhook, 1);
    const again = await admin<WebhookReplay>('POST', `/webhooks/${webhook.id}/replay`, { delivery_ids: [first?.id] });
    expect(again.body.events).toBe(1);
    const repeated = () =>
      receiver.received.filter((event) => event.path === path && event.id === first?.event_id).length;
    const before = repeated();
    await eventually('the repetition', async () => (repeated() > before ? true : undefined));
    await end();
  });
});
