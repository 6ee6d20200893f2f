import { type AddressInfo, createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A TCP proxy on 127.0.0.1 that can fail in the ways in which a server and the network before it fail. */
export interface FaultyProxy {
  readonly port: number;
  /** Breaks every connection, and every new one at once: the server is down. */
  down(): void;
  /** Takes connections and bytes and passes nothing on: the server, or the network before it, hangs. */
  hang(): void;
  /** Lets the connections of now hang for ever, while new ones work: a firewall that has forgotten them. */
  strand(): void;
  /** Works again. What hung meanwhile goes on where it stopped. */
  up(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  stranded: boolean;
}

/** @param target where the connections go to: a port, or the path of a unix socket */
export async function startFaultyProxy(target: NetConnectOpts): Promise<FaultyProxy> {
  const pairs = new Set<Pair>();
  let state: 'up' | 'down' | 'hanging' = 'up';

  const listener = createServer({ pauseOnConnect: true }, (client) => {
    // A reset and no refusal: closing the port would let another process take it meanwhile.
    if (state === 'down') return void client.resetAndDestroy();
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

/** Nobody reads any more, so that the kernels' buffers fill and an end is not seen either. */
function part({ client, server }: Pair): void {
  client.unpipe(server);
  server.unpipe(client);
}
