import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import type { User } from '../../../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import type { ResultLine } from '../../../support/ndjson-stream.js';
import { testSql } from '../../../support/sql.js';
import { createUser } from '../../../support/users.js';

let postern: TestApp;
let user: User;
beforeAll(async () => {
  postern = await startTestApp();
  user = await createUser(postern);
});
afterAll(() => postern.close());

const send = (body: string, { query = '', headers = {} } = {}) =>
  postern.api<ProblemAnswer>('POST', `/admin/v1/notifications${query}`, {
    bearer: postern.adminKey,
    body,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  });
async function publish(body: string, options = {}): Promise<ResultLine[]> {
  const { status, text, headers } = await send(body, options);
  expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ResultLine);
}
const inboxOf = async ({ id }: User) =>
  (
    await postern.api<Notification[]>('GET', `/admin/v1/users/${id}/notifications?limit=100`, {
      bearer: postern.adminKey,
    })
  ).body;
const line = (fields: object = {}) =>
  JSON.stringify({ user_id: user.id, notification_type: 'payment', description: 'A payment', ...fields });
const outcomes = (lines: readonly ResultLine[]) =>
  lines.map(({ line, status, errors }) => [line, status, ...(errors ?? []).map(({ field, code }) => field ?? code)]);

describe('POST /admin/v1/notifications as application/x-ndjson', () => {
  it('publishes each line in order, and returns its id or ids', async () => {
    const ann = await createUser(postern);
    const bob = await createUser(postern);
    const [first, second, third] = await publish(
      [
        line({ user_id: ann.id, description: '1' }),
        line({ user_id: undefined, user_ids: [bob.id, ann.id], description: '2' }),
        line({ user_id: ann.id, description: '3' }),
      ].join('\n'),
    );
    expect([first, second, third]).toEqual([
      { line: 1, status: 201, id: expect.any(String) },
      { line: 2, status: 201, ids: [expect.any(String), expect.any(String)] },
      { line: 3, status: 201, id: expect.any(String) },
    ]);
    const ids = (await inboxOf(ann)).map(({ id, description }) => [id, description]);
    expect(ids).toEqual([
      [third?.id, '3'],
      [second?.ids?.[1], '2'],
      [first?.id, '1'],
    ]);
    expect((await inboxOf(bob)).map(({ id }) => id)).toEqual([second?.ids?.[0]]);
  });

  it('accepts LF, CRLF and a last line without a line end, and numbers all lines, also the empty ones that it skips', async () => {
    const lines = await publish(`\n${line()}\r\n\r\n\n${line()}\n${line()}`);
    expect(outcomes(lines)).toEqual([
      [2, 201],
      [5, 201],
      [6, 201],
    ]);
    expect(await publish('')).toEqual([]);
    expect(await publish('\n\r\n\n')).toEqual([]);
  });

  it('replaces what earlier lines have published with the same replace_key, and keeps the order of the lines', async () => {
    const ann = await createUser(postern);
    const bob = await createUser(postern);
    const keyed = (description: string, people: object) => line({ description, replace_key: 'pool-7', ...people });
    const published = await publish(
      [
        keyed('1', { user_id: ann.id }),
        keyed('2', { user_id: ann.id.toUpperCase() }),
        line({ user_id: ann.id, description: '3', category: 'unheard.of' }),
        line({ user_id: ann.id, description: '4' }),
        keyed('5', { user_id: undefined, user_ids: [bob.id, ann.id] }),
        line({ user_id: ann.id, description: '6' }),
        keyed('7', { user_id: bob.id }),
      ].join('\n'),
    );
    expect(published.map(({ status }) => status)).toEqual([201, 201, 422, 201, 201, 201, 201]);
    const descriptions = async (person: User) => (await inboxOf(person)).map(({ description }) => description);
    expect(await descriptions(ann)).toEqual(['6', '5', '4']);
    expect(await descriptions(bob)).toEqual(['7']);
  });

  it('refuses only the bad lines, with their errors, and publishes the others', async () => {
    const reader = await createUser(postern);
    const lineToReader = (fields: object = {}) => line({ user_id: reader.id, ...fields });
    const lines = await publish(
      [
        lineToReader({ description: 'first' }),
        lineToReader({ notification_type: 'party', description: '' }),
        '{"user_id":',
        lineToReader({ user_id: randomUUID() }),
        lineToReader({ user_id: undefined, user_ids: [reader.id, randomUUID()] }),
        lineToReader({ image_id: randomUUID() }),
        '[]',
        '"\\u0000"',
        lineToReader({ user_ids: [reader.id] }),
        lineToReader({ description: 'last' }),
      ].join('\n'),
    );
    expect(outcomes(lines)).toEqual([
      [1, 201],
      [2, 422, 'description', 'notification_type'],
      [3, 400, 'malformed_json'],
      [4, 422, 'user_id'],
      [5, 422, 'user_ids.1'],
      [6, 422, 'image_id'],
      [7, 422, 'invalid_type'],
      [8, 422, 'invalid_characters'],
      [9, 422, 'user_ids', 'user_ids.0'],
      [10, 201],
    ]);
    expect(lines[3]?.errors).toEqual([{ field: 'user_id', code: 'unknown_user', message: expect.any(String) }]);
    expect((await inboxOf(reader)).map(({ description }) => description)).toEqual(['last', 'first']);
  });

  it('tells the faults of form and of meaning of each line together', async () => {
    const lines = await publish(
      [
        line({ notification_type: 'unknown', description: 7 }),
        line({ notification_type: 'unknown' }),
        line({ user_id: randomUUID(), category: 'none', colour: 'red' }),
        line({ description: 7 }),
        line(),
        '[{}]',
        line({ user_ids: [user.id, 7], user_id: undefined, url: 'http://example.com' }),
      ].join('\n'),
    );
    expect(outcomes(lines)).toEqual([
      [1, 422, 'description', 'notification_type'],
      [2, 422, 'notification_type'],
      [3, 422, 'colour', 'user_id', 'category'],
      [4, 422, 'description'],
      [5, 201],
      [6, 422, 'invalid_type'],
      [7, 422, 'user_ids.1', 'url'],
    ]);
  });

  it('reports errors in the language of the client', async () => {
    const [english] = await publish(line({ user_id: randomUUID() }));
    const [spanish] = await publish(line({ user_id: randomUUID() }), { headers: { 'accept-language': 'es' } });
    expect(spanish?.errors?.[0]).not.toEqual(english?.errors?.[0]);
  });

  it('keeps 15 digits exactly and refuses 16', async () => {
    const reader = await createUser(postern);
    const lineWith = (digits: string) =>
      line({ user_id: reader.id, object_data_number: 0 }).replace(':0}', `:${digits}}`);
    const lines = await publish(['123456789012.345', '-0.1', '1234567890123456', '1e400'].map(lineWith).join('\n'));
    expect(outcomes(lines)).toEqual([
      [1, 201],
      [2, 201],
      [3, 422, 'object_data_number'],
      [4, 422, 'object_data_number'],
    ]);
    const rows = await postern.database.query(
      testSql('select object_data_number from notifications where user_id = $1 order by sequence', [reader.id]),
    );
    expect(rows).toEqual([{ object_data_number: '123456789012.345' }, { object_data_number: '-0.1' }]);
  });

  it('refuses a line of more than 64 KiB with 413, however long it is, and accepts one of 64 KiB', async () => {
    const padded = (bytes: number) => `${line()}${' '.repeat(bytes - line().length)}`;
    const lines = await publish(
      [padded(65_536), `${padded(65_536)}\r`, padded(65_537), padded(3_000_000), line(), padded(70_000)].join('\n'),
    );
    expect(outcomes(lines)).toEqual([
      [1, 201],
      [2, 201],
      [3, 413, 'payload_too_large'],
      [4, 413, 'payload_too_large'],
      [5, 201],
      [6, 413, 'payload_too_large'],
    ]);
  });

  it('accepts a byte order mark at the start of the first line only', async () => {
    const { text } = await postern.api('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
      headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
      body: `\ufeff${line()}\n\ufeff${line()}`,
    });
    expect(text.split('\n').map((one) => one.slice(0, 25))).toMatchObject([
      '{"line":1,"status":201,"i',
      '{"line":2,"status":400,"e',
      '',
    ]);
  });

  it('reports with dry_run=true the outcome of each line, and publishes nothing', async () => {
    const reader = await createUser(postern);
    const lines = await publish(
      [
        line({ user_id: reader.id, image: 'https://images.example.com/dry.jpg' }),
        line({ user_id: randomUUID() }),
        '{',
      ].join('\n'),
      { query: '?dry_run=true' },
    );
    expect(outcomes(lines)).toEqual([
      [1, 200],
      [2, 422, 'user_id'],
      [3, 400, 'malformed_json'],
    ]);
    expect(await inboxOf(reader)).toEqual([]);
    const images = testSql(`select id from images where external_url like '%dry.jpg'`);
    expect(await postern.database.query(images)).toEqual([]);
    const refused = await send(line(), { query: '?dry_run=yes' });
    expect([refused.status, refused.body.errors[0]?.field]).toEqual([422, 'dry_run']);
  });

  it('refuses an Idempotency-Key, because it does not support one', async () => {
    const { status, body } = await send(line(), { headers: { 'idempotency-key': 'once' } });
    expect([status, body.errors[0]]).toMatchObject([422, { field: 'Idempotency-Key', code: 'not_supported' }]);
  });

  it('allows more deliveries in one body than a JSON request', async () => {
    const userIds = await createInboxes(1500);
    const lines = await publish(
      Array.from({ length: 10 }, () => line({ user_id: undefined, user_ids: userIds })).join('\n'),
    );
    expect(outcomes(lines)).toEqual(Array.from({ length: 10 }, (_, index) => [index + 1, 201]));
    const [row] = await postern.database.query(
      testSql('select count(*) as published from notifications where user_id = any ($1::uuid[])', [userIds]),
    );
    expect(row).toEqual({ published: 15_000 });
  });

  /** Creates inboxes of users that do not exist otherwise, and returns their user ids. */
  async function createInboxes(count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    await postern.database.query(testSql('insert into inboxes (user_id) select id from unnest($1::uuid[]) id', [ids]));
    return ids;
  }
});

describe('authorization and media type', () => {
  it('refuses a request without an API key', async () => {
    const { status } = await postern.api('POST', '/admin/v1/notifications', {
      body: line(),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(status).toBe(401);
  });

  it.each(['/admin/v1/users', '/admin/v1/images', '/v1/tokens'])('refuses NDJSON with 415 at %s', async (path) => {
    const { status } = await postern.api('POST', path, {
      bearer: postern.adminKey,
      body: line(),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(status).toBe(415);
  });

  it.each(['application/x-ndjson; charset=latin1', 'application/x-ndjson; a=b', 'application/ndjson'])(
    'refuses the media type %s with 415',
    async (type) => {
      expect((await send(line(), { headers: { 'content-type': type } })).status).toBe(415);
    },
  );

  it('answers a request without a body and without a media type as the JSON route does', async () => {
    const { status, body } = await postern.api<ProblemAnswer>('POST', '/admin/v1/notifications', {
      bearer: postern.adminKey,
    });
    expect([status, body.errors[0]?.code]).toEqual([422, 'invalid_type']);
  });
});
