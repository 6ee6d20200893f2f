import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SealedDay, sealTask } from '../../../src/audit/integrity/seal.js';
import { verifyAudit } from '../../../src/audit/integrity/verify.js';
import { expiryTasks } from '../../../src/database/maintenance/expiry.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { newId } from '../../../src/lib/ids.js';
import { holdClock } from '../../support/clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';

const dayMs = 86_400_000;
const eventsAge = 365 * dayMs;
/** The clock of the database stands still at noon, so that no day ends during a test, and events expire whatever the time is. */
const noon = (Math.floor(Date.now() / dayMs) + 0.5) * dayMs;
const dayOf = (daysAgo: number) => new Date(noon - daysAgo * dayMs).toISOString().slice(0, 10);

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase(undefined, { queryTimeout: 60_000 });
  await holdClock(test.database, noon);
});
afterAll(() => test.drop());
const run = <Row extends object>(text: string, values?: unknown[]) => test.database.query(testSql<Row>(text, values));
beforeEach(() => run('truncate events, audit_days, audit_parts'));

/** Writes an event at a time of a day in UTC. @returns its id */
async function write(daysAgo: number, { time = '12:00', data = {} as object, userId = newId() } = {}): Promise<string> {
  const id = newId();
  await run(`insert into events (user_id, id, type, actor, data, created_at) values ($1, $2, 'test', 'user', $3, $4)`, [
    userId,
    id,
    data,
    `${dayOf(daysAgo)} ${time}+00`,
  ]);
  return id;
}

/** Runs the task until it has sealed all days before today. Open transactions of other tests may delay it. */
async function seal(age = eventsAge): Promise<SealedDay[]> {
  const sealed: SealedDay[] = [];
  const sealNext = async () => {
    await runMaintenanceOnce(test.database, [sealTask(age, (day) => sealed.push(day))]);
    const [row] = await run<{ left: boolean }>(`
      select exists (select from audit_days where hash is null)
          or exists (select from events where created_at < date_trunc('day', db_now(), 'UTC') - interval '1 day'
                       and (created_at at time zone 'UTC')::date not in (select day from audit_days)) as left`);
    return row?.left;
  };
  await eventually('all days to be sealed', async () => ((await sealNext()) ? undefined : true));
  return sealed;
}

const verify = (anchors: readonly SealedDay[] = [], age = eventsAge) =>
  verifyAudit(test.database, { eventsAge: age, anchors: new Map(anchors.map(({ day, hash }) => [day, hash])) });
const findings = async (...values: Parameters<typeof verify>) => (await verify(...values)).findings;

describe('a day', () => {
  it('is sealed after its end, with the hash that the next day continues', async () => {
    await write(4);
    await write(4, { time: '23:59:59.999999' });
    await write(3, { time: '00:00' });
    await write(0, { time: '00:00' });
    const sealed = await seal();
    expect(sealed).toEqual([
      { day: dayOf(4), events: 2, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { day: dayOf(3), events: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await verify(sealed)).toEqual({ days: 2, events: 3, findings: [], last: sealed[1] });
  });

  it('that was about to be sealed before a dump is sealed after the restore, although transaction numbers are lower there', async () => {
    await write(3);
    await run('insert into audit_days (day, closing) values ($1, $2)', [dayOf(3), '4000000000000']);
    expect(await seal()).toEqual([{ day: dayOf(3), events: 1, hash: expect.any(String) }]);
  });

  it('is not sealed while a transaction that may write into it is open', async () => {
    await write(3);
    const task = sealTask(eventsAge, () => undefined);
    const isOpen = async () => (await run('select from audit_days where hash is null')).length === 1;
    await test.database.transaction(async (tx) => {
      const id = newId();
      await tx.query(
        testSql(`insert into events (user_id, id, type, actor, created_at) values ($1, $1, 'late', 'user', $2)`, [
          id,
          `${dayOf(3)} 13:00+00`,
        ]),
      );
      await runMaintenanceOnce(test.database, [task]);
      expect(await isOpen()).toBe(true);
    });
    expect(await seal()).toMatchObject([{ events: 2 }]);
    expect(await findings()).toEqual([]);
  });

  it('with many events has several parts', async () => {
    await run(
      `insert into events (user_id, id, type, actor, created_at)
       select gen_random_uuid(), gen_random_uuid(), 'many', 'user', $1::timestamptz + n / 3 * interval '1 ms' from generate_series(1, 5000) n`,
      [`${dayOf(2)} 12:00+00`],
    );
    expect(await seal()).toMatchObject([{ events: 5000 }]);
    expect(await run('select from audit_parts')).toHaveLength(3);
    expect(await verify()).toMatchObject({ events: 5000, findings: [] });
  });
});

describe('the check finds', () => {
  it.each(['first', 'middle', 'last'] as const)('an event that was removed, the %s of its day', async (which) => {
    const ids = {
      first: await write(2, { time: '01:00' }),
      middle: await write(2),
      last: await write(2, { time: '20:00' }),
    };
    await seal();
    await run('delete from events where id = $1', [ids[which]]);
    expect(await findings()).toEqual([{ what: 'removed', day: dayOf(2), id: ids[which] }]);
  });

  it.each(['00:00', '11:00', '23:59:59.999999'])('an event that was added at %s', async (time) => {
    await write(2);
    await seal();
    const id = await write(2, { time });
    expect(await findings()).toEqual([{ what: 'added', day: dayOf(2), id }]);
  });

  it('an event that was added to a day without events', async () => {
    await write(5);
    await write(3);
    await seal();
    const id = await write(4);
    expect(await findings()).toMatchObject([{ what: 'added', id }]);
  });

  it.each([
    ['type', "type = 'other'"],
    ['actor', "actor = 'operator'"],
    ['user', 'user_id = gen_random_uuid()'],
    ['address', "address = '192.0.2.1'"],
    ['request', "request_id = ''"],
    ['data', `data = '{"a":2}'`],
  ])('an event with another %s', async (_, change) => {
    const id = await write(2, { data: { a: 1 } });
    await seal();
    await run(`update events set ${change} where id = $1`, [id]);
    expect(await findings()).toEqual([{ what: 'changed', day: dayOf(2), id }]);
  });

  it('an event that was moved to another time', async () => {
    const id = await write(3);
    await write(2);
    await seal();
    await run(`update events set created_at = created_at + interval '1 day' where id = $1`, [id]);
    expect(await findings()).toEqual([
      { what: 'removed', day: dayOf(3), id },
      { what: 'added', day: dayOf(2), id },
    ]);
  });

  it('leaf hashes that were changed together with the event, and, by its anchor, a rewritten chain', async () => {
    await write(3);
    const id = await write(2);
    const anchors = await seal();
    await run("update events set actor = 'cli' where id = $1", [id]);
    await run(`update audit_parts set leaves = set_byte(leaves, 20, (get_byte(leaves, 20) + 1) % 256) where day = $1`, [
      dayOf(2),
    ]);
    expect(await findings()).toEqual(
      expect.arrayContaining([
        { what: 'chain', day: dayOf(2) },
        { what: 'changed', day: dayOf(2), id },
      ]),
    );
    await run('truncate audit_days, audit_parts');
    await seal();
    expect(await findings()).toEqual([]);
    expect(await findings(anchors)).toEqual([{ what: 'anchor', day: dayOf(2) }]);
  });
});

describe('the check accepts', () => {
  it('the erased values of a deleted user, but no other change of an event of the user', async () => {
    const [user] = await run<{ id: string }>('select gen_random_uuid() as id');
    const [one, other] = [
      await write(2, { userId: user?.id ?? '', data: { changes: { name: ['a', 'b'] }, other: 1 } }),
      await write(2, { userId: user?.id ?? '', data: { changes: { name: ['b', 'c'] }, other: 1 } }),
    ];
    await seal();
    await run("update events set data = data - 'changes'");
    expect(await findings()).toEqual([]);
    await run(`update events set data = '{"changes":{"name":["x","y"]},"other":1}' where id = $1`, [one]);
    await run(`update events set data = '{"other":2}' where id = $1`, [other]);
    expect(await findings()).toEqual(
      expect.arrayContaining([one, other].map((id) => ({ what: 'changed', day: dayOf(2), id }))),
    );
  });

  it('missing events that have expired, and keeps the hashes of their days', async () => {
    for (const daysAgo of [9, 8, 5, 2]) {
      await write(daysAgo, { time: '00:00' });
      await write(daysAgo, { time: '23:59' });
    }
    const anchors = await seal();
    const age = 5 * dayMs;
    await runMaintenanceOnce(test.database, expiryTasks(age));
    expect((await run('select from events')).length).toBeLessThan(5);
    await seal(age);
    expect(await run('select distinct day from audit_parts')).toHaveLength(2);
    expect(await findings(anchors, age)).toEqual([]);
    const [event] = await run<{ id: string }>(
      "delete from events where created_at > db_now() - interval '3 days' returning id",
    );
    expect(await findings(anchors, age)).toContainEqual({ what: 'removed', day: dayOf(2), id: event?.id });
  });

  it('an expired day while its digests are deleted', async () => {
    await run(
      `insert into events (user_id, id, type, actor, created_at)
      select gen_random_uuid(), gen_random_uuid(), 'many', 'user', $1::timestamptz + n * interval '1 ms' from generate_series(1, 4001) n`,
      [`${dayOf(9)} 12:00+00`],
    );
    await write(2);
    const anchors = await seal();
    const age = 5 * dayMs;
    await runMaintenanceOnce(test.database, expiryTasks(age));
    // A step of the task deletes only some of the parts of a long day.
    expect(await run('delete from audit_parts where day = $1 and part = 1 returning part', [dayOf(9)])).toHaveLength(1);
    expect(await run('select part from audit_parts where day = $1', [dayOf(9)])).toHaveLength(2);
    expect(await findings(anchors, age)).toEqual([]);
  });
});

it('the check reads events by their index', async () => {
  await run(`insert into events (user_id, id, type, actor, created_at)
    select gen_random_uuid(), gen_random_uuid(), 'many', 'user', db_now() - n * interval '1 minute' from generate_series(1, 20000) n`);
  await run('analyze events');
  const plan = JSON.stringify(
    await run(`explain (format json) select id from events
      where (created_at, id) > ('${dayOf(2)}', gen_random_uuid()) and (created_at, id) <= ('${dayOf(1)}', gen_random_uuid())
      order by created_at, id limit 2000`),
  );
  expect(plan).toContain('events_by_created_at');
});
