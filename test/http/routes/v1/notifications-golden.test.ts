import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Notification } from '../../../../src/contract/notification.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { type Reader, readersOf } from '../../../support/readers.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern?.close());

const { createReader } = readersOf(() => postern);

/** The answer as it is on the wire: the headers in their order, and the text of the body. */
function answerOf({ token }: Reader, query = ''): Promise<{ headers: readonly string[]; text: string }> {
  const headers = { authorization: `Bearer ${token}`, connection: 'close' };
  return new Promise((resolve, reject) => {
    get(`${postern.url}/v1/notifications${query}`, { headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ headers: response.rawHeaders, text }));
      response.on('error', reject);
    }).on('error', reject);
  });
}

/** What differs from answer to answer is replaced by its name. */
function comparable(headers: readonly string[]): string[] {
  return headers.flatMap((name, index) => {
    if (index % 2 === 1) return [];
    const value = headers[index + 1] ?? '';
    const changing = ['Date', 'date', 'request-id', 'Request-ID', 'RateLimit', 'ratelimit', 'etag', 'ETag'];
    return [`${name}: ${changing.includes(name) ? '…' : value}`];
  });
}

const etagOf = (headers: readonly string[]) =>
  headers[headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'etag') + 1] ?? '';

async function publish(user: { readonly id: string }, more: object): Promise<Notification> {
  const { status, body } = await postern.api<Notification>('POST', '/admin/v1/notifications', {
    bearer: postern.adminKey,
    body: { user_id: user.id, ...more },
  });
  expect(status).toBe(201);
  return body;
}

const actor = '4b3ba41c-5a2f-4c53-a1b8-2f5f0a9c1b77';
const object = '9e107d9d-372b-4b68-8f1d-1a0d3542419d';
const full = {
  notification_type: 'payment',
  notification_key: 'received',
  actor_id: actor,
  actor: 'Grace Hopper',
  object_id: object,
  object_data_number: 12.5,
  object_data_string: 'Lunch\n"and" <more>',
  description: 'Grace Hopper paid you 12.50 €',
};

/** The text of the list, member by member: no member moves, comes or goes. */
const textOf = (user: { readonly id: string }, plain: Notification, rich: Notification) =>
  `[{"id":"${rich.id}","user_id":"${user.id}","sequence":2,"actor_id":"${actor}","actor":"Grace Hopper",` +
  `"notification_type":"payment","notification_key":"received","object_id":"${object}","object_data_number":12.5,` +
  `"object_data_string":"Lunch\\n\\"and\\" <more>","description":"Grace Hopper paid you 12.50 €","image":null,` +
  `"created_at":"${rich.created_at}","updated_at":"${rich.updated_at}"},` +
  `{"id":"${plain.id}","user_id":"${user.id}","sequence":1,"actor_id":null,"actor":null,` +
  `"notification_type":"pool","notification_key":null,"object_id":null,"object_data_number":null,` +
  `"object_data_string":"","description":"A pool","image":null,` +
  `"created_at":"${plain.created_at}","updated_at":"${plain.updated_at}"}]`;

const page = '</v1/notifications?page=1&cursor=Y3JlYXRlZF9hdDpkZXNjOjI6MQ>';
const headersOf = (bytes: number) => [
  'x-content-type-options: nosniff',
  'referrer-policy: no-referrer',
  "content-security-policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control: private, no-cache',
  'request-id: …',
  'vary: Accept',
  'etag: …',
  'x-total-count: 2',
  `link: ${page}; rel="first",${page}; rel="last"`,
  'content-type: application/json; charset=utf-8',
  `content-length: ${bytes}`,
  'Date: …',
  'Connection: close',
];

describe('the list of notifications', () => {
  it('is, in the bytes of its body and in its headers, what it was before categories', async () => {
    const reader = await createReader();
    const plain = await publish(reader.user, { notification_type: 'pool', description: 'A pool' });
    const rich = await publish(reader.user, full);
    const { headers, text } = await answerOf(reader);
    expect(text).toBe(textOf(reader.user, plain, rich));
    expect(comparable(headers)).toEqual(headersOf(Buffer.byteLength(text)));
    expect(etagOf(headers)).toMatch(/^W\/"[\w.:-]+"$/);
  });

  it('is the same with everything that was added since: data, actions, categories, keys and states', async () => {
    await postern.api('PUT', '/admin/v1/categories/billing', { bearer: postern.adminKey, body: { is_critical: true } });
    const reader = await createReader();
    const added = {
      data: { a: 1 },
      url: 'https://example.com',
      actions: [{ key: 'go', label: 'Go' }],
      expires_at: '2999-01-01T00:00:00Z',
      category: 'billing',
    };
    const plain = await publish(reader.user, {
      notification_type: 'pool',
      description: 'A pool',
      ...added,
      replace_key: 'p',
    });
    const rich = await publish(reader.user, { ...full, ...added, replace_key: 'r' });
    const before = await answerOf(reader);
    expect(before.text).toBe(textOf(reader.user, plain, rich));
    expect(comparable(before.headers)).toEqual(headersOf(Buffer.byteLength(before.text)));
    await postern.api('PATCH', '/v1/notifications/states', {
      bearer: reader.token,
      body: { ids: [plain.id, rich.id], read: true, archived: true, snoozed_until: '2999-01-01T00:00:00Z' },
    });
    await postern.api('POST', `/v1/notifications/${rich.id}/actions/go`, { bearer: reader.token });
    const after = await answerOf(reader);
    expect([after.text, etagOf(after.headers)]).toEqual([before.text, etagOf(before.headers)]);
  });
});
