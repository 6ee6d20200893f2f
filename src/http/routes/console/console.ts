import { pathOf } from '../../../lib/urls.js';
import type { App } from '../../requests/route.js';
import { createConsoleCookies } from './cookies.js';
import { type ConsoleFiles, consoleEntryRoute, consoleFileRoutes } from './files.js';
import { refuseOtherSites } from './same-site.js';
import { type ConsoleRouteOptions, type ConsoleSessionServices, consoleSessionRoutes } from './session.js';
import { consoleSetUpRoutes, type SetUpServices } from './setup.js';

/** The console on one HTTP server. A process can have several HTTP servers, and not all of them have the console. */
export interface ConsoleOptions {
  /** What the page needs to know about this installation. */
  readonly installation: ConsoleRouteOptions['installation'];
  /** The URL by which browsers reach this HTTP server, if it is configured. */
  readonly publicUrl: string | undefined;
  /** Whether PUBLIC_URL is https: then browsers reach a separate port by https too, except on this machine. */
  readonly behindTls: boolean;
  readonly files: ConsoleFiles;
}

/** Registers every route under `/console`, and the root, which redirects to it. */
export function consoleRoutes(
  app: App,
  services: ConsoleSessionServices & SetUpServices,
  { installation, publicUrl, behindTls, files }: ConsoleOptions,
): void {
  const options = {
    installation,
    cookies: createConsoleCookies(behindTls && publicUrl === undefined ? 'except_loopback' : behindTls),
    refuseOtherSites: refuseOtherSites(publicUrl),
  };
  consoleSessionRoutes(app, services, options);
  consoleSetUpRoutes(app, services, options);
  consoleEntryRoute(app, pathOf(publicUrl));
  consoleFileRoutes(app, files, pathOf(publicUrl));
}
