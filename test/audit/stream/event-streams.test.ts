import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createEventStreams, type EventStreams } from '../../../src/audit/stream/event-streams.js';
import { type Position, parsePosition } from '../../../src/audit/stream/position.js';
import type { StreamTimes } from '../../../src/lib/event-stream/connections.js';
import type { FilterClause } from '../../../src/lib/filter/fields.js';
import { Problem } from '../../../src/lib/problem.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { allQueriesOf } from '../../support/queries.js';
import { testSql } from '../../support/sql.js';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const running: EventStreams[] = [];
afterEach(async () => {
  for (const streams of running.splice(0)) await streams.close();
});

function createTestStreams(times: Partial<StreamTimes> = {}): EventStreams {
  const log = { warn: () => undefined };
  const streams = createEventStreams({ database: test.database, log, times: { checkIntervalMs: 20, ...times } });
  running.push(streams);
  return streams;
}

/** A client's socket. */
class Sink extends Writable {
  text = '';
  #resume: (() => void) | undefined;
  #isReading: boolean;

  constructor(isReading: boolean) {
    super({ highWaterMark: 16 * 1024 });
    this.#isReading = isReading;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    if (this.#isReading) setImmediate(done);
    else this.#resume = done;
  }

  /** Lets the client read from now on. */
  read(): void {
    this.#isReading = true;
    this.#resume?.();
  }

  get types(): string[] {
    return [...this.text.matchAll(/"type":"([^"]+)"/g)].map(([, type = '']) => type);
  }

  get ids(): string[] {
    return [...this.text.matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id);
  }
}

interface StreamOptions {
  readonly after?: Position;
  readonly filter?: readonly FilterClause[];
  readonly recheck?: () => Promise<void>;
  readonly isReading?: boolean;
  readonly caller?: string;
}

async function open(streams: EventStreams, options: StreamOptions = {}): Promise<Sink> {
  const { after, filter = [], recheck = async () => undefined, isReading = true, caller = 'key:test' } = options;
  const sink = new Sink(isReading);
  await streams.open({ caller, filter, after, recheck, connect: () => sink });
  return sink;
}

/** Writes events named `prefix1`, `prefix2`, … in one statement. */
const write = (prefix: string, count: number, data: object = {}) =>
  test.database.query(
    testSql(
      `insert into events (user_id, id, type, actor, data, created_at)
       select gen_random_uuid(), gen_random_uuid(), $1 || n, 'user', $3, now() + n * interval '1 microsecond'
       from generate_series(1, $2::int) n`,
      [prefix, count, data],
    ),
  );
const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`);
const waitForEvents = (sink: Sink, count: number) =>
  eventually(`${count} events`, async () => (sink.types.length >= count ? true : undefined));

describe('streams of audit events', () => {
  it('send a burst of 1,000 events once, in order, to all clients', async () => {
    const streams = createTestStreams();
    const sinks = await Promise.all(Array.from({ length: 5 }, () => open(streams)));
    await write('burst', 1000);
    for (const sink of sinks) await waitForEvents(sink, 1000);
    await write('end', 1);
    for (const sink of sinks) {
      await waitForEvents(sink, 1001);
      expect(sink.types).toEqual([...names('burst', 1000), 'end1']);
    }
  });

  it('continue after any id without a loss or a repeat', async () => {
    const streams = createTestStreams();
    const first = await open(streams);
    await write('a', 250);
    await waitForEvents(first, 250);
    // The first id is the position at which the stream started.
    for (const index of [0, 1, 100, 199, 200, 201, 249, 250]) {
      const after = parsePosition(first.ids[index] ?? '');
      if (after === undefined) throw new Error(`the id ${first.ids[index]} cannot be read`);
      const resumed = await open(streams, { after, caller: `key:${index}` });
      await write('next', 1);
      await eventually('the next event', async () => (resumed.types.includes('next1') ? true : undefined));
      const received = resumed.types.filter((type) => type.startsWith('a'));
      expect(received).toEqual(names('a', 250).slice(index));
    }
  });

  it('read each event once for all clients, and read nothing without a client', async () => {
    const streams = createTestStreams({ checkIntervalMs: 600_000 });
    const idle = await allQueriesOf(() => write('unread', 1));
    expect(idle.filter(({ text }) => text.includes('event_feed'))).toEqual([]);
    const sinks = await Promise.all(Array.from({ length: 10 }, () => open(streams)));
    await streams.close();
    expect(sinks.every(({ writableEnded }) => writableEnded)).toBe(true);

    const busy = createTestStreams({ checkIntervalMs: 10 });
    const clients = await Promise.all(Array.from({ length: 10 }, () => open(busy)));
    for (let round = 1; round <= 5; round += 1) {
      await write('all', 1);
      for (const sink of clients) await waitForEvents(sink, round);
    }
    const sent = await allQueriesOf(async () => {
      await write('shared', 3);
      for (const sink of clients) await waitForEvents(sink, 8);
    });
    expect(sent.some(({ text }) => text.includes('event_feed'))).toBe(true);
    // The events of one statement are one page, and their names are looked up once for each page.
    expect(sent.filter(({ text }) => text.includes('former_names'))).toHaveLength(1);
  });

  it('wait while a client does not read, continue when it reads again, and delay no other client', async () => {
    const streams = createTestStreams();
    const slow = await open(streams, { isReading: false });
    const fast = await open(streams);
    const large = { text: 'x'.repeat(500) };
    await write('large', 600, large);
    await waitForEvents(fast, 600);
    expect(slow.text.length + slow.writableLength).toBeLessThan(400_000);
    slow.read();
    await waitForEvents(slow, 600);
    await write('end', 1);
    await waitForEvents(slow, 601);
    expect(slow.types).toEqual([...names('large', 600), 'end1']);
  });

  it('end when a client does not read', async () => {
    const streams = createTestStreams({ maxBlockedMs: 50 });
    const sink = await open(streams, { isReading: false });
    await write('large', 200, { text: 'x'.repeat(500) });
    await eventually('the end', async () => (sink.destroyed ? true : undefined));
  });

  it('end when the client loses its right, but not when one check fails', async () => {
    const streams = createTestStreams();
    let failures = 0;
    const unchecked = await open(streams, {
      recheck: async () => {
        failures += 1;
        if (failures < 3) throw new Error('the database is unavailable');
      },
    });
    const lost = await open(streams, {
      recheck: async () => {
        throw new Problem('invalid_api_key');
      },
    });
    await eventually('the end', async () => (lost.writableEnded ? true : undefined));
    await eventually('a check that succeeds', async () => (failures > 3 ? true : undefined));
    expect(unchecked.writableEnded).toBe(false);
  });

  it('end when the right could not be checked for too long', async () => {
    const streams = createTestStreams({ maxUncheckedMs: 100 });
    const recheck = async () => {
      throw new Error('the database is unavailable');
    };
    const sink = await open(streams, { recheck });
    await eventually('the end', async () => (sink.writableEnded ? true : undefined));
  });

  it('send the position of excluded events with a heartbeat', async () => {
    const streams = createTestStreams({ heartbeatMs: 50 });
    const filter = [{ name: 'type', field: { kind: 'key' }, operator: 'eq', values: ['nothing'] }] as const;
    const sink = await open(streams, { filter });
    await write('excluded', 3);
    await eventually('another id', async () => (new Set(sink.ids).size > 1 ? true : undefined));
    expect(sink.types).toEqual([]);
    const resumed = parsePosition(sink.ids.at(-1) ?? '');
    expect(resumed).toBeDefined();
  });

  it('send a reset when events were lost, and continue', async () => {
    const streams = createTestStreams();
    const sink = await open(streams);
    await test.database.query(testSql('truncate event_feed, event_feed_state'));
    await eventually('the reset', async () => (sink.text.includes('event: reset\n') ? true : undefined));
    await write('after', 1);
    await waitForEvents(sink, 1);
    expect(sink.text.match(/event: reset/g)).toHaveLength(1);
    expect(sink.text).toContain(`event: reset\nid: ${sink.ids[1]}\ndata: ${JSON.stringify({ after: sink.ids[1] })}\n`);
  });

  it('are limited to 20 per caller, and refused while the service stops', async () => {
    const streams = createTestStreams();
    for (let n = 0; n < 20; n += 1) await open(streams);
    await expect(open(streams)).rejects.toThrow('too_many_streams');
    await open(streams, { caller: 'key:other' });
    await streams.close();
    await expect(open(streams)).rejects.toThrow('shutting_down');
  });
});
