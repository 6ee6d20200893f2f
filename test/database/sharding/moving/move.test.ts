import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEventFeed } from '../../../../src/audit/stream/feed.js';
import { createFindMoved } from '../../../../src/audit/stream/moved-events.js';
import type { User } from '../../../../src/contract/user.js';
import { bucketOf } from '../../../../src/database/sharding/bucket.js';
import { listUsers } from '../../../../src/database/sharding/moving/copy.js';
import { inTransaction } from '../../../../src/database/sharding/moving/guard.js';
import { packLuggage } from '../../../../src/database/sharding/moving/luggage.js';
import { MoveError } from '../../../../src/database/sharding/moving/move-options.js';
import { sql, userStatement } from '../../../../src/database/sql.js';
import { keepWorkerNames, type WorkerNames } from '../../../../src/delivery/worker-names.js';
import { startShardedApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { allOn, moveUsers, remainsOfMoves, rowsOfUsers } from '../../../support/moves.js';
import { createTestShards, type TestShards } from '../../../support/shards.js';
import { testSql } from '../../../support/sql.js';
import { createUser, newEmail, newPhone, signIn, smsLogin } from '../../../support/users.js';

let shards: TestShards;
let app: TestApp;
let workerNames: WorkerNames | undefined;
beforeAll(async () => {
  shards = await createTestShards(2);
  app = await startShardedApp(shards, { LOGIN_LIMIT_PER_ADDRESS: '0', NOTICES: 'sms' });
  // The service frees the jobs of workers that do not hold their names.
  const main = shards.databases.get('main')?.target;
  if (main !== undefined) workerNames = await keepWorkerNames(main, { warn: () => undefined });
  workerNames?.lock('a worker of the test');
});
afterAll(async () => {
  await workerNames?.end();
  await app.close();
});

/** The server of a user by the map in the directory. */
async function serverOf({ id }: { readonly id: string }): Promise<string> {
  const rows = await onServer('main').query(
    testSql<{ shard: string }>('select shard from shard_buckets where bucket = user_bucket($1)', [id]),
  );
  return rows[0]?.shard ?? 'main';
}

async function newUserOn(server: string): Promise<User> {
  for (;;) {
    const user = await createUser(app, { email: newEmail(), phone: newPhone() });
    if ((await serverOf(user)) === server) return user;
  }
}

const publish = (userId: string) =>
  app.api<{ id: string }>('POST', '/admin/v1/notifications', {
    bearer: app.adminKey,
    body: { user_id: userId, notification_type: 'payment', description: 'You were paid' },
  });

const rename = (userId: string, name: string) =>
  app.api('PATCH', `/admin/v1/users/${userId}`, { bearer: app.adminKey, body: { name } });

const onServer = (server: string) => {
  const shard = app.database.shards.find(({ name }) => name === server);
  if (shard === undefined) throw new Error(`there is no server ${server}`);
  return shard.everyone;
};

/** Waits until the mover has tried to lock a bucket. */
const waitForAttemptToStop = () =>
  eventually('an attempt to stop the bucket', async () => {
    const text = `select from pg_stat_activity where datname = current_database() and application_name = 'postern move'
                  and query like '%lock($1, $2)%'`;
    return (await onServer('main').query(testSql(text))).at(0);
  });

/** Adds a job of a user that a worker seems to run, so that the bucket cannot move. @returns a function that ends it */
async function addRunningJob({ id }: User): Promise<() => Promise<unknown>> {
  const add = `select graphile_worker.add_job('test', json_build_object('user_id', $1::text))`;
  await onServer('main').query(testSql(add, [id]));
  const lock = `update graphile_worker._private_jobs set locked_at = now(), locked_by = 'a worker of the test'
                where payload->>'user_id' = $1`;
  await onServer('main').query(testSql(lock, [id]));
  const unlock = `update graphile_worker._private_jobs set locked_at = null, locked_by = null where payload->>'user_id' = $1`;
  return () => onServer('main').query(testSql(unlock, [id]));
}

/** Runs work while a transaction on a user is open that began after the guard of the move. @returns the move */
async function whileTransactionIsOpen(user: User, work: () => Promise<unknown>): Promise<number[]> {
  const endJob = await addRunningJob(user);
  const moving = moveUsers(shards, [user.id], 'east');
  moving.catch(() => undefined);
  await eventually('the guard of the jobs', async () => {
    const text = `select from pg_trigger where tgrelid = 'graphile_worker._private_jobs'::regclass and tgname like 'guard%'`;
    return (await onServer('main').query(testSql(text))).at(0);
  });
  await onServer('main').transaction(async (tx) => {
    await tx.query(testSql('set local idle_in_transaction_session_timeout = 0'));
    await tx.query(testSql(`update users set name = 'changed in time' where id = $1`, [user.id]));
    await endJob();
    await waitForAttemptToStop();
    await work();
  });
  return moving;
}

test('every row of a user arrives unchanged, and nothing is left on the former server', async () => {
  const user = await newUserOn('main');
  const { session } = await signIn(app, user);
  await app.api('POST', '/v1/tokens', { body: smsLogin(user.phone) });
  await publish(user.id);
  await publish(user.id);
  await rename(user.id, 'A former name');
  await rename(user.id, 'A name with "quotes", (brackets) and \\ in it');
  await eventually('that nothing works for the user', async () => {
    const rows = await onServer('main').query(testSql(`select from graphile_worker._private_jobs`));
    return rows.length === 0 || undefined;
  });
  const before = await rowsOfUsers(app.database, [user.id]);
  for (const table of [
    'users',
    'sessions',
    'authentications',
    'devices',
    'events',
    'inboxes',
    'notifications',
    'outbox',
  ]) {
    expect(before[table]?.length).toBeGreaterThan(0);
  }
  expect(await moveUsers(shards, [user.id], 'east')).toHaveLength(1);
  expect(await rowsOfUsers(app.database, [user.id])).toEqual(allOn('east', before));
  expect(await remainsOfMoves(app.database)).toEqual([]);
  expect((await app.api('POST', '/v1/sessions/verify', { bearer: session.token })).status).toBe(200);
  expect(await moveUsers(shards, [user.id], 'main')).toHaveLength(1);
  expect(await rowsOfUsers(app.database, [user.id])).toEqual(allOn('main', before));
});

test('a session that was ended on another server is refused after its user has moved back', async () => {
  const user = await newUserOn('main');
  const { session, authentication } = await signIn(app, user);
  const verify = () => app.api('POST', '/v1/sessions/verify', { bearer: session.token });
  expect((await verify()).status).toBe(200);
  await moveUsers(shards, [user.id], 'east');
  expect((await verify()).status).toBe(200);
  const { session: other } = await signIn(app, user);
  expect((await app.api('DELETE', `/v1/tokens/${authentication.id}`, { bearer: other.token })).status).toBe(200);
  await moveUsers(shards, [user.id], 'main');
  expect((await verify()).status).toBe(401);
});

const findUser = userStatement<{ userIds: readonly string[] }, { id: string }>(
  'test_move_find',
  (p) => sql`select id from users where id = any(${p.userIds}::uuid[])`,
);

test('a statement for the former server of a user is refused and not answered', async () => {
  const user = await newUserOn('main');
  const former = app.database.shardOf(user.id);
  const statement = findUser({ userIds: [user.id] });
  expect(await former.users.query(statement)).toHaveLength(1);
  await moveUsers(shards, [user.id], 'east');
  await expect(former.users.query(statement)).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await app.database.users.query(statement)).toHaveLength(1);
});

test('an audit stream that has not read the events of a moved user gets them from the new server', async () => {
  const user = await newUserOn('main');
  const feed = createEventFeed({ everyone: onServer('main') }, createFindMoved(app.database));
  const former = await feed.now();
  await rename(user.id, 'somebody else');
  const read = async () => {
    const { events, isReset } = await feed.read(former, 10);
    const own = events.map(({ event }) => event).filter(({ user_id }) => user_id === user.id);
    return { own, isReset };
  };
  const before = await read();
  expect(before).toMatchObject({ own: [{ type: 'user.changed' }], isReset: false });
  await moveUsers(shards, [user.id], 'east');
  expect(await read()).toEqual(before);
  await onServer('east').query(testSql('delete from events where user_id = $1', [user.id]));
  expect(await read()).toEqual({ own: [], isReset: false });
});

test('a bucket waits for a transaction on one of its users, and gets its change', async () => {
  const user = await newUserOn('main');
  await whileTransactionIsOpen(user, async () => expect(await serverOf(user)).toBe('main'));
  expect(await serverOf(user)).toBe('east');
  const text = `select from users where id = $1 and name = 'changed in time'`;
  expect(await onServer('east').query(testSql(text, [user.id]))).toHaveLength(1);
});

test('a bucket waits for a prepared transaction, and gets its change', async () => {
  const user = await newUserOn('main');
  const id = randomUUID();
  await onServer('main').transaction(async (tx) => {
    await tx.query(testSql(`update users set name = 'prepared' where id = $1`, [user.id]));
    await tx.query(testSql(`prepare transaction 'test ${id}'`));
  });
  const moving = moveUsers(shards, [user.id], 'east');
  await eventually('an attempt to guard the users', async () =>
    (await onServer('main').query(testSql(`select from shard_moving`))).at(0),
  );
  expect(await serverOf(user)).toBe('main');
  await onServer('main').query(testSql(`commit prepared 'test ${id}'`));
  await moving;
  const rows = await onServer('east').query(
    testSql(`select from users where id = $1 and name = 'prepared'`, [user.id]),
  );
  expect(rows).toHaveLength(1);
});

test('a bucket with work that does not end stays, and the command says why', async () => {
  const [user, other] = [await newUserOn('main'), await newUserOn('main')];
  const endJob = await addRunningJob(user);
  const moving = moveUsers(shards, [user.id, other.id], 'east', { times: { patience: 300 } });
  const error = await moving.catch((reason: Error) => reason);
  expect(error).toBeInstanceOf(MoveError);
  expect((error as Error).message).toMatch(/^Bucket \d+ could not leave .* because a job of one of its users runs\./);
  expect(await remainsOfMoves(app.database)).toEqual([]);
  expect(await serverOf(user)).toBe('main');
  expect((await rename(user.id, 'can still change')).status).toBe(200);
  await endJob();
  await moveUsers(shards, [user.id], 'east');
  const text = `select from graphile_worker._private_jobs where payload->>'user_id' = $1`;
  expect(await onServer('main').query(testSql(text, [user.id]))).toHaveLength(0);
  expect(await onServer('east').query(testSql(text, [user.id]))).toHaveLength(1);
});

test('work of a bucket that a killed command had stopped stays, if the next command cannot begin', async () => {
  const user = await newUserOn('main');
  const add = `select graphile_worker.add_job('test', json_build_object('user_id', $1::text), run_at => now() + interval '1 day')`;
  await onServer('main').query(testSql(add, [user.id]));
  const jobsOn = (server: string) =>
    onServer(server).query(
      testSql(`select from graphile_worker._private_jobs where payload->>'user_id' = $1`, [user.id]),
    );
  const killed = new pg.Client(shards.databases.get('main')?.url);
  await killed.connect();
  const bucket = bucketOf(user.id);
  await killed.query(`insert into shard_moves (bucket, source, target) values ($1, 'main', 'east')`, [bucket]);
  await killed.query('insert into shard_moving (bucket, is_stopped) values ($1, true)', [bucket]);
  await listUsers(killed, [bucket]);
  await inTransaction(killed, () => packLuggage(killed, bucket));
  await killed.end();
  expect(await jobsOn('main')).toHaveLength(0);

  const move = () => moveUsers(shards, [user.id], 'east', { times: { patience: 300 } });
  await onServer('east').transaction(async (tx) => {
    await tx.query(testSql('delete from users where false'));
    await expect(move()).rejects.toThrow('A transaction on the table users does not end.');
  });
  expect(await jobsOn('main')).toHaveLength(1);
  expect(await remainsOfMoves(app.database)).toEqual([]);
  await move();
  expect(await jobsOn('east')).toHaveLength(1);
});

test('a bucket that has switched is opened, also if the other moves cannot begin', async () => {
  const [switched, other] = [await newUserOn('main'), await newUserOn('main')];
  await moveUsers(shards, [switched.id], 'east');
  // As after the death of a command that has just changed the map.
  const values = [switched.id];
  const note = `insert into shard_moves (bucket, source, target) values (user_bucket($1), 'main', 'east')`;
  await onServer('main').query(testSql(note, values));
  const isStopped = `insert into shard_moving (bucket, is_stopped) values (user_bucket($1), true)`;
  for (const server of ['main', 'east']) await onServer(server).query(testSql(isStopped, values));
  await onServer('main').transaction(async (tx) => {
    await tx.query(testSql('delete from users where false'));
    const moving = moveUsers(shards, [other.id], 'east', { times: { patience: 300 } });
    await expect(moving).rejects.toThrow('A transaction on the table users does not end.');
  });
  expect(await onServer('east').query(testSql('select from shard_moving'))).toHaveLength(0);
  await moveUsers(shards, [], 'east');
  expect(await remainsOfMoves(app.database)).toEqual([]);
});

test('triggers that a command could not drop are dropped by the next one, also if it moves nothing', async () => {
  const user = await newUserOn('main');
  const other = new pg.Client(shards.databases.get('main')?.url);
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from users limit 1');
    await expect(moveUsers(shards, [user.id], 'east', { times: { patience: 300 } })).rejects.toThrow(
      'A transaction on the table users does not end.',
    );
    expect(await remainsOfMoves(app.database)).toContain('main: trigger on users');
  } finally {
    await other.end();
  }
  await moveUsers(shards, [user.id], 'east');
  expect(await remainsOfMoves(app.database)).toEqual([]);
});

test('rows that cannot be deleted on the former server are deleted by the next command', async () => {
  const user = await newUserOn('main');
  const before = await rowsOfUsers(app.database, [user.id]);
  const other = new pg.Client(shards.databases.get('main')?.url);
  await other.connect();
  try {
    await other.query('begin');
    await other.query('select from users where id = $1 for update', [user.id]);
    await expect(moveUsers(shards, [user.id], 'east', { times: { patience: 300 } })).rejects.toThrow(
      'A transaction on former rows of users that have moved does not end.',
    );
  } finally {
    await other.end();
  }
  expect(await serverOf(user)).toBe('east');
  expect((await publish(user.id)).status).toBe(201);
  await moveUsers(shards, [], 'east');
  expect(await onServer('main').query(testSql('select from users where id = $1', [user.id]))).toHaveLength(0);
  const after = await rowsOfUsers(app.database, [user.id]);
  expect(after.events).toEqual(allOn('east', before).events);
  expect(await remainsOfMoves(app.database)).toEqual([]);
});

test('a command that does not know a migration of a newer version moves no further bucket', async () => {
  const user = await newUserOn('main');
  const run = (server: string, text: string) => onServer(server).query(testSql(text));
  await run('east', `insert into schema_migrations (name, digest) values ('9999_newer.sql', '')`);
  try {
    await expect(moveUsers(shards, [user.id], 'east')).rejects.toThrow(
      'The server east has the migration 9999_newer.sql, which this version does not know: run the command of the newer Postern.',
    );
    expect(await remainsOfMoves(app.database)).toEqual([]);
  } finally {
    await run('east', `delete from schema_migrations where name = '9999_newer.sql'`);
  }
  expect(await serverOf(user)).toBe('main');
});

test('a second command is refused while one moves users', async () => {
  const user = await newUserOn('main');
  await whileTransactionIsOpen(user, () =>
    expect(moveUsers(shards, [user.id], 'east')).rejects.toThrow('Another `postern shards move` runs now.'),
  );
  expect(await remainsOfMoves(app.database)).toEqual([]);
});

test('an interrupted command completes the bucket that has moved, and leaves the others', async () => {
  const users = [await newUserOn('main'), await newUserOn('main'), await newUserOn('main')];
  const stopping = new AbortController();
  const moved: number[] = [];
  await moveUsers(
    shards,
    users.map(({ id }) => id),
    'east',
    {
      signal: stopping.signal,
      onMoved(bucket) {
        moved.push(bucket);
        stopping.abort();
      },
    },
  );
  expect(moved).toHaveLength(1);
  expect((await Promise.all(users.map(serverOf))).sort()).toEqual(['east', 'main', 'main']);
  expect(await remainsOfMoves(app.database)).toEqual([]);
  for (const { id } of users) expect((await publish(id)).status).toBe(201);
});

/** Stops the writes of a user's bucket to a table, as after the death of a command. @returns a function that opens it */
async function stopBucketOf({ id }: User, table: string): Promise<() => Promise<void>> {
  const onMain = (text: string, values: unknown[] = []) => onServer('main').query(testSql(text, values));
  await onMain('insert into shard_moving (bucket, is_stopped) values (user_bucket($1), true)', [id]);
  await onMain(`create trigger guard_moving_user after insert or update or delete on ${table}
                for each row execute function guard_moving_user('user_id')`);
  return async () => {
    await onMain('delete from shard_moving');
    await onMain(`drop trigger guard_moving_user on ${table}`);
  };
}

test('while the bucket of a user is stopped, notifications to other users in the same batch are published', async () => {
  const stopped = await newUserOn('main');
  const others = [await newUserOn('main'), await newUserOn('main'), await newUserOn('main')];
  const open = await stopBucketOf(stopped, 'inboxes');
  const answers = await Promise.all(
    [stopped, ...others, ...others, stopped, ...others].map(async ({ id }) => ({ id, ...(await publish(id)) })),
  );
  await open();
  for (const { id, status, headers } of answers) {
    expect(status).toBe(id === stopped.id ? 503 : 201);
    if (id === stopped.id) expect(headers['retry-after']).toBe('1');
  }
});

test('while the bucket of a user is stopped, a batch of new sessions fails only for this user, and a batch of session checks for nobody', async () => {
  const stopped = await newUserOn('main');
  const users = [stopped, await newUserOn('main'), await newUserOn('main'), await newUserOn('main')];
  const logins = await Promise.all(users.map(async (user) => ({ user, ...(await signIn(app, user)) })));
  const open = await stopBucketOf(stopped, 'sessions');
  const twice = [...logins, ...logins];
  const verify = ({ session }: (typeof logins)[number]) =>
    app.api<{ user_id: string }>('POST', '/v1/sessions/verify', { bearer: session.token });
  const checks = await Promise.all(twice.map(verify));
  const created = await Promise.all(twice.map(({ token }) => app.api('POST', '/v1/sessions', { basic: token })));
  await open();
  expect(checks.map(({ status, body }) => [status, body.user_id])).toEqual(twice.map(({ user }) => [200, user.id]));
  expect(created.map(({ status }) => status)).toEqual(twice.map(({ user }) => (user === stopped ? 503 : 201)));
});
