import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { connectionFields, type DatabaseTarget } from '../../database/connections/target.js';

/** The certificates of public authorities, where systems have them. */
const systemCertificates = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

/** Parameters of DATABASE_URL that mean the same to `pg` and to PostgreSQL's programs. */
const shared = ['sslcert', 'sslkey', 'sslrootcert', 'sslnegotiation'];

/** The number under which a program gets the file of the password. 0 to 2 are its standard streams. */
const passwordDescriptor = 3;

/** How PostgreSQL's programs connect to a database. */
export interface ProgramConnection {
  /** A connection string without the password. */
  readonly text: string;
  /** A file with the password, to open as descriptor 3. Undefined: DATABASE_URL has no password. */
  readonly password: FileHandle | undefined;
  close(): Promise<void>;
}

/**
 * Creates a connection string for PostgreSQL's programs. Every account of the machine can read the arguments of a program, so
 * the password is in a file. The file loses its name before it is written, so no password is left if this process is killed.
 * @param target its primary must be known
 */
export async function openProgramConnection(target: DatabaseTarget): Promise<ProgramConnection> {
  const { password = '', ...fields } = fieldsOf(target);
  const file = password === '' ? undefined : await passwordFile(password);
  const passfile = file === undefined ? undefined : `/dev/fd/${passwordDescriptor}`;
  return {
    text: connectionString({ ...fields, passfile, application_name: 'postern backup', connect_timeout: '10' }),
    password: file,
    close: async () => file?.close(),
  };
}

/** An open file in the format of `.pgpass`, with the password for any server. The file is already deleted. */
async function passwordFile(password: string): Promise<FileHandle> {
  const path = join(tmpdir(), `postern-backup-${randomBytes(12).toString('hex')}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    await file.write(`*:*:*:*:${password.replace(/[\\:]/g, '\\$&')}\n`, 0);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** `name='value'` pairs, as PostgreSQL's programs read them. */
function connectionString(fields: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(fields)
    .filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '')
    .map(([name, value]) => `${name}='${value.replace(/[\\']/g, '\\$&')}'`)
    .join(' ');
}

function fieldsOf(target: DatabaseTarget): Record<string, string | undefined> {
  const given = connectionFields(target);
  // All connections of this process use these rules: the URL first, and then the environment.
  const { host, port, user, database } = new pg.Client(given);
  const url = given.connectionString === undefined ? undefined : new URL(given.connectionString);
  const parameters = url?.searchParams ?? new URLSearchParams();
  const password = given.password ?? parameters.get('password') ?? decodeURIComponent(url?.password ?? '');
  return {
    // For the program, /proc/self would be the program itself and not this process.
    host: host.replace(/^\/proc\/self\//, `/proc/${process.pid}/`),
    port: `${port}`,
    user,
    dbname: database,
    password: typeof password === 'string' ? password : undefined,
    ...Object.fromEntries(shared.map((name) => [name, parameters.get(name) ?? undefined])),
    ...encryption(parameters, given.ssl === true),
  };
}

/**
 * Checks the server's certificate as all other connections do. To `pg`, each mode but `disable` and `no-verify` means `verify-full`.
 * @param byDefault whether connections to this server use TLS although its URL does not say so
 */
function encryption(parameters: URLSearchParams, byDefault: boolean): Record<string, string | undefined> {
  const given =
    parameters.get('sslmode') ?? (/^(?:true|1)$/.test(parameters.get('ssl') ?? '') ? 'verify-full' : undefined);
  const mode = given ?? (byDefault ? 'verify-full' : undefined);
  if (mode === undefined || mode === 'disable') return { sslmode: mode };
  if (parameters.get('uselibpqcompat') === 'true') {
    // With these modes, the programs would continue without TLS if the server has none. `pg` does not.
    return { sslmode: mode === 'prefer' || mode === 'allow' ? 'require' : mode };
  }
  if (mode === 'no-verify') return { sslmode: 'require' };
  const certificates = parameters.get('sslrootcert') ?? systemCertificates.find((path) => existsSync(path));
  return { sslmode: 'verify-full', sslrootcert: certificates ?? 'system' };
}
