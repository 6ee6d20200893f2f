import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { describeFailure } from '../../../src/cli/support/failure.js';
import { Problem } from '../../../src/lib/problem.js';
import { runCommand } from '../command.js';

test('a command that has lost its connection says that the database refuses the connection or does not answer', async () => {
  const client = new pg.Client({ ...inject('server'), database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
  const ending = await client.query('select pg_terminate_backend(pg_backend_pid())').catch((error: unknown) => error);
  await ended;
  const next = await client.query('select 1').catch((error: unknown) => error);
  expect(describeFailure(ending)).toMatch(/^The database refuses the connection, see DATABASE_URL: /);
  expect(describeFailure(next)).toMatch(/^The database does not answer, see DATABASE_URL: /);
});

test('a command whose DATA_DIR is a file names its path, without a stack', async () => {
  const DATA_DIR = import.meta.filename;
  const stderr = `ENOTDIR: not a directory, open '${DATA_DIR}/secret-key'\n`;
  expect(await runCommand(['secret', 'rotate'], { DATA_DIR })).toEqual({ code: 1, stdout: '', stderr });
});

test.each([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate', 'sslrootcert='],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate', 'sslrootcert='],
  ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames", 'host name'],
  ['CERT_HAS_EXPIRED', 'certificate has expired', 'new certificate'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'wrong version number', 'sslcert'],
  ['', 'The server does not support SSL connections', 'sslmode=disable'],
])('a failure of TLS (%s) names DATABASE_URL and the cure, without a stack', (code, message, cure) => {
  const error = Object.assign(new Error(message), code === '' ? {} : { code });
  const text = describeFailure(new Problem('storage_unavailable', { cause: error }));
  for (const shown of [text, describeFailure(error)]) {
    expect(shown).toMatch(/^The database cannot be reached with TLS, see sslmode in DATABASE_URL: /);
    expect(shown).toContain(message);
    expect(shown).toContain(cure);
    expect(shown).not.toContain('\n');
  }
});
