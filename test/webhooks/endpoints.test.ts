import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedWebhook, Webhook } from '../../src/contract/webhooks.js';
import { createOperatorMails } from '../../src/messages/operator-mails.js';
import { disableFailing } from '../../src/webhooks/endpoints.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { type MailServer, startMailServer } from '../support/mail-server.js';
import { activateRoleOf } from '../support/operators.js';
import { testSql } from '../support/sql.js';
import { createUser } from '../support/users.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

let postern: TestApp;
let second: TestApp;
let smtp: MailServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [smtp, receiver] = await Promise.all([startMailServer(), startWebhookReceiver()]);
  postern = await startTestApp({
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    APP_NAME: 'Example',
    MAIL_FROM: 'postern@example.com',
    NOTICES: 'none',
    PUBLIC_URL: 'https://login.example.com',
    SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
  });
  second = await postern.another();
});
afterAll(async () => {
  await second.close();
  await postern.close();
  await Promise.all([receiver.close(), smtp.close()]);
});

const consoleUrl = () => 'https://login.example.com/console';
const { admin } = createAdministration(() => postern);
const rows = <T extends object>(text: string, values: unknown[] = []) =>
  postern.database.query<T>(testSql(text, values));

/** The URL contains secrets, as some URLs of webhooks do. */
const createWebhook = async () => {
  const webhook = { url: `${receiver.url}/hidden-path?token=hidden`, events: ['user.created'] };
  return (await admin<IssuedWebhook>('POST', '/webhooks', webhook)).body;
};

async function createOperator(email: string | undefined, fields: object = {}) {
  const user = await createUser(postern, { role: 'operator', ...(email !== undefined && { email }), ...fields });
  await activateRoleOf(postern, user.id);
  return user;
}

const disabled = ({ id }: { id: string }) =>
  eventually('the disabling', async () => {
    const { body } = await admin<Webhook>('GET', `/webhooks/${id}`);
    return body.enabled ? undefined : body;
  });

/** The mails about a webhook, once all are sent. The transaction that disables it has written them. */
const mailsAbout = ({ id }: { id: string }) =>
  eventually('no queued mail', async () => {
    const mails = await rows<{ kind: string; recipient: string; state: string }>(
      `select kind, recipient, state from outbox where params->>'id' = $1 order by recipient`,
      [id],
    );
    return mails.some(({ state }) => state === 'queued') ? undefined : mails;
  });
const receivedAbout = ({ id }: { id: string }) => smtp.received.filter(({ text }) => text.includes(id));
const host = () => new URL(receiver.url).host;

test('without an operator with a mail address, no mail is written', async () => {
  await createOperator(undefined);
  receiver.answer = () => 410;
  const webhook = await createWebhook();
  await createUser(postern);
  expect(await disabled(webhook)).toMatchObject({ disabled_reason: 'gone' });
  expect(await mailsAbout(webhook)).toEqual([]);
});

test('a webhook that answers 410 to two instances causes one mail to each active operator', async () => {
  await createOperator('ada@example.com');
  await createOperator('eva@example.com', { locale: 'es-MX' });
  const [locked, deactivated, inactive] = [
    await createOperator('locked@example.com'),
    await createOperator('deactivated@example.com'),
    await createUser(postern, { role: 'operator', email: 'inactive@example.com' }),
  ];
  const support = await createUser(postern, { role: 'support', email: 'support@example.com' });
  await activateRoleOf(postern, support.id);
  await rows(`update users set lock_kind = 'permanent' where id = $1`, [locked.id]);
  await rows(`update users set status = 'deactivated' where id = $1`, [deactivated.id]);
  await rows('update users set role_active_since = null where id = $1', [inactive.id]);

  receiver.answer = () => 410;
  const webhook = await createWebhook();
  await Promise.all([postern, second, postern, second, postern, second].map((app) => createUser(app)));
  expect(await disabled(webhook)).toMatchObject({ disabled_reason: 'gone' });
  expect(await mailsAbout(webhook)).toEqual([
    { kind: 'email.webhook_gone', recipient: 'ada@example.com', state: 'sent' },
    { kind: 'email.webhook_gone', recipient: 'eva@example.com', state: 'sent' },
  ]);

  const mails = receivedAbout(webhook);
  const [english, spanish] = ['ada@example.com', 'eva@example.com'].map((to) =>
    mails.find((mail) => mail.to[0] === to),
  );
  expect(mails).toHaveLength(2);
  expect(english?.headers.get('subject')).toBe(`Example: the webhook to ${host()} was disabled`);
  expect(english?.text).toContain('its server answered with the status 410');
  expect(spanish?.headers.get('subject')).toBe(`Example: se ha desactivado el webhook de ${host()}`);
  expect(spanish?.text).toContain('su servidor respondió con el estado 410');
  for (const mail of [english, spanish]) {
    expect(mail?.text).toContain(`https://login.example.com/console/webhooks/${webhook.id}`);
    expect(mail?.text).toContain(`PATCH /admin/v1/webhooks/${webhook.id}`);
    expect(`${mail?.headers.get('subject')} ${mail?.text}`).not.toMatch(/hidden|password|\{/);
  }
});

test('a webhook without a success for five days causes a mail each time that it is disabled', async () => {
  receiver.answer = () => 500;
  const webhook = await createWebhook();
  const fail = async () => {
    await rows(
      `insert into webhook_health (endpoint_id, failing_since) values ($1, db_now() - interval '6 days')
       on conflict (endpoint_id) do update set failing_since = excluded.failing_since`,
      [webhook.id],
    );
    await createUser(postern);
    expect(await disabled(webhook)).toMatchObject({ disabled_reason: 'failing' });
    return mailsAbout(webhook);
  };
  const first = await fail();
  expect(first.map(({ kind, recipient }) => `${kind} ${recipient}`)).toEqual([
    'email.webhook_failing ada@example.com',
    'email.webhook_failing eva@example.com',
  ]);
  expect(receivedAbout(webhook)[0]?.text).toMatch(
    /has accepted nothing for five days|no ha aceptado nada en cinco días/,
  );
  await admin('PATCH', `/webhooks/${webhook.id}`, { enabled: true });
  expect(await fail()).toHaveLength(4);
});

test('of parallel transactions that disable a webhook, one writes the mails', async () => {
  const webhook = await createWebhook();
  const { database } = postern;
  const mails = createOperatorMails({ isConfigured: true, consoleUrl });
  const all = await Promise.all(
    Array.from({ length: 4 }, () =>
      database.transaction((tx) => disableFailing(tx, mails, { id: webhook.id, reason: 'gone' })),
    ),
  );
  expect(all.filter((isDisabled) => isDisabled)).toHaveLength(1);
  expect(await mailsAbout(webhook)).toHaveLength(2);
});

test('without a provider of mail, nothing is written', async () => {
  const webhook = await createWebhook();
  const { database } = postern;
  const mails = createOperatorMails({ isConfigured: false, consoleUrl });
  const disable = () => database.transaction((tx) => disableFailing(tx, mails, { id: webhook.id, reason: 'gone' }));
  expect(await disable()).toBe(true);
  expect(await mailsAbout(webhook)).toEqual([]);
});
