import type { Config } from '../../../config/config.js';
import { mainShard } from '../../../database/database.js';
import { urlsOfHosts } from '../../../lib/postgres/hosts.js';
import { CommandError } from '../../support/failure.js';

/**
 * The text of `pgdog.toml`: a database for each server, because PgDog then passes all statements on as they are. For a
 * database with several shards or replicas, PgDog parses the statements: it then refuses LISTEN, and does not send
 * BEGIN in session mode. Passwords belong in `users.toml`.
 */
export function pgdogConfig({ DATABASE_URL, SHARDS = [] }: Config): string {
  const servers = [...(DATABASE_URL === undefined ? [] : [{ name: mainShard, url: DATABASE_URL }]), ...SHARDS];
  const databases = servers.map(databaseOf);
  const general = [
    '[general]',
    'host = "127.0.0.1"',
    'port = 6432',
    'pooler_mode = "session"',
    '# At least the connections of all processes to one server: see docs/operations/scale.md',
    'default_pool_size = 100',
    '# As many connections stay open: those of two processes. Under load, PgDog opens only three per second.',
    'min_pool_size = 70',
    '# Tries each connection before a client gets it, because a server that has restarted has ended those that were idle.',
    'healthcheck_interval = 0',
    ...encryption(servers),
  ].join('\n');
  return `${[general, ...databases].join('\n\n')}\n`;
}

/**
 * PgDog checks the certificates of all servers or of none, with one file of certificates. To `pg`, each mode but
 * `no-verify` means `verify-full`. Without these lines, PgDog encrypts if the server can, and checks no certificate.
 */
function encryption(servers: readonly { readonly name: string; readonly url: string }[]): string[] {
  const checked = servers.map(({ url }) => new URL(url).searchParams).filter(checksCertificate);
  const [file, ...others] = new Set(checked.map((parameters) => parameters.get('sslrootcert')));
  if (file === undefined) return [];
  if (others.length > 0) {
    throw new CommandError(
      'The URLs have different values of sslrootcert, and PgDog has one file for all servers. Write all certificates into one file, and name it in all URLs.',
    );
  }
  const authorities = file === null ? [] : [`tls_server_ca_certificate = ${JSON.stringify(file)}`];
  return ['tls_verify = "verify_full"', ...authorities];
}

function checksCertificate(parameters: URLSearchParams): boolean {
  const isEncrypted = parameters.has('sslrootcert') || ['true', '1'].includes(parameters.get('ssl') ?? '');
  const mode = parameters.get('sslmode') ?? (isEncrypted ? 'verify-full' : 'disable');
  return !['disable', 'no-verify'].includes(mode);
}

function databaseOf({ name, url }: { readonly name: string; readonly url: string }): string {
  const [hostUrl = url, ...others] = urlsOfHosts(url);
  if (others.length > 0) {
    throw new CommandError(
      `The URL of ${name} has several hosts. PgDog cannot replace them: it would not begin transactions. Name one address that leads to the primary.`,
    );
  }
  const { hostname, port, pathname } = new URL(hostUrl);
  return [
    '[[databases]]',
    `name = "postern_${name}"`,
    `host = ${JSON.stringify(hostname)}`,
    `port = ${port === '' ? 5432 : Number(port)}`,
    `database_name = ${JSON.stringify(decodeURIComponent(pathname.slice(1)))}`,
  ].join('\n');
}
