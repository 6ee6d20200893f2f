import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, IssuedApiKey } from '../../../../src/contract/administration.js';
import type { IssuedTestIdentity, TestIdentity } from '../../../../src/contract/users/test-identity.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { signInWithRole } from '../../../support/operators.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, newPhone } from '../../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ DEFAULT_REGION: 'US' });
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const bodyForPhone = (value: string | null) => ({ identity: { type: 'phone', value }, expires_at: inDays(1) });
const create = (body: object) => admin<IssuedTestIdentity>('POST', '/test-identities', body);

describe('a test identity', () => {
  test('is created for the address of a user, and only this answer shows the code', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const tooLong = await create({ ...bodyForPhone(user.phone), code: '424242', expires_at: '2999-01-01T00:00:00Z' });
    expect([tooLong.status, tooLong.text]).toEqual([422, expect.stringContaining('too_large')]);
    const { status, body } = await create({ ...bodyForPhone(user.phone), code: '424242' });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        identity: { type: 'phone', value: user.phone },
        user_id: user.id,
        expires_at: expect.any(String),
        created_by: 'key:environment',
        created_at: expect.any(String),
        code: '424242',
      },
    ]);
    const { code: _, ...shown } = body;
    expect((await admin<TestIdentity>('GET', `/test-identities/${body.id}`)).body).toEqual(shown);
    const list = await admin<TestIdentity[]>('GET', `/test-identities?filter=user_id:${user.id}`);
    expect(list.body).toEqual([shown]);
    const [row] = await postern.database.query(
      testSql<{ encrypted_code: Buffer }>('select encrypted_code from test_identities where id = $1', [body.id]),
    );
    expect(row?.encrypted_code.includes('424242')).toBe(false);
  });

  test('gets a generated code if the request has none, and may have an address that no user has', async () => {
    const email = newEmail();
    const { body } = await create({ identity: { type: 'email', value: email }, expires_at: inDays(89) });
    expect(body).toMatchObject({ identity: { type: 'email', value: email }, user_id: null });
    expect(body.code).toMatch(/^[0-9]{6}$/);
    const user = await createUser(postern, { email });
    expect((await admin<TestIdentity>('GET', `/test-identities/${body.id}`)).body.user_id).toBe(user.id);
  });

  test('is unique for its address, however the address is written, also in a race', async () => {
    const digits = newPhone().slice(2);
    const spellings = [
      `+1${digits}`,
      digits,
      `(${digits.slice(0, 3)}) ${digits.slice(3, 6)}-${digits.slice(6)}`,
      `+1 ${digits.slice(0, 3)}.${digits.slice(3)}`,
      `＋１${digits}`,
    ];
    const answers = await Promise.all(spellings.map((spelling) => create(bodyForPhone(spelling))));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    const [code] = answers.flatMap(({ status, body }) => (status === 409 ? [errorCodeOf(body)] : []));
    expect(code).toBe('test_identity_exists');
    const { body: found } = await admin<TestIdentity[]>('GET', `/test-identities?filter=value:eq:%2B1${digits}`);
    expect(found).toHaveLength(1);
    const [email] = [newEmail()];
    const created = await create({ identity: { type: 'email', value: email.toUpperCase() }, expires_at: inDays(1) });
    expect(created.body.identity.value).toBe(email);
  });

  test('that has ended is replaced', async () => {
    const number = newPhone();
    const { body: first } = await create(bodyForPhone(number));
    await postern.database.query(
      testSql(`update test_identities set expires_at = db_now() - interval '1 second' where id = $1`, [first.id]),
    );
    expect((await admin('GET', `/test-identities/${first.id}`)).status).toBe(200);
    const { status, body: second } = await create(bodyForPhone(number));
    expect([status, second.id === first.id]).toEqual([201, false]);
    expect((await admin('GET', `/test-identities/${first.id}`)).status).toBe(404);
  });

  test('is deleted by its route, and when its user is deleted', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { body } = await create(bodyForPhone(user.phone));
    expect((await admin('DELETE', `/test-identities/${body.id}`)).status).toBe(204);
    expect((await admin('DELETE', `/test-identities/${body.id}`)).status).toBe(404);
    const { body: again } = await create(bodyForPhone(user.phone));
    expect((await admin('DELETE', `/users/${user.id}`)).status).toBeLessThan(300);
    expect((await admin('GET', `/test-identities/${again.id}`)).status).toBe(404);
  });

  test('writes audit events about its user, with a masked address', async () => {
    const user = await createUser(postern, { phone: newPhone() });
    const { body } = await create(bodyForPhone(user.phone));
    await admin('DELETE', `/test-identities/${body.id}`);
    const { body: events } = await admin<Event[]>('GET', `/events?filter=user_id:${user.id}&limit=2`);
    const masked = `${user.phone?.slice(0, 3)}…${user.phone?.slice(-2)}`;
    const data = { test_identity_id: body.id, identity_type: 'phone', identity: masked };
    expect(events).toMatchObject([
      { type: 'test_identity.deleted', actor: 'key:environment', data },
      { type: 'test_identity.created', actor: 'key:environment', data },
    ]);
  });

  test('is created once for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = bodyForPhone(newPhone());
    const createWithKey = () => admin<IssuedTestIdentity>('POST', '/test-identities', body, { headers });
    const [first, second] = [await createWithKey(), await createWithKey()];
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
    expect(second.headers['idempotent-replayed']).toBe('true');
  });

  test.each(['support', 'operator'])('is refused for a user with the role %s', async (role) => {
    const user = await createUser(postern, { phone: newPhone(), role });
    expect(await refused('POST', '/test-identities', bodyForPhone(user.phone))).toEqual({
      status: 422,
      errors: [['identity', 'identity_of_operator']],
    });
  });

  test('is refused with all errors', async () => {
    const body = { identity: { type: 'phone', value: 'tomorrow' }, expires_at: 'tomorrow' };
    expect(await refused('POST', '/test-identities', body)).toEqual({
      status: 422,
      errors: [
        ['identity.value', 'invalid_identity'],
        ['expires_at', 'invalid_time'],
      ],
    });
    for (const [expires_at, code] of [
      ['2020-01-01T00:00:00Z', 'time_in_past'],
      [inDays(91), 'too_large'],
    ]) {
      expect(await refused('POST', '/test-identities', { ...bodyForPhone(newPhone()), expires_at })).toEqual({
        status: 422,
        errors: [['expires_at', code]],
      });
    }
    for (const code of ['12345', '1234567', 'abcdef', '１２３４５６']) {
      expect((await refused('POST', '/test-identities', { ...bodyForPhone(newPhone()), code })).errors).toMatchObject([
        ['code', expect.any(String)],
      ]);
    }
    const username = { identity: { type: 'username', value: 'grace' }, expires_at: inDays(1) };
    expect((await refused('POST', '/test-identities', username)).status).toBe(422);
    expect((await refused('POST', '/test-identities', { identity: bodyForPhone('x').identity })).status).toBe(422);
  });

  test('is listed in pages', async () => {
    for (let count = 0; count < 3; count += 1) await create(bodyForPhone(newPhone()));
    const ids: string[] = [];
    let cursor = '';
    do {
      const page: { data: TestIdentity[]; page: { next_cursor: string | null } } = (
        await admin<{ data: TestIdentity[]; page: { next_cursor: string | null } }>(
          'GET',
          `/test-identities/page?limit=2&sort=expires_at:asc${cursor}`,
        )
      ).body;
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.page.next_cursor === null ? '' : `&cursor=${encodeURIComponent(page.page.next_cursor)}`;
    } while (cursor !== '');
    const { body: all } = await admin<TestIdentity[]>('GET', '/test-identities?limit=100');
    expect(ids.toSorted()).toEqual(all.map(({ id }) => id).toSorted());
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is changed with the scope admin only, and read with users:read', async () => {
    const { body } = await create(bodyForPhone(newPhone()));
    const keyOf = async (scopes: string[]) =>
      (await admin<IssuedApiKey>('POST', '/keys', { name: scopes.join(), scopes })).body.token;
    const reader = await keyOf(['users:read', 'users:write', 'notifications:write', 'sessions:verify']);
    const other = await keyOf(['users:write', 'sessions:verify']);
    const status = async (bearer: string, method: string, path: string) => {
      const sent = method === 'POST' ? bodyForPhone(newPhone()) : undefined;
      return (await admin(method, `/test-identities${path}`, sent, { bearer })).status;
    };
    const reads = ['', '/page', `/${body.id}`];
    for (const path of reads) {
      expect([path, await status(reader, 'GET', path), await status(other, 'GET', path)]).toEqual([path, 200, 403]);
    }
    expect(await status(reader, 'POST', '')).toBe(403);
    expect(await status(reader, 'DELETE', `/${body.id}`)).toBe(403);
    const support = await signInWithRole(postern, 'support');
    expect((await support.call('GET', '/admin/v1/test-identities')).status).toBe(200);
    expect(await support.codeOf('POST', '/admin/v1/test-identities', bodyForPhone(newPhone()))).toEqual([
      403,
      'insufficient_scope',
    ]);
  });
});

const errorCodeOf = (body: object) => (body as { errors: readonly { code: string }[] }).errors[0]?.code;
