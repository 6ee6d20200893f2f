import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connectionString, type TestTarget } from './database.js';

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
