// Fills an empty database by SQL with rows as the service writes them, millions in minutes. All routes work with these rows.
// `node bench/generate.mjs DATA_DIR [users] [notifications] [notifications in the first inbox]`
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { hash } from '@node-rs/argon2';
import { identityDigest } from '../dist/tools.js';
import { openPostgres } from './service.mjs';

/** The password of every generated user. */
export const password = 'a battery of horses';

/** The number of notifications of each user who has notifications but no large inbox. */
const each = 20;

/** @returns the number of users with `each` notifications. Their numbers follow those of the users with large inboxes. */
export function ownersOf({ notifications, inbox, inboxes = 1 }) {
  return (notifications - inbox * inboxes) / each;
}

/**
 * Ids look random, so that neighbouring rows of a table are far apart in its indexes. In the real service, all ids
 * except those of notifications are random too. Users are numbered from 1, and so are the rows of which each user has
 * one.
 */
const helpers = `
  create schema bench;
  create function bench.id(kind text, n bigint) returns uuid immutable language sql
    return md5(kind || n::text)::uuid;
  create function bench.payload(kind text, n bigint) returns bytea immutable language sql
    return uuid_send(bench.id('user', n)) || uuid_send(bench.id(kind, n)) || substr(sha256((kind || n::text)::bytea), 1, 24);
  create function bench.token(prefix text, payload bytea) returns text immutable language sql
    return prefix || translate(
      encode(payload || substr(int8send(crc32(prefix::bytea || payload)), 5), 'base64'), e'+/\\n', '-_');
  create function bench.session_token(n bigint) returns text immutable language sql
    return bench.token('pss_', bench.payload('session', n));
  create function bench.authentication_token(n bigint) returns text immutable language sql
    return bench.token('psa_', bench.payload('authentication', n));`;

/**
 * The statement that fills each table. `$users`, `$notifications`, `$inbox`, `$inboxes`, `$each` are the sizes, `$hash`
 * is the hash of the password.
 */
const fills = {
  users: `select bench.id('user', n), 'user' || n, null, null, 'User ' || n, null, 'active', 'user', null, null, null, 0,
      '$hash', null, '{}', at, at
    from generate_series(1, $users) n, lateral (select now() - interval '400 days' + n * interval '1 ms' as at)`,
  identities: `select sha256(('username' || e'\\n' || 'user' || n)::bytea), bench.id('user', n), 'username', 'user' || n
    from generate_series(1, $users) n`,
  devices: `select bench.id('user', n), bench.id('device', n), 'Acme', 'Phone', 'Os', '1.0', null, null,
      'token' || n, null, null, now(), now()
    from generate_series(1, $users) n`,
  authentications: `select bench.id('user', n), bench.id('authentication', n), bench.id('device', n), 'password', 'approved',
      '', 0, null, null, null, false, 0, null, sha256(bench.authentication_token(n)::bytea),
      now() + interval '365 days', now(), now(), now(), now(), null
    from generate_series(1, $users) n`,
  sessions: `select bench.id('user', n), bench.id('session', n), bench.id('authentication', n), bench.id('device', n),
      sha256(bench.session_token(n)::bytea), now(), now() + interval '30 days'
    from generate_series(1, $users) n`,
  // In the order of time, as users get them: the rows of each user are spread over the table.
  notifications: `select bench.id('user', owner), bench.id('notification', n), place, place, bench.id('user', 2), 'Grace Hopper',
      (array['payment', 'pool', 'request'])[1 + (hashint8(n) & 65535) % 3], null, bench.id('object', n), round(n % 1000 / 10.0, 1),
      '', 'Grace Hopper paid you for the tickets to concert number ' || n, null, at, at
    from generate_series(0, $notifications - 1) n,
      lateral (select $notifications / ($inbox * $inboxes) as every, now() - interval '365 days' + n * interval '1 ms' as at),
      lateral (select n % every = 0 as is_large, n - n / every - 1 as k, $owners as owners),
      lateral (select case when is_large then 1 + n / every % $inboxes else 1 + $inboxes + k % owners end as owner,
                      case when is_large then 1 + n / every / $inboxes else 1 + k / owners end as place)`,
  inboxes: `select bench.id('user', n), total, at, total, 0, total / 1024
    from generate_series(1, $users) n,
      lateral (select case when n <= $inboxes then $inbox when n <= $inboxes + $owners then $each else 0 end as total,
                      case when n <= $inboxes + $owners then now() else '-infinity' end as at)`,
};

/** The counts of full blocks, which only large inboxes have. Runs after the rows are inserted. */
const blocks = `select user_id, sequence / 1024, notification_type, count(*) from notifications
  where user_id in (select bench.id('user', n) from generate_series(1, $inboxes) n) and sequence / 1024 < $inbox / 1024
  group by 1, 2, 3`;

/**
 * @param {import('pg').Pool} pool
 * @param {{ users: number, notifications: number, inbox: number, inboxes?: number }} sizes `inbox`: the number of
 *   notifications of each of the first `inboxes` users (1)
 */
export async function generate(pool, sizes, report = (_line) => undefined) {
  const { users, notifications, inbox, inboxes = 1 } = sizes;
  const owners = ownersOf(sizes);
  assert(notifications % (inbox * inboxes) === 0 && Number.isInteger(owners), 'sizes must divide evenly');
  assert(inboxes + owners < users, 'some users must have no notifications');
  const values = {
    ...sizes,
    inboxes,
    owners,
    each,
    hash: await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 }),
  };
  const since = performance.now();
  await pool.query(helpers);
  await inBulk(pool, async () => {
    await inParallel(Object.entries(fills), async ([table, select]) => {
      const sized = (sql) => sql.replaceAll(/\$(\w+)/g, (_, name) => values[name]);
      await fill(pool, table, sized(select), report);
      if (table === 'notifications') await fill(pool, 'inbox_blocks', sized(blocks), report);
    });
  });
  // For later measurements.
  await pool.query(`comment on schema bench is '${((performance.now() - since) / 60_000).toFixed(1)} minutes'`);
  const { rows } = await pool.query("select digest from identities where user_id = bench.id('user', 1)");
  assert.deepEqual(rows[0].digest, identityDigest({ type: 'username', canonical: 'user1' }));
}

/**
 * Fills the tables without indexes, at the speed of the disk, and builds the indexes at the end. Their pages are filled
 * to ln 2, the average for keys in random order (Yao 1978). Otherwise all pages would be nearly full, and all would be
 * split at the same time.
 */
export async function fill(pool, table, select, report) {
  const since = performance.now();
  const { rows: keys } = await pool.query(
    `select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where conrelid = $1::regclass and contype = 'p'`,
    [table],
  );
  const { rows: indexes } = await pool.query(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = $1::regclass and not indisprimary`,
    [table],
  );
  const { rows: references } = await pool.query(
    `select conrelid::regclass as child, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where confrelid = $1::regclass and contype = 'f'`,
    [table],
  );
  for (const { child, name } of references) await pool.query(`alter table ${child} drop constraint ${name}`);
  for (const { name } of keys) await pool.query(`alter table ${table} drop constraint ${name}`);
  for (const { name } of indexes) await pool.query(`drop index ${name}`);
  const { rowCount } = await pool.query(`insert into ${table} ${select}`);
  const filled = performance.now();
  for (const { name, definition } of keys)
    await pool.query(`alter table ${table} add constraint ${name} ${definition} with (fillfactor = 69)`);
  for (const { child, name, definition } of references) {
    await pool.query(`alter table ${child} add constraint ${name} ${definition}`);
  }
  for (const { definition } of indexes) await pool.query(withFillfactor(definition));
  for (const { name } of [...keys, ...indexes]) await pool.query(`alter index ${name} reset (fillfactor)`);
  await pool.query(`vacuum (analyze) ${table}`);
  const seconds = (from, to) => ((to - from) / 1000).toFixed(1);
  report(
    `${table}: ${rowCount} rows in ${seconds(since, filled)} s, indexes in ${seconds(filled, performance.now())} s`,
  );
}

/** The definition of a B-tree index with this fill factor. The condition of a partial index comes last. */
function withFillfactor(definition) {
  if (!definition.includes(' USING btree ')) return definition;
  const [index, ...condition] = definition.split(/(?= WHERE )/);
  return `${index} WITH (fillfactor = 69)${condition.join('')}`;
}

/** Settings while the database is filled: few and large checkpoints, and memory to sort. */
export async function inBulk(pool, work) {
  const settings = { max_wal_size: '8GB', checkpoint_timeout: '30min', maintenance_work_mem: '1GB', work_mem: '512MB' };
  for (const [name, value] of Object.entries(settings)) await pool.query(`alter system set ${name} = '${value}'`);
  await pool.query('select pg_reload_conf()');
  try {
    await work();
  } finally {
    for (const name of Object.keys(settings)) await pool.query(`alter system reset ${name}`);
    await pool.query('select pg_reload_conf()');
    await pool.query('checkpoint');
  }
}

/** Runs the statements in parallel, one on each core. */
async function inParallel(items, work) {
  const waiting = [...items];
  const loop = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, loop));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [dataDir, users = '10000000', notifications = '10000000', inbox = '1000000'] = process.argv.slice(2);
  assert(dataDir !== undefined, 'node bench/generate.mjs DATA_DIR [users] [notifications] [of them in one inbox]');
  const since = performance.now();
  const postgres = await openPostgres(dataDir);
  try {
    await postgres.migrate();
    const sizes = { users: Number(users), notifications: Number(notifications), inbox: Number(inbox) };
    await generate(postgres.pool(), sizes, console.log);
    console.log(`all in ${((performance.now() - since) / 1000).toFixed(0)} s`);
  } finally {
    await postgres.close();
  }
}
