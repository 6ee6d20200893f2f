import { expect, onTestFinished, test } from 'vitest';
import { createServer } from '../../../src/database/server.js';
import { createTestDatabase } from '../../support/database.js';
import { startHangingProxy } from '../../support/hanging-proxy.js';
import { testSql } from '../../support/sql.js';

test.each([['query'], ['transaction']] as const)(
  'a %s fails if the server hangs while a connection is checked with a newer map',
  async (kind) => {
    const database = await createTestDatabase();
    onTestFinished(() => database.drop());
    const proxy = await startHangingProxy(database.target);
    onTestFinished(() => proxy.stop());
    let version = 1;
    const map = { version: () => version, onRefused: () => undefined };
    const server = createServer({ target: proxy.target, size: 1, onConnectionError: () => undefined }, map);
    onTestFinished(() => server.close());
    const run = async () => {
      const deadline = performance.now() + 4000;
      if (kind === 'query') return void (await server.query(testSql('select 1'), deadline));
      const transaction = await server.begin(deadline);
      await transaction.rollback();
      transaction.release();
    };
    await run();
    version = 2;
    proxy.hang();
    await expect(run()).rejects.toMatchObject({ code: 'storage_unavailable' });
    proxy.answer();
    // The connection is closed, so the next one can be opened.
    await run();
  },
);
