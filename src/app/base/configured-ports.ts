import { createServer } from 'node:net';
import type { Config } from '../../config/config.js';

/**
 * Checks that the ports are free before a start opens the database. Otherwise a start beside a running instance would
 * migrate and then fail, and the running release could not start again.
 * @throws Error with the code of the system, such as EADDRINUSE, and the name of the setting as `setting`
 */
export async function refuseUsedPorts(config: Config): Promise<void> {
  const addresses = [
    ['PORT', config.HOST, config.PORT],
    ['CONSOLE_PORT', config.CONSOLE_HOST, config.CONSOLE_PORT],
    ['METRICS_PORT', config.METRICS_HOST, config.METRICS_PORT],
  ] as const;
  for (const [setting, host, port] of addresses) {
    const error = port === undefined ? undefined : await portError(host, port);
    if (error !== undefined) throw Object.assign(error, { setting });
  }
}

/** Why a server cannot listen on a port now: listens on it for a moment. Undefined: the port is free. */
export function portError(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen({ host, port }, () => server.close(() => resolve(undefined)));
  });
}
