import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLog } from '../../src/app/base/log.js';
import { firstScreen } from '../../src/app/first-screen.js';
import { readConfig } from '../../src/config/config.js';
import { readSetUpLink } from '../../src/sessions/setup-links.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let postgres: TestDatabase;
let folder: string;
let logged: string[];
beforeAll(async () => {
  postgres = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'postern-first-screen-'));
});
afterAll(async () => {
  await postgres.drop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  logged = [];
  await postgres.database.query(testSql('delete from users'));
  await postgres.database.query(testSql('delete from setup_links'));
});

const show = (env: Record<string, string> = {}, isTerminal = true) =>
  firstScreen({
    config: readConfig({ DATA_DIR: folder, ...env }),
    url: 'http://127.0.0.1:8080',
    database: postgres.database,
    log: createLog('warn', { write: (line) => void logged.push(line) }),
    firstKey: { token: 'psk_x' },
    isTerminal,
  });
const linkIn = (text: string) => /^\S+\/console\/setup#(psu_[\w-]{43})$/m.exec(text)?.[1] ?? '';
const roleOf = async (secret: string) => (await readSetUpLink(postgres.database, secret)).role;
const countLinks = async () => (await postgres.database.query(testSql('select id from setup_links'))).length;
const addUser = (role: string, isActive: boolean) =>
  postgres.database.query(
    testSql(
      `insert into users (id, username, name, role, role_active_since, metadata, created_at, updated_at)
       select $1::uuid, $1::uuid::text, '', $2, case when $3 then now end, '{}', now, now from (select db_now() as now) clock`,
      [randomUUID(), role, isActive],
    ),
  );

test('a terminal shows a link for the first operator, with the name localhost for passkeys', async () => {
  const shown = await show();
  expect(shown).toContain('\nhttp://localhost:8080/console/setup#psu_');
  expect(await roleOf(linkIn(shown))).toBe('operator');
  expect(shown).toContain('curl -s http://127.0.0.1:8080/admin/v1/users ');
});

test('without a terminal the link is in a file that only its owner can read', async () => {
  const shown = await show({}, false);
  const file = join(folder, 'setup-link');
  expect(shown).toContain(`\nThe link that creates the first operator, within 30 minutes, is in ${file}\n`);
  expect(shown).not.toContain('psu_');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const first = await readFile(file, 'utf8');
  expect(await roleOf(linkIn(first))).toBe('operator');
  await show({}, false);
  const second = await readFile(file, 'utf8');
  expect(second).not.toBe(first);
  expect(await roleOf(linkIn(second))).toBe('operator');
});

test('there is a link until an operator has an active role', async () => {
  await addUser('support', true);
  await addUser('operator', false);
  expect(linkIn(await show())).not.toBe('');
  await addUser('operator', true);
  const shown = await show();
  expect(linkIn(shown)).toBe('');
  expect(shown).toContain('\nThe console is at http://localhost:8080/console\n');
  expect(await countLinks()).toBe(1);
});

test('the link leads to PUBLIC_URL, or to the port of the console', async () => {
  expect(await show({ PUBLIC_URL: 'https://auth.example.com/' })).toContain(
    '\nhttps://auth.example.com/console/setup#psu_',
  );
  const separate = await show({ PUBLIC_URL: 'https://auth.example.com', CONSOLE_PORT: '8090' });
  expect(separate).toContain('\nhttp://localhost:8090/console/setup#psu_');
  expect(separate).toContain('curl -s http://127.0.0.1:8090/admin/v1/users ');
  expect(await show({ HOST: '192.0.2.1', ALLOW_CONSOLE_CODES: 'true' })).toContain(
    '\nhttp://192.0.2.1:8080/console/setup#psu_',
  );
});

test('CONSOLE=off shows no console and creates no link', async () => {
  expect(await show({ CONSOLE: 'off' })).not.toContain('console');
  expect(await countLinks()).toBe(0);
});

test('a folder that cannot be written does not stop the start', async () => {
  const occupied = join(folder, 'file');
  await writeFile(occupied, '');
  const shown = await show({ DATA_DIR: join(occupied, 'data') }, false);
  expect(shown).toContain('\nThe console is at ');
  expect(logged.join('')).toContain('no set-up link could be created');
  expect(await countLinks()).toBe(0);
});
