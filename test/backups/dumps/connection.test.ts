import { describe, expect, it, onTestFinished } from 'vitest';
import { openProgramConnection } from '../../../src/backups/dumps/connection.js';

/** The connection string of a target, and the content of the file of its password. */
async function connectionTo(url: string) {
  const connection = await openProgramConnection(url);
  onTestFinished(() => connection.close());
  const { password, text } = connection;
  if (password === undefined) return { text, password: undefined };
  const { buffer, bytesRead } = await password.read(Buffer.alloc(200), 0, 200, 0);
  const { mode, nlink } = await password.stat();
  return { text, password: buffer.toString('utf8', 0, bytesRead), mode: mode & 0o777, nlink };
}

describe('the connection of PostgreSQL programs', () => {
  it('has the password in a file without a name, which only its owner can read', async () => {
    const found = await connectionTo(`postgres://me:${encodeURIComponent('p:a\\s\'s w"ord')}@db.example:5433/postern`);
    expect(found).toMatchObject({ password: '*:*:*:*:p\\:a\\\\s\'s w"ord\n', mode: 0o600, nlink: 0 });
    expect(found.text).toContain("host='db.example' port='5433' user='me' dbname='postern'");
    expect(found.text).toContain("passfile='/dev/fd/3'");
    expect(found.text).not.toContain('ord');
  });

  it('has no file without a password, so that ~/.pgpass and PGPASSWORD are used', async () => {
    const found = await connectionTo('postgres://me@db.example/postern');
    expect([found.password, found.text.includes('passfile')]).toEqual([undefined, false]);
  });

  it.each([
    ['', /sslmode='verify-full'/],
    ['sslmode=prefer&uselibpqcompat=true', /sslmode='require'/],
    ['sslmode=disable', /sslmode='disable'/],
    ['sslmode=no-verify', /sslmode='require'/],
    ['sslmode=require', /sslmode='verify-full'/],
    ['sslmode=verify-full&sslrootcert=/dev/null', /sslrootcert='\/dev\/null' sslmode='verify-full'/],
    ['sslmode=require&uselibpqcompat=true', /sslmode='require'/],
    ['ssl=true', /sslmode='verify-full'/],
    ['sslmode=verify-full&sslcert=/dev/null&sslkey=/dev/null', /sslcert='\/dev\/null' sslkey='\/dev\/null'/],
  ])('encrypts and checks certificates as the service does: %s', async (parameters, expected) => {
    expect((await connectionTo(`postgres://me@db.example/postern?${parameters}`)).text).toMatch(expected);
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('does not demand TLS on this machine: %s', async (host) => {
    expect((await connectionTo(`postgres://me@${host}/postern`)).text).not.toContain('sslmode');
  });

  it('quotes what is special in a connection string', async () => {
    const { text } = await connectionTo(`postgres://me@db.example/${encodeURIComponent("it's \\ odd")}`);
    expect(text).toContain("dbname='it\\'s \\\\ odd'");
  });
});
