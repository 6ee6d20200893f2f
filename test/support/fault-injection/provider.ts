import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** How an SMS provider may respond. With all but `accept` it does not accept the message. */
export const misbehaviours = {
  accept: ({ response }) => void response.writeHead(204).end(),
  hang: () => undefined,
  'answer 500': ({ response }) => void response.writeHead(500).end('down for maintenance'),
  'answer rubbish': ({ socket }) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'break off': ({ socket }) => void socket.resetAndDestroy(),
  redirect: ({ response }) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  'fail without an end': ({ response, every }) => {
    response.writeHead(500);
    every(5, () => response.write('x'.repeat(16_384)));
  },
  'drip its head byte by byte': ({ socket, every }) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
    every(100, () => socket.write('x'));
  },
} satisfies Record<string, (call: Call) => void>;
export type Misbehaviour = keyof typeof misbehaviours;

interface Call {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Repeats work while the connection is open. */
  every(milliseconds: number, act: () => void): void;
}

/** One POST of a message. */
export interface Delivery {
  /** The same for every attempt at one message. */
  readonly id: string;
  readonly to: string;
  readonly code: string;
}

/** The webhook of an unreliable SMS provider. */
export interface FaultyProvider {
  /** Configuration of a service that sends through it. */
  readonly env: Readonly<Record<string, string>>;
  /** All attempts at all messages. */
  readonly received: readonly Delivery[];
  /** Sets the behaviour from now on, for all recipients or for one. Requests that hang keep hanging. */
  behave(how: Misbehaviour, to?: string): void;
  /** Accepts everything from now on, and aborts requests that hang. */
  heal(): void;
  /** Accepts the requests that hang. */
  acceptHanging(): void;
  close(): Promise<void>;
}

export async function startFaultyProvider(): Promise<FaultyProvider> {
  const received: Delivery[] = [];
  const sockets = new Set<Socket>();
  const hanging = new Set<Call>();
  const special = new Map<string, Misbehaviour>();
  let usual: Misbehaviour = 'accept';

  const server = createServer(async (request, response) => {
    const delivery = await read(request).catch(() => undefined);
    if (delivery === undefined) return;
    received.push(delivery);
    const { socket } = request;
    const call: Call = {
      response,
      socket,
      every(milliseconds, act) {
        const timer = setInterval(act, milliseconds);
        socket.once('close', () => clearInterval(timer));
      },
    };
    const how = special.get(delivery.to) ?? usual;
    if (how === 'hang') hanging.add(call);
    misbehaviours[how](call);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    env: {
      SMS_PROVIDER: 'webhook',
      SMS_WEBHOOK_URL: `http://127.0.0.1:${port}/messages`,
      SMS_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
      ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
    },
    received,
    behave(how, to) {
      if (to === undefined) usual = how;
      else special.set(to, how);
    },
    heal() {
      usual = 'accept';
      special.clear();
      hanging.clear();
      for (const socket of sockets) socket.destroy();
    },
    acceptHanging() {
      for (const call of hanging) misbehaviours.accept(call);
      hanging.clear();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<Delivery> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString()) as Delivery;
}
