import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { App } from '../http/requests/route.js';
import { readAssets, readConsoleFiles } from '../http/routes/console/files.js';
import type { ServedRoutes, Services } from '../http/routes/routes.js';
import { buildServer } from '../http/server.js';
import { createLogAddress } from '../lib/log-address.js';
import { packageFolder, version } from '../lib/own-package.js';
import type { RequestObserver } from '../statistics/meters.js';
import type { Base } from './base/base.js';
import type { ConsoleCodes } from './base/console-codes.js';
import { httpUrl } from './base/console-url.js';
import { publicUrlOf } from './domains/authenticators.js';

/** What `console/build.mjs` has built. */
const consoleFolder = fileURLToPath(new URL('console/built/', packageFolder));

/** What `scripts/compile.mjs` has built. */
const pagesFolder = fileURLToPath(new URL('dist/pages/', packageFolder));

/** By folder. A process reads the hundreds of files once, although tests start many services in it. */
const readFiles = new Map<string, Promise<unknown>>();

function readOnce<T>(folder: string, read: (folder: string) => Promise<T>): Promise<T> {
  const files = readFiles.get(folder) as Promise<T> | undefined;
  if (files !== undefined) return files;
  const reading = read(folder);
  readFiles.set(folder, reading);
  reading.catch(() => readFiles.delete(folder));
  return reading;
}

/** A server that listens. */
export interface ListeningServer {
  readonly app: App;
  readonly port: number;
  readonly url: string;
}

/**
 * `main` has the API for users. `administration` has the console and the admin API. Without CONSOLE_PORT, both are the same
 * server. With it, `administration` is a second server, which also has the API for users.
 */
export interface Servers {
  readonly main: ListeningServer;
  readonly administration: ListeningServer;
}

/** Starts the servers, and records their addresses in `base`. @param onAnswered, onRequest see `buildServer` */
export async function listen(
  base: Base,
  services: Services,
  onAnswered: RequestObserver | undefined,
  onRequest: ConsoleCodes['watch'],
): Promise<Servers> {
  const { config, log, lifecycle, listening, tracing, texts, traffic } = base;
  const { HOST, PORT, CONSOLE, CONSOLE_HOST, CONSOLE_PORT, PUBLIC_URL } = config;
  const files = CONSOLE === 'on' ? await readOnce(consoleFolder, readConsoleFiles) : undefined;

  // Both ports send Strict-Transport-Security: an operator with https for one port has it for the other one too.
  const behindTls = PUBLIC_URL?.startsWith('https:') === true;

  async function startServer(
    { host, port, publicUrl }: { host: string; port: number; publicUrl: string | undefined },
    serves: ServedRoutes,
  ): Promise<ListeningServer> {
    const { CORS_ORIGINS: corsOrigins = [], TRUST_PROXY: trustProxy } = config;
    const server = await buildServer({
      services,
      log,
      logAddress: createLogAddress(config.LOG_ADDRESSES),
      version,
      publicUrl,
      behindTls,
      corsOrigins,
      trustProxy,
      serves,
      onAnswered,
      apiDocs: config.API_DOCS === 'on',
      onRequest,
      tracing,
    });
    server.server.on('request', () => {
      traffic.requests += 1;
    });
    const app = lifecycle.add(server, (running) => running.close());
    await app.listen({ host, port });
    const boundPort = (app.server.address() as AddressInfo).port;
    return { app, port: boundPort, url: httpUrl(host, boundPort) };
  }

  const installation = {
    app_name: config.APP_NAME,
    takes_pin: config.PIN_POLICY !== 'off',
    notification_types: [...config.NOTIFICATION_TYPES],
  };
  const consoleOptions = (publicUrl: string | undefined) => files && { installation, publicUrl, behindTls, files };
  const pagesUrl = publicUrlOf(config);
  const { APP_TERMS_URL: termsUrl, APP_PRIVACY_URL: privacyUrl } = config;
  const pages =
    config.PAGES === 'on' && pagesUrl !== undefined
      ? {
          brand: { ...texts.brand, termsUrl, privacyUrl },
          assets: await readOnce(pagesFolder, readAssets),
          publicUrl: pagesUrl,
        }
      : undefined;
  const address = { host: HOST, port: PORT, publicUrl: PUBLIC_URL };
  const isSeparate = CONSOLE_PORT !== undefined;
  const main = await startServer(address, {
    administration: !isSeparate,
    console: isSeparate ? undefined : consoleOptions(PUBLIC_URL),
    pages,
  });
  Object.assign(listening, { url: main.url, port: main.port });
  if (!isSeparate) return { main, administration: main };
  // PUBLIC_URL is the address of `main`, not of this server.
  const consoleAddress = { host: CONSOLE_HOST, port: CONSOLE_PORT, publicUrl: undefined };
  const administration = await startServer(consoleAddress, {
    administration: true,
    console: consoleOptions(undefined),
    pages: undefined,
  });
  listening.consolePort = administration.port;
  return { main, administration };
}
