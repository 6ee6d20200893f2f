import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { startShardedApp, type TestApp } from './app.js';
import { connectionString, type TestTarget } from './database.js';
import { createTestShards } from './shards.js';

/** A proxy to PostgreSQL that can hang. */
export interface HangingProxy {
  /** The database, through the proxy. */
  readonly target: TestTarget;
  readonly url: string;
  /** From now on, no connection gets an answer. */
  hang(): void;
  /** New connections get answers again. Those that were open do not. */
  answer(): void;
  stop(): void;
}

export async function startHangingProxy(target: TestTarget): Promise<HangingProxy> {
  const { host, port } = target;
  const sockets: Socket[] = [];
  let hangs = false;
  const proxy = createServer((socket) => {
    const server = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    sockets.push(socket);
    if (!hangs) socket.pipe(server).pipe(socket);
    for (const end of [socket, server]) {
      end.on('error', () => undefined);
      end.on('close', () => [socket, server].forEach((each) => void each.destroy()));
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const proxied = { ...target, host: '127.0.0.1', port: (proxy.address() as AddressInfo).port };
  return {
    target: proxied,
    url: connectionString(proxied),
    hang() {
      hangs = true;
      for (const socket of sockets) socket.unpipe();
    },
    answer() {
      hangs = false;
    },
    stop() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A service with users on `main` and on `east`, which it reaches through a proxy. Both end with the test. */
export async function startAppWithProxy(
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly app: TestApp; readonly proxy: HangingProxy }> {
  const shards = await createTestShards(2);
  const east = shards.databases.get('east');
  if (east === undefined) throw new Error('there is no server east');
  const proxy = await startHangingProxy(east.target);
  const app = await startShardedApp(shards, { SHARDS: `east=${proxy.url}`, ...env });
  onTestFinished(async () => {
    proxy.stop();
    await app.close();
  });
  return { app, proxy };
}
