import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, Webhook, WebhookDelivery } from '../../src/contract/webhooks.js';
import { createServers } from '../../src/database/connections/servers.js';
import type { Shard } from '../../src/database/database.js';
import { bucketOf } from '../../src/database/sharding/bucket.js';
import { moveBuckets } from '../../src/database/sharding/moving/move.js';
import { tailEvents } from '../../src/webhooks/tail.js';
import { createAdministration } from '../support/administration.js';
import { startShardedApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type MailServer, startMailServer } from '../support/mail-server.js';
import { createTestShards, type TestShards } from '../support/shards.js';
import { testSql } from '../support/sql.js';
import { createUser, login, newEmail } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let shards: TestShards;
let app: TestApp;
let receiver: WebhookReceiver;
let smtp: MailServer;

beforeAll(async () => {
  [receiver, smtp, shards] = await Promise.all([startWebhookReceiver(), startMailServer(), createTestShards(3)]);
  app = await startShardedApp(shards, {
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    LOGIN_LIMIT_PER_ADDRESS: '0',
    MAIL_FROM: 'postern@example.com',
    NOTICES: 'none',
    PUBLIC_URL: 'https://login.example.com',
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
  });
});
afterAll(async () => {
  await app.close();
  await Promise.all([receiver.close(), smtp.close()]);
});

const { admin } = createAdministration(() => app);

async function createWebhook(path: string, events: string[]): Promise<string> {
  const { status, body } = await admin<IssuedWebhook>('POST', '/webhooks', { url: `${receiver.url}${path}`, events });
  expect(status).toBe(201);
  return body.id;
}

/** A user on each server. @param created gets the ids of all users that were created */
async function usersOnEach(fields: () => object = () => ({}), created: string[] = []): Promise<string[]> {
  const users = new Map<Shard, string>();
  while (users.size < 3) {
    const { id } = await createUser(app, fields());
    created.push(id);
    users.set(app.database.shardOf(id), id);
  }
  return [...users.values()];
}

/** The events of a user that arrived at a path, without repetitions. */
const arrived = (path: string, userId: string) => [
  ...new Set(
    receiver.received
      .filter((event) => event.path === path && event.data.user_id === userId)
      .map(({ type, data }) => `${data.sequence} ${type}`),
  ),
];

test('the events of users on each server reach an endpoint, in the order of each user', async () => {
  await createWebhook('/order', ['user.created', 'login.*']);
  const servers = new Set<string>();
  while (servers.size < 3) {
    const user = await createUser(app);
    servers.add(app.database.shardOf(user.id).name);
    await login(app, user);
    await eventually('the login', async () => arrived('/order', user.id).length === 2 || undefined);
    expect(arrived('/order', user.id)).toEqual(['1 user.created', '2 login.approved']);
  }
});

test('the deliveries of all servers are one list, are counted together, and are marked if a server is missing', async () => {
  receiver.answer = ({ path }) => (path === '/failing' ? 500 : 204);
  const id = await createWebhook('/failing', ['user.created']);
  const users: string[] = [];
  await usersOnEach(() => ({}), users);
  users.push((await createUser(app)).id, (await createUser(app)).id);
  const read = async (query: string) => {
    const { headers, body } = await admin<WebhookDelivery[]>('GET', `/webhooks/${id}/deliveries${query}`);
    return { headers, users: body.map(({ user_id }) => user_id), body };
  };
  const all = await eventually('an attempt for each user', async () => {
    const found = await read('?sort=created_at:asc');
    return found.body.length === users.length && found.body.every(({ attempts }) => attempts > 0) ? found : undefined;
  });
  expect(new Set(all.users)).toEqual(new Set(users));
  const times = all.body.map(({ created_at }) => created_at);
  expect(times).toEqual([...times].sort());

  const paged: string[] = [];
  const readPage = async (cursor: string): Promise<void> => {
    const path = `/webhooks/${id}/deliveries/page?limit=2&sort=created_at:asc${cursor}`;
    const { body } = await admin<{ data: WebhookDelivery[]; page: { next_cursor: string | null } }>('GET', path);
    paged.push(...body.data.map((delivery) => delivery.id));
    if (body.page.next_cursor !== null) await readPage(`&cursor=${body.page.next_cursor}`);
  };
  await readPage('');
  expect(paged).toEqual(all.body.map((delivery) => delivery.id));

  const complete = await admin<Webhook>('GET', `/webhooks/${id}`);
  expect(complete.body.pending).toBe(all.users.length);
  expect(complete.headers).not.toHaveProperty('postern-missing-shards');
  const list = () => admin<Webhook[]>('GET', `/webhooks?filter=id:${id}`);
  expect((await list()).body).toEqual([expect.objectContaining({ pending: all.users.length })]);
  const onEast = all.users.filter((userId) => app.database.shardOf(userId).name === 'east');
  await shards.stop('east');
  try {
    const { headers, users: found } = await read('?sort=created_at:asc');
    expect(headers['postern-missing-shards']).toBe('east');
    expect(found).toEqual(all.users.filter((userId) => !onEast.includes(userId)));
    const listed = await list();
    expect(listed.headers['postern-missing-shards']).toBe('east');
    expect(listed.body).toEqual([expect.objectContaining({ pending: all.users.length - onEast.length })]);
    const one = await admin<Webhook>('GET', `/webhooks/${id}`);
    expect(one.headers['postern-missing-shards']).toBe('east');
    expect(one.body).toEqual(listed.body[0]);
    const ids = all.body.map((delivery) => delivery.id);
    expect((await admin('POST', `/webhooks/${id}/replay`, { delivery_ids: ids })).status).toBe(503);
    expect((await admin('POST', `/webhooks/${id}/replay`, { from: times[0] })).status).toBe(503);
  } finally {
    await shards.start('east');
  }
});

test('a replay of a span or of deliveries sends the events of all servers again', async () => {
  const id = await createWebhook('/replayed', ['user.created']);
  const users = await usersOnEach();
  const deliveriesOf = async () => (await admin<WebhookDelivery[]>('GET', `/webhooks/${id}/deliveries?limit=100`)).body;
  const deliveries = await eventually('the deliveries', async () => {
    const found = await deliveriesOf();
    return users.every((userId) => found.some(({ user_id }) => user_id === userId)) ? found : undefined;
  });
  const replay = (body: object) => admin<{ events: number }>('POST', `/webhooks/${id}/replay`, body);
  const times = deliveries.map(({ request }) => (JSON.parse(request ?? '') as { timestamp: string }).timestamp);
  const span = await replay({ from: times.sort()[0] });
  expect(span.status).toBe(202);
  expect(span.body.events).toBeGreaterThanOrEqual(users.length);
  const count = (userId: string) =>
    receiver.received.filter(({ path, data }) => path === '/replayed' && data.user_id === userId).length;
  await eventually('a second delivery', async () => users.every((userId) => count(userId) === 2) || undefined);
  const chosen = deliveries.filter(({ user_id }) => users.includes(user_id)).map((delivery) => delivery.id);
  expect((await replay({ delivery_ids: chosen })).body.events).toBe(3);
  await eventually('a third delivery', async () => users.every((userId) => count(userId) === 3) || undefined);
  for (const { everyone } of app.database.shards) {
    expect(await everyone.query(testSql('select from webhook_replays'))).toEqual([]);
  }
});

test('the tail shows the events of all servers', async () => {
  const tail = tailEvents(app.database);
  expect(await tail.next()).toEqual([]);
  const users = await usersOnEach();
  const seen: string[] = [];
  await eventually('the events', async () => {
    const events = await tail.next();
    seen.push(...events.map(({ user_id, type }) => `${user_id} ${type}`));
    return users.every((userId) => seen.includes(`${userId} user.created`)) || undefined;
  });
  expect(new Set(seen).size).toBe(seen.length);
});

test('the operators on each server get a mail when a webhook is disabled on all of them', async () => {
  const emails: string[] = [];
  const nextEmail = () => {
    emails.push(newEmail());
    return { role: 'operator', email: emails.at(-1) };
  };
  for (const userId of await usersOnEach(nextEmail)) {
    await app.database
      .shardOf(userId)
      .everyone.query(testSql('update users set role_active_since = db_now() where id = $1', [userId]));
  }
  receiver.answer = ({ path }) => (path === '/gone' ? 410 : 204);
  const id = await createWebhook('/gone', ['user.created']);
  await usersOnEach();
  const sent = await eventually('three mails', async () => {
    const found = smtp.received.filter(({ text }) => text.includes(id));
    return found.length === 3 ? found : undefined;
  });
  expect(emails).toEqual(expect.arrayContaining(sent.flatMap(({ to }) => to)));
  expect((await admin<Webhook>('GET', `/webhooks/${id}`)).body).toMatchObject({
    enabled: false,
    disabled_reason: 'gone',
  });
  for (const { everyone } of app.database.shards) {
    expect(await everyone.query(testSql('select enabled from webhook_endpoints where id = $1', [id]))).toEqual([
      { enabled: false },
    ]);
  }
});

test('the events of a user keep their order, and none is missing in a replay, while the user moves to another server', async () => {
  const id = await createWebhook('/moved', ['user.*']);
  const user = await createUser(app);
  const from = app.database.shardOf(user.id);
  const to = app.database.shards.find((shard) => shard !== from && shard.name !== 'main')?.name ?? '';
  let [changes, isOver] = [0, false];
  const change = async () => {
    const { status } = await admin('PATCH', `/users/${user.id}`, { name: `Name ${changes}` });
    // A change whose answer is 503 may have been made.
    if (status === 200) changes += 1;
    await eventually('the event', async () => arrived('/moved', user.id).length > changes || undefined);
  };
  const writing = (async () => {
    while (!isOver) await change();
  })();
  const targets = [...shards.databases].map(([name, { url }]) => ({ name, target: createServers(url) }));
  const moving = moveBuckets({ targets, to, buckets: [bucketOf(user.id)], onMoved: () => undefined });
  await eventually('the guard', async () => {
    const rows = await from.everyone.query(testSql('select from shard_moving'));
    return rows.length > 0 || undefined;
  });
  const { status } = await admin('POST', `/webhooks/${id}/replay`, { from: user.created_at });
  expect(status).toBe(202);
  await eventually(
    'the switch of the bucket',
    async () => app.database.shardOf(user.id).name === to || undefined,
  ).finally(() => {
    isOver = true;
  });
  await Promise.all([moving, writing]);
  await change();
  const events = arrived('/moved', user.id);
  expect(events).toEqual(events.map((_, place) => `${place + 1} ${place === 0 ? 'user.created' : 'user.updated'}`));
  const attempts = receiver.received.filter(({ path, data }) => path === '/moved' && data.user_id === user.id);
  // The replay began when the user had been created.
  expect(attempts.filter(({ data }) => data.sequence === 1).length).toBeGreaterThanOrEqual(2);
});
