import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DeliveryTrace } from '../../src/contract/push.js';
import { createAdministration } from '../support/administration.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { startFakeGateway } from '../support/mail-gateway.js';
import { type MailServer, startMailServer } from '../support/mail-server.js';
import { testSql } from '../support/sql.js';
import { createUser, newEmail } from '../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
const shared = { MAIL_FROM: 'no-reply@example.org', PUBLIC_URL: 'http://localhost:8080', APP_NAME: 'Splitter' };
let mails: MailServer;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let bySmtp: TestApp;
let byGateway: TestApp;
beforeAll(async () => {
  [mails, gateway] = [await startMailServer(), await startFakeGateway()];
  bySmtp = await startTestApp({
    ...{ ...shared, MAIL_PROVIDER: 'smtp', SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=none` },
  });
  byGateway = await startTestApp({
    ...{ ...shared, MAIL_PROVIDER: 'webhook', MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: secret },
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  });
});
afterAll(async () => {
  await Promise.all([bySmtp.close(), byGateway.close()]);
  await Promise.all([mails.close(), gateway.close()]);
});
let app: TestApp;
beforeEach(() => {
  app = bySmtp;
});
const { admin } = createAdministration(() => app);

async function publish(email: string, content: object) {
  const user = await createUser(app, { email });
  const body = { user_id: user.id, notification_type: 'payment', category: 'bill', description: 'x', ...content };
  const { status, body: published, text } = await admin<{ id: string }>('POST', '/notifications', body);
  expect(status, text).toBe(201);
  return published.id;
}
const untilSent = (id: string) =>
  eventually('the mail to be sent', async () => {
    const [mail] = (await admin<DeliveryTrace>('GET', `/notifications/${id}/deliveries`)).body.email;
    return mail?.state === 'sent' ? mail : undefined;
  });

/** Ends a header, a body and an SMTP command, breaks out of attributes and elements, and looks like a template and a boundary. */
const attack =
  'Hi\r\nBcc: evil@example.org\r\n\r\n.\r\nRCPT TO:<evil@example.org>\r\n\u2028\u0085--_boundary\n"\' onload=alert(1) x="</p><script>alert(1)</script>{{data.secret}}{{{description}}}';

test.each([
  [
    'a template',
    {
      templates: {
        'email.en': {
          subject: '{{actor}} {{description}} {{data.note}}',
          text: '{{actor}}\n{{description}}\n{{data.note}}',
          html: '<html><body><p title={{data.note}}>{{actor}}</p><p title="{{actor}}">{{description}}</p></body></html>',
        },
      },
    },
  ],
  ['no template', {}],
])('with %s, no field of a notification adds a header, a recipient or an element', async (_case, category) => {
  await admin('PUT', '/categories/bill', { ...category, steps: [{ channel: 'email' }] });
  const email = newEmail();
  const known = mails.requestedRecipients.length;
  const secretData = { note: attack, secret: 'the secret of the data' };
  await untilSent(await publish(email, { actor: attack, description: attack, data: secretData }));
  expect(mails.requestedRecipients.slice(known)).toEqual([email]);
  const mail = mails.received.at(-1);
  expect(mail?.to).toEqual([email]);
  const names = [
    'auto-submitted',
    'content-type',
    'date',
    'from',
    'list-id',
    'list-unsubscribe',
    'list-unsubscribe-post',
    'message-id',
  ];
  expect([...(mail?.headers.keys() ?? [])].sort()).toEqual([...names, 'mime-version', 'subject', 'to'].sort());
  expect(mail?.headers.get('subject')).not.toMatch(/[\p{Cc}\u2028]/u);
  expect(mail?.text).toContain('Bcc: evil@example.org');
  expect(mail?.html).not.toContain('<script');
  // Within the brackets of an element.
  expect(mail?.html.match(/<[^>]*>/g)?.join('')).not.toMatch(/onload\s*=/);
  expect(`${mail?.headers.get('subject')}${mail?.text}${mail?.html}`).not.toContain('the secret of the data');
});

test('the name of a user adds no header either', async () => {
  await admin('PUT', '/categories/bill', {
    steps: [{ channel: 'email', after: '1h' }],
    templates: { 'email.en': { subject: '{{user.name}}', text: '{{user.name}}' } },
  });
  const email = newEmail();
  const id = await publish(email, {});
  await app.database.query(testSql('update users set name = $2 where email = $1', [email, attack]));
  await app.database.query(testSql('update pending_steps set due_at = db_now()'));
  await untilSent(id);
  const mail = mails.received.at(-1);
  expect([mail?.to, mail?.headers.has('bcc')]).toEqual([[email], false]);
  expect(mail?.headers.get('subject')).not.toMatch(/[\p{Cc}\u2028]/u);
});

test.each([
  ['NUL', '{"id": "a\\u0000b"}'],
  ['half a surrogate pair', '{"id": "a\\ud800"}'],
  ['line breaks', '{"id": "a\\r\\nX-Evil: 1"}'],
  ['10,000 characters', JSON.stringify({ id: 'x'.repeat(10_000) })],
  ['no text', '{"id": {"toString": 1}}'],
  ['rubbish', '<html>\u0000'],
])('a provider that answers with an id of %s has accepted the mail, once', async (_case, answer) => {
  app = byGateway;
  await admin('PUT', '/categories/bill', { steps: [{ channel: 'email' }] });
  gateway.answer = () => answer;
  const email = newEmail();
  expect(await untilSent(await publish(email, {}))).toMatchObject({ attempts: 1, error: null });
  expect(gateway.received.filter(({ to }) => to === email)).toHaveLength(1);
});
