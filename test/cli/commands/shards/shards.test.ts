import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../../../src/database/database.js';
import { eventually } from '../../../support/eventually.js';
import { createTestShards, type TestShards } from '../../../support/shards.js';
import { testSql } from '../../../support/sql.js';
import { runCommand, startCommand } from '../../command.js';

let shards: TestShards;
let database: Database;
let env: Readonly<Record<string, string>>;
beforeAll(async () => {
  shards = await createTestShards(3);
  database = await shards.open();
  env = { ...shards.env, SECRET_KEY: 's'.repeat(32) };
});
afterAll(async () => {
  await database.close();
  await shards.drop();
});

const command = (...args: string[]) => runCommand(['shards', ...args], env);
const onMain = (text: string) => database.everyone.query(testSql(text));
const cellsOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => line.split(/\s{2,}/));
const header = ['SERVER', 'STATE', 'BUCKETS', 'SHARE', 'MOVES TO COMPLETE'];

test('shards status changes nothing, and shards add registers the servers', async () => {
  expect(await runCommand(['shards', 'status'], { ...env, SHARDS: '' })).toMatchObject({
    code: 1,
    stderr: 'SHARDS names no server: all users are on one server.\n',
  });
  const before = await command('status');
  expect(before).toMatchObject({ code: 1, stderr: '' });
  expect(cellsOf(before.stdout)).toEqual([
    header,
    ['main', 'not added', '0', '0.0%', '0'],
    ['east', 'not added', '0', '0.0%', '0'],
    ['west', 'not added', '0', '0.0%', '0'],
  ]);
  expect(await onMain('select from shards')).toHaveLength(0);
  const added = await command('add');
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(cellsOf(added.stdout)).toEqual([
    header,
    ['main', 'answers', '1367', '33.4%', '0'],
    ['east', 'answers', '1365', '33.3%', '0'],
    ['west', 'answers', '1364', '33.3%', '0'],
  ]);
  expect((await command('status')).stdout).toBe(added.stdout);
  expect(JSON.parse((await command('status', '--json')).stdout)[1]).toEqual({
    ...{ name: 'east', state: 'answers', buckets: 1365, moves_to_complete: 0 },
  });
});

test('shards move prints each bucket, and its arguments are checked', async () => {
  for (const [args, message] of [
    [['--to', 'east', '--buckets', '4096'], 'Buckets are numbers from 0 to 4095, such as 0-99,200.'],
    [['--to', 'east', '--buckets', '9-3'], 'Buckets are numbers from 0 to 4095, such as 0-99,200.'],
    [['--to', 'east', '--share', '0'], 'A share is a number from 1% to 100%.'],
    [['--buckets', '1'], "required option '--to <server>' not specified"],
  ] as const) {
    expect(await command('move', ...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    });
  }
  for (const [args, message] of [
    [['--to', 'east'], 'Give either --buckets or --share.'],
    [['--to', 'east', '--share', '25%', '--buckets', '3'], 'Give either --buckets or --share.'],
    [['--to', 'north', '--buckets', '3'], 'SHARDS does not name the server north.'],
  ] as const) {
    expect(await command('move', ...args)).toMatchObject({ code: 1, stdout: '', stderr: `${message}\n` });
  }
  const { code, stdout, stderr } = await command('move', '--to', 'east', '--buckets', '0,3-3');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^Moving 2 buckets\.\nbucket 0 \(1 of 2\): 0 users, writes stopped for \d+ ms\nbucket 3 \(2 of 2\): .*\nMoved 2 buckets with 0 users\. The longest stop took \d+ ms\.\n$/,
  );
  expect(await command('move', '--to', 'east', '--buckets', '0')).toMatchObject({
    code: 0,
    stdout: 'Nothing moves: east has these buckets.\n',
  });
});

test('shards move ends after a signal, and says that the other buckets stay', async () => {
  const running = startCommand(['shards', 'move', '--to', 'west', '--share', '60%'], env);
  await eventually('the first bucket', async () => (running.printed().includes('(1 of') ? true : undefined));
  running.signal('SIGINT');
  expect(running.listeners()).toBe(0);
  const { code, stdout, stderr } = await running.done;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^Stopping\. .*\nStopped\. The other buckets stay where they are\. .*\n$/);
  const [, moved] = /^Moved (\d+) buckets/m.exec(stdout) ?? [];
  expect(Number(moved)).toBeLessThan(1000);
  expect(cellsOf((await command('status')).stdout)[3]).toEqual([
    'west',
    'answers',
    String(1364 + Number(moved)),
    ...Array(2).fill(expect.any(String)),
  ]);
});

test('a server that does not answer is shown, and named by the commands that need it', async () => {
  await shards.stop('east');
  try {
    const { code, stdout } = await command('status');
    expect(code).toBe(1);
    expect(cellsOf(stdout)[2]?.slice(0, 2)).toEqual(['east', 'does not answer']);
    const move = await command('move', '--to', 'west', '--buckets', '1');
    expect(move).toMatchObject({ code: 1, stdout: '' });
    // Lines before it may report connections that failed.
    expect(move.stderr).toMatch(
      /^The server east of SHARDS cannot be used: database .* is not currently accepting connections\n$/m,
    );
  } finally {
    await shards.start('east');
  }
  await shards.stop('main');
  try {
    expect(await command('status')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The server of DATABASE_URL cannot be reached: .*\n$/),
    });
  } finally {
    await shards.start('main');
  }
});

test('shards remove removes only a server without buckets', async () => {
  expect(await command('remove', 'north')).toMatchObject({ code: 1, stderr: 'There is no server north.\n' });
  expect(await command('remove', 'main')).toMatchObject({
    code: 1,
    stderr: 'The server of DATABASE_URL cannot be removed.\n',
  });
  const { code, stderr } = await command('remove', 'west');
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^The server west has \d+ buckets: move them to other servers first\.\n$/),
  ]);
  // Moving thousands of buckets would take minutes.
  await onMain(`update shard_buckets set shard = 'east' where shard = 'west'`);
  await onMain(`insert into shard_moves (bucket, source, target) values (0, 'west', 'main')`);
  expect(await command('remove', 'west')).toMatchObject({
    code: 1,
    stderr: 'A move from or to the server west is not complete: run `postern shards move` again first.\n',
  });
  await onMain('delete from shard_moves');
  expect(await command('remove', 'west')).toMatchObject({
    code: 0,
    stdout: 'Removed west. Now remove it from SHARDS on all instances, and restart them.\n',
  });
  const [east] = env.SHARDS?.split(';') ?? [];
  const status = await runCommand(['shards', 'status'], { ...env, SHARDS: east ?? '' });
  expect(cellsOf(status.stdout).map(([name]) => name)).toEqual(['SERVER', 'main', 'east']);
  await onMain('delete from shard_buckets');
  expect(await runCommand(['shards', 'remove', 'east'], { ...env, SHARDS: east ?? '' })).toMatchObject({
    code: 1,
    stderr: 'The last further server cannot be removed: leave it in SHARDS, without buckets.\n',
  });
});

test('shards pgdog-config has a database for each server, without passwords', async () => {
  const { code, stdout } = await runCommand(['shards', 'pgdog-config'], {
    ...env,
    DATABASE_URL: 'postgres://postern:secret@a.example:5433/postern',
    SHARDS: 'east=postgres://postern:secret@b.example/other',
  });
  expect(code).toBe(0);
  expect(stdout).not.toContain('secret');
  // With several shards or a role, PgDog would read the statements: it would refuse LISTEN and keep BEGIN.
  expect(stdout).not.toMatch(/^(?:shard|role) =/m);
  expect(stdout.match(/^(?:host|port|name|pooler_mode|database_name) = .*$/gm)).toEqual([
    ...['host = "127.0.0.1"', 'port = 6432', 'pooler_mode = "session"'],
    ...['name = "postern_main"', 'host = "a.example"', 'port = 5433', 'database_name = "postern"'],
    ...['name = "postern_east"', 'host = "b.example"', 'port = 5432', 'database_name = "other"'],
  ]);
});

test('shards pgdog-config checks the certificates of the servers if the URLs do', async () => {
  const tlsOf = async (main: string, east = main) => {
    const DATABASE_URL = `postgres://postern@a.example/postern${main}`;
    const SHARDS = `east=postgres://postern@b.example/postern${east}`;
    const { stdout, stderr } = await runCommand(['shards', 'pgdog-config'], { ...env, DATABASE_URL, SHARDS });
    return stdout.match(/^tls_.*$/gm) ?? stderr;
  };
  const verifies = 'tls_verify = "verify_full"';
  expect(await tlsOf('?sslmode=verify-full')).toEqual([verifies]);
  // PgDog has no setting for a single server.
  expect(await tlsOf('', '?sslmode=require')).toEqual([verifies]);
  expect(await tlsOf('?sslmode=verify-full&sslrootcert=/etc/ca.pem')).toEqual([
    verifies,
    'tls_server_ca_certificate = "/etc/ca.pem"',
  ]);
  expect(await tlsOf('?sslmode=disable', '?sslmode=no-verify')).toBe('');
  expect(await tlsOf('?sslrootcert=/etc/a.pem', '?sslrootcert=/etc/b.pem')).toMatch(
    /^The URLs have different values of sslrootcert/,
  );
});

test('shards pgdog-config refuses a URL with several hosts', async () => {
  const DATABASE_URL = 'postgres://postern@a.example,b.example/postern';
  expect(await runCommand(['shards', 'pgdog-config'], { ...env, DATABASE_URL })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The URL of main has several hosts\./),
  });
});

test('each command has a help page', async () => {
  for (const name of ['status', 'add', 'move', 'remove', 'pgdog-config']) {
    const { code, stdout } = await command(name, '--help');
    expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^Usage: postern shards ${name} `))]);
  }
});
