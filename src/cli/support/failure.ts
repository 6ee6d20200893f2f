import { BackupError } from '../../backups/container/error.js';
import { ConfigError } from '../../config/config.js';
import { NoPrimaryError, NotPrimaryError } from '../../database/connections/servers.js';
import { EmbeddedPostgresError } from '../../embedded/embedded.js';
import { problemBody } from '../../http/plugins/problems.js';
import { SecretKeyError } from '../../keys/secret-key-file.js';
import { Problem } from '../../lib/problem.js';
import { MigrationError } from '../../schema/migrate.js';
import { UnfitDatabaseError } from '../../schema/suitability.js';

/** An error of a command, with a message for the person who typed it. */
export class CommandError extends Error {}

/** Errors whose message is written for the operator. */
const expectedErrors = [
  ConfigError,
  EmbeddedPostgresError,
  UnfitDatabaseError,
  NoPrimaryError,
  NotPrimaryError,
  MigrationError,
  SecretKeyError,
  BackupError,
  CommandError,
];

/** The message of a failure for the operator. An unexpected failure has its stack, for a report. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (expectedErrors.some((kind) => error instanceof kind)) return error.message;
  if (error instanceof Problem) return describeProblem(error);
  return describeCode(error) ?? `Unexpected failure, please report it: ${error.stack ?? error.message}`;
}

function describeProblem(problem: Problem): string {
  const { cause } = problem.options;
  if (cause instanceof NoPrimaryError || cause instanceof NotPrimaryError) return cause.message;
  if (problem.code !== 'storage_unavailable' || !(cause instanceof Error)) return problemBody(problem, '', 'en').detail;
  return describeCode(cause) ?? `The database does not answer: ${messageOf(cause)}`;
}

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
  /** The setting that has the port. */
  readonly setting?: string;
}

/** Failures of the system and of PostgreSQL, by errno or SQLSTATE. */
function describeCode(error: Error): string | undefined {
  const { code, address, port, setting = 'PORT' } = error as SystemError;
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${address} is in use: stop the program that uses it, or set ${setting} to another one.`;
    case 'EADDRNOTAVAIL':
      return `${address} is not an address of this machine: set HOST to one.`;
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ECONNRESET':
      return `The database cannot be reached, see DATABASE_URL: ${messageOf(error)}`;
    case 'EACCES':
    case 'EISDIR':
    case 'ENOENT':
    case 'EPERM':
    case 'ENOSPC':
    case 'ENOTDIR':
    case 'EROFS':
      return messageOf(error);
    case '3D000': // invalid_catalog_name
    case '28000': // invalid_authorization_specification
    case '28P01': // invalid_password
    case '57P01': // admin_shutdown
    case '57P02': // crash_shutdown
    case '57P03': // cannot_connect_now
    case '55000': // the database does not accept connections
    case '53300': // too_many_connections
      return `The database refuses the connection, see DATABASE_URL: ${error.message}${encryptionCure(error)}`;
    case '42501': // insufficient_privilege
      return `The role of DATABASE_URL lacks a right (${error.message}): \`postern doctor\` shows which, and what to do.`;
    case '42P01': // undefined_table
      return 'The database has no tables of Postern yet: run `postern migrate`, or start Postern once.';
    default:
      return describeTls(error) ?? describeConnection(error);
  }
}

/** PostgreSQL refuses connections without TLS with a message about pg_hba.conf. */
const encryptionCure = ({ message }: Error) =>
  /no encryption|SSL off/i.test(message) ? '. Add sslmode=verify-full if the server requires TLS' : '';

/** OpenSSL's names of errors of a certificate. */
const unknownIssuers = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

/** Failures to encrypt the connection to the database, the only TLS connection that a command opens at its start. */
function describeTls(error: Error): string | undefined {
  const { code = '', message } = error as SystemError;
  const cure = tlsCure(code, message);
  return cure && `The database cannot be reached with TLS, see sslmode in DATABASE_URL: ${messageOf(error)}. ${cure}`;
}

function tlsCure(code: string, message: string): string | undefined {
  if (/server does not support SSL connections/i.test(message)) {
    return 'Switch TLS on in PostgreSQL (ssl = on), or use sslmode=disable in a network that nobody else can read.';
  }
  if (unknownIssuers.includes(code)) {
    return 'Name the file of its certificate authority with sslrootcert=/path/ca.crt, or use sslmode=no-verify, which does not detect another server.';
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return 'Use a host name that the certificate contains, or give the server a certificate for this name.';
  }
  if (code === 'CERT_HAS_EXPIRED') return 'Give the server a new certificate.';
  if (code === 'CERT_NOT_YET_VALID') return 'Check the clocks of both machines.';
  return /^(?:CERT_|ERR_SSL_|ERR_TLS_|ERR_OSSL_|EPROTO$|CRL_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH|INVALID_PURPOSE)/.test(
    code,
  )
    ? 'Check the files that sslrootcert, sslcert and sslkey name, and the certificate of the server.'
    : undefined;
}

/** Failures to connect and lost connections for which `pg` has no code. */
function describeConnection({ message }: Error): string | undefined {
  return /^(?:timeout expired|the server does not answer|Connection terminated|connection timeout|Client has encountered a connection error)/i.test(
    message,
  )
    ? `The database does not answer, see DATABASE_URL: ${message}`
    : undefined;
}

/** A failure to connect to several addresses has no message of its own: the first cause has one. */
function messageOf(error: Error): string {
  const causes: unknown[] = error instanceof AggregateError ? error.errors : [];
  const [first = error] = causes.filter((cause) => cause instanceof Error);
  return first.message;
}
