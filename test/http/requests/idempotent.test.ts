import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../src/contract/administration.js';
import type { User } from '../../../src/contract/user.js';
import { type ProblemAnswer, startTestApp, type TestApp } from '../../support/app.js';
import { raceRounds } from '../../support/rounds.js';
import { testSql } from '../../support/sql.js';
import { newPhone } from '../../support/users.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const newUser = (key: string, body: object) =>
  postern.api<User & Pick<ProblemAnswer, 'errors'>>('POST', '/admin/v1/users', {
    bearer: postern.adminKey,
    headers: { 'Idempotency-Key': key },
    body,
  });

describe('an Idempotency-Key', () => {
  test('gives a repeat the stored response, marked as replayed, and the effect happens once', async () => {
    const key = randomUUID();
    const body = { phone: newPhone() };
    const [first, repeat] = [await newUser(key, body), await newUser(key, body)];
    expect([first.status, repeat.status]).toEqual([201, 201]);
    expect(repeat.text).toBe(first.text);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(repeat.headers).toMatchObject({ 'idempotent-replayed': 'true', 'idempotency-key': key });
  });

  test('with another body gets 422', async () => {
    const key = randomUUID();
    await newUser(key, { phone: newPhone() });
    const other = await newUser(key, { phone: newPhone() });
    expect(other.status).toBe(422);
    expect(other.body.errors[0]?.code).toBe('idempotency_key_reused');
  });

  test('of a refused request can be used again', async () => {
    const key = randomUUID();
    expect((await newUser(key, { phone: 'not a number' })).status).toBe(422);
    expect((await newUser(key, { phone: newPhone() })).status).toBe(201);
  });

  test('lets one of twenty parallel requests run; the others wait or get its response', async () => {
    for (let round = 0; round < raceRounds; round += 1) {
      const [key, body] = [randomUUID(), { phone: newPhone() }];
      const answers = await Promise.all(Array.from({ length: 20 }, () => newUser(key, body)));
      const created = answers.filter(({ status }) => status === 201);
      expect(new Set(created.map(({ body: { id } }) => id)).size).toBe(1);
      for (const { status, headers } of answers.filter((answer) => answer.status !== 201)) {
        expect(status).toBe(409);
        expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      }
      expect((await newUser(key, body)).body.id).toBe(created[0]?.body.id);
    }
  });

  test('can be used again after the lease of a request whose process died', async () => {
    const [key, body] = [randomUUID(), { phone: newPhone() }];
    await newUser(key, body);
    await postern.database.query(testSql(`delete from identities where canonical = $1`, [body.phone]));
    await postern.database.query(testSql('update idempotency_keys set status = null, sealed_body = null'));
    expect((await newUser(key, body)).status).toBe(409);
    await postern.database.query(testSql('update idempotency_keys set lease_ends_at = db_now()'));
    expect((await newUser(key, body)).status).toBe(201);
  });

  test('expires after 24 hours', async () => {
    const key = randomUUID();
    const first = await newUser(key, { phone: newPhone() });
    await postern.database.query(testSql(`update idempotency_keys set created_at = created_at - interval '24 hours'`));
    const second = await newUser(key, { phone: newPhone() });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('does not store a new API key in readable form', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { name: 'sealed', scopes: ['users:read'] };
    const issue = () =>
      postern.api<IssuedApiKey>('POST', '/admin/v1/keys', { bearer: postern.adminKey, headers, body });
    const issued = await issue();
    expect((await issue()).body.token).toBe(issued.body.token);
    const rows = await postern.database.query<{ row: string }>(
      testSql('select k::text as row from idempotency_keys k'),
    );
    expect(rows.length).toBeGreaterThan(0);
    const stored = rows.map(({ row }) => row).join('\n');
    expect(stored).not.toContain(issued.body.token);
    expect(stored).not.toContain(Buffer.from(issued.body.token).toString('hex'));
  });
});
