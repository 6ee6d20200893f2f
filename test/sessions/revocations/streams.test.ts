import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../src/database/database.js';
import { newId } from '../../../src/lib/ids.js';
import { createRevocationStreams, type RevocationStreams } from '../../../src/sessions/revocations/streams.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { testSql } from '../../support/sql.js';

let postgres: TestDatabase;
beforeAll(async () => {
  postgres = await createTestDatabase();
});
afterAll(() => postgres.drop());

const running: RevocationStreams[] = [];
afterEach(async () => {
  for (const streams of running.splice(0)) await streams.close();
});

/** Streams of an instance whose connection to the database a test can cut, or whose commits it can hold. */
function createTestStreams() {
  const state = { isCut: false, isReadOnly: false };
  const logged: string[] = [];
  const database = {
    ...postgres.database,
    query: (async (statement) => {
      if (state.isCut) throw new Error('cut');
      if (state.isReadOnly && statement.text.includes('pg_logical_emit_message')) throw new Error('no standby');
      return postgres.database.query(statement);
    }) as Database['query'],
  };
  const log = { warn: (_: object, message: string) => void logged.push(message) };
  const streams = createRevocationStreams({ database, log, times: { checkIntervalMs: 10, beatMs: 30 } });
  running.push(streams);
  return { streams, state, logged };
}

class Sink extends Writable {
  text = '';
  constructor(public resume?: () => void) {
    super({ highWaterMark: 1024 });
  }
  isReading = true;
  held: (() => void) | undefined;
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    if (this.isReading) setImmediate(done);
    else this.held = done;
  }
  count(name: string): number {
    return this.text.split(`event: ${name}\n`).length - 1;
  }
  get ids(): string[] {
    return [...this.text.matchAll(/"(?:sid|sub|kid)":"([^"]+)"/g)].map(([, id = '']) => id);
  }
}

async function open(streams: RevocationStreams, lastEventId?: string): Promise<Sink> {
  const sink = new Sink();
  await streams.open({ caller: 'key:test', lastEventId, recheck: async () => undefined, connect: () => sink });
  return sink;
}
const insert = async (count: number) => {
  const rows = await postgres.database.query<{ sid: string }>(
    testSql(
      'insert into revocations (user_id, sid) select $1, gen_random_uuid() from generate_series(1, $2) returning sid',
      [newId(), count],
    ),
  );
  return rows.map(({ sid }) => sid);
};
const beats = (sink: Sink, count: number) =>
  eventually(`${count} beats`, async () => (sink.count('beat') >= count ? true : undefined));

test('an instance that is cut from its database does not beat, and tells afterwards what it missed', async () => {
  const { streams, state, logged } = createTestStreams();
  const healthy = createTestStreams();
  const [cut, other] = [await open(streams), await open(healthy.streams)];
  await beats(cut, 2);
  state.isCut = true;
  await eventually('the failure', async () => (logged.length > 0 ? true : undefined));
  const before = cut.count('beat');
  const missed = await insert(1);
  await beats(other, other.count('beat') + 3);
  expect([cut.count('beat'), cut.ids]).toEqual([before, []]);
  expect(other.ids).toEqual(missed);
  state.isCut = false;
  await beats(cut, before + 1);
  expect(cut.ids).toEqual(missed);
});

test('an instance whose database takes no commits does not beat', async () => {
  const { streams, state, logged } = createTestStreams();
  const sink = await open(streams);
  await beats(sink, 1);
  state.isReadOnly = true;
  await eventually('the failure', async () => (logged.length > 0 ? true : undefined));
  const before = sink.count('beat');
  const told = await insert(1);
  await eventually('the revocation', async () => (sink.ids.includes(told[0] ?? '') ? true : undefined));
  expect(sink.count('beat')).toBe(before);
});

test('more revocations than a page arrive each once, before the next beat', async () => {
  const { streams } = createTestStreams();
  const sink = await open(streams);
  await beats(sink, 1);
  const start = sink.ids.length;
  const told = await insert(2500);
  const expected = new Set(told);
  await eventually('all', async () => (sink.ids.length - start >= 2500 ? true : undefined));
  expect(new Set(sink.ids.slice(start))).toEqual(expected);
  expect(sink.ids.length - start).toBe(2500);
  // A new stream is sent all of them, and only the last has an id.
  const next = await open(streams);
  await beats(next, 1);
  const [backlog = ''] = next.text.split('event: beat');
  expect(new Set(next.ids).size).toBeGreaterThanOrEqual(2500);
  expect(backlog.match(/^id: .+$/gm)?.length).toBe(1);
});

test('a client that does not read gets no beat before what it has missed', async () => {
  const { streams } = createTestStreams();
  const sink = await open(streams);
  await beats(sink, 1);
  sink.isReading = false;
  await insert(50);
  await eventually('a full socket', async () => (sink.writableNeedDrain ? true : undefined));
  const late = await insert(1);
  const other = await open(streams);
  await beats(other, 3);
  expect(sink.ids).not.toContain(late[0]);
  const beatsBefore = sink.count('beat');
  sink.isReading = true;
  sink.held?.();
  await beats(sink, beatsBefore + 1);
  const upToBeat = sink.text
    .split('event: beat\n')
    .slice(0, beatsBefore + 1)
    .join('');
  expect(upToBeat).toContain(late[0]);
});

test('without a stream nothing is read', async () => {
  const { streams, state, logged } = createTestStreams();
  state.isCut = true;
  const { streams: others } = createTestStreams();
  await beats(await open(others), 2);
  expect([streams.count(), logged]).toEqual([0, []]);
});
