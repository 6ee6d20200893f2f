import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * A pooler that gives its clients other process ids, as poolers do, and sends a comment instead of BEGIN.
 * It ends with the test. @returns its port
 */
export async function startPoolerWithoutBegin({ host, port }: { readonly host: string; readonly port: number }) {
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = createConnection(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    client.on('data', (bytes) => server.write(edit(bytes, (text) => text.replace('begin\0', '--   \0'))));
    // BackendKeyData with the process id 1.
    const key = 'K\0\0\0\x0c';
    server.on('data', (bytes) =>
      client.write(
        edit(bytes, (text) => {
          const at = text.indexOf(key) + key.length;
          return at < key.length ? text : `${text.slice(0, at)}\0\0\0\x01${text.slice(at + 4)}`;
        }),
      ),
    );
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => listener.close(resolve));
  });
  return (listener.address() as AddressInfo).port;
}

const edit = (bytes: Buffer, change: (text: string) => string) =>
  Buffer.from(change(bytes.toString('latin1')), 'latin1');
