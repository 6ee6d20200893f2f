import { type AddressInfo, createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A TCP proxy on 127.0.0.1 that can fail like a server and its network. */
export interface FaultyProxy {
  readonly port: number;
  /** The server is down: resets every connection, and each new one at once. */
  down(): void;
  /** The number of connections that were refused while the server was down. */
  refused(): number;
  /** The server or the network hangs: accepts connections and bytes, and forwards nothing. */
  hang(): void;
  /** A firewall has forgotten the connections: the current ones hang forever, new ones work. */
  strand(): void;
  /** On the current connections, an answer with this text is lost, and the connection with it. Resolves when it is lost. */
  loseAnswer(text: string): Promise<void>;
  /** Works again. Connections that hung continue where they stopped. */
  up(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  stranded: boolean;
}

/** @param target a port, or the path of a unix socket */
export async function startFaultyProxy(target: NetConnectOpts): Promise<FaultyProxy> {
  const pairs = new Set<Pair>();
  let refusedCount = 0;
  let state: 'up' | 'down' | 'hanging' = 'up';

  const listener = createServer({ pauseOnConnect: true }, (client) => {
    // A reset, not a closed port, which another process could take.
    if (state === 'down') {
      refusedCount += 1;
      return void client.resetAndDestroy();
    }
    const pair = { client, server: createConnection(target), stranded: false };
    pairs.add(pair);
    for (const socket of [pair.client, pair.server]) {
      socket.on('error', () => undefined);
      socket.on('close', () => sever(pair));
    }
    if (state === 'up') join(pair);
  });
  const sever = (pair: Pair) => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server.destroy();
  };

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    down() {
      state = 'down';
      for (const pair of pairs) sever(pair);
    },
    refused: () => refusedCount,
    hang() {
      state = 'hanging';
      for (const pair of pairs) part(pair);
    },
    strand() {
      for (const pair of pairs) {
        part(pair);
        pair.stranded = true;
      }
    },
    loseAnswer(text) {
      return new Promise((resolve) => {
        for (const pair of pairs) {
          pair.server.prependListener('data', (bytes: Buffer) => {
            if (!bytes.includes(text)) return;
            sever(pair);
            resolve();
          });
        }
      });
    },
    up() {
      state = 'up';
      for (const pair of pairs) if (!pair.stranded) join(pair);
    },
    async close() {
      for (const pair of pairs) sever(pair);
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function join({ client, server }: Pair): void {
  client.pipe(server);
  server.pipe(client);
}

/** Stops reading, so that the buffers of the kernel fill, and an end is not noticed either. */
function part({ client, server }: Pair): void {
  client.unpipe(server);
  server.unpipe(client);
}
