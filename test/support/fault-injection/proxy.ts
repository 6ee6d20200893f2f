import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';
import { Transform } from 'node:stream';

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
  /** The server has lost its ends of the current connections, and the client does not learn it. New connections work. */
  halfOpen(): void;
  /** Nothing listens: breaks every connection, and the kernel refuses new ones. */
  refuse(): Promise<void>;
  /** Breaks the current connections. New ones work. */
  reset(): void;
  /** Every piece of data takes this many milliseconds, in each direction. */
  slow(milliseconds: number): void;
  /** On the current connections, an answer with this text is lost, and the connection with it. Resolves when it is lost. */
  loseAnswer(text: string): Promise<void>;
  /** Works again. Connections that hung continue where they stopped. */
  up(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Delay the data in each direction. */
  readonly delays: { readonly toServer: Transform; readonly toClient: Transform };
  stranded: boolean;
}

/** @param target a port, or the path of a unix socket */
export async function startFaultyProxy(target: NetConnectOpts): Promise<FaultyProxy> {
  const pairs = new Set<Pair>();
  let refusedCount = 0;
  let state: 'up' | 'down' | 'hanging' = 'up';
  let delayMs = 0;

  const listener = createServer({ pauseOnConnect: true }, (client) => {
    // A reset, not a closed port, which another process could take.
    if (state === 'down') {
      refusedCount += 1;
      return void client.resetAndDestroy();
    }
    const delays = { toServer: delay(() => delayMs), toClient: delay(() => delayMs) };
    const pair: Pair = { client, server: createConnection(target), delays, stranded: false };
    pairs.add(pair);
    for (const socket of [pair.client, pair.server]) {
      socket.on('error', () => undefined);
      socket.on('close', () => pair.stranded || sever(pair));
    }
    if (state === 'up') join(pair);
  });
  const sever = (pair: Pair) => {
    pairs.delete(pair);
    pair.client.resetAndDestroy();
    pair.server.destroy();
  };

  const listen = async (port: number) => {
    listener.listen(port, '127.0.0.1');
    await once(listener, 'listening');
  };
  await listen(0);
  const { port } = listener.address() as AddressInfo;
  return {
    port,
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
    halfOpen() {
      for (const pair of pairs) {
        part(pair);
        pair.stranded = true;
        pair.server.destroy();
      }
    },
    async refuse() {
      const closed = once(listener, 'close');
      listener.close();
      for (const pair of pairs) sever(pair);
      await closed;
    },
    reset() {
      for (const pair of pairs) sever(pair);
    },
    slow(milliseconds) {
      delayMs = milliseconds;
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
    async up() {
      state = 'up';
      delayMs = 0;
      if (!listener.listening) await listen(port);
      for (const pair of pairs) {
        if (pair.stranded) continue;
        // A pair that is joined twice would get everything twice.
        part(pair);
        join(pair);
      }
    },
    async close() {
      for (const pair of pairs) sever(pair);
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function join({ client, server, delays }: Pair): void {
  client.pipe(delays.toServer).pipe(server);
  server.pipe(delays.toClient).pipe(client);
}

/** Passes data on after a time. */
function delay(milliseconds: () => number): Transform {
  return new Transform({
    transform(chunk, _encoding, done) {
      if (milliseconds() === 0) done(null, chunk);
      else setTimeout(() => done(null, chunk), milliseconds());
    },
  });
}

/** Stops reading, so that the buffers of the kernel fill, and an end is not noticed either. */
function part({ client, server, delays }: Pair): void {
  client.unpipe(delays.toServer);
  delays.toServer.unpipe(server);
  server.unpipe(delays.toClient);
  delays.toClient.unpipe(client);
}
