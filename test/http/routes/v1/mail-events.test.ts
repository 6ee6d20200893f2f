import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, OutboxMessage } from '../../../../src/contract/administration.js';
import type { System } from '../../../../src/contract/operation/system.js';
import type { Suppression } from '../../../../src/contract/suppression.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { startFakeGateway } from '../../../support/mail-gateway.js';
import { scrape } from '../../../support/metrics.js';
import { raceRounds } from '../../../support/rounds.js';
import { testSql } from '../../../support/sql.js';
import { createUser, emailLogin, messageOf, newEmail } from '../../../support/users.js';

const secret = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

let gateway: Awaited<ReturnType<typeof startFakeGateway>>;
let postern: TestApp;
beforeAll(async () => {
  gateway = await startFakeGateway();
  postern = await startTestApp({
    ...{ MAIL_PROVIDER: 'webhook', MAIL_FROM: 'no-reply@example.org', PIN_POLICY: 'off' },
    ...{ MAIL_WEBHOOK_URL: gateway.url, MAIL_WEBHOOK_SECRET: secret, ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
    ...{ METRICS_PORT: '0', CODE_LIMIT_PER_ADDRESS: '0' },
  });
});
afterAll(async () => {
  await postern.close();
  await gateway.close();
});

const { admin } = createAdministration(() => postern);

/** Reports an event as the gateway does. @returns the status */
async function report(event: object, { path = 'webhook', at = new Date(), key = secret } = {}): Promise<number> {
  const body = JSON.stringify(event);
  const eventId = randomUUID();
  const response = await fetch(`${postern.url}/v1/mail-events/${path}`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': eventId,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(key).sign(eventId, at, body),
    },
  });
  return response.status;
}

/** Sends a code by mail. */
async function sendMail() {
  const user = await createUser(postern, { email: newEmail() });
  const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(user.email) });
  const message = await messageOf(postern, body.id);
  return { user, email: user.email ?? '', message, id: `gateway-${message.id}` };
}

const stateOf = async (id: string) =>
  (await admin<OutboxMessage[]>('GET', `/outbox?filter=id:${id}`)).body.map(({ state, last_error }) => [
    state,
    last_error,
  ])[0];
const reasonOf = async (email: string) => {
  const { status, body } = await admin<Suppression>('POST', '/suppressions/find', { email });
  return status === 404 ? undefined : body.reason;
};
const counted = async (outcome: string) => {
  const metrics = await scrape(postern.metricsUrl ?? '');
  return metrics.value('postern_mail_events_total', { provider: 'webhook', outcome });
};
const eventsOf = async (id: string) =>
  (await admin<Event[]>('GET', `/users/${id}/activity?limit=100`)).body.map(({ type }) => type);

describe('a report about a mail', () => {
  test('needs a provider with a secret, its signature, and to be new', async () => {
    const event = { type: 'mail.complained', id: 'x', email: 'ada@example.com' };
    expect(await report(event, { path: 'resend' })).toBe(404);
    expect(await report(event, { path: 'toString' })).toBe(404);
    expect(await report(event, { key: `whsec_${Buffer.from('f'.repeat(32)).toString('base64')}` })).toBe(401);
    expect(await report(event, { at: new Date(Date.now() - 360_000) })).toBe(401);
    expect(await report(event)).toBe(204);
  });

  test('of a delivery and of a bounce changes the state of the message, in any order, and each counts once', async () => {
    for (const types of [
      ['mail.delivered', 'mail.hard_bounced'],
      ['mail.hard_bounced', 'mail.delivered'],
    ]) {
      const { user, email, message, id } = await sendMail();
      for (const type of types) {
        expect(await report({ type, id, email: email.toUpperCase() })).toBe(204);
        expect(await report({ type, id, email })).toBe(204);
      }
      expect(await stateOf(message.id)).toEqual(['undelivered', 'webhook: the mailbox does not exist']);
      expect(await reasonOf(email)).toBe('hard_bounce');
      const events = await eventsOf(user.id);
      expect(events.filter((type) => type === 'message.undelivered')).toHaveLength(1);
      expect(events.filter((type) => type === 'suppression.created')).toHaveLength(1);
    }
    const { email, message, id } = await sendMail();
    await report({ type: 'mail.delivered', id, email });
    expect(await stateOf(message.id)).toEqual(['delivered', null]);
  });

  test('that is repeated does not undo what an operator did', async () => {
    const { email, id } = await sendMail();
    await report({ type: 'mail.complained', id, email });
    expect(await reasonOf(email)).toBe('complaint');
    const { body } = await admin<Suppression>('POST', '/suppressions/find', { email });
    await admin('DELETE', `/suppressions/${body.id}`);
    await Promise.all(Array.from({ length: 5 }, () => report({ type: 'mail.complained', id, email })));
    expect(await reasonOf(email)).toBeUndefined();
  });

  test('counts also if it comes before the answer of the provider', async () => {
    const email = newEmail();
    let reported: Promise<number[]> | undefined;
    gateway.beforeAnswer = async (mail) => {
      const event = { id: `gateway-${mail.id}`, email };
      reported = Promise.all(['mail.delivered', 'mail.hard_bounced'].map((type) => report({ type, ...event })));
      await reported;
    };
    await createUser(postern, { email });
    const { body } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: emailLogin(email) });
    const { id } = await messageOf(postern, body.id, ['undelivered']);
    gateway.beforeAnswer = undefined;
    expect(await reported).toEqual([204, 204]);
    expect(await stateOf(id)).toEqual(['undelivered', 'webhook: the mailbox does not exist']);
    expect(await reasonOf(email)).toBe('hard_bounce');
    expect(
      await postern.database.query(
        testSql('select from early_mail_reports where provider_reference = $1', [`gateway-${id}`]),
      ),
    ).toEqual([]);
  });

  test('about another address, another mail or another provider is ignored and counted', async () => {
    const { email, message, id } = await sendMail();
    const other = await sendMail();
    const [ignored, bounced] = [await counted('ignored'), await counted('hard_bounce')];
    for (const event of [
      { id, email: other.email },
      { id: other.id, email },
      { id: `${id} `, email },
      { id: '', email },
      { id: 'x'.repeat(10_000), email },
      { id, email: 'no address' },
      { id, email: `${email}\r\nx` },
    ]) {
      expect(await report({ type: 'mail.hard_bounced', ...event })).toBe(204);
    }
    await postern.database.query(testSql("update mail_deliveries set provider = 'resend' where id = $1", [message.id]));
    expect(await report({ type: 'mail.hard_bounced', id, email })).toBe(204);
    expect(await stateOf(message.id)).toEqual(['sent', null]);
    expect([await reasonOf(email), await reasonOf(other.email)]).toEqual([undefined, undefined]);
    expect([await counted('ignored'), await counted('hard_bounce')]).toEqual([ignored + 8, bounced]);
  });
});

describe('soft bounces', () => {
  /** Mails to one address that were accepted. */
  async function mailsTo(email: string, count: number): Promise<string[]> {
    const user = await createUser(postern, { email });
    const ids = Array.from({ length: count }, () => randomUUID());
    for (const id of ids) {
      const mail = { userId: user.id, id, notificationId: null, provider: 'webhook', reference: id, address: email };
      await postern.database.transaction((tx) => postern.services.mailEvents.recordAccepted(tx, mail));
    }
    return ids;
  }
  const bounce = (id: string, email: string) => report({ type: 'mail.soft_bounced', id, email });

  test('of five mails suppress the address, also if they arrive at once, and four do not', async () => {
    const email = newEmail();
    const [first = '', ...others] = await mailsTo(email, 5);
    // Each counts once.
    for (let count = 0; count < 5; count += 1) await bounce(first, email);
    expect(await reasonOf(email)).toBeUndefined();
    await Promise.all(others.slice(1).map((id) => bounce(id, email)));
    expect(await reasonOf(email)).toBeUndefined();
    const [last = ''] = others;
    await bounce(last, email);
    expect(await reasonOf(email)).toBe('soft_bounces');
    for (let round = 0; round < raceRounds; round += 1) {
      const another = newEmail();
      const ids = await mailsTo(another, 5);
      await Promise.all(ids.map((id) => bounce(id, another)));
      expect(await reasonOf(another)).toBe('soft_bounces');
    }
  });

  test('of more than 14 days do not count together', async () => {
    const email = newEmail();
    const ids = await mailsTo(email, 5);
    for (const id of ids.slice(0, 4)) await bounce(id, email);
    await postern.database.query(
      testSql(
        "update mail_deliveries set soft_bounced_at = soft_bounced_at - interval '14 days 1 minute' where id = $1",
        [ids[0]],
      ),
    );
    await bounce(ids[4] ?? '', email);
    expect(await reasonOf(email)).toBeUndefined();
  });
});

test('the system page says that the provider reports', async () => {
  const { body } = await admin<System>('GET', '/system');
  expect(body.providers).toContainEqual(
    expect.objectContaining({ channel: 'email', name: 'webhook', has_receipts: true }),
  );
});

test('the export of a user has the reports, and the deletion of the user removes them', async () => {
  const { user, email, message, id } = await sendMail();
  await report({ type: 'mail.complained', id, email });
  const { body } = await admin<{ mail_reports: object[]; suppressions: object[] }>('GET', `/users/${user.id}/export`);
  expect(body.mail_reports).toMatchObject([
    { id: message.id, provider: 'webhook', complained_at: expect.any(String), delivered_at: null },
  ]);
  expect(body.suppressions).toEqual([{ id: expect.any(String), reason: 'complaint', created_at: expect.any(String) }]);
  expect(JSON.stringify(body)).not.toMatch(/digest(?!s")/);
  await admin('DELETE', `/users/${user.id}`);
  await eventually('the rows to be gone', async () => {
    const rows = await postern.database.query(testSql('select from mail_deliveries where user_id = $1', [user.id]));
    return rows.length === 0 ? true : undefined;
  });
  expect(await reasonOf(email)).toBe('complaint');
});

test('of a user who is deleted while a mail is sent, nothing stays', async () => {
  const email = newEmail();
  const user = await createUser(postern, { email });
  const rowsOf = (table: string) =>
    postern.database.query(testSql(`select from ${table} where user_id = $1`, [user.id]));
  let sent: string | undefined;
  gateway.beforeAnswer = async (mail) => {
    await admin('DELETE', `/users/${user.id}`);
    await eventually('the message to be gone', async () => ((await rowsOf('outbox')).length === 0 ? true : undefined));
    sent = mail.id;
  };
  await postern.api('POST', '/v1/tokens', { body: emailLogin(email) });
  await eventually('the mail', async () => sent);
  gateway.beforeAnswer = undefined;
  // The attempt has ended when the queue has no job of the message.
  await eventually('the end of the attempt', async () => {
    const jobs = await postern.database.query(
      testSql("select from graphile_worker._private_jobs where payload::text like '%' || $1 || '%'", [sent]),
    );
    return jobs.length === 0 ? true : undefined;
  });
  expect(await rowsOf('mail_deliveries')).toEqual([]);
});
