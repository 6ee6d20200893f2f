import { createPublicKey, verify } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Fakes of push services on loopback. They speak the real protocols and refuse the same requests. */

/** How a fake responds to a valid push. `hang` never responds. */
export type Behaviour =
  | 'hang'
  | {
      readonly status: number;
      readonly headers?: object;
      readonly body?: object;
      /** The fake answers when this resolves; without it, at once. The fakes of APNs and FCM use it. */
      readonly when?: Promise<void>;
    };

export interface Pushed<Content> {
  readonly headers: Readonly<Record<string, string>>;
  /** The token, or the path of the endpoint. */
  readonly to: string;
  readonly content: Content;
}

export interface Fake<Content> {
  /** Configuration of a Postern that pushes to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly received: readonly Pushed<Content>[];
  /** Violations of the protocol. */
  readonly violations: readonly string[];
  /** Sets the response from now on, for all tokens or for one. */
  behave(behaviour: Behaviour, to?: string): void;
  close(): Promise<void>;
}

export const accept: Behaviour = { status: 201 };

export function behaviours(usual: Behaviour) {
  let current = usual;
  const special = new Map<string, Behaviour>();
  return {
    of: (to: string) => special.get(to) ?? current,
    behave(behaviour: Behaviour, to?: string) {
      if (to === undefined) current = behaviour;
      else special.set(to, behaviour);
    },
  };
}

export async function listen(server: Server): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The claims of a JWT (RFC 7519), or undefined when its signature is not of this key. */
export function verifyJwt(jwt: string, key: Parameters<typeof createPublicKey>[0], hash = 'sha256') {
  const [head = '', claims = '', signature = ''] = jwt.split('.');
  const isRight = verify(
    hash,
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey(key), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString());
  return isRight ? { header: read(head), claims: read(claims) } : undefined;
}

export const nowSeconds = () => Math.floor(Date.now() / 1000);

export function answer(response: ServerResponse, behaviour: Behaviour): void {
  if (behaviour === 'hang') return;
  response.writeHead(behaviour.status, { ...behaviour.headers });
  response.end(behaviour.body === undefined ? '' : JSON.stringify(behaviour.body));
}

export async function readAll(stream: IncomingMessage | ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export function texts(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
