import type { Config } from '../../config/config.js';
import { isLoopback } from '../../lib/urls.js';

type Addresses = Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT' | 'CONSOLE_HOST' | 'CONSOLE_PORT'>;

/** The URL of the console. With CONSOLE_PORT, it uses this port, because PUBLIC_URL leads to the other server. */
export function consoleUrl(addresses: Addresses): string {
  return `${browserUrl(addresses)}/console`;
}

function browserUrl({ PUBLIC_URL, HOST, PORT, CONSOLE_HOST, CONSOLE_PORT }: Addresses): string {
  if (CONSOLE_PORT !== undefined) return httpUrl(browserHost(CONSOLE_HOST), CONSOLE_PORT);
  return PUBLIC_URL?.replace(/\/+$/, '') ?? httpUrl(browserHost(HOST), PORT);
}

/** Browsers allow passkeys on the name localhost, and not on its addresses. */
function browserHost(host: string): string {
  return isLoopback(host) || host === '0.0.0.0' || host === '::' ? 'localhost' : host;
}

/** The URL of an address on which the service listens. */
export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
