import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiKey, type Event, type IssuedApiKey, scopes } from '../../../../src/contract/administration.js';
import { type ApiOptions, type ProblemAnswer, startTestApp, type TestApp } from '../../../support/app.js';
import { testSql } from '../../../support/sql.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const admin = <Body>(method: string, path: string, body?: unknown, options: ApiOptions = {}) =>
  postern.api<Body>(method, `/admin/v1${path}`, {
    bearer: postern.adminKey,
    ...(body !== undefined && { body }),
    ...options,
  });
const createKey = async (body: object) => (await admin<IssuedApiKey>('POST', '/keys', body)).body;
const statusWith = async (key: string, path = '/users') =>
  (await admin('GET', path, undefined, { bearer: key })).status;
const errorsOf = async (body: unknown) => {
  const answer = await admin<ProblemAnswer>('POST', '/keys', body);
  return [answer.status, ...answer.body.errors.map(({ field, code }) => [field, code])];
};

describe('creating a key', () => {
  test('shows the key once, and stores only its digest', async () => {
    const { status, body } = await admin<IssuedApiKey>('POST', '/keys', { name: 'billing', scopes: ['users:read'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'billing',
      scopes: ['users:read'],
      expires_at: null,
      last_used_at: null,
      created_at: expect.stringMatching(/\.\d{6}Z$/),
      token: expect.stringMatching(/^psk_[A-Za-z0-9_-]{60}$/),
    });
    const [row] = await postern.database.query<{ text: string }>(
      testSql('select k::text as text from api_keys k where id = $1', [body.id]),
    );
    expect(row?.text).not.toContain(body.token.slice(4, 40));
    const list = await admin<ApiKey[]>('GET', `/keys?filter=id:${body.id}`);
    expect(list.body).toEqual([{ ...body, token: undefined }]);
    expect(list.text).not.toContain('psk_');
  });

  test('reports all errors', async () => {
    expect(await errorsOf({ name: '', scopes: [] })).toEqual([422, ['name', 'required'], ['scopes', 'too_few_items']]);
    expect(await errorsOf({ name: 'x', scopes: ['everything'] })).toEqual([422, ['scopes.0', 'invalid_choice']]);
    expect(await errorsOf({ name: 'x', scopes: ['admin', 'admin'] })).toEqual([422, ['scopes', 'duplicate_items']]);
    const key = { name: 'x', scopes: ['admin'] };
    expect(await errorsOf({ ...key, expires_at: 'tomorrow' })).toEqual([422, ['expires_at', 'invalid_time']]);
    expect(await errorsOf({ ...key, expires_at: '2001-01-01T00:00:00Z' })).toEqual([
      422,
      ['expires_at', 'time_in_past'],
    ]);
  });

  test('happens once for one Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = { name: 'once', scopes: ['users:read'] };
    const first = await admin<IssuedApiKey>('POST', '/keys', body, { headers });
    const second = await admin<IssuedApiKey>('POST', '/keys', body, { headers });
    expect(second.body).toEqual(first.body);
    expect((await admin<ApiKey[]>('GET', '/keys?filter=name:once')).body).toHaveLength(1);
  });
});

describe('a key', () => {
  test('may use the routes of its scopes, and with the scope admin all routes', async () => {
    const reader = await createKey({ name: 'reader', scopes: ['users:read'] });
    expect(await statusWith(reader.token)).toBe(200);
    expect(await statusWith(reader.token, '/keys')).toBe(403);
    expect(await statusWith(reader.token, '/events')).toBe(403);
    const everything = await createKey({ name: 'all', scopes: [...scopes] });
    expect(await statusWith(everything.token, '/events')).toBe(200);
    const adminOnly = await createKey({ name: 'admin', scopes: ['admin'] });
    for (const path of ['/users', '/keys', '/events', '/outbox'])
      expect(await statusWith(adminOnly.token, path)).toBe(200);
  });

  test('without the scope admin creates no keys', async () => {
    const all = scopes.filter((scope) => scope !== 'admin');
    const { token } = await createKey({ name: 'almost', scopes: all });
    const answer = await admin<ProblemAnswer>('POST', '/keys', { name: 'x', scopes: ['admin'] }, { bearer: token });
    expect(answer.status).toBe(403);
  });

  test('is refused in every other spelling', async () => {
    const { token } = await createKey({ name: 'exact', scopes: ['users:read'] });
    const last = token.at(-1) === 'A' ? 'B' : 'A';
    for (const other of [
      token.slice(0, -1),
      `${token}=`,
      `${token}A`,
      token.slice(0, -1) + last,
      token.replace('psk_', 'pss_'),
    ]) {
      expect(await statusWith(other)).toBe(401);
    }
    expect(await statusWith(postern.adminKey.toUpperCase())).toBe(401);
    expect(await statusWith(postern.adminKey.slice(0, -1))).toBe(401);
  });

  test('stops working when it expires', async () => {
    const { id, token } = await createKey({
      name: 'short',
      scopes: ['users:read'],
      expires_at: '2099-01-01T00:00:00Z',
    });
    expect(await statusWith(token)).toBe(200);
    await postern.database.query(testSql('update api_keys set expires_at = db_now() where id = $1', [id]));
    expect(await statusWith(token)).toBe(401);
  });

  test('stops working with the next request after it is revoked, and can be revoked once', async () => {
    const { id, token } = await createKey({ name: 'gone', scopes: ['users:read'] });
    expect((await admin('DELETE', `/keys/${id}`)).status).toBe(204);
    expect(await statusWith(token)).toBe(401);
    expect((await admin('DELETE', `/keys/${id}`)).status).toBe(404);
    expect((await admin('DELETE', '/keys/unknown')).status).toBe(404);
    expect((await admin<ApiKey[]>('GET', `/keys?filter=id:${id}`)).body).toEqual([]);
  });

  test('shows its last use, to the minute', async () => {
    const { id, token } = await createKey({ name: 'used', scopes: ['users:read'] });
    const lastUse = async () => (await admin<ApiKey[]>('GET', `/keys?filter=id:${id}`)).body[0]?.last_used_at;
    expect(await lastUse()).toBeNull();
    await Promise.all(Array.from({ length: 10 }, () => statusWith(token)));
    const first = await lastUse();
    expect(first).toEqual(expect.any(String));
    await statusWith(token);
    expect(await lastUse()).toBe(first);
    await postern.database.query(
      testSql(`update api_keys set last_used_at = last_used_at - interval '61 seconds' where id = $1`, [id]),
    );
    await statusWith(token);
    expect(Date.parse((await lastUse()) ?? '')).toBeGreaterThanOrEqual(Date.parse(first ?? ''));
  });

  test('does not wait for a transaction that locks its row', async () => {
    const { id, token } = await createKey({ name: 'held', scopes: ['users:read'] });
    await postern.database.transaction(async (tx) => {
      await tx.query(testSql('select 1 from api_keys where id = $1 for update', [id]));
      expect(await statusWith(token)).toBe(200);
    });
  });
});

describe('audit events', () => {
  test('show who created and revoked each key, and what each key did', async () => {
    const key = await createKey({ name: 'audited', scopes: ['users:write', 'users:read'] });
    const { body: user } = await admin<{ id: string }>(
      'POST',
      '/users',
      { username: `u-${randomUUID()}` },
      { bearer: key.token },
    );
    await admin('DELETE', `/keys/${key.id}`);
    const { body } = await admin<Event[]>('GET', '/events?filter=type:in:key.created;key.revoked&limit=2');
    expect(body.map(({ type, actor, data }) => ({ type, actor, data }))).toEqual([
      { type: 'key.revoked', actor: 'key:environment', data: { key_id: key.id, name: 'audited' } },
      {
        type: 'key.created',
        actor: 'key:environment',
        data: { key_id: key.id, name: 'audited', scopes: key.scopes, expires_at: null },
      },
    ]);
    const eventsByKey = await admin<Event[]>('GET', `/events?filter=actor:eq:${`key:${key.id}`.replace(':', '\\:')}`);
    expect(eventsByKey.body).toMatchObject([{ type: 'user.created', user_id: user.id, address: '127.0.0.1' }]);
  });

  test('contain no secrets', async () => {
    const { token } = await createKey({ name: 'quiet', scopes: ['users:read'] });
    const { text } = await admin('GET', '/events?limit=100');
    expect(text).not.toContain(token.slice(0, 20));
    expect(text).not.toContain(postern.adminKey);
  });
});
