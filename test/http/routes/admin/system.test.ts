import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../../src/contract/administration.js';
import type { System } from '../../../../src/contract/operation/system.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { signInWithRole } from '../../../support/operators.js';
import { newVapidKeys } from '../../../support/push-fakes/web-push.js';
import { rsaKeys } from '../../../support/rsa-keys.js';
import { testSql } from '../../../support/sql.js';
import { createUser, emailLogin } from '../../../support/users.js';

const randomWord = () => randomBytes(18).toString('hex');
const vapid = newVapidKeys();
const secrets = {
  smtp: randomWord(),
  webhookPath: randomWord(),
  webhookQuery: randomWord(),
  vapid: vapid.privateKey,
  signing: randomBytes(24).toString('base64'),
  authenticator: randomBytes(24).toString('base64'),
};
const apple = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});
const google = rsaKeys().privateKey.export({ type: 'pkcs8', format: 'pem' });

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({
    ...{ SMS_PROVIDER: 'webhook', SMS_WEBHOOK_SECRET: `whsec_${secrets.signing}` },
    SMS_WEBHOOK_URL: `http://127.0.0.1:9/${secrets.webhookPath}?key=${secrets.webhookQuery}`,
    ...{ SMTP_URL: `smtp://relay:${secrets.smtp}@127.0.0.1:2525?tls=none`, MAIL_FROM: 'Example <a@example.com>' },
    ...{
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
      SESSION_TTL: '7m',
      CORS_ORIGINS: 'https://a.example,https://b.example',
    },
    VAPID_PUBLIC_KEY: vapid.publicKey,
    ...{ VAPID_PRIVATE_KEY: secrets.vapid, VAPID_SUBJECT: 'mailto:a@example.com' },
    ...{ APNS_KEY: apple.toString(), APNS_KEY_ID: 'ABCDE12345', APNS_TEAM_ID: 'ABCDE12345', APNS_TOPIC: 'com.example' },
    FCM_SERVICE_ACCOUNT: JSON.stringify({
      ...{ type: 'service_account', project_id: 'p', client_email: 'a@p.iam.gserviceaccount.com' },
      ...{ private_key: google.toString(), token_uri: 'https://oauth2.googleapis.com/token' },
    }),
    CUSTOM_AUTHENTICATORS: JSON.stringify({
      badge: { url: 'http://127.0.0.1:9/', secret: `whsec_${secrets.authenticator}` },
    }),
  });
});
afterAll(() => postern.close());

const read = (bearer = postern.adminKey) => postern.api<System>('GET', '/admin/v1/system', { bearer });

describe('the state of the system', () => {
  test('shows the processes, and which of them answers', async () => {
    const other = await postern.another();
    try {
      const { body } = await eventually('both instances', async () => {
        const answer = await read();
        return answer.body.instances.length === 2 ? answer : undefined;
      });
      expect(
        body.instances.map(({ is_self, is_lost, process_id, worker }) => [is_self, is_lost, process_id, worker]),
      ).toEqual([
        [true, false, process.pid, null],
        [false, false, process.pid, null],
      ]);
      expect(new Set(body.instances.map(({ version }) => version))).toEqual(new Set([body.version]));
    } finally {
      await other.close();
    }
    expect((await read()).body.instances).toHaveLength(1);
  });

  test('shows the free space of the disks to which Postern writes', async () => {
    const { body } = await read();
    // The tests use their own PostgreSQL, so there is no embedded database.
    expect(body.disks.map(({ used_for }) => used_for)).toEqual(['images']);
    for (const { bytes, free_bytes: free } of body.disks) expect(free > 0 && free < bytes).toBe(true);
  });

  test('shows a process that was killed as lost', async () => {
    await postern.database.query(
      testSql(`insert into instances (id, host, process_id, worker, version, node, streams, flushes, started_at, seen_at)
               values (gen_random_uuid(), 'gone.example', 7, 2, '0.0.1', 'v20', 3, 1, db_now() - interval '1 hour',
                       db_now() - interval '100 seconds')`),
    );
    const { body } = await read();
    expect(body.instances[0]).toMatchObject({
      host: 'gone.example',
      worker: 2,
      is_lost: true,
      is_self: false,
      streams: 3,
    });
    await postern.database.query(testSql(`delete from instances where host = 'gone.example'`));
  });

  test('shows the database, its tables and all migrations', async () => {
    const { database, migrations } = (await read()).body;
    expect(database.bytes).toBeGreaterThan(1e6);
    expect(database.connections).toBeLessThanOrEqual(database.max_connections);
    expect(database.tables).toHaveLength(10);
    expect(migrations.at(-1)).toEqual({ name: '0001_users_and_logins.sql', applied_at: expect.any(String) });
    expect(migrations.filter(({ applied_at }) => applied_at === null)).toEqual([]);
  });

  test('shows how long the oldest due job waits, and how many jobs are retried', async () => {
    await postern.database.query(
      testSql(`select graphile_worker.add_job('nobody.takes.this', run_at => now() - interval '1 hour')`),
    );
    await postern.database.query(
      testSql(`select graphile_worker.add_job('nobody.takes.this', run_at => now() + interval '1 hour')`),
    );
    await postern.database.query(testSql('update graphile_worker._private_jobs set attempts = 1 where run_at > now()'));
    const { queue } = (await read()).body;
    expect(queue.due).toBe(1);
    expect(queue.oldest_seconds).toBeGreaterThanOrEqual(3600);
    expect(queue.retrying).toBe(1);
  });

  test('contains the findings of the doctor, with those that need attention first', async () => {
    const { findings } = (await read()).body;
    const byWhat = Object.fromEntries(findings.map(({ what, level }) => [what, level]));
    expect(byWhat).toMatchObject({
      database: 'ok',
      migrations: 'ok',
      clock: 'ok',
      push: 'ok',
      messages: 'ok',
      sms: 'ok',
    });
    const order = ['fail', 'warn', 'ok'];
    const levels = findings.map(({ level }) => order.indexOf(level));
    expect(levels).toEqual([...levels].sort());
  });
});

describe('the providers', () => {
  test('of SMS, mail and push are listed', async () => {
    const { providers } = (await read()).body;
    expect(providers.map(({ channel, name, failing_since }) => [channel, name, failing_since])).toEqual([
      ['sms', 'webhook', null],
      ['email', 'smtp', null],
      ['push', 'apns', null],
      ['push', 'fcm', null],
      ['push', 'web_push', null],
    ]);
  });

  test('that fail are shown with their last error', async () => {
    // Nothing listens on the port of the mail server.
    for (const name of ['ada', 'bob', 'cyd']) {
      const { email } = await createUser(postern, { email: `${name}@example.com` });
      const { status } = await postern.api('POST', '/v1/tokens', { body: emailLogin(email) });
      expect(status).toBe(201);
    }
    const mail = await eventually('the failure of the mail server', async () => {
      const found = (await read()).body.providers.find(({ channel }) => channel === 'email');
      return found?.failing_since === null ? undefined : found;
    });
    expect(mail?.last_error).toBe('smtp: the mail server 127.0.0.1 cannot be reached (ECONNREFUSED)');
  });
});

describe('the settings', () => {
  test('are shown with the values in use, also where these are defaults', async () => {
    const { settings } = (await read()).body;
    const settingNamed = (name: string) => settings.find((setting) => setting.name === name);
    expect(settingNamed('SESSION_TTL')).toMatchObject({ value: '7m', is_set: true, is_hidden: false });
    expect(settingNamed('LOG_LEVEL')).toMatchObject({ group: 'The service', is_set: true });
    expect(settingNamed('GUESS_LOCK_MAX')).toMatchObject({ value: '1h', is_set: false });
    expect(settingNamed('CORS_ORIGINS')?.value).toBe('https://a.example, https://b.example');
    expect(settingNamed('MAIL_FROM')?.value).toBe('Example <a@example.com>');
    expect(settingNamed('TEMPLATES_DIR')).toMatchObject({ value: null, is_set: false, is_hidden: false });
    expect(settingNamed('SMS_WEBHOOK_URL')?.value).toBe('http://127.0.0.1:9/…');
  });

  test('never contain a secret', async () => {
    const { text, body } = await read();
    const { SECRET_KEY: keys = [], DATABASE_URL: url = '' } = postern.config;
    const pems = [apple, google].flatMap((pem) => pem.toString().split('\n').slice(1, 3));
    const hidden = [
      ...Object.values(secrets),
      ...pems,
      ...keys.map((key) => key.reveal()),
      postern.adminKey,
      new URL(url).pathname,
      new URL(url).password,
    ].filter((secret) => secret !== '' && secret !== '/');
    expect(hidden.length).toBeGreaterThan(10);
    for (const secret of hidden) expect(text).not.toContain(secret);
    const names = body.settings.filter(({ is_hidden }) => is_hidden).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['SECRET_KEY', 'ADMIN_API_KEY', 'SMS_WEBHOOK_SECRET', 'SMTP_URL', 'VAPID_PRIVATE_KEY', 'APNS_KEY'],
        'FCM_SERVICE_ACCOUNT',
      ]),
    );
  });
});

test('only a key with the scope admin may read the state', async () => {
  const { body: key } = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
    bearer: postern.adminKey,
    body: {
      name: 'all but admin',
      scopes: [
        'users:read',
        'users:write',
        'notifications:write',
        'notifications:configure',
        'notifications:broadcast',
        'sessions:verify',
        'webhooks:write',
      ],
    },
  });
  expect((await read(key.token)).status).toBe(403);
  expect((await read((await signInWithRole(postern, 'support')).bearer)).status).toBe(403);
  expect((await read((await signInWithRole(postern, 'operator')).bearer)).status).toBe(200);
  expect((await postern.api('GET', '/admin/v1/system')).status).toBe(401);
});
