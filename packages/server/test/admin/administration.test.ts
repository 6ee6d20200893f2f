import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../../test/support/app.js';
import { newEmail, password } from '../../../../test/support/users.js';
import { isProblem, type NewUser, type PosternServer } from '../../src/index.js';
import { backendOf, visitor } from '../support.js';

let app: TestApp;
let server: PosternServer;
beforeAll(async () => {
  app = await startTestApp();
  ({ server } = backendOf(app));
});
afterAll(() => app.close());

const once = () => ({ idempotencyKey: randomUUID() });

test('a user is created once for each key, read, changed and erased', async () => {
  const email = newEmail();
  const options = once();
  const user = await server.users.create({ email, password, metadata: { plan: 'free' } }, options);
  expect(await server.users.create({ email, password, metadata: { plan: 'free' } }, options)).toEqual(user);
  expect(user).toMatchObject({ email, metadata: { plan: 'free' }, has_password: true });
  expect(await server.users.change(user.id, { name: 'Ada' })).toMatchObject({ id: user.id, name: 'Ada' });
  expect(await server.users.get(user.id)).toMatchObject({ name: 'Ada' });
  await server.users.delete(user.id);
  expect(await server.users.get(user.id)).toBeNull();
});

test('a taken identity is a problem that names the field', async () => {
  const email = newEmail();
  await server.users.create({ email }, once());
  const error = await server.users.create({ email }, once()).catch((reason) => reason);
  expect(isProblem(error, 'identity_taken')).toBe(true);
});

test('a list of users continues from page to page, and `search` finds parts of names', async () => {
  const name = `Search ${randomUUID()}`;
  for (const _ of [1, 2, 3]) await server.users.create({ email: newEmail(), name }, once());
  const found = [];
  for await (const user of server.users.list({ search: name, limit: 2 })) found.push(user.name);
  expect(found).toEqual([name, name, name]);
});

test('a user is locked, unlocked and logged out, and each response shows it', async () => {
  const { user, token } = await visitor(app);
  expect(await server.users.logOut(user.id)).toBe(1);
  expect(await server.verify(token)).toBeNull();
  const until = new Date(Date.now() + 3_600_000);
  expect((await server.users.lock(user.id, { until, reason: 'lost phone' })).lock).toMatchObject({ permanent: false });
  expect((await server.users.lock(user.id, { permanent: true })).lock).toMatchObject({ permanent: true });
  expect(await server.users.diagnose(user.id)).toMatchObject({ user_id: user.id, verdict: 'no' });
  expect((await server.users.unlock(user.id)).lock).toBeNull();
  const value = user.username ?? '';
  expect(await server.users.diagnose({ identity: { type: 'username', value } })).toMatchObject({ user_id: user.id });
});

test('devices, sessions, activity and the export of a user are readable', async () => {
  const { user } = await visitor(app);
  const [device] = (await server.users.devices(user.id).page()).data;
  expect((await server.users.sessions(user.id).page()).data).toMatchObject([{ device_id: device?.id }]);
  const types = (await server.users.activity(user.id).page()).data.map((entry) => entry.type);
  expect(types).toContain('login.approved');
  expect((await server.users.export(user.id)).devices).toMatchObject([{ id: device?.id }]);
  await server.users.removeDevice(user.id, device?.id ?? '');
  expect((await server.users.devices(user.id).page()).data).toEqual([]);
  expect(await server.users.removeSecondFactors(user.id)).toMatchObject({ second_factors: [] });
});

test('a key with few scopes can do what they allow, until it is revoked', async () => {
  const options = once();
  const key = await server.keys.create(
    { name: 'reader', scopes: ['users:read'], expires_at: new Date(Date.now() + 3_600_000) },
    options,
  );
  const reader = backendOf(app, { apiKey: key.token }).server;
  expect((await reader.users.list().page()).data).toEqual(expect.any(Array));
  await expect(reader.users.create({ email: newEmail() }, once())).rejects.toMatchObject({
    code: 'insufficient_scope',
  });
  expect((await server.keys.list().page()).data.map(({ id }) => id)).toContain(key.id);
  await server.keys.revoke(key.id);
  await expect(reader.users.list().page()).rejects.toMatchObject({ code: 'invalid_api_key' });
});

test('audit events and the outbox are lists', async () => {
  await server.users.create({ email: newEmail() }, once());
  const [event] = (await server.events({ limit: 1 }).page()).data;
  expect(event).toMatchObject({ type: expect.any(String), data: expect.any(Object) });
  expect((await server.outbox({ limit: 1 }).page()).data).toEqual([]);
});

test('an external account needs a provider that is configured', async () => {
  const user = await server.users.create({ email: newEmail() } satisfies NewUser, once());
  const linking = server.users.linkIdentity(user.id, { provider: 'nowhere', subject: 'x' });
  await expect(linking).rejects.toMatchObject({ kind: 'problem' });
});
