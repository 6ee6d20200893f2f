import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImportedLine } from '../../src/contract/user-import.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../support/app.js';
import { testSql } from '../support/sql.js';
import { createUser, newPhone, passwordLogin, signIn, smsLogin } from '../support/users.js';

const nil = '00000000-0000-0000-0000-000000000000';
/** Ids of guess budgets without a device, with some reserved for later. */
const reserved = [nil, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-00000000000F'];

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const importOne = async (user: object, query = ''): Promise<ImportedLine> => {
  const { text } = await postern.api('POST', `/admin/v1/users/import${query}`, {
    bearer: postern.adminKey,
    body: JSON.stringify(user),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  return JSON.parse(text) as ImportedLine;
};

describe('the id of API-key events', () => {
  it.each(['', '?dry_run=true'])('is refused as the id of an imported user%s', async (query) => {
    const line = await importOne({ id: nil, username: `nil${Date.now()}` }, query);
    expect(line).toMatchObject({ result: 'failed', errors: [{ field: 'id', code: 'reserved_id' }] });
    const found = await postern.api('GET', `/admin/v1/users/${nil}`, { bearer: postern.adminKey });
    expect(found.status).toBe(404);
  });

  it('is reported together with the other errors of the user', async () => {
    const { errors } = await importOne({ id: nil, username: 'a b', created_at: 'yesterday' });
    expect(errors?.map(({ field }) => field).sort()).toEqual(['created_at', 'id', 'username']);
  });

  it('is refused by the database too', async () => {
    const write = postern.database.query(
      testSql(`insert into users (id, username, name, role, metadata, created_at, updated_at)
           values ('${nil}', 'nil', '', 'user', '{}', now(), now())`),
    );
    await expect(write).rejects.toMatchObject({ constraint: 'users_id_is_not_reserved' });
  });
});

describe('a reserved device id', () => {
  const refused = { field: 'device.id', code: 'reserved_id' };

  it.each(reserved)('%s is refused at every kind of login', async (id) => {
    const user = await createUser(postern, { phone: newPhone() });
    const requests = [
      passwordLogin(user.username, undefined, { id }),
      passwordLogin('nobody', undefined, { id }),
      smsLogin(user.phone, { id }),
      { authenticator: 'passkey', device: { id } },
    ];
    for (const body of requests) {
      const answer = await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body });
      expect([answer.status, answer.body.errors]).toEqual([422, [expect.objectContaining(refused)]]);
    }
  });

  it.each(reserved)('%s is refused at a recovery', async (id) => {
    const body = { identity: { type: 'phone', value: newPhone() }, purpose: 'password', device: { id } };
    const answer = await postern.api<ProblemAnswer>('POST', '/v1/recoveries', { body });
    expect([answer.status, answer.body.errors]).toEqual([422, [expect.objectContaining(refused)]]);
  });

  it.each(reserved)('%s is not a device of any user', async (id) => {
    const user = await createUser(postern);
    const { session } = await signIn(postern, user);
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: { make: 'Apple' } } : {};
      const answer = await postern.api(method, `/v1/devices/${id}`, { bearer: session.token, ...body });
      expect(answer.status).toBe(404);
    }
    const removed = await postern.api('DELETE', `/admin/v1/users/${user.id}/devices/${id}`, {
      bearer: postern.adminKey,
    });
    expect(removed.status).toBe(404);
  });

  it('is reported together with the other errors of the request', async () => {
    const body = { authenticator: 'password', device: { id: nil, make: 7 } };
    const { errors } = (await postern.api<ProblemAnswer>('POST', '/v1/tokens', { body })).body;
    expect(errors.map(({ field }) => field).sort()).toEqual(['device.id', 'device.make', 'identity']);
  });

  it('is refused because of its value only: ids of other forms stay valid', async () => {
    const user = await createUser(postern);
    const ids = [randomUUID(), '582a5abb-1335-4794-4855-11e067b8c55e', '00000000-0000-0000-0000-000000000010'];
    for (const id of ids) {
      const { status, body } = await postern.api('POST', '/v1/tokens', {
        body: passwordLogin(user.username, undefined, { id }),
      });
      expect([status, body.status, body.device_id]).toEqual([201, 'approved', id]);
    }
  });
});
