import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpUrl } from '../base/console-url.js';
import type { Logger } from '../base/log.js';
import { type Family, writeText } from './families.js';

/** A server of `/metrics`. */
export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Reads the metrics of all processes of the instance. */
export type ReadFamilies = () => Promise<readonly (readonly Family[])[]>;

/** Serves the metrics on a port of their own. Concurrent scrapes share one read. */
export async function serveMetrics(options: {
  readonly host: string;
  readonly port: number;
  readonly read: ReadFamilies;
  readonly log: Logger;
}): Promise<MetricsServer> {
  const { host, port, read, log } = options;
  let reading: Promise<string> | undefined;

  function readText(): Promise<string> {
    reading ??= read()
      .then(writeText)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    if (url.split('?', 1)[0] !== '/metrics') return refuse(response, 404, 'The metrics are at /metrics.\n');
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return refuse(response, 405, 'Use GET.\n');
    }
    const body = await readText();
    const headers = {
      'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    };
    response.writeHead(200, headers).end(method === 'HEAD' ? undefined : body);
  }

  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 }, (request, response) => {
    answer(request, response).catch((error: unknown) => {
      log.warn({ err: error }, 'the metrics could not be read');
      refuse(response, 500, 'The metrics could not be read.\n');
    });
  });
  server.listen({ host, port });
  await once(server, 'listening');
  const url = `${httpUrl(host, (server.address() as AddressInfo).port)}/metrics`;
  log.info({ url }, 'the metrics are served');
  return {
    url,
    async close() {
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function refuse(response: ServerResponse, status: number, body: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': body.length }).end(body);
}
