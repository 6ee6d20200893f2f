import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey, Scope } from '../../../../../src/contract/administration.js';
import type { User } from '../../../../../src/contract/user.js';
import type { BulkLine } from '../../../../../src/contract/users/bulk.js';
import { createAdministration } from '../../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { ageLogin, signInWithRole } from '../../../../support/operators.js';
import { testSql } from '../../../../support/sql.js';
import { createUser, signIn } from '../../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const { admin, refused, isValid } = createAdministration(() => postern);
const keyWith = async (...scopes: Scope[]) =>
  (await admin<IssuedApiKey>('POST', '/keys', { name: 'bulk', scopes })).body.token;
const getUser = async (id: string) => (await admin<User>('GET', `/users/${id}`)).body;
const typesOf = async (id: string) =>
  (await admin<Event[]>('GET', `/events?filter=user_id:${id}&sort=created_at:asc`)).body.map(({ type }) => type);

async function bulk(body: object, bearer = postern.adminKey): Promise<BulkLine[]> {
  const { status, text, headers } = await postern.api('POST', '/admin/v1/users/bulk', { bearer, body });
  expect([status, headers['content-type'], text.at(-1)]).toEqual([200, 'application/x-ndjson; charset=utf-8', '\n']);
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as BulkLine);
}
const results = (lines: readonly BulkLine[]) => lines.slice(0, -1).map(({ id, result }) => [id, result]);
const summaryOf = (lines: readonly BulkLine[]) => lines.at(-1)?.summary;
const emptySummary = { done: 0, unchanged: 0, failed: 0, valid: 0, complete: true };
const createUsers = (count: number, fields: object = {}) =>
  Promise.all(Array.from({ length: count }, () => createUser(postern, fields)));

describe('a bulk action', () => {
  test('locks users by their ids, with one line for each and a summary, and records the events', async () => {
    const users = await createUsers(5);
    const ids = users.map(({ id }) => id);
    const lock = { until: '2099-01-01T00:00:00Z', reason: 'Reported stolen' };
    const lines = await bulk({ action: 'lock', ids, lock });
    expect(results(lines)).toEqual(ids.map((id) => [id, 'done']));
    expect(lines.at(-1)).toEqual({ summary: { ...emptySummary, done: 5 } });
    for (const id of ids) {
      expect((await getUser(id)).lock).toEqual({ ...lock, until: '2099-01-01T00:00:00.000000Z', permanent: false });
      expect(await typesOf(id)).toEqual(['user.created', 'user.locked']);
    }
    const [event] = (await admin<Event[]>('GET', '/events?filter=type:users.bulk')).body;
    expect(event).toMatchObject({ actor: 'key:environment', data: { action: 'lock', users: 5 } });
  });

  test.each([
    ['lock', { permanent: true }],
    ['deactivate', undefined],
    ['delete', undefined],
  ])('that is repeated leaves users unchanged: %s', async (action, lock) => {
    const [user] = await createUsers(1);
    const body = { action, ids: [user?.id], lock };
    expect(results(await bulk(body))).toEqual([[user?.id, 'done']]);
    const before = await typesOf(user?.id ?? '');
    const repeat = await bulk(body);
    expect([results(repeat), summaryOf(repeat)]).toEqual([
      [[user?.id, 'unchanged']],
      { ...emptySummary, unchanged: 1 },
    ]);
    expect(await typesOf(user?.id ?? '')).toEqual(before);
  });

  test('unlocks, logs out, deactivates and activates', async () => {
    const [user] = await createUsers(1);
    if (user === undefined) throw new Error('no user');
    const { session } = await signIn(postern, user);
    const ids = [user.id];
    expect(await isValid(session.token)).toBe(true);
    expect(await bulk({ action: 'logout', ids })).toMatchObject([{ result: 'done', ended: 1 }, {}]);
    expect(await isValid(session.token)).toBe(false);
    await bulk({ action: 'lock', ids, lock: { permanent: true } });
    expect(results(await bulk({ action: 'unlock', ids }))).toEqual([[user.id, 'done']]);
    expect((await getUser(user.id)).lock).toBeNull();
    await bulk({ action: 'deactivate', ids });
    expect((await getUser(user.id)).status).toBe('deactivated');
    expect(results(await bulk({ action: 'activate', ids }))).toEqual([[user.id, 'done']]);
    expect((await getUser(user.id)).status).toBe('active');
    expect(await typesOf(user.id)).toEqual(
      expect.arrayContaining([
        'user.logged_out',
        'user.locked',
        'user.unlocked',
        'user.deactivated',
        'user.reactivated',
      ]),
    );
  });

  test('continues after a user that fails, and says why', async () => {
    const [user] = await createUsers(1);
    const unknown = randomUUID();
    const lines = await bulk({ action: 'deactivate', ids: [unknown, user?.id.toUpperCase(), user?.id] });
    expect(results(lines)).toEqual([
      [unknown, 'failed'],
      [user?.id, 'done'],
    ]);
    expect(lines[0]?.errors).toMatchObject([{ code: 'not_found' }]);
    expect(summaryOf(lines)).toEqual({ ...emptySummary, done: 1, failed: 1 });
    expect(await bulk({ action: 'delete', ids: [unknown] })).toMatchObject([{ errors: [{ code: 'not_found' }] }, {}]);
  });

  test('exports the users as the admin API shows them', async () => {
    const [user] = await createUsers(1);
    const reader = await keyWith('users:read');
    const lines = await bulk({ action: 'export', ids: [user?.id] }, reader);
    expect(lines[0]).toEqual({ id: user?.id, result: 'done', user: await getUser(user?.id ?? '') });
  });

  test('takes all users of a search and filter, however many, and no others', async () => {
    const family = `Family ${randomUUID()}`;
    await postern.database.query(
      testSql(
        `insert into users (id, username, name, status, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), $1 || case when n % 2 = 0 then ' even' else ' odd' end,
                case when n > 240 then 'deactivated' else 'active' end, now() - n * interval '1 second', now()
         from generate_series(1, 250) n`,
        [family],
      ),
    );
    const lock = { permanent: true };
    const selection = { search: `${family} odd`, filter: 'status:active' };
    const dry = await bulk({ action: 'lock', lock, ...selection, dry_run: true });
    expect(summaryOf(dry)).toEqual({ ...emptySummary, valid: 120 });
    const lines = await bulk({ action: 'lock', lock, ...selection });
    expect([new Set(lines.map(({ id }) => id)).size, summaryOf(lines)]).toEqual([121, { ...emptySummary, done: 120 }]);
    const [row] = await postern.database.query<{ locked: number }>(
      testSql(`select count(*)::int as locked from users where name like $1 and lock_kind is not null`, [`${family}%`]),
    );
    expect(row?.locked).toBe(120);
    // The action removes users from the list that it walks through.
    const left = await bulk({ action: 'deactivate', ...selection });
    expect(summaryOf(left)).toEqual({ ...emptySummary, done: 120 });
  });

  test('changes nothing in a dry run, and records nothing', async () => {
    const [user, other] = await createUsers(2, { role: 'user' });
    await bulk({ action: 'deactivate', ids: [other?.id] });
    const lines = await bulk({ action: 'deactivate', ids: [user?.id, other?.id], dry_run: true });
    expect(results(lines)).toEqual([
      [user?.id, 'valid'],
      [other?.id, 'unchanged'],
    ]);
    expect((await getUser(user?.id ?? '')).status).toBe('active');
    expect(await typesOf(user?.id ?? '')).toEqual(['user.created']);
  });
});

describe('a bulk action is refused', () => {
  const id = randomUUID();
  test.each([
    [{ action: 'delete' }, [undefined, 'one_required']],
    [{ action: 'delete', ids: [id], filter: 'status:active' }, ['ids', 'conflicting_fields']],
    [{ action: 'lock', ids: [id] }, ['lock', 'required']],
    [{ action: 'delete', ids: [id], lock: { permanent: true } }, ['lock', 'not_supported']],
    [{ action: 'lock', ids: [id], lock: { until: '2001-01-01T00:00:00Z' } }, ['until', 'time_in_past']],
    [{ action: 'lock', ids: [id], lock: {} }, ['until', 'required']],
    [{ action: 'explode', ids: [id] }, ['action', 'invalid_choice']],
    [{ action: 'delete', ids: [] }, ['ids', 'too_few_items']],
    [{ action: 'delete', ids: ['x'] }, ['ids.0', 'invalid_format']],
    [{ action: 'delete', filter: 'password_hash:like:a' }, ['filter', 'unknown_filter_field']],
    [{ action: 'delete', search: 'a\u0000' }, ['search', 'invalid_characters']],
    [{ action: 'delete', ids: [id], everybody: true }, ['everybody', 'unknown_member']],
  ])('before it starts: %j', async (body, error) => {
    expect(await refused('POST', '/users/bulk', body)).toEqual({ status: 422, errors: [error] });
  });

  test('above a thousand ids', async () => {
    const ids = Array.from({ length: 1001 }, () => randomUUID());
    expect((await refused('POST', '/users/bulk', { action: 'delete', ids })).errors).toEqual([
      ['ids', 'too_many_items'],
    ]);
  });

  test('without the scope: with users:read a key only exports, and only with admin it changes users with a role', async () => {
    const [user] = await createUsers(1);
    const [supporter] = await createUsers(1, { role: 'support' });
    const [reader, writer] = [await keyWith('users:read'), await keyWith('users:read', 'users:write')];
    const body = { action: 'deactivate', ids: [user?.id, supporter?.id] };
    expect((await postern.api('POST', '/admin/v1/users/bulk', { bearer: reader, body })).status).toBe(403);
    const lines = await bulk(body, writer);
    expect(results(lines)).toEqual([
      [user?.id, 'done'],
      [supporter?.id, 'failed'],
    ]);
    expect(lines[1]?.errors).toMatchObject([{ code: 'insufficient_scope' }]);
    expect((await getUser(supporter?.id ?? '')).status).toBe('active');
    expect(results(await bulk(body))).toEqual([
      [user?.id, 'unchanged'],
      [supporter?.id, 'done'],
    ]);
  });

  test('for the account of the operator who sends it', async () => {
    const operator = await signInWithRole(postern, 'operator');
    const lines = await bulk({ action: 'deactivate', search: operator.user.username }, operator.bearer);
    expect(lines[0]).toMatchObject({ id: operator.user.id, result: 'failed', errors: [{ code: 'own_account' }] });
    expect((await operator.call('GET', '/admin/v1/users')).status).toBe(200);
  });

  test('in a session whose proof is too old', async () => {
    const operator = await signInWithRole(postern, 'operator');
    await ageLogin(postern, operator.user.id, 16);
    const [user] = await createUsers(1);
    expect(await operator.codeOf('POST', '/admin/v1/users/bulk', { action: 'logout', ids: [user?.id] })).toEqual([
      403,
      'fresh_proof_required',
    ]);
  });
});

describe('a bulk action that is interrupted', () => {
  async function createCrowd(count: number): Promise<string> {
    const name = `Crowd ${randomUUID()}`;
    await postern.database.query(
      testSql(
        `insert into users (id, username, name, created_at, updated_at)
         select gen_random_uuid(), gen_random_uuid(), $1, now() - n * interval '1 second', now() from generate_series(1, $2) n`,
        [name, count],
      ),
    );
    return name;
  }
  const deactivatedUsers = async (name: string) => {
    const rows = await postern.database.query<{ id: string }>(
      testSql(`select id::text as id from users where name = $1 and status = 'deactivated'`, [name]),
    );
    return rows.map(({ id }) => id).sort();
  };

  test('by the revocation of its key says exactly what was done, and a repeat does the rest', async () => {
    const name = await createCrowd(300);
    const { body: key } = await admin<IssuedApiKey>('POST', '/keys', {
      name: 'ends',
      scopes: ['users:read', 'users:write'],
    });
    const response = await fetch(`${postern.url}/admin/v1/users/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'deactivate', search: name }),
    });
    await admin('DELETE', `/keys/${key.id}`);
    const lines = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as BulkLine);
    const done = lines.filter(({ result }) => result === 'done').map((line) => line.id);
    expect(done.sort()).toEqual(await deactivatedUsers(name));
    expect(lines.at(-1)).toMatchObject({ summary: { done: done.length, complete: done.length === 300 } });
    const repeat = await bulk({ action: 'deactivate', search: name });
    expect(summaryOf(repeat)).toEqual({ ...emptySummary, unchanged: done.length, done: 300 - done.length });
  });

  test('by its client changes no further users', async () => {
    const name = await createCrowd(50);
    const { userBulk } = postern.services;
    const action = await userBulk.check({ action: 'deactivate', search: name });
    const caller = { origin: { actor: 'cli' }, requireRightToChange: () => undefined, recheck: async () => undefined };
    const seen: string[] = [];
    for await (const outcomes of userBulk.run(action, caller)) {
      seen.push(...outcomes.map(({ id }) => id));
      if (seen.length >= 8) break;
    }
    expect(seen.length).toBeLessThan(50);
    expect(seen.sort()).toEqual(await deactivatedUsers(name));
  });

  test('by a locked row reports the other users, and a repeat finishes the work', async () => {
    const users = await createUsers(3);
    const ids = users.map(({ id }) => id);
    await postern.database.transaction(async (tx) => {
      await tx.query(testSql('select 1 as one from users where id = $1 for update', [ids[1]]));
      const lines = await bulk({ action: 'deactivate', ids });
      expect(lines.at(-1)).toEqual({
        summary: { ...emptySummary, done: 2, complete: false },
        status: 503,
        code: 'storage_unavailable',
      });
      expect(results(lines)).toEqual([
        [ids[0], 'done'],
        [ids[2], 'done'],
      ]);
    });
    expect(summaryOf(await bulk({ action: 'deactivate', ids }))).toEqual({ ...emptySummary, done: 1, unchanged: 2 });
  });
});
