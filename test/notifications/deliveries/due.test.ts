import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { DeliveryTrace } from '../../../src/contract/push.js';
import { createAdministration } from '../../support/administration.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { stepClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { startFakeGateway } from '../../support/mail-gateway.js';
import { createPushSteps } from '../../support/push.js';
import { type FcmFake, startFcm } from '../../support/push-fakes/fcm.js';
import { testSql } from '../../support/sql.js';
import { createUser, newEmail } from '../../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

let fcm: FcmFake;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  gateway = await startFakeGateway();
  postern = await startTestApp({
    ...fcm.env,
    ...{ MAIL_PROVIDER: 'webhook', MAIL_FROM: 'no-reply@example.org', LOGIN_LIMIT_PER_ADDRESS: '0' },
    ...{ MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: secret, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
  });
  other = await postern.another();
});
afterAll(async () => {
  await other?.close();
  await postern?.close();
  await Promise.all([fcm.close(), gateway.close()]);
});
afterEach(() => stepClock(postern.database, '0'));

const { admin } = createAdministration(() => postern);
const { newPhone, pushInState } = createPushSteps(() => postern);

const putCategory = async (name: string, body: object) => {
  const { status, text } = await admin('PUT', `/categories/${name}`, body);
  expect([200, 201], text).toContain(status);
};
/** "Push, then mail if it is not read in an hour." */
const pushThenMail = { steps: [{ channel: 'push' }, { channel: 'email', after: '1h', if: 'unread' }] };

async function publish(userIds: readonly string[], more: object = {}): Promise<Notification[]> {
  const { status, body, text } = await admin<Notification | Notification[]>('POST', '/notifications', {
    ...(userIds.length === 1 ? { user_id: userIds[0] } : { user_ids: userIds }),
    ...{ notification_type: 'payment', description: 'Ada paid you 12.50', ...more },
  });
  expect(status, text).toBe(201);
  return Array.isArray(body) ? body : [body];
}

const traceOf = async (id: string) => (await admin<DeliveryTrace>('GET', `/notifications/${id}/deliveries`)).body;
const mailOf = async (id: string) => (await traceOf(id)).email.map(({ state, reason }) => `${state}/${reason}`)[0];
const untilMail = (id: string, wanted: string) =>
  eventually(`the mail of ${id} to be ${wanted}`, async () => ((await mailOf(id)) === wanted ? true : undefined));
const mailsTo = (to: string | null | undefined) => gateway.received.filter((mail) => mail.to === to);

const newPerson = async () => {
  const user = await createUser(postern, { email: newEmail() });
  return { ...user, address: user.email ?? '' };
};

describe('push, then mail if it is not read in an hour', () => {
  test('mails after an hour, once, what the user has not read', async () => {
    await putCategory('billing', pushThenMail);
    const phone = await newPhone('android', await newPerson());
    const [{ id } = { id: '' }] = await publish([phone.user.id], { category: 'billing', actor: 'Ada' });
    await pushInState(id, 'sent');
    expect(await mailOf(id)).toBe('none/not_due');
    await stepClock(postern.database, '61 minutes');
    await untilMail(id, 'sent/accepted');
    expect(mailsTo(phone.user.email)).toEqual([
      expect.objectContaining({
        type: 'email.notification',
        subject: 'Ada: Ada paid you 12.50',
        text: 'Ada\nAda paid you 12.50',
        notification_id: id,
        code: null,
      }),
    ]);
  });

  test('does not mail what the user has read: 14 of 20 recipients have read it', async () => {
    await putCategory('news', pushThenMail);
    const people = await Promise.all(Array.from({ length: 20 }, newPerson));
    const notifications = await publish(
      people.map(({ id }) => id),
      { category: 'news' },
    );
    const read = notifications.slice(0, 14);
    await postern.database.query(
      testSql(
        `insert into markers (user_id, last_read_sequence, updated_at)
         select user_id, sequence, now() from unnest($1::uuid[], $2::bigint[]) as read (user_id, sequence)`,
        [read.map(({ user_id }) => user_id), read.map(({ sequence }) => sequence)],
      ),
    );
    await stepClock(postern.database, '61 minutes');
    for (const { id } of notifications.slice(14)) await untilMail(id, 'sent/accepted');
    for (const { id } of read) expect(await mailOf(id)).toBe('skipped/read');
    const counted = people.map(({ address }) => mailsTo(address).length);
    expect(counted.toSorted()).toEqual([...Array(14).fill(0), ...Array(6).fill(1)]);
    const rows = await postern.database.query<{ size: number }>(
      testSql(
        'select cardinality(notification_ids) as size from step_refusals where notification_ids @> array[$1::uuid]',
        [read[0]?.id],
      ),
    );
    // One row for all of them.
    expect(rows).toEqual([{ size: 14 }]);
  });
});
