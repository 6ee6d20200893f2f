import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.js';
import type { User } from '../../src/contract/user.js';
import { userTables, workTables } from '../../src/database/sharding/moving/tables.js';
import { eventually } from '../support/eventually.js';
import {
  createServerFolder,
  type PostgresServer,
  type ServerFolder,
  startPrimary,
} from '../support/fault-injection/postgres.js';
import { createInstallation, type FaultyService, type Installation } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { codeOf, createUser, newEmail, newPhone, passwordLogin, signIn, smsLogin } from '../support/users.js';

const names = ['main', 'east', 'west'] as const;
type Name = (typeof names)[number];

let folder: ServerFolder;
let servers: Record<Name, PostgresServer>;
let installation: Installation;
let service: FaultyService;

const urlOf = ({ port }: PostgresServer) => `postgres://postgres@127.0.0.1:${port}/postern`;

/** Starts a server that writes each statement with its parameters to a log, as JSON. */
const startLogged = (name: Name) =>
  startPrimary(folder, name, {
    max_prepared_transactions: '100',
    log_statement: 'all',
    logging_collector: 'on',
    log_destination: 'jsonlog',
    log_directory: join(folder.path, name, 'statements'),
    log_filename: 'statements.log',
    log_rotation_age: '0',
    log_rotation_size: '0',
  });

beforeAll(async () => {
  await buildService();
  folder = await createServerFolder();
  const [main, east, west] = await Promise.all([startLogged('main'), startLogged('east'), startLogged('west')]);
  servers = { main, east, west };
  installation = await createInstallation({
    DATABASE_URL: urlOf(main),
    SHARDS: `east=${urlOf(east)};west=${urlOf(west)}`,
    SMS_PROVIDER: 'console',
    MAIL_PROVIDER: 'console',
  });
  service = await installation.start();
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service.stop();
  await installation.remove();
  await folder.remove();
});

/** A statement that a server has run, from its log. */
interface Logged {
  readonly text: string;
  /** The ids in its parameters. */
  readonly ids: readonly string[];
}

function loggedBy(name: Name): Logged[] {
  const statements = join(folder.path, name, 'statements');
  const lines = readdirSync(statements)
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => readFileSync(join(statements, file), 'utf8').trim().split('\n'));
  return lines.flatMap((line) => {
    const { message = '', detail = '', application_name: from = '' } = JSON.parse(line) as Record<string, string>;
    const [, text] = /^(?:execute [^:]*|statement): ([\s\S]*)$/.exec(message) ?? [];
    if (text === undefined || !from.startsWith('postern') || from === 'postern migrate') return [];
    return [{ text, ids: detail.match(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g) ?? [] }];
  });
}

const tablesIn = (tables: readonly string[]) =>
  new RegExp(`\\b(?:from|join|into|update|only) (?:${tables.join('|')})\\b`);
const ofUsers = tablesIn([...userTables, ...workTables].map(({ name }) => name));
/** Tables whose rows belong to no user. */
const directoryTables = [
  ...['api_keys', 'external_identities', 'idempotency_keys', 'identities', 'images', 'setup_links', 'test_identities'],
];
const ofDirectory = tablesIn(directoryTables);
/** Parts of statements that name a user whose rows they do not read: signals to instances, and actors of other users. */
const aboutOthers = ['select pg_notify(', 'n.actor_id = $1'];

/** The server that has a row of the user. */
async function serverOf(userId: string): Promise<Name> {
  const found: Name[] = [];
  for (const name of names) {
    const rows = await servers[name].query(`select from users where id = '${userId}'`, 'postern');
    if (rows.length > 0) found.push(name);
  }
  expect(found).toHaveLength(1);
  return found[0] ?? 'main';
}

/** Creates users until each server has two. */
async function createUsers(): Promise<Map<Name, User[]>> {
  const users = new Map<Name, User[]>(names.map((name) => [name, []]));
  while ([...users.values()].some((members) => members.length < 2)) {
    const user = await createUser(service, { phone: newPhone(), email: newEmail() });
    users.get(await serverOf(user.id))?.push(user);
  }
  return users;
}

const publish = (body: object) => {
  const { api, adminKey } = service;
  const headers = { 'idempotency-key': randomUUID() };
  return api<Notification>('POST', '/admin/v1/notifications', {
    bearer: adminKey,
    headers,
    body: { notification_type: 'payment', description: 'Lunch', ...body },
  });
};

/** Sends requests of each kind about one user. */
async function sendAllKinds(user: User): Promise<void> {
  const { api, adminKey } = service;
  const bearer = adminKey;
  const { authentication, session, token } = await signIn(service, user);
  expect((await api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  expect((await api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
  const started = await api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  const secret = await codeOf(service, started.body.id);
  expect((await api('POST', `/v1/tokens/${started.body.id}/secret`, { body: { secret, pin: '2749' } })).status).toBe(
    201,
  );
  const wrong = passwordLogin(user.username, 'a wrong password');
  expect((await api('POST', '/v1/tokens', { body: wrong })).body.status).toBe('rejected');

  const { body: notification } = await publish({ user_id: user.id });
  expect((await api('GET', '/v1/notifications', { bearer: session.token })).body).toHaveLength(1);
  const path = `/admin/v1/notifications/${notification.id}`;
  expect((await api('PATCH', path, { bearer, body: { description: 'Dinner' } })).status).toBe(200);
  expect((await api('DELETE', path, { bearer })).status).toBe(204);

  const changed = { phone: newPhone(), name: 'Ada' };
  expect((await api('PATCH', `/admin/v1/users/${user.id}`, { bearer, body: changed })).status).toBe(200);
  expect((await api('GET', `/admin/v1/users/${user.id}`, { bearer })).body).toMatchObject(changed);
  expect((await api('GET', '/v1/account', { bearer: session.token })).status).toBe(200);
  expect((await api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token })).status).toBe(200);
  expect((await api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(401);
}

test('every statement about a user runs on the server of the user, and those of the directory on main', async () => {
  const users = await createUsers();
  const all = [...users.values()].flat();
  const homes = new Map([...users].flatMap(([name, members]) => members.map(({ id }) => [id, name] as const)));
  await Promise.all(all.map(sendAllKinds));
  expect((await publish({ user_ids: all.map(({ id }) => id) })).status).toBe(201);
  for (const [, members] of users) {
    const deletedId = members.at(-1)?.id ?? '';
    const { api, adminKey } = service;
    expect((await api('DELETE', `/admin/v1/users/${deletedId}`, { bearer: adminKey })).status).toBe(204);
  }

  const wrong: string[] = [];
  const counts = new Map<string, number>();
  for (const name of names) {
    for (const { text, ids } of loggedBy(name)) {
      const isOfDirectory = ofDirectory.test(text) && !ofUsers.test(text);
      for (const id of ids) {
        const home = homes.get(id);
        if (home === undefined) continue;
        if (home === name) counts.set(id, (counts.get(id) ?? 0) + 1);
        const isRight = isOfDirectory ? name === 'main' : home === name;
        if (!isRight && !aboutOthers.some((part) => text.includes(part))) wrong.push(`${name}: ${text}`);
      }
    }
  }
  expect([...new Set(wrong)]).toEqual([]);
  for (const { id } of all) expect(counts.get(id)).toBeGreaterThan(20);
  for (const name of ['east', 'west'] as const) {
    for (const table of directoryTables) {
      expect([table, ...(await servers[name].query(`select from ${table}`, 'postern'))]).toEqual([table]);
    }
  }
});

/** Repeats a request until the returned function is called. */
function repeat(act: () => Promise<void>): () => Promise<void> {
  let isOver = false;
  const running = (async () => {
    while (!isOver) await act();
  })();
  return async () => {
    isOver = true;
    await running;
  };
}

test('when a server dies under load, only requests about its users are refused, and nothing is lost', async () => {
  const { api, adminKey } = service;
  const users = await createUsers();
  const people = await Promise.all(
    [...users].flatMap(([name, members]) =>
      members.map(async (user) => ({ name, user, token: (await signIn(service, user)).session.token })),
    ),
  );
  const published = new Map<string, string>();
  const created = new Set<string>();
  const phones = new Map<string, string>();
  const wrong: string[] = [];
  /** Whether the status is the wanted one. Any other is recorded as wrong, except 503 for users of the server that dies. */
  const isExpected = (what: string, status: number, wanted: number, name: Name) => {
    if (status !== wanted && !(status === 503 && name === 'east')) wrong.push(`${what} on ${name}: ${status}`);
    return status === wanted;
  };
  let refused = 0;
  const stops = people.flatMap(({ name, user, token }) => [
    repeat(async () => {
      const { status } = await api('POST', '/v1/sessions/verify', { bearer: token });
      if (!isExpected('verify', status, 200, name)) refused += 1;
    }),
    repeat(async () => {
      const { status, body } = await publish({ user_id: user.id });
      if (isExpected('publish', status, 201, name)) published.set(body.id, user.id);
    }),
    repeat(async () => {
      const phone = newPhone();
      const change = { bearer: adminKey, body: { phone } };
      const { status } = await api('PATCH', `/admin/v1/users/${user.id}`, change);
      // Without a confirmation, the change took effect or did not.
      if (isExpected('change', status, 200, name)) phones.set(user.id, phone);
      else phones.delete(user.id);
    }),
  ]);
  stops.push(
    repeat(async () => {
      const body = { username: `user-${randomUUID()}` };
      const { status, body: user } = await api<User>('POST', '/admin/v1/users', { bearer: adminKey, body });
      // The id of a new user may belong to the server that is away.
      if (isExpected('create', status, 201, 'east')) created.add(user.id);
    }),
  );
  const readiness = async () => {
    const { status, body } = await api<{ missing_shards?: string[] }>('GET', '/readyz');
    return [status, body.missing_shards ?? []];
  };
  await eventually('load', async () => (published.size > 30 && phones.size === people.length ? true : undefined));

  servers.east.kill();
  await eventually('requests that are refused', async () => (refused > 20 ? true : undefined));
  expect(await readiness()).toEqual([200, ['east']]);
  const before = published.size;
  await eventually('work for the others', async () => (published.size > before + 30 ? true : undefined));
  servers.east = await servers.east.restart();
  const withoutNewOne = new Set(people.filter(({ name }) => name === 'east').map(({ user }) => user.id));
  const known = new Set(published.keys());
  await eventually('work for everyone', async () => {
    for (const [id, userId] of published) if (!known.has(id)) withoutNewOne.delete(userId);
    return withoutNewOne.size === 0 ? true : undefined;
  });
  await Promise.all(stops.map((stop) => stop()));

  expect([...new Set(wrong)]).toEqual([]);
  expect(await readiness()).toEqual([200, []]);
  for (const name of names) {
    await eventually(`no prepared transaction on ${name}`, async () =>
      (await servers[name].query('select from pg_prepared_xacts')).length === 0 ? true : undefined,
    );
  }
  const ids = async (name: Name, text: string) =>
    (await servers[name].query(text, 'postern')).map(({ id }) => String(id));
  const allIds = async (text: string) => (await Promise.all(names.map((name) => ids(name, text)))).flat();
  expect(await allIds('select id from notifications')).toEqual(expect.arrayContaining([...published.keys()]));
  const userIds = await allIds('select id from users');
  expect(userIds).toEqual(expect.arrayContaining([...created]));
  expect(userIds).toHaveLength(new Set(userIds).size);
  // Each user has an identity in the directory, and each identity a user.
  expect(new Set(await ids('main', 'select user_id as id from identities'))).toEqual(new Set(userIds));
  for (const [userId, phone] of phones) {
    const { body } = await api<User>('GET', `/admin/v1/users/${userId}`, { bearer: adminKey });
    expect(body.phone).toBe(phone);
    const owner = `select user_id as id from identities where user_id = '${userId}' and type = 'phone'`;
    expect(await ids('main', owner)).toEqual([userId]);
  }
});
