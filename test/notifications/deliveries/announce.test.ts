import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import { applyReceipt, applyReport } from '../../../src/notifications/deliveries/reports.js';
import { createCounters } from '../../../src/statistics/counters.js';
import { stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';

let fresh: TestDatabase;
let database: Database;
let parts: ReturnType<typeof createStepParts>;
beforeAll(async () => {
  fresh = await createTestDatabase();
  database = fresh.database;
});
afterAll(() => fresh.drop());
beforeEach(() => {
  parts = createStepParts(database);
  parts.putCategory('bill', { steps: [{ channel: 'email' }] });
});
afterEach(async () => {
  await stepClock(database, '0');
  await database.query(testSql('delete from webhook_endpoints'));
  await database.query(testSql('delete from webhook_outbox'));
  await database.query(testSql('delete from graphile_worker._private_jobs'));
});

const subscribe = (...events: string[]) =>
  database.query(
    testSql(
      `insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, secret, created_at, updated_at)
       values (gen_random_uuid(), '', '', $1, '', 'thin', false, '', now(), now())`,
      [events],
    ),
  );
interface Recorded {
  readonly type: string;
  readonly user_ids: string[];
  readonly data: Readonly<Record<string, unknown>>;
}
const recorded = () =>
  database.query<Recorded>(testSql('select type, user_ids, data from webhook_outbox order by created_at'));
const types = async () => (await recorded()).map(({ type }) => type);

async function publish(category = 'bill', more: object = {}): Promise<Notification> {
  const [userId = ''] = await parts.createPeople(1);
  return parts.notifications.publishOne({
    ...{ user_id: userId, notification_type: 'payment', category, description: 'Ada paid you' },
    ...more,
  });
}
async function run(): Promise<void> {
  await parts.runDue();
  await parts.runJobs();
}
const deliveryOf = async ({ id }: Notification) => {
  const [row] = await database.query<{ id: string }>(
    testSql('select id from step_deliveries where notification_id = $1', [id]),
  );
  return row?.id ?? '';
};
const report = ({ user_id }: Notification, id: string, outcome: Parameters<typeof applyReport>[1]['outcome']) =>
  database.transaction((tx) => applyReport(tx, { user_id, id, outcome }, createCounters()));

describe('events of deliveries', () => {
  test.each([
    ['without an endpoint', []],
    ['for endpoints of other events', ['notification.*', 'login.*', 'delivery.bounced']],
  ])('are not written %s', async (_, events) => {
    if (events.length > 0) await subscribe(...events);
    await publish();
    await run();
    expect(parts.handedOver).toHaveLength(1);
    expect(await types()).toEqual([]);
  });

  test.each([['*'], ['delivery.*'], ['delivery.sent']])('are written for an endpoint of %s', async (pattern) => {
    await subscribe(pattern);
    const notification = await publish();
    await run();
    expect(await recorded()).toEqual([
      {
        ...{ type: 'delivery.sent', user_ids: [notification.user_id] },
        data: {
          ...{ delivery_id: await deliveryOf(notification), notification_id: notification.id, channel: 'email' },
          ...{ device_id: null, category: 'bill', reason: 'accepted' },
        },
      },
    ]);
  });

  test('follow the reports of the provider, each once', async () => {
    await subscribe('delivery.*');
    const notification = await publish();
    await run();
    const id = await deliveryOf(notification);
    for (const outcome of ['delivered', 'delivered', 'hard_bounce', 'complaint', 'complaint'] as const) {
      await report(notification, id, outcome);
    }
    expect(await types()).toEqual(['delivery.sent', 'delivery.delivered', 'delivery.bounced', 'delivery.complained']);
    expect((await recorded()).map(({ data }) => data.category)).toEqual(['bill', 'bill', 'bill', 'bill']);
  });

  test('about an SMS follow its receipts', async () => {
    await subscribe('delivery.*');
    const notification = await publish();
    await run();
    const id = await deliveryOf(notification);
    await database.query(testSql(`update step_deliveries set channel = 'sms' where id = $1`, [id]));
    const { user_id: userId } = notification;
    const receipt = { userId, id, provider: 'test', reference: id, reason: null };
    for (const outcome of ['undelivered', 'delivered', 'undelivered'] as const) {
      await database.transaction((tx) => applyReceipt(tx, { ...receipt, outcome }, createCounters()));
    }
    expect(await types()).toEqual(['delivery.sent', 'delivery.bounced', 'delivery.delivered']);
  });

  test('tell what no provider took and what is too late, before and after it has a delivery', async () => {
    await subscribe('delivery.*');
    parts.provider.answer = async () => ({
      ...{ outcome: 'failed', reason: 'recipient_refused', error: '550', isUnknownMailbox: false },
    });
    await publish();
    await run();
    const late = await publish();
    await parts.runDue();
    await stepClock(database, '73 hours');
    await parts.runJobs();
    const later = await publish();
    await stepClock(database, '150 hours');
    await parts.runDue();
    expect(
      (await recorded()).map(({ type, data }) => [type, data.reason, data.notification_id, data.delivery_id]),
    ).toEqual([
      ['delivery.failed', 'recipient_refused', expect.any(String), expect.any(String)],
      ['delivery.expired', 'ttl', late.id, await deliveryOf(late)],
      ['delivery.expired', 'ttl', later.id, null],
    ]);
  });

  test('are not written for what a user does not want, or what is no longer there', async () => {
    await subscribe('*');
    const [unwanted, deleted] = [await publish(), await publish()];
    await database.query(
      testSql(`insert into preferences (user_id, channels) values ($1, '{"email": {"value": "off"}}')`, [
        unwanted.user_id,
      ]),
    );
    await database.transaction((tx) => parts.notifications.remove(tx, deleted.id));
    await run();
    expect((await types()).filter((type) => type.startsWith('delivery.'))).toEqual([]);
  });

  test('are written in the transaction of the change: what is rolled back has none', async () => {
    await subscribe('delivery.*');
    const notification = await publish();
    await run();
    const id = await deliveryOf(notification);
    const failing = database.transaction(async (tx) => {
      await applyReport(tx, { user_id: notification.user_id, id, outcome: 'hard_bounce' }, createCounters());
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await types()).toEqual(['delivery.sent']);
  });
});

describe('counts of deliveries', () => {
  const counted = () =>
    Object.fromEntries(
      parts.counters
        .totals()
        .filter(({ metric }) => metric.startsWith('deliveries.'))
        .map(({ metric, label, detail, value }) => [`${metric} ${label} ${detail}`, value]),
    );

  test('are by category, channel and outcome', async () => {
    parts.putCategory('news', { steps: [{ channel: 'email' }, { channel: 'sms' }] });
    await publish();
    await publish('news');
    await publish('news');
    const deleted = await publish('news');
    await parts.runDue();
    await database.transaction((tx) => parts.notifications.remove(tx, deleted.id));
    await parts.runJobs();
    expect(counted()).toEqual({
      'deliveries.sent bill email': 1,
      'deliveries.sent news email': 2,
      'deliveries.dropped (none) email': 1,
      // Nobody has a phone number.
      'deliveries.skipped news sms': 3,
    });
    expect(parts.lags).toHaveLength(3);
    for (const lag of parts.lags) expect(lag).toBeGreaterThanOrEqual(0);
  });

  test('the lag is the time since the step was due, without the time for which it was held', async () => {
    const notification = await publish();
    await parts.runDue();
    await database.query(
      testSql(
        `update step_deliveries
         set holds = tstzmultirange(tstzrange(created_at + interval '10 minutes', created_at + interval '50 minutes'))
         where id = $1`,
        [await deliveryOf(notification)],
      ),
    );
    await stepClock(database, '1 hour');
    await parts.runJobs();
    expect(parts.lags.map((lag) => Math.round(lag / 60))).toEqual([20]);
  });
});
