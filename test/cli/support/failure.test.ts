import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { describeFailure } from '../../../src/cli/support/failure.js';

test('a command that has lost its connection says that the database refuses the connection or does not answer', async () => {
  const client = new pg.Client({ ...inject('server'), database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  const ending = await client.query('select pg_terminate_backend(pg_backend_pid())').catch((error: unknown) => error);
  await ended;
  const next = await client.query('select 1').catch((error: unknown) => error);
  expect(describeFailure(ending)).toMatch(/^The database refuses the connection, see DATABASE_URL: /);
  expect(describeFailure(next)).toMatch(/^The database does not answer, see DATABASE_URL: /);
});
