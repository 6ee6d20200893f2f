import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Channel } from '../../../src/contract/channel.js';
import type { DeliveryTrace } from '../../../src/contract/push.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { startFakeGateway } from '../../support/mail-gateway.js';
import { type MailServer, startMailServer } from '../../support/mail-server.js';
import { testSql } from '../../support/sql.js';
import { createUser, messageOf, newEmail, newPhone, smsLogin } from '../../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;
let mails: MailServer;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let postern: TestApp;
beforeAll(async () => {
  [mails, gateway] = [await startMailServer(), await startFakeGateway()];
  postern = await startTestApp({
    ...{
      MAIL_PROVIDER: 'smtp',
      MAIL_FROM: 'no-reply@example.org',
      SMTP_URL: `smtp://127.0.0.1:${mails.port}?tls=none`,
    },
    ...{ SMS_PROVIDER: 'webhook', SMS_WEBHOOK_URL: gateway.url, SMS_WEBHOOK_SECRET: secret },
    ...{ SMS_RATE: '1/1h', SMS_LIMIT_PER_PREFIX: '1', PUBLIC_URL: 'http://localhost:8080', PIN_POLICY: 'off' },
    ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  });
  for (const channel of ['email', 'sms']) {
    expect((await admin('PUT', `/categories/by-${channel}`, { steps: [{ channel }] })).status).toBe(201);
  }
});
afterAll(async () => {
  await postern.close();
  await Promise.all([mails.close(), gateway.close()]);
});

const { admin } = createAdministration(() => postern);
async function publish(category: string, address: { email: string } | { phone: string }) {
  const user = await createUser(postern, address);
  const body = { user_id: user.id, notification_type: 'payment', category, description: 'Ada paid you' };
  return (await admin<{ id: string }>('POST', '/notifications', body)).body.id;
}
const stateOf = async (id: string) => {
  const { body } = await admin<DeliveryTrace>('GET', `/notifications/${id}/deliveries`);
  return [...body.email, ...body.sms][0]?.state;
};
const untilState = (id: string, wanted: string) =>
  eventually(`the message to be ${wanted}`, async () => ((await stateOf(id)) === wanted ? true : undefined));
const stored = () =>
  postern.database.query<{ mails: number; bounces: number }>(
    testSql('select count(*)::int as mails, count(hard_bounced_at)::int as bounces from mail_deliveries'),
  );

test('a mailbox that the mail server does not know counts for the pause of mail, among the mails that it accepts', async () => {
  for (let count = 0; count < 2; count += 1) await untilState(await publish('by-email', { email: newEmail() }), 'sent');
  expect(await stored()).toEqual([{ mails: 2, bounces: 0 }]);
  const unknown = { status: 550, at: 'RCPT', text: '5.1.1 no such user' } as const;
  for (let count = 1; count <= 11; count += 1) {
    expect(postern.services.channels.isPaused('email')).toBe(false);
    mails.refuse(unknown);
    await untilState(await publish('by-email', { email: newEmail() }), 'bounced');
    expect(await stored()).toEqual([{ mails: 2 + count, bounces: count }]);
  }
  await eventually('mail to pause', async () => postern.services.channels.isPaused('email') || undefined);
  const { body } = await admin<Channel[]>('GET', '/channels');
  expect(body.find(({ name }) => name === 'email')).toMatchObject({ paused: true, reason: 'hard_bounces' });
});

test('a number whose prefix has no room uses up nothing of SMS_RATE', async () => {
  const [full, free] = ['+12025550', '+12125550'].map((prefix) => (last: number) => `${prefix}${100 + last}`);
  const user = await createUser(postern, { phone: full?.(1) ?? newPhone() });
  const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  await messageOf(postern, body.id);
  const waiting = await publish('by-sms', { phone: full?.(2) ?? newPhone() });
  await eventually('the SMS to be put off', async () => {
    const [job] = await postern.database.query(
      testSql(`select 1 as found from graphile_worker._private_jobs where run_at > now() + interval '1 minute'`),
    );
    return job;
  });
  await untilState(await publish('by-sms', { phone: free?.(1) ?? newPhone() }), 'sent');
  expect(await stateOf(waiting)).toBe('queued');
});
