import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Authentication } from '../../src/contract/authentication.js';
import type { Image } from '../../src/contract/image.js';
import type { NewSession } from '../../src/contract/session.js';
import type { User } from '../../src/contract/user.js';
import type { ApiAnswer } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createFaultyDisk, type FaultyDisk } from '../support/fault-injection/disk.js';
import { createInstallation, type FaultyService, type Installation } from '../support/fault-injection/service.js';
import { noise } from '../support/image-fixtures.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, newPhone, password, passwordLogin, signIn, smsLogin } from '../support/users.js';

const batchSize = 50;
/** A refused write: storage_unavailable, or the HTTP status of a full disk. */
const refusals = [503, 507];

let disk: FaultyDisk;
let installation: Installation;
let service: FaultyService;
let encoded: string;
beforeAll(async () => {
  await buildService();
  disk = await createFaultyDisk();
  installation = await createInstallation({ DATA_DIR: disk.dataDir });
  service = await installation.start();
  encoded = (await noise(400, 300).jpeg().toBuffer()).toString('base64');
}, BUILD_TIMEOUT);
afterAll(async () => {
  await service.stop();
  await installation.remove();
  await disk.remove();
});

/** Acknowledged writes, and every response that was neither an acknowledgement nor a refusal. */
interface Written {
  readonly users: string[];
  readonly tokens: string[];
  readonly batches: string[];
  readonly codes: string[];
  readonly images: string[];
  readonly wrong: string[];
  refused: number;
}

/** One of each kind of write. */
async function write(user: User, written: Written): Promise<void> {
  const { api, adminKey } = service;
  const record = <T>(what: string, { status, text, body, headers }: ApiAnswer<T>, onAccepted: (body: T) => void) => {
    if (status === 201) onAccepted(body);
    else if (refusals.includes(status) && Number(headers['retry-after']) >= 1) written.refused += 1;
    else written.wrong.push(`${what}: ${status} ${text}`);
  };
  const username = `user${crypto.randomUUID()}`;
  const key = crypto.randomUUID();
  const notification = {
    user_id: user.id,
    notification_type: 'payment',
    notification_key: key,
    // Random characters, since compressible data would not fill the disk.
    description: Array.from({ length: 100 }, () => crypto.randomUUID()).join(''),
  };
  const batch = Array.from({ length: batchSize }, () => notification);
  const [member, batched, login, code, image] = await Promise.all([
    api<User>('POST', '/admin/v1/users', { bearer: adminKey, body: { username, password } }),
    api('POST', '/admin/v1/notifications', {
      bearer: adminKey,
      body: batch,
      headers: { 'idempotency-key': key },
    }),
    api<Authentication>('POST', '/v1/tokens', { body: passwordLogin(user.username) }),
    api<Authentication>('POST', '/v1/tokens', { body: smsLogin(newPhone()) }),
    api<Image>('POST', '/admin/v1/images', { bearer: adminKey, body: { encoded } }),
  ]);
  record('user', member, ({ id }) => written.users.push(id));
  record('batch', batched, () => written.batches.push(key));
  record('login', login, ({ token = '' }) => written.tokens.push(token));
  record('code', code, ({ id }) => written.codes.push(id));
  record('image', image, ({ url, full_screen_url, thumbnail_url }) =>
    written.images.push(url, full_screen_url, thumbnail_url),
  );
}

async function count(text: string): Promise<number> {
  const client = new pg.Client({ host: join(disk.dataDir, 'postgres'), user: 'postern', database: 'postern' });
  await client.connect();
  try {
    return (await client.query<{ count: number }>(`select (${text})::int as count`)).rows[0]?.count ?? Number.NaN;
  } finally {
    await client.end();
  }
}

/** Checks that everything acknowledged exists, and nothing incomplete. */
async function expectIntact(user: User, written: Written): Promise<void> {
  const { api, adminKey } = service;
  expect(written.wrong).toEqual([]);
  for (const id of written.users) {
    expect((await api('GET', `/admin/v1/users/${id}`, { bearer: adminKey })).status).toBe(200);
  }
  for (const token of written.tokens) expect((await api('POST', '/v1/sessions', { basic: token })).status).toBe(201);
  for (const url of written.images) {
    const { status, headers, text } = await api('GET', new URL(url).pathname);
    expect([status, headers['content-length'] !== '0', text !== '']).toEqual([200, true, true]);
  }
  for (const id of written.codes) expect((await api('GET', `/v1/tokens/${id}`)).status).toBe(201);

  const list = `/admin/v1/users/${user.id}/notifications?limit=1&filter=notification_key:eq:`;
  for (const key of written.batches) {
    const { headers } = await api('GET', list + key, { bearer: adminKey });
    expect(headers['x-total-count']).toBe(String(batchSize));
  }
  expect(
    await count(`select count(*) from (
      select from notifications group by user_id, notification_key having count(*) <> ${batchSize}) partial`),
  ).toBe(0);
  expect(
    await count(`select count(*) from inboxes i
      where total <> (select count(*) from notifications n where n.user_id = i.user_id)`),
  ).toBe(0);
  expect(
    await count(`select count(*) from users u where not exists (select from inboxes i where i.user_id = u.id)
      or not exists (select from identities i where i.user_id = u.id)`),
  ).toBe(0);
  expect(
    await count(`select count(*) from identities i where not exists (select from users u where u.id = i.user_id)`),
  ).toBe(0);
  expect(
    await count(`select count(*) from authentications a where authenticator = 'sms'
      and not exists (select from outbox o where o.authentication_id = a.id)`),
  ).toBe(0);
}

test('a full disk refuses writes, allows reads, leaves nothing incomplete, and recovers when there is space', async () => {
  const { api } = service;
  const user = await createUser(service);
  const { session } = await signIn(service, user);
  const verify = () => api<NewSession>('POST', '/v1/sessions/verify', { bearer: session.token });
  const newWritten = (): Written => ({
    users: [],
    tokens: [],
    batches: [],
    codes: [],
    images: [],
    wrong: [],
    refused: 0,
  });
  const waitForRecovery = (written: Written) =>
    eventually('every write to succeed', async () => {
      const before = written.refused;
      await write(user, written);
      return written.refused === before ? true : undefined;
    });

  const written = newWritten();
  await write(user, written);
  expect(written.refused).toBe(0);

  await disk.fill();
  await eventually('writes to be refused', async () => {
    await write(user, written);
    return written.refused >= 20 ? true : undefined;
  });
  // PostgreSQL itself still works: requests that need no space succeed.
  expect((await verify()).status).toBe(200);
  expect((await api('GET', '/v1/notifications', { bearer: session.token })).status).toBe(200);
  await disk.free();
  await waitForRecovery(written);
  await expectIntact(user, written);

  // Now the write-ahead log has no space either: PostgreSQL ends, and cannot recover while the disk is full.
  const starved = newWritten();
  await disk.fill();
  await disk.starve();
  await eventually('writes to be refused', async () => {
    await write(user, starved);
    return starved.refused >= 20 ? true : undefined;
  });
  expect([200, 503]).toContain((await verify()).status);
  expect((await api('GET', '/livez')).status).toBe(200);
  await disk.free();
  await waitForRecovery(starved);
  expect((await verify()).status).toBe(200);
  await expectIntact(user, starved);
  await expectIntact(user, written);
});
