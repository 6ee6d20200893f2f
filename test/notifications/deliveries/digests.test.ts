import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Notification } from '../../../src/contract/notification.js';
import type { Database } from '../../../src/database/database.js';
import { createDigestClosing } from '../../../src/notifications/deliveries/digests.js';
import { traceSteps } from '../../../src/notifications/deliveries/trace.js';
import { createReadPositions } from '../../../src/notifications/inbox/read-position.js';
import { stepClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { createStepParts } from '../../support/steps.js';

let fresh: TestDatabase;
let database: Database;
let parts: ReturnType<typeof createStepParts>;
let close: () => Promise<boolean>;
let userId = '';
beforeAll(async () => {
  fresh = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  database = fresh.database;
});
afterAll(() => fresh.drop());
beforeEach(async () => {
  parts = createStepParts(database);
  parts.putCategory('club', {
    title: { en: 'Club news', es: 'Noticias del club' },
    steps: [{ channel: 'email' }],
    defaults: { email: 'digest' },
    digest: { every: '1h', max_items: 3 },
  });
  close = createDigestClosing({ database, categories: parts.categories, counters: parts.counters });
  [userId = ''] = await parts.createPeople(1);
});
afterEach(async () => {
  await stepClock(database, '0');
  await database.query(testSql('delete from graphile_worker._private_jobs'));
  await database.query(testSql('delete from digests'));
  await database.query(testSql('delete from webhook_endpoints'));
});

const publish = (description: string, more: object = {}): Promise<Notification> =>
  parts.notifications.publishOne({
    ...{ user_id: userId, notification_type: 'payment', category: 'club', description },
    ...more,
  });
const read = ({ sequence }: Notification) =>
  createReadPositions(database, () => undefined).move(userId, { last_read_sequence: sequence });
const remove = ({ id }: Notification) => database.transaction((tx) => parts.notifications.remove(tx, id));
/** Chooses for mails of categories and topics. */
const chooseMail = (categories: Record<string, string>, topics: Record<string, string> = {}) => {
  const cells = (chosen: Record<string, string>) =>
    JSON.stringify(Object.fromEntries(Object.entries(chosen).map(([name, value]) => [name, { email: { value } }])));
  return database.query(
    testSql(
      `insert into preferences (user_id, categories, topics) values ($1, $2::jsonb, $3::jsonb)
       on conflict (user_id) do update set categories = excluded.categories, topics = excluded.topics`,
      [userId, cells(categories), cells(topics)],
    ),
  );
};
const setTopic = ({ id }: Notification, topic: string) =>
  database.query(testSql('update notifications set topic = $2 where id = $1', [id, topic]));
async function run(): Promise<void> {
  await parts.runDue();
  while (await close());
  await parts.runJobs();
}
/** Why steps of a notification were not carried out. */
const refusalsOf = async ({ id }: Notification): Promise<string[]> => {
  const rows = await database.query<{ refusal: string }>(
    testSql(
      `select channel || ' ' || state || '/' || reason as refusal from step_refusals where notification_ids @> array[$1::uuid]
       order by created_at, id`,
      [id],
    ),
  );
  return rows.map(({ refusal }) => refusal);
};
const texts = () => parts.handedOver.map(({ content }) => content.text.split('\n\n'));
const at = (interval: string) => stepClock(database, interval);

describe('a digest', () => {
  test('has the unread notifications of its time, the newest first, and those of the next one once', async () => {
    const [first, second] = [await publish('one'), await publish('two')];
    await run();
    expect(await parts.mailOf(first)).toBe('digesting/digest');
    expect(parts.handedOver).toEqual([]);
    await at('61 minutes');
    await run();
    expect(parts.handedOver).toHaveLength(1);
    expect(parts.handedOver[0]).toMatchObject({
      ...{ category: 'club', isCritical: false, to: `${userId}@example.org` },
      content: { subject: 'Club news: 2 new notifications', text: 'two\n\none' },
    });
    for (const each of [first, second]) expect(await parts.mailOf(each)).toBe('sent/accepted');
    const third = await publish('three');
    await run();
    expect(await parts.mailOf(third)).toBe('digesting/digest');
    await at('130 minutes');
    await run();
    // One notification looks like a mail of its own.
    expect(parts.handedOver[1]?.content).toMatchObject({ subject: 'three', text: 'three' });
    await at('10 hours');
    await run();
    expect(parts.handedOver).toHaveLength(2);
  });

  test('that is empty is not sent: its notifications were read or deleted', async () => {
    const [first, second] = [await publish('one'), await publish('two')];
    await run();
    await read(first);
    await remove(second);
    await at('61 minutes');
    await run();
    expect(parts.handedOver).toEqual([]);
    expect(await database.query(testSql('select from step_deliveries where user_id = $1', [userId]))).toEqual([]);
    expect(await parts.mailOf(first)).toBe('skipped/read');
  });

  test('tells why a notification that waited for it is not in it', async () => {
    const [one, two] = [await publish('one'), await publish('two')];
    const [expired, off, kept] = [await publish('expired'), await publish('off'), await publish('kept')];
    await setTopic(off, 'chess');
    await run();
    await database.query(testSql('update notifications set expires_at = db_now() where id = $1', [expired.id]));
    await chooseMail({}, { chess: 'off' });
    await read(two);
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['kept']]);
    const told = async (each: Notification) => [await parts.mailOf(each), await refusalsOf(each)];
    for (const each of [one, two]) expect(await told(each)).toEqual(['skipped/read', ['email skipped/read']]);
    expect(await told(expired)).toEqual(['expired/notification_expired', ['email expired/notification_expired']]);
    expect(await told(off)).toEqual(['skipped/preference_off', ['email skipped/preference_off']]);
    expect(await told(kept)).toEqual(['sent/accepted', []]);
  });

  test('counts once what it leaves out, as the events of webhooks do', async () => {
    await database.query(
      testSql(
        `insert into webhook_endpoints (id, url, description, events, filter, payload, has_inbox_events, secret, created_at, updated_at)
         values (gen_random_uuid(), '', '', '{delivery.*}', '', 'thin', false, '', now(), now())`,
      ),
    );
    const [seen, expired] = [await publish('read'), await publish('expired')];
    await publish('kept');
    await run();
    await read(seen);
    await database.query(testSql('update notifications set expires_at = db_now() where id = $1', [expired.id]));
    await at('61 minutes');
    await run();
    await at('10 hours');
    await run();
    const counted = parts.counters
      .totals()
      .filter(({ metric }) => /^(steps|deliveries)\.(skipped|expired|sent)$/.test(metric))
      .map(({ metric, label, detail, value }) => [`${metric} ${label} ${detail}`.trim(), value]);
    expect(Object.fromEntries(counted)).toEqual({
      ...{ 'steps.skipped email': 1, 'deliveries.skipped club email': 1 },
      ...{ 'steps.expired email': 1, 'deliveries.expired club email': 1 },
      ...{ 'steps.sent email': 1, 'deliveries.sent club email': 1 },
    });
    const events = await database.query<{ type: string }>(
      testSql('select type from webhook_outbox where user_ids @> array[$1::uuid] and type like $2', [
        userId,
        'delivery.%',
      ]),
    );
    expect(events.map(({ type }) => type).sort()).toEqual(['delivery.expired', 'delivery.sent']);
  });

  test('counts nothing if the closing is rolled back', async () => {
    const seen = await publish('read');
    await run();
    await read(seen);
    await at('61 minutes');
    const rolledBack = Object.create(database, {
      transaction: {
        value: (work: Parameters<Database['transaction']>[0]) =>
          database.transaction(async (tx) => {
            await work(tx);
            throw new Error('no');
          }),
      },
    }) as Database;
    const { categories, counters } = parts;
    await expect(createDigestClosing({ database: rolledBack, categories, counters })()).rejects.toThrow('no');
    expect(counters.totals().filter(({ metric }) => metric.endsWith('.skipped'))).toEqual([]);
    await close();
    expect(counters.totals().filter(({ metric }) => metric.endsWith('.skipped'))).toHaveLength(2);
  });

  test('tells only the first reason, and nothing about a mail that is not due', async () => {
    parts.putCategory('club', {
      steps: [{ channel: 'email', after: '30m' }],
      ...{ defaults: { email: 'digest' }, digest: { every: '1h', max_items: 3 } },
    });
    const [digested, refused] = [await publish('digested'), await publish('refused')];
    await setTopic(refused, 'chess');
    await chooseMail({}, { chess: 'off' });
    await at('31 minutes');
    await parts.runDue();
    await at('70 minutes');
    const later = await publish('later');
    await read(later);
    await at('92 minutes');
    await close();
    expect(await refusalsOf(later)).toEqual([]);
    expect(await refusalsOf(digested)).toEqual(['email skipped/read']);
    const { user_id: ownerId, id: notificationId, created_at: publishedAt } = refused;
    const { email } = await traceSteps(database, { userId: ownerId, notificationId, publishedAt });
    expect(email.map(({ reason }) => reason)).toEqual(['preference_off']);
  });

  test('that has closed without a notification that was read leaves no mail of it for later', async () => {
    await publish('first');
    await parts.runDue();
    parts.putCategory('club', {
      steps: [{ channel: 'email', after: '2h' }],
      ...{ defaults: { email: 'digest' }, digest: { every: '1h', max_items: 3 } },
    });
    const late = [await publish('read'), await publish('unread')];
    await read(late[0] as Notification);
    await at('61 minutes');
    await close();
    await at('121 minutes');
    await run();
    expect(texts()).toEqual([['unread']]);
    expect(await parts.mailOf(late[0] as Notification)).toBe('skipped/read');
  });

  test('is the mail of each of its notifications: no later step with "undelivered" goes out', async () => {
    parts.putCategory('club', {
      steps: [{ channel: 'email' }, { channel: 'sms', after: '2h', if: 'undelivered' }],
      ...{ defaults: { email: 'digest' }, digest: { every: '1h', max_items: 3 } },
    });
    const all = [await publish('one'), await publish('two'), await publish('three')];
    await run();
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['three', 'two', 'one']]);
    await at('121 minutes');
    await parts.runDue();
    for (const each of all) expect(await refusalsOf(each)).toEqual(['sms skipped/already_delivered']);
  });

  test('leaves out what was read or deleted between its end and its mail', async () => {
    const notifications = [await publish('one'), await publish('two'), await publish('three')];
    await parts.runDue();
    await at('61 minutes');
    await close();
    await read(notifications[0] as Notification);
    await remove(notifications[2] as Notification);
    await parts.runJobs();
    expect(texts()).toEqual([['two']]);
  });

  test('ends if all of it was read before the mail', async () => {
    const notification = await publish('one');
    await parts.runDue();
    await at('61 minutes');
    await close();
    await read(notification);
    await parts.runJobs();
    expect(parts.handedOver).toEqual([]);
    expect(await parts.mailOf(notification)).toBe('skipped/read');
  });

  test('shows max_items, counts the rest, and uses the template of the category', async () => {
    parts.putCategory('club', {
      ...{ steps: [{ channel: 'email' }], defaults: { email: 'digest' }, digest: { every: '1h', max_items: 3 } },
      templates: { 'email.en': { subject: '{{actor}}', text: '* {{description}}' } },
    });
    for (const text of ['1', '2', '3', '4', '5']) await publish(text);
    await run();
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['* 5', '* 4', '* 3', '+ 2']]);
    expect(parts.handedOver[0]?.content.subject).toBe('club: 5 new notifications');
  });

  test('has nothing that a mail of its own was handed over for, and takes the place of one that was not', async () => {
    const choose = (value: string) => chooseMail({ club: value });
    const first = await publish('digested');
    await parts.runDue();
    await choose('on');
    const alone = await publish('alone');
    await parts.runDue();
    const waiting = await publish('waiting');
    const [job] = await parts.jobs();
    if (job === undefined) throw new Error('there is no job');
    await parts.send(job);
    expect(await parts.mailOf(alone)).toBe('sent/accepted');
    await parts.runDue();
    expect(await parts.mailOf(waiting)).toBe('queued/waiting');
    await at('61 minutes');
    await close();
    await parts.runJobs();
    expect(texts()).toEqual([['alone'], ['waiting', 'digested']]);
    for (const each of [first, alone, waiting]) expect(await parts.mailOf(each)).toBe('sent/accepted');
  });

  test('has only what the user wants as a mail: the choice for a topic is before the one for the category', async () => {
    const [plain, chess, art] = [await publish('plain'), await publish('chess'), await publish('art')];
    await setTopic(chess, 'chess');
    await setTopic(art, 'art');
    await chooseMail({ club: 'digest' }, { chess: 'off' });
    await run();
    expect(await parts.mailOf(chess)).toBe('skipped/preference_off');
    for (const each of [plain, art]) expect(await parts.mailOf(each)).toBe('digesting/digest');
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['art', 'plain']]);
    expect(await parts.mailOf(chess)).toBe('skipped/preference_off');
  });

  test.each([
    ['the user', { club: 'off' }, 'digest'],
    ['the default', {}, 'off'],
  ])('of a topic is sent if %s keeps the other mails of the category off', async (_, categories, email) => {
    parts.putCategory('club', {
      ...{ steps: [{ channel: 'email' }], digest: { every: '1h', max_items: 3 } },
      defaults: { email: email as 'off' },
    });
    const [plain, chess] = [await publish('plain'), await publish('chess')];
    await setTopic(chess, 'chess');
    await chooseMail(categories, { chess: 'digest' });
    await run();
    expect(await parts.mailOf(plain)).toBe('skipped/preference_off');
    expect(await parts.mailOf(chess)).toBe('digesting/digest');
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['chess']]);
    expect(await parts.mailOf(chess)).toBe('sent/accepted');
    expect(await parts.mailOf(plain)).toBe('skipped/preference_off');
  });

  test('follows choices between its end and its mail', async () => {
    const [plain, chess] = [await publish('plain'), await publish('chess')];
    await setTopic(chess, 'chess');
    await parts.runDue();
    await at('61 minutes');
    await close();
    await chooseMail({}, { chess: 'off' });
    await parts.runJobs();
    expect(texts()).toEqual([['plain']]);
    const next = [await publish('three'), await publish('four')];
    await setTopic(next[1] as Notification, 'chess');
    await chooseMail({}, { chess: 'digest' });
    await parts.runDue();
    await at('130 minutes');
    await close();
    await chooseMail({ club: 'off' }, { chess: 'off' });
    await parts.runJobs();
    expect(texts()).toHaveLength(1);
    for (const each of next) expect(await parts.mailOf(each)).toBe('skipped/preference_off');
    expect(await parts.mailOf(plain)).toBe('sent/accepted');
  });

  test('has nothing that the user keeps out of the inbox: that has a mail of its own', async () => {
    const notification = await publish('hidden');
    await database.query(testSql('update notifications set is_hidden = true where id = $1', [notification.id]));
    await publish('shown');
    await run();
    expect(texts()).toEqual([['hidden']]);
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['hidden'], ['shown']]);
  });

  test('of a category that has become critical ignores choices', async () => {
    await publish('one');
    await parts.runDue();
    await chooseMail({ club: 'off' });
    parts.putCategory('club', { steps: [{ channel: 'email' }], is_critical: true, digest: { every: '1h' } });
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['one']]);
  });

  test('is turned off, deleted and suppressed as any mail', async () => {
    const notification = await publish('one');
    await parts.runDue();
    await at('61 minutes');
    await close();
    parts.suppressed.add(`${userId}@example.org`);
    await parts.runJobs();
    expect(await parts.mailOf(notification)).toBe('skipped/suppressed');
  });

  test('of a category that has lost its digest: mails come alone again', async () => {
    const notification = await publish('one');
    parts.putCategory('club', { steps: [{ channel: 'email' }] });
    await run();
    expect(await parts.mailOf(notification)).toBe('sent/accepted');
    expect(parts.handedOver[0]?.content.subject).toBe('one');
  });

  test('does not begin in the past: what was unread before is not in it', async () => {
    await publish('long ago', { category: 'payment' });
    parts.putCategory('club', { steps: [], defaults: { email: 'digest' }, digest: { every: '1h' } });
    await publish('before');
    parts.putCategory('club', {
      steps: [{ channel: 'email' }],
      defaults: { email: 'digest' },
      digest: { every: '1h' },
    });
    await publish('one');
    await run();
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['one']]);
  });

  test('is closed once by several instances, 20 times', async () => {
    for (let round = 0; round < 20; round += 1) {
      [userId = ''] = await parts.createPeople(1);
      await publish('one');
      await publish('two');
    }
    await parts.runDue();
    await at('61 minutes');
    await Promise.all([close(), close(), close(), close()]);
    await parts.runJobs();
    expect(texts()).toEqual(Array.from({ length: 20 }, () => ['two', 'one']));
  });

  describe('that cannot be closed', () => {
    /** Refuses to close digests on a condition for the rows `changed` of one statement. */
    const refuse = async (when: string) => {
      await database.query(
        testSql(`create function refuse_digests() returns trigger language plpgsql as $$
                 begin if exists (select from changed where due_at is null) and (${when}) then raise 'too much'; end if; return null; end $$`),
      );
      await database.query(
        testSql(`create trigger refuse_digests after update on digests referencing new table as changed
                 for each statement execute function refuse_digests()`),
      );
    };
    afterEach(() => database.query(testSql('drop function if exists refuse_digests cascade')));
    const people = async (count: number) => {
      for (const each of await parts.createPeople(count)) {
        userId = each;
        await publish('one');
      }
      await parts.runDue();
      await at('61 minutes');
    };
    /** Runs as the relay does: it goes on after a failure. */
    const runs = async (count: number) => {
      for (let number = 0; number < count; number += 1) await close().catch(() => undefined);
    };

    test('together with so many is closed with fewer', async () => {
      await refuse('(select count(*) from changed) > 3');
      await people(20);
      await runs(3 + 20);
      await parts.runJobs();
      expect(parts.handedOver).toHaveLength(20);
    });

    test('at all is due later, and the others are closed', async () => {
      await people(1);
      const broken = userId;
      await refuse(`exists (select from changed where user_id = '${broken}')`);
      await at('0');
      await people(9);
      await runs(5 + 4);
      await parts.runJobs();
      expect(parts.handedOver.map(({ userId: to }) => to)).not.toContain(broken);
      expect(parts.handedOver).toHaveLength(9);
      await database.query(testSql('drop function refuse_digests cascade'));
      await runs(1);
      await parts.runJobs();
      expect(parts.handedOver).toHaveLength(9);
      await at('2 hours');
      await runs(1);
      await parts.runJobs();
      expect(parts.handedOver).toHaveLength(10);
    });

    test('because it is long has the newest only', async () => {
      await publish('old');
      const last = await publish('new');
      await parts.runDue();
      await database.query(testSql('update notifications set sequence = sequence + 20000 where id = $1', [last.id]));
      await at('61 minutes');
      await close();
      await parts.runJobs();
      expect(texts()).toEqual([['new']]);
    });
  });

  test('has each notification in exactly one, while others are published, read and sent at the same time', async () => {
    parts.putCategory('club', {
      steps: [{ channel: 'email' }],
      defaults: { email: 'digest' },
      digest: { every: '15m', max_items: 100 },
    });
    const wanted: string[] = [];
    for (let round = 1; round <= 15; round += 1) {
      const some = Array.from({ length: 6 }, (_, place) => `r${round}n${place}`);
      wanted.push(...some);
      await Promise.all([...some.map((text) => publish(text)), ...[parts.runDue(), close(), parts.runJobs(), close()]]);
      await at(`${round * 16} minutes`);
    }
    await run();
    await at('10 hours');
    await run();
    expect(texts().flat().sort()).toEqual(wanted.sort());
  });
});

test(`${raceRounds} times, a connection that is killed at any statement loses and repeats nothing`, async () => {
  const wanted: string[] = [];
  let killed = 0;
  for (let round = 1; round <= raceRounds; round += 1) {
    const some = [`r${round}a`, `r${round}b`];
    wanted.push(...some);
    for (const text of some) await publish(text);
    await parts.runDue();
    await at(`${round * 61} minutes`);
    // Locks hold the closing at one of its statements: the row of the digest, a mail of its own, or the table of jobs.
    const [lock = ''] = [
      'lock table digests in exclusive mode',
      'lock table step_deliveries in exclusive mode',
      'lock table graphile_worker._private_jobs in exclusive mode',
    ].slice(round % 3);
    await database.transaction(async (tx) => {
      await tx.query(testSql(lock));
      const closing = close().catch((error: unknown) => error);
      const pids = await eventually('the closing to wait', async () => {
        const rows = await database.query<{ pid: number }>(
          testSql(`select pid, pg_terminate_backend(pid) from pg_stat_activity
                   where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`),
        );
        return rows.length > 0 ? rows.map(({ pid }) => pid) : undefined;
      });
      // The client sees the end of the connection before the server releases the locks, and the next closing skips locked digests.
      await eventually('the connection to be gone', async () => {
        const rows = await database.query(testSql('select from pg_stat_activity where pid = any ($1)', [pids]));
        return rows.length === 0 || undefined;
      });
      if ((await closing) instanceof Error) killed += 1;
    });
    while (await close());
    await parts.runJobs();
  }
  expect(killed).toBe(raceRounds);
  expect(texts().flat().sort()).toEqual(wanted.sort());
});

describe('when a digest closes', () => {
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['15m', 'UTC', '2026-06-01T10:00Z', '2026-06-01T10:15Z'],
    ['7d', 'UTC', '2026-06-01T10:00Z', '2026-06-08T10:00Z'],
    ['daily 09:00', 'Europe/Madrid', '2026-06-01T06:59Z', '2026-06-01T07:00Z'],
    ['daily 09:00', 'Europe/Madrid', '2026-06-01T07:00Z', '2026-06-02T07:00Z'],
    ['daily 09:00', 'Asia/Kathmandu', '2026-06-01T07:00Z', '2026-06-02T03:15Z'],
    ['daily 02:30', 'Europe/Madrid', '2026-03-28T12:00Z', '2026-03-29T01:30Z'],
    ['daily 02:30', 'Europe/Madrid', '2026-10-24T12:00Z', '2026-10-25T01:30Z'],
    ['daily 09:00', 'America/Santiago', '2026-09-05T20:00Z', '2026-09-06T12:00Z'],
    ['daily 09:00', 'America/Santiago', '2026-09-04T20:00Z', '2026-09-05T13:00Z'],
    ['weekly mon 09:00', 'UTC', '2026-06-01T09:00Z', '2026-06-08T09:00Z'],
    ['weekly mon 09:00', 'Pacific/Auckland', '2026-06-01T09:00Z', '2026-06-07T21:00Z'],
    ['daily 09:00', 'Mars/Olympus', '2026-06-01T07:00Z', '2026-06-01T09:00Z'],
  ];
  test.each(cases)('%s in %s after %s', async (every, zone, moment, due) => {
    const [row] = await database.query<{ due: string }>(
      testSql('select digest_due($1, $2, $3::timestamptz) as due', [every, zone, moment]),
    );
    expect(`${row?.due.slice(0, 16)}Z`).toBe(due);
  });
});

describe('a cap', () => {
  const capped = (more: object = {}) =>
    parts.putCategory('club', { steps: [{ channel: 'email' }], cap: { count: 2, per: '1d' }, ...more });

  test('lets so many through, drops the others, and forgets after its time', async () => {
    capped();
    const all = [await publish('one'), await publish('two'), await publish('three')];
    await run();
    const states = () => Promise.all(all.map((each) => parts.mailOf(each)));
    expect(await states()).toEqual(['sent/accepted', 'sent/accepted', 'skipped/cap']);
    await at('25 hours');
    all.push(await publish('four'));
    await run();
    expect(await states()).toEqual(['sent/accepted', 'sent/accepted', 'skipped/cap', 'sent/accepted']);
  });

  test('counts a notification once, however often it is tried', async () => {
    capped();
    parts.provider.answer = async () => ({ outcome: 'retry', error: 'test: unavailable' });
    await publish('one');
    for (let attempt = 0; attempt < 4; attempt += 1) await run();
    parts.provider.answer = async () => ({ outcome: 'sent', provider: 'test', reference: null });
    await publish('two');
    await publish('three');
    await run();
    expect(new Set(parts.handedOver.map(({ content }) => content.text))).toEqual(new Set(['one', 'two']));
  });

  test('lets exactly so many through at once', async () => {
    capped({ cap: { count: 5, per: '1d' } });
    for (let count = 0; count < 20; count += 1) await publish(`${count}`);
    await parts.runDue();
    const jobs = await parts.jobs();
    await database.query(testSql('delete from graphile_worker._private_jobs'));
    await Promise.all(jobs.map((job) => parts.send(job)));
    while ((await parts.jobs()).length > 0) await parts.runJobs();
    expect(parts.handedOver).toHaveLength(5);
  });

  /** Sends the only job while another transaction has done this, and commits that when the sending waits for it. */
  const sendBeside = async (statement: string, values: readonly unknown[]): Promise<void> => {
    const [job] = await parts.jobs();
    if (job === undefined) throw new Error('there is no job');
    let sending: Promise<void> | undefined;
    await database.transaction(async (tx) => {
      await tx.query(testSql(statement, values));
      sending = parts.send(job);
      await eventually('the sending to wait', async () => {
        const rows = await database.query(
          testSql(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`),
        );
        return rows.length > 0 || undefined;
      });
    });
    await sending;
    expect(parts.handedOver).toEqual([]);
  };

  test('keeps no place for a mail that a closing digest takes meanwhile', async () => {
    capped();
    await publish('one');
    await parts.runDue();
    await sendBeside('delete from step_deliveries where user_id = $1', [userId]);
    expect(await database.query(testSql('select from category_caps where user_id = $1', [userId]))).toEqual([]);
  });

  test('skips a mail whose place another one takes in the last moment', async () => {
    capped({ cap: { count: 1, per: '1d' } });
    const notification = await publish('one');
    await parts.runDue();
    await sendBeside(
      `insert into category_caps (user_id, name, notification_ids, times, updated_at)
       values ($1, 'email.club', array[gen_random_uuid()], array[db_now()], db_now())`,
      [userId],
    );
    await parts.runJobs();
    expect(parts.handedOver).toEqual([]);
    expect(await parts.mailOf(notification)).toBe('skipped/cap');
  });

  test('with the overflow digest loses nothing: the others come with the digest', async () => {
    capped({ cap: { count: 2, per: '1d', overflow: 'digest' }, digest: { every: '1h' } });
    const all = [await publish('one'), await publish('two'), await publish('three'), await publish('four')];
    await run();
    expect(await parts.mailOf(all[2] as Notification)).toBe('digesting/digest');
    await at('61 minutes');
    await run();
    expect(texts()).toEqual([['one'], ['two'], ['four', 'three']]);
  });

  test('does not hold back critical categories', async () => {
    capped({ is_critical: true });
    for (const text of ['one', 'two', 'three']) await publish(text);
    await run();
    expect(parts.handedOver).toHaveLength(3);
  });
});
