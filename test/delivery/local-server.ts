import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server on loopback for the running test, with the requests that it received. */
export async function startHttp(
  answer: RequestListener,
): Promise<{ url: string; port: number; received: ReceivedRequest[] }> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    received.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    answer(request, response);
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, port, received };
}

/** A TCP server on loopback for the running test. */
export async function startTcp(connected: (socket: Socket) => void): Promise<{ port: number }> {
  return { port: await listen(createTcpServer(connected)) };
}

/** A server that answers a request with these bytes and then resets the connection. It counts the resets. */
export async function startResetting(bytes: string): Promise<{ port: number; reset: () => number }> {
  let resets = 0;
  const { port } = await startTcp((socket) => {
    socket.once('data', () =>
      socket.write(bytes, () => {
        resets += 1;
        socket.resetAndDestroy();
      }),
    );
  });
  return { port, reset: () => resets };
}

/** An HTTPS server on loopback for the running test, with a self-signed certificate. */
export async function startSelfSigned(): Promise<number> {
  const pem = readFileSync(new URL('self-signed.pem', import.meta.url));
  return listen(createHttpsServer({ key: pem, cert: pem }, (_request, response) => response.end()));
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
