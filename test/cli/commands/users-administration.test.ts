import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiKey, IssuedApiKey } from '../../../src/contract/administration.js';
import type { User } from '../../../src/contract/user.js';
import { dummyHashFor } from '../../../src/credentials/hashes/registry.js';
import { createApiKeys } from '../../../src/sessions/api-keys.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { testSql } from '../../support/sql.js';
import { runCommand, temporaryFolder } from '../command.js';

let test: TestDatabase;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  [test, folder] = await Promise.all([createTestDatabase(), temporaryFolder()]);
});
afterAll(async () => {
  await test.drop();
  await folder.remove();
});

const environment = () => ({ DATABASE_URL: test.url, SECRET_KEY: 's'.repeat(32), DATA_DIR: folder.path });
const command = (args: readonly string[], input?: string) => runCommand(args, environment(), input);
const json = async <Body>(args: readonly string[], input?: string) => {
  const { code, stdout, stderr } = await command([...args, '--json'], input);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Body;
};

describe('users create', () => {
  it('creates a user with the password from standard input, without its line end, for one login', async () => {
    const username = `cli-${randomUUID()}`;
    const args = ['users', 'create', '--username', username, '--name', 'Ada', '--role', 'operator', '--password-stdin'];
    const user = await json<User>(args, 'a battery of horses\r\n');
    expect(user).toMatchObject({ username, name: 'Ada', role: 'operator', has_password: true });
    const [row] = await test.database.query<{ must_change: boolean; password_hash: string }>(
      testSql('select must_change, password_hash from users where id = $1', [user.id]),
    );
    expect(row?.must_change).toBe(true);
    expect(await verify(row?.password_hash ?? '', 'a battery of horses')).toBe(true);
    const [event] = await test.database.query<{ actor: string }>(
      testSql('select actor from events where user_id = $1', [user.id]),
    );
    expect(event).toEqual({ actor: 'cli' });
  });

  it('prints the user as a table', async () => {
    const { code, stdout } = await command(['users', 'create', '--email', `${randomUUID()}@EXAMPLE.com`]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id {5}[0-9a-f-]{36}\nemail {2}[0-9a-f-]{36}@example\.com\nrole {3}user\n$/);
  });

  it('reports all errors, and prints no password', async () => {
    const args = ['users', 'create', '--email', 'nowhere', '--phone', '1', '--password', 'qwertyuiop'];
    const { code, stdout, stderr } = await command(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('email: This is not a valid email.');
    expect(stderr).toContain('phone: This is not a valid phone.');
    expect(stderr).toContain('password: This password is too common.');
    expect(stderr).not.toContain('qwertyuiop');
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('names the identity that another user has', async () => {
    const args = ['users', 'create', '--username', `cli-${randomUUID()}`];
    expect((await command(args)).code).toBe(0);
    expect(await command(args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('username: Another user has this value.'),
    });
  });
});

describe('keys', () => {
  it('are created, listed without their token, and revoked', async () => {
    const args = ['keys', 'create', '--name', 'billing', '--scopes', 'notifications:write,users:read'];
    const key = await json<IssuedApiKey>([...args, '--expires-at', '2099-01-01T00:00:00Z']);
    expect(key).toMatchObject({ name: 'billing', scopes: ['users:read', 'notifications:write'] });
    const { verify } = createApiKeys({ database: test.database });
    expect(await verify(key.token)).toEqual({ name: `key:${key.id}`, scopes: key.scopes });

    const listed = await command(['keys', 'list']);
    expect(listed.stdout).toContain(`${key.id}  billing  users:read,notifications:write`);
    expect(listed.stdout).not.toContain('psk_');
    expect(await json<ApiKey[]>(['keys', 'list'])).toMatchObject([
      { id: key.id, expires_at: '2099-01-01T00:00:00.000000Z' },
    ]);

    expect(await command(['keys', 'revoke', key.id.toUpperCase()])).toEqual({
      code: 0,
      stdout: `Revoked ${key.id}.\n`,
      stderr: '',
    });
    expect(await verify(key.token)).toBeUndefined();
    expect(await command(['keys', 'list'])).toMatchObject({ code: 0, stdout: 'There are no keys.\n' });
    for (const id of [key.id, randomUUID(), 'billing']) {
      expect(await command(['keys', 'revoke', id])).toEqual({
        code: 1,
        stdout: '',
        stderr: `There is no key ${id}.\n`,
      });
    }
  });

  it('print their token once, as a table', async () => {
    const { stdout } = await command(['keys', 'create', '--name', 'mine', '--scopes', 'admin']);
    expect(stdout).toMatch(/^token +psk_[A-Za-z0-9_-]{60}$/m);
  });

  it('must not expire in the past', async () => {
    const args = ['keys', 'create', '--name', 'late', '--scopes', 'admin', '--expires-at', '2001-01-01T00:00:00Z'];
    expect(await command(args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('expires_at: This is in the past.'),
    });
  });
});

describe('migrate', () => {
  it('reports that the schema is up to date', async () => {
    expect(await command(['migrate'])).toEqual({ code: 0, stdout: 'The schema is up to date.\n', stderr: '' });
  });
});

describe('schemes list', () => {
  it('reports that there are no schemes', async () => {
    expect(await command(['schemes', 'list'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No scheme was imported/),
    });
  });

  it('prints each scheme with its cost and its users, the total and the limit', async () => {
    const hashes = ['$2b$10', '$2b$10', '$pbkdf2-sha256$600000'].map((scheme) => dummyHashFor(scheme));
    const input = hashes.map((password_hash) => JSON.stringify({ username: `cli-${randomUUID()}`, password_hash }));
    expect((await command(['users', 'import', '-'], input.join('\n'))).code).toBe(0);
    expect(await json(['schemes', 'list'])).toEqual([
      { scheme: '$2b$10', cost: 6.1, users: 2 },
      { scheme: '$pbkdf2-sha256$600000', cost: 11.6, users: 1 },
    ]);
    const { code, stdout } = await command(['schemes', 'list']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/\$2b\$10 +6\.1 +2\n/);
    expect(stdout).toContain('A failed login costs 17.7 of at most 60 (IMPORTED_HASH_COST_LIMIT)');
  });
});

describe('operators invite', () => {
  it('gives a user a role and prints the link that activates it', async () => {
    const username = `user${randomBytes(6).toString('hex')}`;
    const created = await command(['users', 'create', '--username', username, '--json']);
    const { id } = JSON.parse(created.stdout);
    const roleOf = async () => {
      const [row] = await test.database.query<{ role: string; digest: Buffer | null; active: boolean }>(
        testSql(
          `select role, role_link_digest as digest, role_active_since is not null as active from users where id = $1`,
          [id],
        ),
      );
      return row;
    };
    const invited = await command(['operators', 'invite', '--user', username, '--role', 'support']);
    expect([invited.code, invited.stderr]).toEqual([0, '']);
    const secret = /http:\/\/[\w.:]+\/console\/setup#(psl_[\w-]{43})/.exec(invited.stdout)?.[1] ?? '';
    expect(await roleOf()).toEqual({
      role: 'support',
      digest: createHash('sha256').update(secret).digest(),
      active: false,
    });
    const byId = await command(['operators', 'invite', '--user', id, '--json']);
    expect(JSON.parse(byId.stdout)).toMatchObject({ user_id: id, role: 'operator' });
    expect((await roleOf())?.role).toBe('operator');
    const unknown = await command(['operators', 'invite', '--user', `${username}x`]);
    expect([unknown.code, unknown.stderr]).toEqual([1, `There is no user ${username}x.\n`]);
  });

  it('prints a set-up link for a new person', async () => {
    const stored = (secret: string) =>
      test.database.query(
        testSql(
          `select role, used_at, expires_at - created_at = interval '30 minutes' as lasts from setup_links where digest = $1`,
          [createHash('sha256').update(secret).digest()],
        ),
      );
    const invited = await command(['operators', 'invite', '--role', 'support']);
    expect([invited.code, invited.stderr]).toEqual([0, '']);
    expect(invited.stdout).toMatch(/^role +support$/m);
    const secret = /http:\/\/[\w.:]+\/console\/setup#(psu_[\w-]{43})/.exec(invited.stdout)?.[1] ?? '';
    expect(await stored(secret)).toEqual([{ role: 'support', used_at: null, lasts: true }]);
    const asJson = JSON.parse((await command(['operators', 'invite', '--json'])).stdout);
    expect(asJson).toEqual({ role: 'operator', url: expect.any(String), expires_at: expect.any(String) });
    expect(await stored(asJson.url.split('#')[1])).toMatchObject([{ role: 'operator' }]);
    const off = await runCommand(['operators', 'invite'], { ...environment(), CONSOLE: 'off' });
    expect([off.code, off.stdout]).toEqual([1, '']);
    expect(off.stderr).toContain('CONSOLE is off');
  });
});
