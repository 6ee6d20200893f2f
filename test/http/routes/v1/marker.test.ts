import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Marker } from '../../../../src/contract/changes.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { eventsOf, openStream } from '../../../support/event-stream.js';
import { type Reader, readersOf, some } from '../../../support/readers.js';
import { testSql } from '../../../support/sql.js';

let postern: TestApp;
let other: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
  other = await postern.another();
});
afterAll(async () => {
  await other.close();
  await postern.close();
});

const { createReader, publish: publishTo } = readersOf(() => postern);
const publish = ({ user }: Reader, count: number) => publishTo(user, some(count));

const get = async ({ token }: Reader) =>
  (await postern.api<Marker>('GET', '/v1/notifications/marker', { bearer: token })).body;
const put = <Body = Marker>({ token }: Reader, body: unknown, { api }: TestApp = postern) =>
  api<Body>('PUT', '/v1/notifications/marker', { bearer: token, body });

describe('the read position', () => {
  it('is 0 before it is set', async () => {
    const reader = await createReader();
    const fresh = { last_read_sequence: 0, unread_count: 0, unread_count_capped: false, updated_at: null };
    expect(await get(reader)).toEqual(fresh);
    await publish(reader, 2);
    expect(await get(reader)).toEqual({ ...fresh, unread_count: 2 });
  });

  it('moves by sequence and by id, counts later notifications, and never moves back', async () => {
    const reader = await createReader();
    const [one, two, three] = await publish(reader, 3);
    const moved = await put(reader, { last_read_sequence: one?.sequence });
    expect(moved).toMatchObject({ status: 200, body: { last_read_sequence: 1, unread_count: 2 } });
    expect(moved.body.updated_at).not.toBeNull();
    const further = await put(reader, { last_read_id: three?.id.toUpperCase() });
    expect(further.body).toMatchObject({ last_read_sequence: 3, unread_count: 0 });
    expect((await put(reader, { last_read_id: two?.id })).body).toEqual(further.body);
    expect((await put(reader, { last_read_sequence: 0 })).body).toEqual(further.body);
    expect(await get(reader)).toEqual(further.body);
  });

  it('moves at most to the last notification, so that new ones are unread', async () => {
    const reader = await createReader();
    await publish(reader, 2);
    expect((await put(reader, { last_read_sequence: 1_000_000 })).body.last_read_sequence).toBe(2);
    await publish(reader, 1);
    expect((await get(reader)).unread_count).toBe(1);
  });

  it('counts at most 100 unread notifications', async () => {
    const reader = await createReader();
    await publish(reader, 100);
    expect(await get(reader)).toMatchObject({ unread_count: 100, unread_count_capped: false });
    await publish(reader, 1);
    expect(await get(reader)).toMatchObject({ unread_count: 100, unread_count_capped: true });
  });

  it('is the greatest of several parallel values, on two instances', async () => {
    const reader = await createReader();
    await publish(reader, 40);
    for (let round = 0; round < 5; round += 1) {
      const numbers = Array.from({ length: 8 }, (_, n) => round * 8 + ((n * 5) % 8) + 1);
      const answers = await Promise.all(
        numbers.map((n, index) => put(reader, { last_read_sequence: n }, index % 2 === 0 ? postern : other)),
      );
      for (const [index, { status, body }] of answers.entries()) {
        expect(status).toBe(200);
        expect(body.last_read_sequence).toBeGreaterThanOrEqual(numbers[index] ?? 0);
      }
      expect((await get(reader)).last_read_sequence).toBe(round * 8 + 8);
    }
  });

  it.each([
    [{}, 'last_read_sequence', 'required'],
    [{ last_read_sequence: 1, last_read_id: randomUUID() }, 'last_read_id', 'conflicting_fields'],
    [{ last_read_id: randomUUID() }, 'last_read_id', 'unknown_notification'],
    [{ last_read_id: 'x' }, 'last_read_id', 'invalid_format'],
    [{ last_read_sequence: -1 }, 'last_read_sequence', 'too_small'],
    [{ last_read_sequence: 1e15 }, 'last_read_sequence', 'too_large'],
    [{ last_read_sequence: 1.5 }, 'last_read_sequence', 'invalid_type'],
    [{ last_read_sequence: '1' }, 'last_read_sequence', 'invalid_type'],
  ])('refuses %j', async (body, field, code) => {
    const { status, body: problem } = await put<ProblemAnswer>(await createReader(), body);
    expect([status, problem.errors[0]?.field, problem.errors[0]?.code]).toEqual([422, field, code]);
  });

  it("refuses another user's notification", async () => {
    const [ann, bob] = [await createReader(), await createReader()];
    const [his] = await publish(bob, 1);
    expect((await put<ProblemAnswer>(ann, { last_read_id: his?.id })).body.errors[0]?.code).toBe(
      'unknown_notification',
    );
  });

  it('needs a session', async () => {
    expect((await postern.api('GET', '/v1/notifications/marker')).status).toBe(401);
    expect((await postern.api('PUT', '/v1/notifications/marker', { body: { last_read_sequence: 1 } })).status).toBe(
      401,
    );
  });
});

describe('a stream', () => {
  const open = ({ token }: Reader, { url }: TestApp = postern) => openStream(url, { bearer: token });

  it('sends the read position when it starts, and each time it moves, on every instance', async () => {
    const reader = await createReader();
    await publish(reader, 3);
    const { body: before } = await put(reader, { last_read_sequence: 1 });
    const streams = [await open(reader), await open(reader, other)];
    for (const stream of streams) expect(await eventsOf(stream, 'marker', 1)).toEqual([before]);
    const { body: after } = await put(reader, { last_read_sequence: 2 }, other);
    await put(reader, { last_read_sequence: 1 });
    for (const stream of streams) {
      expect(await eventsOf(stream, 'marker', 2)).toEqual([before, after]);
      // The read position is no change of the inbox, so a client that reconnects continues from the same id.
      expect(stream.lastEventId).toBe('3');
    }
  });

  it('sends a read position whose signal was lost', async () => {
    const reader = await createReader();
    await publish(reader, 3);
    const stream = await open(reader);
    await postern.database.query(testSql('insert into markers values ($1, 2, db_now())', [reader.user.id]));
    expect(await eventsOf(stream, 'marker', 1)).toMatchObject([{ last_read_sequence: 2, unread_count: 1 }]);
  });
});
