import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeFailure } from '../../src/cli/support/failure.js';
import { createDatabase } from '../../src/database/database.js';
import { eventually } from '../support/eventually.js';
import {
  createServerFolder,
  type PostgresServer,
  type ServerFolder,
  startPrimary,
} from '../support/fault-injection/postgres.js';
import { testSql } from '../support/sql.js';

let folder: ServerFolder;
let server: PostgresServer;
const file = (name: string) => join(folder.path, name);

/** A PostgreSQL with TLS. Its certificate is for `localhost` alone. */
beforeAll(async () => {
  folder = await createServerFolder();
  const openssl = (...args: string[]) => folder.run('openssl', ...args);
  const key = (name: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', file(`${name}.key`)];
  await openssl('req', '-x509', ...key('ca'), '-out', file('ca.crt'), '-days', '2', '-subj', '/CN=test authority');
  await writeFile(file('localhost.cnf'), 'subjectAltName=DNS:localhost\n', { mode: 0o644 });
  for (const [name, subject] of [
    ['server', '/CN=localhost'],
    ['client', '/CN=postgres'],
  ] as const) {
    await openssl('req', ...key(name), '-out', file(`${name}.csr`), '-subj', subject);
    const signer = ['-CA', file('ca.crt'), '-CAkey', file('ca.key'), '-CAcreateserial', '-days', '2'];
    await openssl(
      'x509',
      '-req',
      '-in',
      file(`${name}.csr`),
      ...signer,
      '-extfile',
      file('localhost.cnf'),
      '-out',
      file(`${name}.crt`),
    );
  }
  server = await startPrimary(folder);
  // Of two databases, one needs a certificate of the client.
  await server.query('create database guarded');
  const [row] = await server.query('show hba_file');
  const rules = await readFile(`${row?.hba_file}`, 'utf8');
  await writeFile(
    `${row?.hba_file}`,
    `hostssl guarded all 127.0.0.1/32 trust clientcert=verify-full\nhost guarded all all reject\n${rules}`,
  );
  await switchTls('on');
});
afterAll(() => folder?.remove());

async function switchTls(to: 'on' | 'off'): Promise<void> {
  const settings = {
    ssl: to,
    ssl_cert_file: file('server.crt'),
    ssl_key_file: file('server.key'),
    ssl_ca_file: file('ca.crt'),
  };
  for (const [name, value] of Object.entries(settings)) await server.query(`alter system set ${name} = '${value}'`);
  await server.query('select pg_reload_conf()');
  await eventually('the setting', async () => {
    const [row] = await server.query('show ssl');
    return row?.ssl === to || undefined;
  });
}

/** Connects as Postern does. @returns whether the connection is encrypted, or the message of its refusal */
async function connect(host: string, parameters: string, name = 'postern'): Promise<'encrypted' | 'plain' | string> {
  const target = `postgres://postgres@${host}:${server.port}/${name}?${parameters}`;
  const database = createDatabase({ target, size: 1, onConnectionError: () => undefined });
  try {
    const [row] = await database.query<{ ssl: boolean }>(
      testSql('select ssl from pg_stat_ssl where pid = pg_backend_pid()'),
    );
    return row?.ssl === true ? 'encrypted' : 'plain';
  } catch (error) {
    return describeFailure(error);
  } finally {
    await database.close();
  }
}

const withAuthority = (parameters: string) => `${parameters}&sslrootcert=${encodeURIComponent(file('ca.crt'))}`;
const unknownAuthority = expect.stringMatching(/sslmode in DATABASE_URL.*sslrootcert=/s);
const otherHost = expect.stringMatching(/sslmode in DATABASE_URL.*host name/s);

describe('the documented meaning of sslmode, with a server that has TLS', () => {
  test('absent and disable: without TLS', async () => {
    expect(await connect('localhost', '')).toBe('plain');
    expect(await connect('localhost', 'sslmode=disable')).toBe('plain');
  });

  test.each(['verify-full', 'verify-ca', 'require', 'prefer'])(
    '%s: a valid certificate, from a known authority, for the host name',
    async (mode) => {
      expect(await connect('localhost', withAuthority(`sslmode=${mode}`))).toBe('encrypted');
      expect(await connect('localhost', `sslmode=${mode}`)).toEqual(unknownAuthority);
      expect(await connect('127.0.0.1', withAuthority(`sslmode=${mode}`))).toEqual(otherHost);
    },
  );

  test('no-verify: TLS without a check of the certificate', async () => {
    expect(await connect('127.0.0.1', 'sslmode=no-verify')).toBe('encrypted');
  });

  test('uselibpqcompat: the meaning in other programs of PostgreSQL', async () => {
    const compatible = 'uselibpqcompat=true&sslmode=';
    expect(await connect('127.0.0.1', `${compatible}prefer`)).toBe('encrypted');
    expect(await connect('127.0.0.1', `${compatible}require`)).toBe('encrypted');
    expect(await connect('127.0.0.1', withAuthority(`${compatible}verify-ca`))).toBe('encrypted');
    expect(await connect('127.0.0.1', withAuthority(`${compatible}verify-full`))).toEqual(otherHost);
  });

  test('sslcert and sslkey: a certificate of Postern', async () => {
    const own = `&sslcert=${encodeURIComponent(file('client.crt'))}&sslkey=${encodeURIComponent(file('client.key'))}`;
    expect(await connect('localhost', withAuthority('sslmode=verify-full') + own, 'guarded')).toBe('encrypted');
    const without = await connect('localhost', withAuthority('sslmode=verify-full'), 'guarded');
    expect(['encrypted', 'plain']).not.toContain(without);
  });
});

test('a server without TLS is refused, and the message says how to switch it on', async () => {
  await switchTls('off');
  expect(await connect('localhost', withAuthority('sslmode=verify-full'))).toMatch(/ssl = on/);
  expect(await connect('localhost', '')).toBe('plain');
  await switchTls('on');
});
