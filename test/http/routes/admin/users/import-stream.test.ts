import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IssuedApiKey } from '../../../../../src/contract/administration.js';
import { startTestApp, type TestApp } from '../../../../support/app.js';
import { openLineStream } from '../../../../support/ndjson-stream.js';
import { testSql } from '../../../../support/sql.js';

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp();
});
afterAll(() => postern.close());

const path = '/admin/v1/users/import';
const line = (username: string) => `${JSON.stringify({ username })}\n`;
const name = () => `stream${randomInt(1e12)}`;
const exists = async (username: string) =>
  (await postern.database.query(testSql('select 1 as one from identities where canonical = $1', [username]))).length ===
  1;

test('a slow sender gets the results of committed lines before it sends more lines', async () => {
  const stream = openLineStream(postern, { path });
  for (const number of [1, 2]) {
    const username = name();
    await stream.send(line(username));
    expect(await stream.next()).toMatchObject({ line: number, result: 'created' });
    expect(await exists(username)).toBe(true);
  }
  stream.end();
  expect(await stream.rest()).toEqual([]);
});

test('a key that is revoked during an import imports no more lines', async () => {
  const key = await postern.api<IssuedApiKey>('POST', '/admin/v1/keys', {
    bearer: postern.adminKey,
    body: { name: 'importer', scopes: ['users:write'] },
  });
  const stream = openLineStream({ url: postern.url, adminKey: key.body.token }, { path });
  await stream.send(line(name()));
  expect(await stream.next()).toMatchObject({ line: 1, result: 'created' });
  await postern.api('DELETE', `/admin/v1/keys/${key.body.id}`, { bearer: postern.adminKey });
  const late = name();
  await stream.send(line(late));
  expect(await stream.rest()).toEqual([{ status: 401, code: 'invalid_api_key', committed_lines: 1 }]);
  expect(await exists(late)).toBe(false);
  stream.destroy();
});

test('a storage failure ends the response with the position, and nothing of the chunk is stored', async () => {
  const stream = openLineStream(postern, { path });
  await stream.send(line(name()));
  expect(await stream.next()).toMatchObject({ line: 1, result: 'created' });
  const [locked, other] = [name(), name()];
  await postern.database.transaction(async (tx) => {
    // The import of the same identity waits for this transaction until its timeout.
    await tx.query(
      testSql(
        `insert into identities (digest, user_id, type, canonical)
           values (sha256(convert_to('username' || chr(10) || $1, 'UTF8')), gen_random_uuid(), 'username', $1)`,
        [locked],
      ),
    );
    await stream.send(`${line(other)}${line(locked)}`);
    expect(await stream.rest()).toEqual([{ status: 503, code: 'storage_unavailable', committed_lines: 1 }]);
  });
  expect(await exists(other)).toBe(false);
});

test('an instance that shuts down ends the response with a line that says so, and stops', async () => {
  const second = await postern.another();
  const stream = openLineStream(second, { path });
  const username = name();
  await stream.send(line(username));
  expect(await stream.next()).toMatchObject({ line: 1, result: 'created' });
  await stream.send(line(name()).slice(0, 10));
  const stopped = second.close();
  expect(await stream.rest()).toEqual([{ status: 503, code: 'shutting_down', committed_lines: 1 }]);
  await stopped;
  expect(await exists(username)).toBe(true);
});
