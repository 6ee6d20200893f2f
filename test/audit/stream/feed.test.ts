import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEventFeed } from '../../../src/audit/stream/feed.js';
import { eventFeedTask } from '../../../src/audit/stream/feed-retention.js';
import { type Position, parsePosition, positionText } from '../../../src/audit/stream/position.js';
import { runMaintenanceOnce } from '../../../src/database/maintenance/tasks.js';
import { newId } from '../../../src/lib/ids.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { queriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

let test: TestDatabase;
const feed = () => createEventFeed(test.database);
beforeAll(async () => {
  test = await createTestDatabase(undefined, { queryTimeout: 60_000 });
});
afterAll(() => test.drop());

const open: pg.Client[] = [];
afterEach(async () => {
  for (const client of open.splice(0)) await client.end();
});

/** Begins a transaction that stays open. */
async function begin() {
  const client = new pg.Client(test.target);
  open.push(client);
  await client.connect();
  await client.query('begin');
  return {
    write: (...names: string[]) => insert((text, values) => client.query(text, values), names),
    /** The number of the transaction. */
    number: async () => Number((await client.query('select pg_current_xact_id() as number')).rows[0].number),
    commit: () => client.query('commit'),
    rollback: () => client.query('rollback'),
  };
}

/** Writes an event for each name, which is the event's type. Each event is a separate statement. */
async function insert(query: (text: string, values: unknown[]) => Promise<unknown>, names: readonly string[]) {
  for (const name of names) {
    await query(
      `insert into events (user_id, id, type, actor, created_at) values ($1, $2, $3, 'user', clock_timestamp())`,
      [newId(), newId(), name],
    );
  }
}

const write = (...names: string[]) => insert((text, values) => test.database.query(testSql(text, values)), names);

const run = (text: string) => test.database.query(testSql(text));

/** Reads everything after a position in pages, and continues from the text of a position, as clients do. */
async function readAll(from: Position, limit = 100) {
  const names: string[] = [];
  const positions: Position[] = [];
  let position = from;
  for (let isDone = false; !isDone; ) {
    const page = await feed().read(position, limit);
    expect(page.isReset).toBe(false);
    for (const each of page.events) {
      names.push(each.event.type);
      positions.push(each.position());
    }
    position = serializeAndParse(page.next);
    isDone = !page.hasMore;
  }
  return { names, positions, position };
}

function serializeAndParse(position: Position): Position {
  const parsed = parsePosition(positionText(position));
  if (parsed === undefined) throw new Error('the text of a position cannot be read');
  return parsed;
}

const namesAfter = async (position: Position) => (await readAll(position)).names;

describe('the feed', () => {
  it('has the events after a position, in the order in which they were written', async () => {
    await write('before');
    const start = await feed().now();
    await write('one', 'two');
    const { names, position } = await readAll(start);
    expect(names).toEqual(['one', 'two']);
    await write('three');
    expect(await namesAfter(position)).toEqual(['three']);
    expect(await namesAfter(start)).toEqual(['one', 'two', 'three']);
  });

  it('has an event that commits after later events, and has no event twice', async () => {
    const first = await begin();
    await first.write('first');
    const start = await feed().now();
    const second = await begin();
    await second.write('second');
    await write('third');
    const one = await readAll(start);
    expect(one.names).toEqual(['third']);
    await second.commit();
    const two = await readAll(one.position);
    expect(two.names).toEqual(['second']);
    await write('fourth');
    await first.commit();
    const three = await readAll(two.position);
    expect(three.names).toEqual(['first', 'fourth']);
    expect(await namesAfter(three.position)).toEqual([]);
  });

  it('has no event of a transaction that was rolled back', async () => {
    const start = await feed().now();
    const transaction = await begin();
    await transaction.write('rolled back');
    await transaction.rollback();
    await write('committed');
    expect(await namesAfter(start)).toEqual(['committed']);
  });

  it('leaves out an event that was deleted before it was read', async () => {
    const start = await feed().now();
    await write('deleted', 'other');
    await run("delete from events where type = 'deleted'");
    expect(await namesAfter(start)).toEqual(['other']);
  });

  it('does not repeat an event that was changed', async () => {
    const start = await feed().now();
    await write('changed');
    const { names, position } = await readAll(start);
    expect(names).toEqual(['changed']);
    await run("update events set data = '{}' where type = 'changed'");
    expect(await namesAfter(position)).toEqual([]);
  });

  it('has the events of one statement in the order of the list, on several pages', async () => {
    const start = await feed().now();
    await run(`insert into events (user_id, id, type, actor, created_at)
      select gen_random_uuid(), gen_random_uuid(), 'n' || n, 'user', now() + n * interval '1 microsecond'
      from generate_series(1, 25) n`);
    const { names, positions } = await readAll(start, 4);
    expect(names).toEqual(Array.from({ length: 25 }, (_, n) => `n${n + 1}`));
    for (const [index, position] of positions.entries()) {
      expect(await namesAfter(serializeAndParse(position))).toEqual(names.slice(index + 1));
    }
  });

  it('continues after each event without a loss or a repeat, in whatever order transactions commit', async () => {
    const start = await feed().now();
    const transactions = await Promise.all(Array.from({ length: 7 }, begin));
    for (const [index, { write: add }] of transactions.entries()) await add(`t${index}.1`);
    for (const [index, { write: add }] of [...transactions.entries()].reverse())
      await add(`t${index}.2`, `t${index}.3`);
    /** Positions after each event that was read, with the events that were read until then. */
    const readUntil: { readonly position: Position; readonly read: readonly string[] }[] = [];
    let position = start;
    let read: string[] = [];
    for (const index of [3, 0, 6, 5, 1, 4, 2]) {
      await transactions[index]?.commit();
      await write(`between ${index}`);
      // One page that ends in the middle: the next round continues there.
      const page = await feed().read(position, 3);
      for (const each of page.events) {
        read = [...read, each.event.type];
        readUntil.push({ position: serializeAndParse(each.position()), read });
      }
      position = serializeAndParse(page.next);
    }
    const rest = await readAll(position, 2);
    const all = [...read, ...rest.names];
    expect(all).toHaveLength(28);
    expect(new Set(all).size).toBe(28);
    for (const index of transactions.keys()) {
      expect(all.filter((name) => name.startsWith(`t${index}.`))).toEqual([1, 2, 3].map((n) => `t${index}.${n}`));
    }
    for (const place of readUntil) {
      const later = await namesAfter(place.position);
      expect([...place.read, ...later].sort()).toEqual([...all].sort());
    }
  });

  it('ends a read at the snapshot of an earlier read', async () => {
    const start = await feed().now();
    const late = await begin();
    await late.write('late');
    await write('one');
    const { snapshot: seen } = await feed().read(start, 10);
    await write('two');
    await late.commit();
    const page = await feed().read(start, 10, seen);
    expect(page.events.map(({ event }) => event.type)).toEqual(['one']);
    expect(await namesAfter(page.next)).toEqual(['late', 'two']);
  });

  it('finds transactions and events by their keys', async () => {
    await run(`insert into events (user_id, id, type, actor, created_at)
      select gen_random_uuid(), gen_random_uuid(), 'many', 'user', now() from generate_series(1, 20000)`);
    await run('analyze event_feed, events');
    const open = await begin();
    await open.write('open');
    const position = await feed().now();
    const [sent] = await queriesOf(() => feed().read(position, 200));
    const plan = JSON.stringify(
      await test.database.query(testSql(`explain (format json) ${sent?.text}`, sent?.values)),
    );
    expect(plan.match(/"Index Name":"event_feed_pkey"/g)?.length).toBeGreaterThanOrEqual(2);
    expect(plan).toMatch(/"Index Name":"events_(pkey|by_user|by_created_at)"/);
    expect(plan).not.toMatch(/"Node Type":"Seq Scan"[^}]*"Relation Name":"event(s|_feed)"/);
  });
});

describe('the feed starts again', () => {
  const rows = async () => Number(((await run('select count(*) as n from event_feed')) as { n: string }[])[0]?.n);
  const maintain = () => runMaintenanceOnce(test.database, [eventFeedTask]);
  /**
   * Transactions of other databases of the server delay the deletion of rows, so one run of the task may not be enough.
   */
  const clean = (what: string, isClean: () => Promise<boolean>) =>
    eventually(what, async () => {
      await maintain();
      return (await isClean()) ? true : undefined;
    });
  const isReset = async (position: Position) => (await feed().read(position, 10)).isReset;

  it('only when the rows after a position may be deleted, which the maintenance task keeps for at least one of its pauses', async () => {
    const old = await feed().now();
    await write('first');
    await maintain();
    expect(await namesAfter(old)).toEqual(['first']);
    await clean('the reset', () => isReset(old));
    const newer = await feed().now();
    await write('second');
    await maintain();
    expect(await namesAfter(newer)).toEqual(['second']);
    await clean('all rows to be deleted', async () => (await rows()) === 0);
  });

  it('not while a stream reads between two runs of the maintenance task', async () => {
    let position = await feed().now();
    for (let n = 0; n < 5; n += 1) {
      await maintain();
      position = (await readAll(position)).position;
    }
    await write('event');
    expect(await namesAfter(position)).toEqual(['event']);
  });

  it('not because of a transaction that ran longer than the pause of the maintenance task', async () => {
    const long = await begin();
    await long.write('long');
    // Only a later transaction that has ended makes the long one part of the running ones.
    await write('later');
    const number = await long.number();
    const now = await feed().now();
    // Older running transactions are of other databases of the server, and may end at any time. Then the task may delete
    // the rows that a position with these transactions needs, and such a position is reset.
    const position = { ...now, running: now.running.filter((each) => each >= number) };
    expect(position.running[0]).toBe(number);
    for (let n = 0; n < 4; n += 1) await maintain();
    await long.commit();
    expect(await namesAfter(position)).toEqual(['long']);
  });

  it.each([
    ['after a crash, when the unlogged tables are empty', 'truncate event_feed, event_feed_state'],
    ['after a restore, when the state has the numbers of another server', 'update event_feed_state set run = run'],
  ])('%s', async (_, cause) => {
    const before = await feed().now();
    await write('lost');
    await run(cause);
    const page = await feed().read(before, 10);
    expect(page).toMatchObject({ isReset: true, events: [], hasMore: false });
    await write('new');
    expect(await namesAfter(page.next)).toEqual(['new']);
    expect(page.next.run).not.toBe(before.run);
    expect(await isReset(before)).toBe(true);
  });

  it('once, even if several processes notice the loss', async () => {
    await run('truncate event_feed, event_feed_state');
    const starts = await Promise.all(Array.from({ length: 8 }, () => feed().now()));
    expect(new Set(starts.map((start) => start.run)).size).toBe(1);
  });

  it('for a position in the future, which another server created', async () => {
    const { run: currentRun, xmax } = await feed().now();
    expect(await isReset({ run: currentRun, xmax: xmax + 1_000_000_000, running: [] })).toBe(true);
  });

  it('without sending rows that another server wrote, which the maintenance task deletes', async () => {
    const start = await feed().now();
    await run(`insert into event_feed (transaction, created_at, user_id, id)
      select '${start.xmax + 100_000}', created_at, user_id, id from events limit 5`);
    expect(await namesAfter(start)).toEqual([]);
    await clean('the rows to be deleted', async () => (await rows()) === 0);
  });
});
