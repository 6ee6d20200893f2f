import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook } from '../../../src/contract/webhooks.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { stepClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';
import { createUser } from '../../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';
import { type Environment, runCommand, startCommand } from '../command.js';

let postern: TestApp;
let receiver: WebhookReceiver;
let env: Environment;
beforeAll(async () => {
  const key = { SECRET_KEY: 'k'.repeat(64) };
  [postern, receiver] = await Promise.all([
    startTestApp({ ...key, ALLOW_PRIVATE_NETWORK_TARGETS: 'true', METRICS_PORT: '0' }),
    startWebhookReceiver(),
  ]);
  env = { ...key, ...postern.databaseEnv, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' };
});
afterAll(async () => {
  await postern.close();
  await receiver.close();
});

const metric = async (outcome: string) => {
  const text = await (await fetch(postern.metricsUrl ?? '')).text();
  return Number(new RegExp(`postern_webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
};

test('a webhook is created, listed, tested, followed and replayed on the command line', async () => {
  expect((await runCommand(['webhooks', 'list'], env)).stdout).toBe('There are no webhooks.\n');
  const url = `${receiver.url}/cli`;
  const created = await runCommand(
    ['webhooks', 'create', '--url', url, '--events', 'user.*,login.locked', '--json'],
    env,
  );
  expect(created.code).toBe(0);
  const webhook = JSON.parse(created.stdout) as IssuedWebhook;
  expect(webhook).toMatchObject({ url, events: ['user.*', 'login.locked'], secret: expect.stringMatching(/^whsec_/) });
  const listed = await runCommand(['webhooks', 'list'], env);
  expect(listed.stdout).toContain(webhook.id);
  expect(listed.stdout).not.toContain('whsec_');

  expect(await runCommand(['webhooks', 'test', webhook.id], env)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('accepted'),
  });
  receiver.answer = () => 500;
  expect(await runCommand(['webhooks', 'test', webhook.id, '--type', 'login.locked'], env)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('answered with the status 500'),
  });
  receiver.answer = () => ({ status: 200, body: 'first line\nsecond\u001b[2J\u009b2J\u202e line' });
  expect((await runCommand(['webhooks', 'test', webhook.id], env)).stdout).toContain(
    'answer    first line second\\u001b[2J\\u009b2J\\u202e line\n',
  );
  receiver.answer = () => 204;

  const tail = startCommand(['webhooks', 'tail'], env);
  // Nothing shows that the command has started to wait for events. So the test creates users until the command prints an event.
  await eventually('a printed event', async () => {
    await createUser(postern);
    return tail.printed().includes('user.created') ? true : undefined;
  });
  tail.signal('SIGINT');
  expect((await tail.done).code).toBe(0);
  expect(tail.listeners()).toBe(0);

  const before = receiver.received.length;
  const replayed = await runCommand(['webhooks', 'replay', webhook.id, '--from', '2020-01-01T00:00:00Z'], env);
  expect(replayed.stdout).toMatch(/^The running service replays \d+ events\.\n$/);
  await eventually('the repetition', async () => (receiver.received.length > before ? true : undefined));
  await eventually('the metric', async () => ((await metric('delivered')) > 0 ? true : undefined));
});

test('errors name what is wrong', async () => {
  const unknown = '00000000-0000-0000-0000-000000000001';
  expect(await runCommand(['webhooks', 'test', unknown], env)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no such webhook'),
  });
  expect((await runCommand(['webhooks', 'test', 'x'], env)).code).not.toBe(0);
  const wrong = ['webhooks', 'create', '--url', 'ftp://example.com', '--events', 'user.*'];
  expect((await runCommand(wrong, env)).code).toBe(1);
});

test('an endpoint without success for five days is disabled, and the doctor says so', async () => {
  const url = `${receiver.url}/dead`;
  const { stdout } = await runCommand(['webhooks', 'create', '--url', url, '--events', 'user.*', '--json'], env);
  const { id } = JSON.parse(stdout) as IssuedWebhook;
  receiver.answer = ({ path }) => (path === '/dead' ? 500 : 204);
  await createUser(postern);
  const stateOf = async () => {
    const [row] = await postern.database.query<{ enabled: boolean; failing: boolean }>(
      testSql(
        'select enabled, failing_since is not null as failing from webhook_endpoints left join webhook_health on id = endpoint_id where id = $1',
        [id],
      ),
    );
    return row;
  };
  await eventually('a failure', async () => ((await stateOf())?.failing === true ? true : undefined));
  await eventually('a failed attempt in the metric', async () => ((await metric('failed')) > 0 ? true : undefined));
  expect((await runCommand(['doctor'], env)).stdout).toMatch(/webhooks.*fails since/);
  await stepClock(postern.database, '6 days');
  await createUser(postern);
  await eventually('the disabling', async () => ((await stateOf())?.enabled === false ? true : undefined));
  expect((await runCommand(['doctor'], env)).stdout).toMatch(/webhooks.*is disabled: failing/);
  expect((await runCommand(['webhooks', 'list'], env)).stdout).toContain('disabled: failing');
});
