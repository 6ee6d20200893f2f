import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event } from '../../../../src/contract/administration.js';
import type { Suppression } from '../../../../src/contract/suppression.js';
import { createAdministration } from '../../../support/administration.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { openLineStream } from '../../../support/ndjson-stream.js';
import { testSql } from '../../../support/sql.js';
import { newEmail } from '../../../support/users.js';

const [oldKey, newKey] = ['o'.repeat(40), 'n'.repeat(40)];
let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ SECRET_KEY: oldKey });
});
afterAll(() => postern.close());

const { admin, refused } = createAdministration(() => postern);
const suppress = (email: string) => admin<Suppression>('POST', '/suppressions', { email });
const find = (email: string) => admin<Suppression>('POST', '/suppressions/find', { email });

describe('a suppression', () => {
  test('is created, found by any spelling of the address, listed and deleted, and the events say so', async () => {
    const email = newEmail();
    const { status, body } = await suppress(` ${email.toUpperCase()} `);
    expect([status, body]).toEqual([201, { id: expect.any(String), reason: 'manual', created_at: expect.any(String) }]);
    expect(await find(email)).toMatchObject({ status: 200, body });
    expect((await suppress(email)).body).toEqual(body);
    const { body: list } = await admin<Suppression[]>('GET', '/suppressions?filter=reason:manual&limit=1');
    expect(list).toEqual([body]);
    expect((await admin('DELETE', `/suppressions/${body.id}`)).status).toBe(204);
    expect((await find(email)).status).toBe(404);
    expect((await admin('DELETE', `/suppressions/${body.id}`)).status).toBe(404);
    const filter = 'filter=type:in:suppression.created;suppression.deleted&limit=3';
    const { body: events } = await admin<Event[]>('GET', `/events?${filter}`);
    const data = { suppression_id: body.id, reason: 'manual' };
    expect(events).toMatchObject([
      { type: 'suppression.deleted', actor: 'key:environment', data },
      { type: 'suppression.created', actor: 'key:environment', data },
    ]);
  });

  test('does not contain the address, not even as a digest without a key', async () => {
    const email = newEmail();
    await suppress(email);
    const rows = await postern.database.query<{ row: string }>(
      testSql("select s::text || ' ' || (address_digest = sha256($1))::text as row from suppressions s", [
        Buffer.from(email),
      ]),
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { row } of rows) expect(row).toMatch(/^\((?!.*@).* false$/);
  });

  test('is refused for what is no address, and nothing is stored', async () => {
    const stored = () => postern.database.query(testSql('select id from suppressions order by id'));
    const before = await stored();
    for (const email of ['ada', 'ada@', 'a@b.example, c@d.example', 'ada@example.com\r\nBcc: eve@example.com']) {
      expect(await refused('POST', '/suppressions', { email })).toEqual({
        status: 422,
        errors: [['email', 'invalid_identity']],
      });
    }
    expect(await stored()).toEqual(before);
  });

  test('of parallel requests is one', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 10 }, () => suppress(email)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
  });
});

test('NDJSON suppresses any number of addresses, with a line of result for each', async () => {
  const [one, other] = [newEmail(), newEmail()];
  const stream = openLineStream(postern, { path: '/admin/v1/suppressions' });
  const lines = [{ email: one }, { email: 'ada' }, {}, { email: other }, { email: one }];
  await stream.send(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  stream.end();
  const results = await stream.rest();
  const idOf = async (email: string) => (await find(email)).body.id;
  const [oneId, otherId] = [await idOf(one), await idOf(other)];
  expect(results).toMatchObject([
    { line: 1, status: 201, id: oneId },
    { line: 2, status: 422, errors: [{ field: 'email', code: 'invalid_identity' }] },
    { line: 3, status: 422, errors: [{ field: 'email' }] },
    { line: 4, status: 201, id: otherId },
    { line: 5, status: 201, id: oneId },
  ]);
});

test('after a rotation of SECRET_KEY, addresses of the old key are found, and then belong to the new one', async () => {
  const email = newEmail();
  const { body } = await suppress(email);
  const rotated = await postern.another({ SECRET_KEY: `${newKey},${oldKey}` });
  const found = await createAdministration(() => rotated).admin<Suppression>('POST', '/suppressions/find', { email });
  expect(found.body).toEqual(body);
  await rotated.close();
  const renewed = await postern.another({ SECRET_KEY: newKey });
  const again = await createAdministration(() => renewed).admin<Suppression>('POST', '/suppressions', { email });
  expect(again.body).toEqual(body);
  await renewed.close();
});
