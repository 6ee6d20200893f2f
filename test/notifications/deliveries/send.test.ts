import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
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
  parts.putCategory('billing', { steps: [{ channel: 'email', if: 'unread' }] });
});
afterEach(async () => {
  await stepClock(database, '0');
  await database.query(testSql('delete from graphile_worker._private_jobs'));
});

const publish = (userId: string, more: object = {}): Promise<Notification> =>
  parts.notifications.publishOne({
    ...{ user_id: userId, notification_type: 'payment', category: 'billing', description: 'Ada paid you' },
    ...more,
  });
/** A notification whose mail waits for its attempt. */
async function queued(more: object = {}): Promise<Notification> {
  const [userId = ''] = await parts.createPeople(1);
  const notification = await publish(userId, more);
  await parts.runDue();
  expect(await parts.mailOf(notification)).toBe('queued/waiting');
  return notification;
}
const read = ({ user_id: userId, sequence }: Notification) =>
  createReadPositions(database, () => undefined).move(userId, { last_read_sequence: sequence });
const change = (text: string, id: string) => database.query(testSql(text, [id]));

describe('the decision directly before the hand-over', () => {
  const changes: readonly (readonly [string, string, (notification: Notification) => Promise<unknown>])[] = [
    ['the user has read it', 'skipped/read', read],
    [
      'the notification is deleted',
      'dropped/notification_deleted',
      ({ id }) => database.transaction((tx) => parts.notifications.remove(tx, id)),
    ],
    ['the category is deleted', 'dropped/category_deleted', async () => parts.deleteCategory('billing')],
    [
      'an operator locks the user',
      'skipped/account_locked',
      ({ user_id: id }) => change(`update users set lock_kind = 'permanent' where id = $1`, id),
    ],
    [
      'the user is deactivated',
      'skipped/account_deactivated',
      ({ user_id: id }) => change(`update users set status = 'deactivated' where id = $1`, id),
    ],
    [
      'the address is no longer proven',
      'skipped/not_proven',
      ({ user_id: id }) => change('update users set email_verified = false where id = $1', id),
    ],
    [
      'the address is removed',
      'skipped/no_address',
      ({ user_id: id }) => change('update users set email = null where id = $1', id),
    ],
    [
      'the address is suppressed',
      'skipped/suppressed',
      async ({ user_id: id }) => parts.suppressed.add(`${id}@example.org`),
    ],
    [
      'the user turns off mail',
      'skipped/channel_off',
      ({ user_id: id }) =>
        change(`insert into preferences (user_id, channels) values ($1, '{"email": {"value": "off"}}')`, id),
    ],
    [
      'the user turns off the category',
      'skipped/preference_off',
      ({ user_id: id }) =>
        change(
          `insert into preferences (user_id, categories) values ($1, '{"billing": {"email": {"value": "off"}}}')`,
          id,
        ),
    ],
    [
      'the user turns off the topic',
      'skipped/preference_off',
      async ({ id, user_id: userId }) => {
        await change(`update notifications set topic = 'club' where id = $1`, id);
        await change(
          `insert into preferences (user_id, topics) values ($1, '{"club": {"email": {"value": "off"}}}')`,
          userId,
        );
      },
    ],
    ['the time of the category is over', 'expired/ttl', () => stepClock(database, '73 hours')],
    [
      'the notification expires',
      'expired/notification_expired',
      ({ id }) => change(`update notifications set expires_at = now() - interval '1 second' where id = $1`, id),
    ],
  ];

  test.each(changes)('stops a mail if %s', async (_, expected, makeChange) => {
    const notification = await queued();
    await makeChange(notification);
    await parts.runJobs();
    expect(await parts.mailOf(notification).catch(() => undefined)).toBe(expected);
    expect(parts.handedOver).toEqual([]);
    expect(await parts.jobs()).toEqual([]);
  });

  test('sends what nothing forbids, with the texts and the address of that moment', async () => {
    const notification = await queued({ actor: 'Ada', url: 'https://splitter.example/1' });
    parts.putCategory('billing', {
      steps: [],
      templates: { 'email.en': { subject: '{{user.name}}: {{actor}}', text: '{{description}} {{url}}' } },
    });
    await change(`update users set email = 'new@example.org', name = 'Grace' where id = $1`, notification.user_id);
    await parts.runJobs();
    expect(parts.handedOver).toMatchObject([
      {
        ...{ to: 'new@example.org', notificationId: notification.id, category: 'billing' },
        content: { subject: 'Grace: Ada', text: 'Ada paid you https://splitter.example/1' },
      },
    ]);
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
  });

  test('waits without a decision while the channel is paused', async () => {
    const notification = await queued();
    parts.paused.add('email');
    await read(notification);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('queued/waiting');
    const [job, ...others] = await parts.jobs();
    expect([others.length, Math.round(job?.seconds ?? 0)]).toEqual([0, 5]);
    parts.paused.clear();
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('skipped/read');
  });

  test('says "dropped", not "skipped", if a provider was called already', async () => {
    const notification = await queued();
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'test: unavailable' });
    await parts.runJobs();
    await read(notification);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('dropped/read');
    expect(parts.handedOver).toHaveLength(1);
  });
});

describe('an attempt', () => {
  test('of a process that dies after the hand-over is made again, with the same id', async () => {
    const notification = await queued();
    const [job] = await parts.jobs();
    if (job === undefined) throw new Error('there is no job');
    parts.provider.answer = async () => {
      throw new Error('the process dies here');
    };
    await expect(parts.send(job)).rejects.toThrow('dies here');
    expect(await parts.mailOf(notification)).toBe('queued/waiting');
    parts.provider.answer = async () => ({ outcome: 'sent', provider: 'test', reference: null });
    await parts.send(job);
    // The queue repeats the job once more.
    await parts.send(job);
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
    expect(parts.handedOver.map(({ id }) => id)).toEqual([job.id, job.id]);
  });

  test('that fails is repeated after 5 s or more, and after what the provider asks for', async () => {
    const notification = await queued();
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'test: unavailable' });
    await parts.runJobs();
    const [first] = await parts.jobs();
    expect(first).toMatchObject({ attempt: 1 });
    expect(first?.seconds).toBeGreaterThan(3);
    expect(first?.seconds).toBeLessThan(7);
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'test: too many', afterSeconds: 600 });
    await parts.runJobs();
    const [second] = await parts.jobs();
    expect(second).toMatchObject({ attempt: 2 });
    expect(second?.seconds).toBeGreaterThan(590);
    expect(await parts.mailOf(notification)).toBe('queued/retrying');
  });

  test('is not repeated after the ttl of the category', async () => {
    parts.putCategory('billing', { steps: [{ channel: 'email' }], ttl: '1m' });
    const notification = await queued();
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'test: too many', afterSeconds: 90 });
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('expired/ttl');
    expect(await parts.jobs()).toEqual([]);
  });

  test('that the recipient refuses ends the delivery, and an unknown mailbox is a bounce', async () => {
    const answer = { outcome: 'failed', reason: 'recipient_refused', error: 'test: refused' } as const;
    const refused = await queued();
    parts.provider.answer = async () => ({ ...answer, isUnknownMailbox: false });
    await parts.runJobs();
    expect(await parts.mailOf(refused)).toBe('failed/recipient_refused');
    const unknown = await queued();
    parts.provider.answer = async () => ({ ...answer, isUnknownMailbox: true });
    await parts.runJobs();
    expect(await parts.mailOf(unknown)).toBe('bounced/recipient_refused');
    expect([...parts.suppressed]).toEqual([`${unknown.user_id}@example.org`]);
  });

  test('waits while the channel is paused, and does not count', async () => {
    const notification = await queued();
    parts.provider.pause = 30_000;
    await parts.runJobs();
    expect(await parts.jobs()).toMatchObject([{ attempt: 0 }]);
    parts.provider.pause = 0;
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
  });

  test('of a template that makes too much text fails', async () => {
    const [userId = ''] = await parts.createPeople(1);
    parts.putCategory('billing', {
      steps: [{ channel: 'email' }],
      templates: {
        'email.en': {
          text: '{{#data.rows}}{{#data.rows}}{{#data.rows}}{{#data.rows}}x{{/data.rows}}{{/data.rows}}{{/data.rows}}{{/data.rows}}',
        },
      },
    });
    const notification = await publish(userId, { data: { rows: Array.from({ length: 50 }, () => 1) } });
    await parts.runDue();
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('failed/template_too_large');
  });
});

describe('mails to one user', () => {
  test('are handed over in their order: the next waits until the one before is accepted', async () => {
    const [userId = ''] = await parts.createPeople(1);
    const first = await publish(userId, { description: 'first' });
    const second = await publish(userId, { description: 'second' });
    await parts.runDue();
    const jobs = await parts.jobs();
    const jobOf = async ({ id }: Notification) => {
      const [row] = await database.query<{ id: string }>(
        testSql('select id from step_deliveries where notification_id = $1', [id]),
      );
      return jobs.find((job) => job.id === row?.id) ?? Promise.reject(new Error('there is no job'));
    };
    await database.query(testSql('delete from graphile_worker._private_jobs'));
    const [firstJob, secondJob] = [await jobOf(first), await jobOf(second)];
    await parts.send(secondJob);
    expect(parts.handedOver).toEqual([]);
    expect(await parts.jobs()).toMatchObject([{ id: secondJob.id, attempt: 0 }]);
    await parts.send(firstJob);
    await parts.send(secondJob);
    expect(parts.handedOver.map(({ notificationId }) => notificationId)).toEqual([first.id, second.id]);
  });

  test('do not wait for one that cannot be made for longer than 60 s', async () => {
    const [userId = ''] = await parts.createPeople(1);
    parts.putCategory('broken', { steps: [{ channel: 'email' }], templates: { 'email.en': { text: '{{#open}}' } } });
    const broken = await publish(userId, { category: 'broken' });
    await parts.runDue();
    const second = await publish(userId);
    await parts.runDue();
    await parts.runJobs();
    expect([await parts.mailOf(broken), parts.errors.length]).toEqual(['queued/retrying', 1]);
    await stepClock(database, '61 seconds');
    await parts.runJobs();
    expect(await parts.mailOf(second)).toBe('sent/accepted');
  });

  test('expire in their time, although one before them was never attempted', async () => {
    const [userId = ''] = await parts.createPeople(1);
    await publish(userId);
    await parts.runDue();
    await database.query(testSql('delete from graphile_worker._private_jobs'));
    const [late, withdrawn] = [await publish(userId), await publish(userId)];
    await parts.runDue();
    await database.transaction((tx) => parts.notifications.remove(tx, withdrawn.id));
    await stepClock(database, '73 hours');
    await parts.runJobs();
    expect(await parts.mailOf(late)).toBe('expired/ttl');
    expect(await parts.jobs()).toEqual([]);
  });

  test('do not wait for one that fails for longer than 60 s after its first attempt', async () => {
    const [userId = ''] = await parts.createPeople(1);
    await publish(userId, { description: 'first' });
    await parts.runDue();
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'test: unavailable', afterSeconds: 3000 });
    await parts.runJobs();
    const second = await publish(userId, { description: 'second' });
    await parts.runDue();
    parts.provider.answer = async () => ({ outcome: 'sent', provider: 'test', reference: null });
    const job = (await parts.jobs()).find(({ attempt }) => attempt === 0);
    if (job === undefined) throw new Error('there is no job');
    await parts.send(job);
    expect(await parts.mailOf(second)).toBe('queued/waiting');
    await stepClock(database, '61 seconds');
    await parts.send(job);
    expect(await parts.mailOf(second)).toBe('sent/accepted');
  });
});

test('many messages of one user run after the first ones of others, and look seldom whether it is their turn', async () => {
  const [flooder = '', other = ''] = await parts.createPeople(2);
  for (let count = 0; count < 20; count += 1) await publish(flooder);
  await parts.runDue();
  const more = { user_id: flooder, notification_type: 'payment', category: 'billing', description: 'more' };
  await database.transaction((tx) =>
    parts.notifications.publish(
      tx,
      Array.from({ length: 150 }, () => more),
    ),
  );
  await parts.runDue();
  await publish(other);
  await parts.runDue();
  const jobs = await parts.jobs();
  const priorities = jobs.map(({ priority }) => priority);
  expect(priorities).toEqual([
    ...[Array(16).fill(13), Array(112).fill(14), Array(42).fill(15)].flat(),
    // The other user's.
    13,
  ]);
  const last = jobs[169];
  if (last === undefined) throw new Error('there is no such job');
  await database.query(testSql('delete from graphile_worker._private_jobs'));
  await parts.send(last);
  const [again] = await parts.jobs();
  expect([Math.round(again?.seconds ?? 0), again?.priority]).toEqual([Math.round(169 / 3), 15]);
});
