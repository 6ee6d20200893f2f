import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabase, createPlainPool } from '../../src/database/database.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { testSql } from '../support/sql.js';

/** A message of PostgreSQL's protocol: its type, its length, its content. */
function message(type: string, ...content: (string | number)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part) : int32(part))));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** Accepts each connection and ends it in the same packet, as PostgreSQL does when an administrator ends its process. */
async function startEndingServer(): Promise<string> {
  const started = Buffer.concat([message('R', 0), message('Z', 'I')]);
  const ended = message('E', 'SFATAL\0', 'C57P01\0', 'Mterminating connection\0', '\0');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([started, ended])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `postgres://postern@127.0.0.1:${(server.address() as AddressInfo).port}/postern?sslmode=disable`;
}

test.each([['query'], ['transaction']] as const)(
  'a connection that the server ends at its start fails its %s only',
  async (kind) => {
    const database = createDatabase({ target: await startEndingServer(), size: 1, onConnectionError: () => undefined });
    onTestFinished(() => database.close());
    const statement = testSql('select 1 as one');
    for (let round = 0; round < 3; round += 1) {
      const work = kind === 'query' ? database.query(statement) : database.transaction((tx) => tx.query(statement));
      await expect(work).rejects.toMatchObject({ code: 'storage_unavailable' });
    }
  },
);

test('the error of an idle connection of the queue does not contain the connection', async () => {
  const testDatabase = await createTestDatabase();
  onTestFinished(() => testDatabase.drop());
  const errors: Error[] = [];
  const pool = createPlainPool(testDatabase.target, 1, (error) => void errors.push(error));
  onTestFinished(() => pool.end());
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  await testDatabase.database.query(testSql('select pg_terminate_backend($1)', [rows[0]?.pid]));
  const error = await eventually('the error', async () => errors[0]);
  expect(error).toMatchObject({ code: '57P01' });
  expect(error).not.toHaveProperty('client');
});
