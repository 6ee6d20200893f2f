import { beforeAll, expect, type TestContext, test } from 'vitest';
import { openStream } from '../support/event-stream.js';
import { eventually } from '../support/eventually.js';
import {
  createServerFolder,
  type PostgresServer,
  startPrimary,
  startStandby,
} from '../support/fault-injection/postgres.js';
import { createInstallation, type FaultyService } from '../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../support/process.js';
import { createUser, messageOf, newPhone, signIn, smsLogin } from '../support/users.js';

const writers = 20;
const urlOf = (...servers: readonly PostgresServer[]) =>
  `postgres://postgres@${servers.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postern?target_session_attrs=read-write`;

beforeAll(buildService, BUILD_TIMEOUT);

async function startServers({ onTestFinished }: TestContext) {
  const folder = await createServerFolder();
  onTestFinished(() => folder.remove());
  const primary = await startPrimary(folder);
  const standby = await startStandby(folder, primary, 'standby');
  const installation = await createInstallation({ DATABASE_URL: urlOf(primary, standby) });
  onTestFinished(() => installation.remove());
  const service = await installation.start();
  onTestFinished(async () => {
    await service.stop();
  });
  return { folder, primary, standby, installation, service };
}

/** Publishes one notification after the other until it is stopped. @returns the ids of those that were acknowledged */
function startWriting({ api, adminKey }: FaultyService, userId: string) {
  const acknowledged: string[] = [];
  let isStopped = false;
  const write = async () => {
    while (!isStopped) {
      const answer = await api<{ id: string }>('POST', '/admin/v1/notifications', {
        bearer: adminKey,
        body: { user_id: userId, notification_type: 'payment', description: 'Lunch' },
        headers: { 'idempotency-key': crypto.randomUUID() },
      });
      if (answer.status === 201) acknowledged.push(answer.body.id);
    }
  };
  const all = Promise.all(Array.from({ length: writers }, write));
  return {
    acknowledged,
    async stop() {
      isStopped = true;
      await all;
    },
  };
}

test('after the primary dies, the promoted standby has all that was acknowledged, and the service goes on', async (context) => {
  const { primary, standby, service } = await startServers(context);
  const { api } = service;
  const user = await createUser(service);
  const kept = await signIn(service, user);
  const revoked = await signIn(service, user, { make: 'other' });
  const stream = await openStream(service.url, { bearer: kept.session.token });
  context.onTestFinished(() => stream.destroy());

  const writing = startWriting(service, user.id);
  await eventually('some writes', async () => writing.acknowledged.length > 50 || undefined);
  const ended = await api('DELETE', `/v1/tokens/${revoked.authentication.id}`, { bearer: revoked.session.token });
  expect(ended.status).toBe(200);
  primary.kill();
  await standby.query('select pg_promote()');
  const before = writing.acknowledged.length;
  await eventually('writes to the new primary', async () => writing.acknowledged.length > before + 50 || undefined);
  await writing.stop();

  expect((await api('POST', '/v1/sessions/verify', { bearer: revoked.session.token })).status).toBe(401);
  expect((await api('POST', '/v1/sessions/verify', { bearer: kept.session.token })).status).toBe(200);
  const ids = writing.acknowledged.map((id) => `('${id}'::uuid)`).join(', ');
  const missing = `select id from (values ${ids}) acknowledged (id) where id not in (select id from notifications)`;
  expect(await standby.query(missing, 'postern')).toEqual([]);
  const last = writing.acknowledged.at(-1) ?? '';
  await eventually('the stream to deliver', async () => stream.text.includes(last) || undefined);
  const { body } = await api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(newPhone()) });
  await messageOf(service, body.id, ['dropped']);
  expect(await service.stop()).toBe(0);
});

test('a former primary that stays alive verifies no session that was revoked at the new one', async (context) => {
  const { primary, standby, installation, service } = await startServers(context);
  const user = await createUser(service);
  const { session, authentication } = await signIn(service, user);
  const verify = () => service.api('POST', '/v1/sessions/verify', { bearer: session.token });
  expect((await verify()).status).toBe(200);
  await standby.query('select pg_promote()');
  // Another instance knows the new primary only.
  const other = await installation.start({ DATABASE_URL: urlOf(standby) });
  context.onTestFinished(async () => {
    await other.stop();
  });
  const ended = await other.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: session.token });
  expect(ended.status).toBe(200);
  await eventually('the revoked session to be refused', async () => (await verify()).status === 401 || undefined);
  for (let round = 0; round < 50; round += 1) expect((await verify()).status).toBe(401);
  // The former primary still runs and still has the session.
  expect(await primary.query('select pg_is_in_recovery() as standby')).toEqual([{ standby: false }]);
});
