import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Passes a request on to a service, as a reverse proxy does. */
export function passOn(service: string, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url = '/', headers } = incoming;
  const outgoing = request(service + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.once('error', () => response.destroy());
  incoming.pipe(outgoing);
}

/** An address that is known before its service starts, as PUBLIC_URL must be. */
export interface PublicAddress {
  readonly url: string;
  /** The service to which it passes requests on. */
  service: string;
  close(): void;
}

export async function openPublicAddress(): Promise<PublicAddress> {
  const server = createServer((incoming, response) => passOn(address.service, incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: PublicAddress = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    service: '',
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return address;
}
