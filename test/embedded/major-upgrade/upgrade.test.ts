import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openTarget } from '../../../src/app/base/database-target.js';
import { tidyKept } from '../../../src/embedded/major-upgrade/folders.js';
import { createInstallation } from '../../support/fault-injection/service.js';
import { BUILD_TIMEOUT, buildService } from '../../support/process.js';
import { createUser, messageOf, newPhone, signIn, smsLogin } from '../../support/users.js';
import { contentsOf, copyDataDir, removeFolder, runMover, silent, startFormerServer } from './former-data.js';

let folder: string;
let template: string;
/** What the data contains before the move. */
let contents: Record<string, unknown>;
const secret = 's'.repeat(32);
let token: string;

beforeAll(buildService, BUILD_TIMEOUT);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-major-'));
  template = join(folder, 'template');
  const server = await startFormerServer(template);
  const installation = await createInstallation({ DATABASE_URL: server.url, SECRET_KEY: secret });
  const service = await installation.start();
  const user = await createUser(service, { phone: newPhone() });
  ({ token } = await signIn(service, user));
  const { body } = await service.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  await messageOf(service, body.id, ['sent']);
  await service.api('POST', '/admin/v1/notifications', {
    bearer: service.adminKey,
    body: Array.from({ length: 50 }, (_, n) => ({
      user_id: user.id,
      notification_type: 'payment',
      description: `${n} \\ \t ü`,
    })),
  });
  await service.stop();
  await installation.remove();
  const client = new pg.Client(server.url);
  await client.connect();
  // A day of audit events that is not sealed yet, a used sequence, an index, and settings of the server and of the
  // database.
  await client.query("insert into audit_days (day, closing) values ('2020-01-01', '900000000')");
  await client.query("select nextval(pg_get_serial_sequence('graphile_worker._private_tasks', 'id'))");
  await client.query("alter system set work_mem = '9MB'");
  await client.query("alter database postern set statement_timeout = '7777ms'");
  await client.query('create index payments on notifications (description)');
  await client.query('select pg_reload_conf()');
  await client.end();
  contents = await contentsOf(server.url);
  await server.stop();
});
afterAll(() => removeFolder(folder));

let copies = 0;
async function copyOfData(): Promise<string> {
  copies += 1;
  const dataDir = await copyDataDir(template, join(folder, `data-${copies}`));
  onTestFinished(() => removeFolder(dataDir));
  return dataDir;
}

async function contentsAfterStart(dataDir: string): Promise<Record<string, unknown>> {
  const { target, close } = await openTarget({ DATA_DIR: dataDir }, silent);
  try {
    return await contentsOf(target);
  } finally {
    await close();
  }
}

const entries = async (dataDir: string, pattern: RegExp) =>
  (await readdir(dataDir)).filter((name) => pattern.test(name));

/** Milliseconds. A move takes seconds, and much longer on a busy machine. */
const timeLimit = 600_000;

/** Each place is a message of the log, or a rename to a file whose name begins like this. */
const places = [
  'Moving the data to the new major version of PostgreSQL',
  'rename postgres.upgrading-',
  'Created the schema on the new server',
  'rename postern-transfer',
  'Copied a table',
  'Comparing the rows of both servers',
  'The new server has all the data',
  'rename postgres.next',
  'rename postgres-17.kept',
  'rename postgres;',
];

test(
  'a start that is killed at ten places loses nothing, and the next one continues',
  async () => {
    const dataDir = await copyOfData();
    const kill = async (place: string) => {
      const { signal, output } = await runMover(dataDir, place);
      expect([place, signal], output).toEqual([place, 'SIGKILL']);
    };
    for (const place of places.slice(0, 8)) await kill(place);

    // The former release can still use its data.
    const former = await startFormerServer(dataDir);
    expect(await contentsOf(former.url)).toEqual(contents);
    await former.stop();

    for (const place of places.slice(8)) await kill(place);
    expect(await contentsAfterStart(dataDir)).toEqual(contents);
    // As the service does once it has started: this ends the former server that a killed start has left.
    await tidyKept(dataDir);
    expect(await entries(dataDir, /kept/)).toHaveLength(1);
    expect(await entries(dataDir, /upgrading|next/)).toEqual([]);
  },
  timeLimit,
);

test(
  'two processes that start at once move the data once, and the service goes on with its sessions',
  async () => {
    const dataDir = await copyOfData();
    const movers = await Promise.all([runMover(dataDir), runMover(dataDir)]);
    expect(movers.map(({ code, output }) => (code === 0 ? 0 : output))).toEqual([0, 0]);
    expect(await entries(dataDir, /kept/)).toHaveLength(1);
    const installation = await createInstallation({ DATA_DIR: dataDir, SECRET_KEY: secret });
    onTestFinished(() => installation.remove());
    const service = await installation.start();
    const answer = await service.api('POST', '/v1/sessions', { basic: token });
    expect(await service.stop()).toBe(0);
    expect(answer.status).toBe(201);
  },
  timeLimit,
);

test(
  'a start refuses data that the copy would lose, and settings that prevent the start of the new server',
  async () => {
    const dataDir = await copyOfData();
    const change = async (...statements: string[]) => {
      const server = await startFormerServer(dataDir);
      const client = new pg.Client(server.url);
      await client.connect();
      for (const statement of statements) await client.query(statement);
      await client.end();
      await server.stop();
      return server;
    };
    const start = () => openTarget({ DATA_DIR: dataDir }, silent);
    const { programs } = await change(
      'create table ledger (note text)',
      'create policy owners on ledger',
      'select lo_create(4711)',
    );
    await expect(start()).rejects.toThrow(
      'does not create: relation ledger, column ledger.note, policy owners of ledger, large object 4711.',
    );
    // A library of the former version.
    const library = join(programs, 'lib', 'postgresql', 'pg_trgm.so');
    await change(
      'drop table ledger',
      'select lo_unlink(4711)',
      `alter system set shared_preload_libraries = '${library}'`,
    );
    await expect(start()).rejects.toThrow('does not start with the settings of the former server');
    expect(await entries(dataDir, /upgrading|next|kept/)).toEqual([]);
    expect(await readFile(join(dataDir, 'postgres', 'PG_VERSION'), 'utf8')).toBe('17\n');
  },
  timeLimit,
);
