import type { Config } from '../../config/config.js';

type Addresses = Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>;

/**
 * The URL of the console, without a slash at its end.
 * @param listeningUrl the URL on which the service listens. Undefined in other processes: as it is configured.
 */
export function consoleUrl({ PUBLIC_URL, HOST, PORT }: Addresses, listeningUrl?: string): string {
  const base = PUBLIC_URL ?? listeningUrl ?? httpUrl(HOST, PORT);
  return `${base.replace(/\/+$/, '')}/console`;
}

/** The URL of an address on which the service listens. */
export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
