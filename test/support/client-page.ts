import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { TestApp } from './app.js';

const sourceOf = (path: string) => fileURLToPath(new URL(`../../packages/client/src/${path}`, import.meta.url));
const script = fileURLToPath(new URL('client-page-script.ts', import.meta.url));

/** A page with the client on an origin of its own, which also passes requests on to Postern, as a reverse proxy does. */
export interface ClientPage {
  readonly url: string;
  /** The event streams that are open now. */
  openStreams(): number;
  /** The event streams that were opened so far. */
  streams(): number;
  /** How many further requests reach Postern. The connections of later requests are cut. */
  left: number;
  /** Cuts all streams. */
  cut(): void;
  /** Text that is added to the policy of the page. */
  policy: string;
  /** The code of `/service-worker.js`. */
  serviceWorker: string;
  close(): Promise<void>;
}

/** The policy of a strict app: no inline code, no code from elsewhere. */
const strict =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; ";

export async function serveClientPage(app: Pick<TestApp, 'url'>): Promise<ClientPage> {
  const files = await builtFiles();
  const open = new Set<ServerResponse>();
  let streams = 0;

  function passOn(incoming: IncomingMessage, response: ServerResponse): void {
    page.left -= 1;
    if (page.left < 0) return void response.destroy();
    const { method, url = '/', headers } = incoming;
    // The request keeps the header Host: Postern compares it with the URL in a proof of the login's key.
    const outgoing = request(app.url + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (url.startsWith('/v1/notifications/stream') && answer.statusCode === 200) {
        streams += 1;
        open.add(response);
        response.once('close', () => open.delete(response));
      }
      answer.pipe(response);
      answer.once('error', () => response.destroy());
    });
    outgoing.once('error', () => response.destroy());
    response.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    const file = files.get(basename(path));
    if (path.startsWith('/v1/')) {
      passOn(incoming, response);
    } else if (path === '/') {
      response.setHeader('content-security-policy', strict + page.policy);
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>A page</title><script type="module" src="/page.js"></script>');
    } else if (path === '/service-worker.js') {
      response.setHeader('content-type', 'text/javascript').end(page.serviceWorker);
    } else if (file !== undefined) {
      response.setHeader('content-type', 'text/javascript').end(file);
    } else response.writeHead(path === '/favicon.ico' ? 204 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const page: ClientPage = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    openStreams: () => open.size,
    streams: () => streams,
    left: Number.POSITIVE_INFINITY,
    cut() {
      for (const response of open) response.destroy();
    },
    policy: "worker-src 'self'",
    serviceWorker: '',
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return page;
}

/** The page and the worker, as a bundler that splits code writes them. */
async function builtFiles(): Promise<Map<string, Uint8Array>> {
  const common = { bundle: true, write: false, format: 'esm', target: 'es2022', outdir: '/built' } as const;
  const [page, worker] = await Promise.all([
    build({ ...common, splitting: true, entryPoints: { page: script } }),
    build({ ...common, entryPoints: { worker: sourceOf('inbox/shared/worker.ts') } }),
  ]);
  return new Map([...page.outputFiles, ...worker.outputFiles].map(({ path, contents }) => [basename(path), contents]));
}
