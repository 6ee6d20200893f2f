import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { User } from '../../../src/contract/user.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { createUser, newPhone, passwordLogin } from '../../support/users.js';
import { runCommand } from '../command.js';

let postern: TestApp;
let env: Record<string, string>;
beforeAll(async () => {
  postern = await startTestApp({ SECRET_KEY: 's'.repeat(32), GUESS_LIMIT: '3', LOGIN_LIMIT_PER_ADDRESS: '0' });
  env = { ...postern.databaseEnv, SECRET_KEY: 's'.repeat(32) };
});
afterAll(() => postern.close());

const command = (...args: string[]) => runCommand(['users', ...args], env);
async function json<Body>(...args: string[]): Promise<Body> {
  const { code, stdout, stderr } = await command(...args, '--json');
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Body;
}
const login = (username: string | null, password?: string) =>
  postern.api<{ status: string }>('POST', '/v1/tokens', {
    body: { ...passwordLogin(username), ...(password !== undefined && { secret: password }) },
  });
const eventsOf = async (id: string) => {
  const { body } = await postern.api<{ type: string; actor: string; data?: object }[]>(
    'GET',
    `/admin/v1/events?filter=user_id:eq:${id}`,
    { bearer: postern.adminKey },
  );
  return body.filter(({ actor }) => actor === 'cli').map(({ type }) => type);
};

describe('users find', () => {
  it('finds a user by id, user name, mail address and phone number, in any format', async () => {
    const phone = newPhone();
    const user = await createUser(postern, { email: `${randomUUID()}@example.com`, phone });
    const { id, username, email } = user;
    for (const text of [id, id.toUpperCase(), username, username?.toUpperCase(), email?.toUpperCase(), phone]) {
      expect(await json<User>('find', text ?? '')).toMatchObject({ id, username, email, phone });
    }
    const { stdout } = await command('find', id);
    expect(stdout).toMatch(new RegExp(`^id +${id}\nusername +${username}\n`));
  });

  it.each([randomUUID(), 'nobody', 'nobody@example.com', 'a:b,c|d\\e', '+15550000000', ''])(
    'finds nobody for %j, and exits with 1',
    async (text) => {
      expect(await command('find', text)).toEqual({ code: 1, stdout: '', stderr: `There is no user ${text}.\n` });
    },
  );
});

describe('users find with a part', () => {
  it('prints the one user who has it, or all of them', async () => {
    const part = `part${randomUUID().slice(0, 8)}`;
    const one = await createUser(postern, { name: `Ada ${part} Lovelace` });
    expect(await json<User>('find', part)).toMatchObject({ id: one.id });
    const { stdout } = await command('find', part.toUpperCase());
    expect(stdout).toMatch(new RegExp(`^id +${one.id}\n`));
    const other = await createUser(postern, { email: `${part}@example.com` });
    const found = await json<User[]>('find', part);
    expect(found.map(({ id }) => id).sort()).toEqual([one.id, other.id].sort());
    const table = await command('find', part);
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/^ID +USERNAME +EMAIL +PHONE +ROLE +STATUS +LOCK\n/);
    expect(table.stdout.trim().split('\n')).toHaveLength(3);
    // An exact identity is that user only, also if it is a part of others.
    expect(await json<User>('find', other.email ?? '')).toMatchObject({ id: other.id });
  });
});

describe('users list', () => {
  it('lists the users that match a filter, page by page', async () => {
    const name = `List ${randomUUID()}`;
    const users = [await createUser(postern, { name }), await createUser(postern, { name })];
    const ids = users.map(({ id }) => id);
    const filter = ['--filter', `name:eq:${name}`];
    const found = await json<User[]>('list', ...filter, '--sort', 'created_at:asc');
    expect(found.map(({ id }) => id)).toEqual(ids);

    const first = await command('list', ...filter, '--limit', '1');
    expect(first.stdout.split('\n')[1]).toMatch(new RegExp(`^${ids[1]} `));
    expect(first.stdout).toMatch(/^ID +USERNAME +EMAIL +PHONE +ROLE +STATUS +LOCK\n/);
    expect([first.code, first.stderr]).toEqual([0, 'There are more: --page 2\n']);
    expect(await json<User[]>('list', ...filter, '--limit', '1', '--page', '2')).toMatchObject([{ id: ids[0] }]);
    const none = await command('list', '--filter', 'username:eq:nobody');
    expect(none).toEqual({ code: 0, stdout: 'There are no such users.\n', stderr: '' });
  });

  it('reports all errors, as the admin API does', async () => {
    const { code, stderr } = await command('list', '--limit', '1000', '--filter', 'tier:eq:gold');
    expect(code).toBe(1);
    expect(stderr).toContain('limit: ');
    expect(stderr).toContain('filter: ');
  });
});

describe('users lock, unlock and logout', () => {
  it('lock a user temporarily or permanently, with actor and reason', async () => {
    const { id, username } = await createUser(postern);
    const reason = 'Reported stolen';
    const temporary = await json<User>('lock', username ?? '', '--for', '12h', '--reason', reason);
    expect(temporary).toMatchObject({ id, lock: { permanent: false, reason } });
    const hours = (Date.parse(temporary.lock?.until ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(12);
    expect((await login(username)).status).toBe(423);

    const until = '2099-01-01T00:00:00.000000Z';
    expect(await json<User>('lock', id, '--until', '2099-01-01T00:00:00Z')).toMatchObject({ lock: { until } });
    expect(await json<User>('lock', id, '--permanent')).toMatchObject({ lock: { permanent: true } });
    expect((await login(username)).status).toBe(403);
    expect((await command('list', '--filter', `id:eq:${id}`)).stdout).toMatch(/active +permanent\n$/);

    expect(await json<User>('unlock', id)).toMatchObject({ id, lock: null });
    expect((await login(username)).body.status).toBe('approved');
    expect((await eventsOf(id)).sort()).toEqual(['user.locked', 'user.locked', 'user.locked', 'user.unlocked']);
  });

  it('unlock resets the count of wrong secrets', async () => {
    const { id, username } = await createUser(postern);
    for (let guess = 0; guess < 3; guess += 1) await login(username, 'not the password');
    expect((await login(username)).status).toBe(423);
    expect((await command('unlock', id)).code).toBe(0);
    expect((await login(username)).body.status).toBe('approved');
  });

  it('logout ends all logins', async () => {
    const { id, username } = await createUser(postern);
    await login(username);
    expect(await command('logout', username ?? '')).toEqual({ code: 0, stdout: 'Ended 1 login.\n', stderr: '' });
    expect(await command('logout', id)).toEqual({ code: 0, stdout: 'Ended 0 logins.\n', stderr: '' });
    expect(await eventsOf(id)).toEqual(['user.logged_out', 'user.logged_out']);
  });

  it.each([
    [['lock', 'ada'], 1, 'Give the end of the lock'],
    [['lock', 'ada', '--for', 'soon'], 2, 'Write a duration such as 30m'],
    [['lock', 'ada', '--for', '0m'], 2, 'Write a duration such as 30m'],
    [['lock', 'ada', '--for', '1h', '--permanent'], 2, 'cannot be used with option'],
    [['lock', 'ada', '--until', '2099-01-01T00:00:00Z', '--permanent'], 2, 'cannot be used with option'],
    [['lock', 'ada', '--until', '2099-01-01T00:00:00Z', '--for', '1h'], 2, 'cannot be used with option'],
    [['lock', 'ada', '--permanent', '--reason', 'x'.repeat(1025)], 2, '1 to 1024 characters'],
    [['lock', 'ada', '--permanent'], 1, 'There is no user ada.'],
    [['unlock', 'ada'], 1, 'There is no user ada.'],
    [['logout', 'ada'], 1, 'There is no user ada.'],
  ])('%j is refused', async (args, code, words) => {
    expect(await command(...args)).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(words) });
  });

  it('lock refuses an invalid or past time', async () => {
    const { id } = await createUser(postern);
    for (const until of ['soon', '2001-01-01T00:00:00Z']) {
      const { code, stderr } = await command('lock', id, '--until', until);
      expect([code, stderr]).toEqual([1, expect.stringContaining('until: ')]);
    }
  });
});
