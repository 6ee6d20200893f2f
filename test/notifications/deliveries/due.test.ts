import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
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
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { createUser, newEmail, newPhone as newPhoneNumber } from '../../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

let fcm: FcmFake;
let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  fcm = await startFcm();
  gateway = await startFakeGateway();
  postern = await startTestApp({
    PUBLIC_URL: 'http://localhost:8080',
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

/** Reports an event as the gateway does. */
async function report(event: object): Promise<void> {
  const [body, id, at] = [JSON.stringify(event), randomUUID(), new Date()];
  const { status } = await fetch(`${postern.url}/v1/mail-events/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(id, at, body),
    },
  });
  expect(status).toBe(204);
}

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

describe('a mail at once', () => {
  const mailed = async () => {
    await putCategory('receipts', { steps: [{ channel: 'email', if: 'unread' }] });
    const phone = await newPhone('android', await newPerson());
    const [{ id, sequence } = { id: '', sequence: 0 }] = await publish([phone.user.id], { category: 'receipts' });
    return { ...phone, id, sequence, address: phone.user.email ?? '' };
  };

  test('and the user who reads it meanwhile: either it goes and says so, or it does not', async () => {
    for (let round = 0; round < 4 * raceRounds; round += 1) {
      const { id, sequence, session, address } = await mailed();
      const read = postern.api('PUT', '/v1/notifications/marker', {
        bearer: session,
        body: { last_read_sequence: sequence },
      });
      const state = await eventually('the end of the mail', async () => {
        const now = await mailOf(id);
        return now === undefined || /^(none|queued)/.test(now) ? undefined : now;
      });
      expect((await read).status).toBe(200);
      expect([state, mailsTo(address).length]).toEqual(
        state === 'sent/accepted' ? [state, 1] : [expect.stringMatching(/^(skipped|dropped)\/read$/), 0],
      );
    }
  });

  test('changes its state with the reports of the provider, and a complaint stops further mails', async () => {
    const { id, address, user } = await mailed();
    await untilMail(id, 'sent/accepted');
    const [{ id: mailId } = { id: '' }] = mailsTo(address);
    await report({ id: `gateway-${mailId}`, email: address, type: 'mail.delivered' });
    expect(await mailOf(id)).toBe('delivered/delivered');
    await report({ id: `gateway-${mailId}`, email: address, type: 'mail.complained' });
    // A late report changes nothing.
    await report({ id: `gateway-${mailId}`, email: address, type: 'mail.hard_bounced' });
    expect(await mailOf(id)).toBe('complained/complaint');
    const [{ id: next } = { id: '' }] = await publish([user.id], { category: 'receipts' });
    await untilMail(next, 'skipped/suppressed');
    expect(mailsTo(address)).toHaveLength(1);
  });

  test('that the provider accepts while the user is deleted leaves nothing behind', async () => {
    await putCategory('receipts', { steps: [{ channel: 'email' }] });
    const person = await newPerson();
    gateway.beforeAnswer = async ({ to }) => {
      if (to === person.address) await admin('DELETE', `/users/${person.id}`);
    };
    await publish([person.id], { category: 'receipts' });
    const left = `select (select count(*) from step_deliveries where user_id = $1)
                       + (select count(*) from mail_deliveries where user_id = $1) as left`;
    await eventually('the rows of the deleted user to go', async () => {
      const [row] = await postern.database.query<{ left: number }>(testSql(left, [person.id]));
      return mailsTo(person.address).length === 1 && Number(row?.left) === 0 ? true : undefined;
    });
    gateway.beforeAnswer = undefined;
  });
});

describe('an SMS', () => {
  test('goes to the proven number, with the actor and the description', async () => {
    await putCategory('alerts', { steps: [{ channel: 'sms' }] });
    const user = await createUser(postern, { phone: newPhoneNumber() });
    const [{ id } = { id: '' }] = await publish([user.id], { category: 'alerts', actor: 'Ada' });
    await eventually('the SMS to be sent', async () => {
      const { sms } = await traceOf(id);
      return sms[0]?.state === 'sent' ? true : undefined;
    });
    expect(postern.printed.concat(other.printed).join('\n')).toContain('Ada paid you 12.50');
  });
});
