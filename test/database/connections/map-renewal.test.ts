import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createNetServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createServer } from '../../../src/database/server.js';
import { createTestDatabase, type TestTarget } from '../../support/database.js';
import { testSql } from '../../support/sql.js';

/** A proxy to PostgreSQL. `hang` makes it forward nothing on the connections that are open. */
async function startProxy({ host, port }: TestTarget) {
  const sockets: Socket[] = [];
  const proxy = createNetServer((socket) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    sockets.push(socket);
    socket.pipe(server).pipe(socket);
    for (const end of [socket, server]) {
      end.on('error', () => undefined);
      end.on('close', () => [socket, server].forEach((each) => void each.destroy()));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return {
    port: (proxy.address() as AddressInfo).port,
    hang: () => sockets.forEach((socket) => void socket.unpipe()),
  };
}

test.each([['query'], ['transaction']] as const)(
  'a %s fails if the server hangs while a connection is checked with a newer map',
  async (kind) => {
    const { target, drop } = await createTestDatabase();
    onTestFinished(drop);
    const proxy = await startProxy(target);
    let version = 1;
    const map = { version: () => version, onRefused: () => undefined };
    const proxied = { ...target, host: '127.0.0.1', port: proxy.port };
    const server = createServer({ target: proxied, size: 1, onConnectionError: () => undefined }, map);
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
    // The connection is closed, so the next one can be opened.
    await run();
  },
);
