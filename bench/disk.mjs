// The disk that decisions, deliveries and states of notifications need: `node bench/disk.mjs`, after `npm run build`. It needs 3 GB of
// disk and a few minutes. `node bench/disk.mjs ROWS` inserts another number of rows of each kind.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from './measure.mjs';
import { record } from './results.mjs';
import { openPostgres } from './service.mjs';

const rows = Number(process.argv[2] ?? 1_000_000);
/** How many notifications each user has, and how many notifications one publishing request has. */
const [perUser, perRequest] = [100, 500];

// Random ids, so that indexes are filled in random order as those of an installation. The same number has the same id.
const helpers = `
  create schema bench;
  create function bench.id(kind text, n bigint) returns uuid immutable language sql return md5(kind || n::text)::uuid;`;
const user = `bench.id('user', n / ${perUser})`;
const time = `now() - interval '30 days' * random()`;
const series = (count) => `generate_series(0, ${count} - 1) n`;

/** The kinds of rows. `rows` is the number that is counted, where one row holds many decisions. */
const kinds = [
  {
    name: 'decisions "no", published to 500 users at once',
    table: 'step_refusals',
    insert: `insert into step_refusals (id, notification_ids, channel, state, reason, published_at, created_at)
      select gen_random_uuid(), (select array_agg(bench.id('many', n * ${perRequest} + i)) from generate_series(1, ${perRequest}) i),
        'email', 'skipped', 'read', ${time}, now() from ${series(rows / perRequest)}`,
  },
  {
    name: 'decisions "no", each published alone',
    table: 'step_refusals',
    insert: `insert into step_refusals (id, notification_ids, channel, state, reason, published_at, created_at)
      select gen_random_uuid(), array[bench.id('one', n)], 'email', 'skipped', 'read', ${time}, now() from ${series(rows)}`,
  },
  {
    name: 'steps that are due later, published to 500 users at once',
    table: 'pending_steps',
    insert: `insert into pending_steps (id, user_ids, notification_ids, size, channel, condition, published_at, due_at)
      select gen_random_uuid(), (select array_agg(bench.id('user', n * ${perRequest} + i)) from generate_series(1, ${perRequest}) i),
        (select array_agg(bench.id('many', n * ${perRequest} + i)) from generate_series(1, ${perRequest}) i),
        ${perRequest}, 'email', 'unread', now(), now() + interval '1 hour' from ${series(rows / perRequest)}`,
  },
  {
    name: 'mails or SMS',
    table: 'step_deliveries',
    insert: `insert into step_deliveries
        (user_id, id, notification_id, channel, condition, state, reason, provider, attempts, first_attempt_at, created_at, updated_at)
      select ${user}, bench.id('mail', n), bench.id('one', n), 'email', 'unread', 'sent', 'accepted', 'smtp', 1, now(), ${time}, now()
      from ${series(rows)}`,
  },
  {
    name: 'mails whose provider reports bounces, in addition',
    table: 'mail_deliveries',
    insert: `insert into mail_deliveries (user_id, id, notification_id, provider, provider_reference, address_digest, delivered_at, created_at)
      select ${user}, bench.id('mail', n), bench.id('one', n), 'resend', bench.id('reference', n)::text,
        sha256(n::text::bytea), now(), ${time} from ${series(rows)}`,
  },
  {
    name: 'pushes to one device',
    table: 'push_deliveries',
    insert: `insert into push_deliveries
        (user_id, id, notification_id, device_id, channel, state, reason, attempts, created_at, updated_at)
      select ${user}, bench.id('push', n), bench.id('one', n), bench.id('device', n / ${perUser}), 'fcm', 'sent', 'accepted', 1, ${time}, now()
      from ${series(rows)}`,
  },
  {
    name: 'states of single notifications',
    table: 'notification_states',
    // Only the size of the rows is measured, so they need no notifications.
    prepare: 'alter table notification_states drop constraint notification_states_user_id_sequence_fkey',
    insert: `insert into notification_states (user_id, sequence, is_read, is_archived, version, updated_at)
      select ${user}, n % ${perUser}, true, n % 2 = 0, n % ${perUser}, now() from ${series(rows)}`,
  },
];

const folder = await mkdtemp(join(tmpdir(), 'postern-disk-'));
const postgres = await openPostgres(folder);
try {
  await postgres.migrate();
  const pool = postgres.pool();
  await pool.query(helpers);
  const measured = [];
  for (const { name, table: from, prepare = 'select', insert } of kinds) {
    await pool.query(prepare);
    const before = await sizeOf(pool, from);
    await pool.query(insert);
    const bytes = (await sizeOf(pool, from)) - before;
    measured.push([name, (bytes / rows).toFixed(0), (bytes / 1e6).toFixed(0)]);
    console.error(`${name}: ${(bytes / 1e6).toFixed(0)} MB`);
  }
  await record('disk', table([[`${rows.toLocaleString('en')} of`, 'bytes each', 'MB'], ...measured]));
} finally {
  await postgres.close();
  await rm(folder, { recursive: true, force: true });
}

/** The bytes of a table with its indexes and long values. */
async function sizeOf(pool, name) {
  const { rows: found } = await pool.query('select pg_total_relation_size($1::regclass)::float8 as bytes', [name]);
  return found[0].bytes;
}
