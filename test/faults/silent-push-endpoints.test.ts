import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { StartOptions } from '../../src/app/main.js';
import type { User } from '../../src/contract/user.js';
import { patient, startTestApp, type TestApp, wholeQueue } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type FaultyProvider, startFaultyProvider } from '../support/fault-injection/provider.js';
import { arrivals, createPushSteps } from '../support/push.js';
import { listen } from '../support/push-fakes/fake.js';
import { startWebPushService, type WebPushFake } from '../support/push-fakes/web-push.js';
import { testSql } from '../support/sql.js';
import { createUser, messageOf, newPhone, signIn, smsLogin } from '../support/users.js';

/** One user has registered endpoints that never answer, on as many devices as a user can have. Others must not notice it. */

let web: WebPushFake;
let provider: FaultyProvider;
let app: TestApp;

function startApp(options: StartOptions): Promise<TestApp> {
  const env = { LOGIN_LIMIT_PER_ADDRESS: '0', CODE_LIMIT_PER_ADDRESS: '0', NOTICES: 'none', LOG_LEVEL: 'silent' };
  return startTestApp({ ...web.env, ...provider.env, ...env }, options);
}

beforeAll(async () => {
  [web, provider] = await Promise.all([startWebPushService(), startFaultyProvider()]);
  app = await startApp(patient);
});
afterAll(async () => {
  await app.close();
  await Promise.all([web.close(), provider.close()]);
});
beforeEach(() => web.behave({ status: 201 }));

const { register, publish } = createPushSteps(() => app);

/** A user with a browser that gets pushes. */
async function newBrowser() {
  const user = await createUser(app);
  const { session } = await signIn(app, user);
  const { subscription, path } = web.subscribe();
  expect((await register(session.token, 'web', subscription)).status).toBe(201);
  return { user, path };
}

/** A user with this number of further devices, each with an endpoint of its own. */
async function userWithEndpoints(count: number): Promise<User> {
  const { user } = await newBrowser();
  await app.database.query(
    testSql(
      `with copied as (
         insert into authentications select (jsonb_populate_record(a,
           jsonb_build_object('id', gen_random_uuid(), 'device_id', md5($1::text || n)::uuid))).*
         from authentications a, generate_series(1, $2::int) n where a.user_id = $1::uuid)
       insert into devices (user_id, id, created_at, updated_at, last_login_at, web_push_subscription)
       select $1::uuid, md5($1::text || n)::uuid, created_at, updated_at, last_login_at,
         jsonb_set(web_push_subscription, '{endpoint}', to_jsonb((web_push_subscription->>'endpoint') || '/' || n))
       from devices, generate_series(1, $2::int) n where user_id = $1::uuid`,
      [user.id, count],
    ),
  );
  return user;
}

/** Moves the endpoints of the user to a service that accepts connections and never answers. */
async function silence(user: User): Promise<() => Promise<void>> {
  const { port, close } = await listen(createServer());
  await app.database.query(
    testSql(
      `update devices set web_push_subscription = jsonb_set(web_push_subscription, '{endpoint}',
         to_jsonb(regexp_replace(web_push_subscription->>'endpoint', '^http://[^/]*', 'http://127.0.0.1:' || $2::text))) where user_id = $1`,
      [user.id, String(port)],
    ),
  );
  return close;
}

async function publishMany({ id }: User, count: number): Promise<void> {
  const body = Array.from({ length: count }, (_, at) => ({
    ...{ user_id: id, notification_type: 'payment', description: `No ${at}` },
  }));
  const { status } = await app.api('POST', '/admin/v1/notifications', { bearer: app.adminKey, body });
  expect(status).toBe(201);
}

test('endpoints that never answer do not delay the push to another user', async () => {
  const user = await userWithEndpoints(99);
  const stop = await silence(user);
  for (let at = 0; at < 5; at += 1) await publish(user);
  await eventually('the calls to hang', async () => {
    const [row] = await app.database.query<{ pushes: number }>(
      testSql('select count(*)::int as pushes from push_deliveries where user_id = $1', [user.id]),
    );
    return (row?.pushes ?? 0) >= 200 ? true : undefined;
  });
  const other = await newBrowser();
  await publish(other.user);
  // Each call to a silent endpoint takes longer than this waits. The push would not arrive if all workers waited for them.
  await eventually('the push to the other user', async () =>
    arrivals(web, other.path).length === 1 ? true : undefined,
  );
  await stop();
});

test('a user with two hundred notifications on many devices does not delay the codes of others', async () => {
  const user = await userWithEndpoints(99);
  const stop = await silence(user);
  await publishMany(user, 200);
  const phone = newPhone();
  await createUser(app, { phone, password: undefined });
  const { body: code } = await app.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(phone) });
  // As in the test above, the calls do not end meanwhile.
  await messageOf(app, code.id);
  // The rest waits where it costs nothing.
  const [row] = await app.database.query<{ jobs: number; deferred: number }>(
    testSql(
      `select (select count(*)::int from graphile_worker._private_jobs) as jobs,
         (select coalesce(sum(size), 0)::int from push_fan_outs where due_at is not null) as deferred`,
    ),
  );
  expect(row?.jobs).toBeLessThanOrEqual(1500);
  expect(row?.deferred).toBeGreaterThan(0);
  await stop();
});

test('a device whose service never answers has few waiting pushes, and further ones are dropped', async () => {
  const patientApp = app;
  // One whose calls end after ten seconds: only then is the service known to be silent.
  app = await startApp(wholeQueue);
  onTestFinished(async () => {
    await app.close();
    app = patientApp;
  });
  const { user } = await newBrowser();
  const stop = await silence(user);
  await publishMany(user, 30);
  const [pushes] = await eventually('pushes to be dropped', async () => {
    const rows = await app.database.query<{ waiting: number; dropped: number }>(
      testSql(
        `select count(*) filter (where state = 'queued')::int as waiting,
                count(*) filter (where reason = 'not_answering')::int as dropped from push_deliveries where user_id = $1`,
        [user.id],
      ),
    );
    return (rows[0]?.dropped ?? 0) >= 10 ? rows : undefined;
  });
  expect((pushes?.waiting ?? 0) + (pushes?.dropped ?? 0)).toBe(30);
  expect(pushes?.waiting).toBeLessThanOrEqual(20);
  // Up to four of the user's pushes are counted at a time, so three may be dropped although there is room after the first.
  expect(pushes?.waiting).toBeGreaterThanOrEqual(17);
  await stop();
});
