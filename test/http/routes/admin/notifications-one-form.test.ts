import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Notification, NotificationPage } from '../../../../src/contract/notification.js';
import type { DryRun } from '../../../../src/contract/push.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { openStream } from '../../../support/event-stream.js';
import { eventually } from '../../../support/eventually.js';
import { linksOf, type Reader, readersOf, some } from '../../../support/readers.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ LOGIN_LIMIT_PER_ADDRESS: '0' });
});
afterAll(() => postern.close());

const { createReader, publish, get } = readersOf(() => postern);

const post = <Body>(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  postern.api<Body>('POST', `/admin/v1/notifications/${path}`, { bearer: postern.adminKey, body, headers });
const inboxOf = async (reader: Reader) => (await get(reader)).body;
const item = ({ user }: Reader, description = 'Lunch') => ({
  user_id: user.id,
  notification_type: 'payment',
  description,
});

describe('POST /admin/v1/notifications/batch', () => {
  test('returns an array, also for a single item, and publishes all or none', async () => {
    const reader = await createReader();
    const one = await post<Notification[]>('batch', [item(reader)]);
    expect([one.status, one.body.map(({ description }) => description)]).toEqual([201, ['Lunch']]);
    const faulty = await post<ProblemAnswer>('batch', [item(reader), { ...item(reader), user_id: one.body[0]?.id }]);
    expect([faulty.status, faulty.body.errors[0]]).toMatchObject([422, { field: '1.user_id', code: 'unknown_user' }]);
    expect(await inboxOf(reader)).toHaveLength(1);
  });

  test('accepts user_ids, and refuses a body that is not an array', async () => {
    const [first, second] = [await createReader(), await createReader()];
    const { user_id: _, ...shared } = item(first);
    const { status, body } = await post<Notification[]>('batch', [
      { ...shared, user_ids: [first.user.id, second.user.id] },
    ]);
    expect([status, body.map(({ user_id }) => user_id)]).toEqual([201, [first.user.id, second.user.id]]);
    const single = await post<ProblemAnswer>('batch', item(first));
    expect([single.status, single.body.errors[0]?.code]).toEqual([422, 'invalid_type']);
    expect((await post('batch', [])).status).toBe(422);
  });

  test('honours an Idempotency-Key', async () => {
    const reader = await createReader();
    const key = { 'idempotency-key': `batch-${reader.user.id}` };
    const first = await post<Notification[]>('batch', [item(reader)], key);
    const again = await post<Notification[]>('batch', [item(reader)], key);
    expect([again.status, again.headers['idempotent-replayed'], again.body]).toEqual([201, 'true', first.body]);
    expect(await inboxOf(reader)).toHaveLength(1);
  });
});

test('POST /admin/v1/notifications/dry-run reports the recipients, and writes nothing', async () => {
  const reader = await createReader();
  const { status, body } = await post<DryRun>('dry-run', [item(reader), item(reader, 'Dinner')]);
  expect([status, body.deliveries, body.items.map(({ description }) => description)]).toEqual([
    200,
    2,
    ['Lunch', 'Dinner'],
  ]);
  expect(await inboxOf(reader)).toEqual([]);
});

describe('POST /admin/v1/notifications/ndjson', () => {
  const ndjson = { 'content-type': 'application/x-ndjson' };

  test('returns a result for each line', async () => {
    const reader = await createReader();
    const body = `${JSON.stringify(item(reader))}\n{}\n`;
    const { status, text } = await post('ndjson', body, ndjson);
    const results = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { line: number; status: number });
    expect([status, results.map((result) => [result.line, result.status])]).toEqual([
      200,
      [
        [1, 201],
        [2, 422],
      ],
    ]);
    expect(await inboxOf(reader)).toHaveLength(1);
  });

  test('refuses a JSON body', async () => {
    expect((await post('ndjson', item(await createReader()))).status).toBe(415);
  });
});

describe('GET /v1/notifications/page', () => {
  test('reads the list page by page with next_cursor', async () => {
    const reader = await createReader();
    const published = await publish(reader.user, some(5));
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${cursor}`;
      const { status, body } = await postern.api<NotificationPage>('GET', `/v1/notifications/page${query}`, {
        bearer: reader.token,
      });
      expect(status).toBe(200);
      found.push(...body.data.map(({ id }) => id));
      cursor = body.page.next_cursor;
    } while (cursor !== null && found.length < 10);
    expect(found).toEqual(published.map(({ id }) => id).toReversed());
  });

  test('links to itself, and returns 304 while nothing has changed', async () => {
    const reader = await createReader();
    await publish(reader.user, some(3));
    const options = { bearer: reader.token };
    const { headers, body } = await postern.api<NotificationPage>('GET', '/v1/notifications/page?limit=2', options);
    expect(body.page).toMatchObject({ number: 1, limit: 2, total: 3 });
    const next = String(linksOf(headers.link).next);
    expect(next).toMatch(/^\/v1\/notifications\/page\?/);
    expect((await postern.api<NotificationPage>('GET', next, options)).body.data).toHaveLength(1);
    const unchanged = { ...options, headers: { 'if-none-match': String(headers.etag) } };
    expect((await postern.api('GET', '/v1/notifications/page', unchanged)).status).toBe(304);
  });

  test('exists for operators too', async () => {
    const reader = await createReader();
    const [published] = await publish(reader.user, some(1));
    const path = `/admin/v1/users/${reader.user.id}/notifications/page`;
    const { body } = await postern.api<NotificationPage>('GET', path, { bearer: postern.adminKey });
    expect(body.data).toEqual([published]);
  });
});

test('GET /v1/notifications/stream streams for every Accept header', async () => {
  const reader = await createReader();
  const path = '/v1/notifications/stream';
  const stream = await openStream(postern.url, { bearer: reader.token, path, headers: { accept: '*/*' } });
  const [published] = await publish(reader.user, some(1));
  const event = await eventually('an event', async () => stream.events[0]);
  expect(JSON.parse(event.data)).toEqual(published);
  stream.destroy();
});

test('HEAD /v1/notifications/stream is 405, and opens no stream', async () => {
  const reader = await createReader();
  const { status, headers } = await postern.api('HEAD', '/v1/notifications/stream', { bearer: reader.token });
  expect([status, headers.allow]).toEqual([405, 'GET, OPTIONS']);
});
