// The minimum work of each operation, in a separate process. The service is compared with it. run.mjs starts this process
// with the data directory. Each message starts one round.
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { insertNotification } from './bare-notification.mjs';
import { password } from './generate.mjs';
import { summarise } from './measure.mjs';
import { openPostgres } from './service.mjs';

/** As many connections as the pool of the service has. */
const connections = 20;
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

const postgres = await openPostgres(process.argv[2]);
const pool = postgres.pool({ max: connections });
const stored = await hash(password, parameters);
/** The number of a random user from 1 to `count`. */
const randomUser = (count) => 1 + Math.floor(Math.random() * count);

/** The operations. `width`: how many run at a time. */
const kinds = {
  argon2id: { width: availableParallelism(), work: () => verify(stored, password) },
  'session query': {
    width: connections,
    work: ({ users }) =>
      ask(
        'session_query',
        'select device_id, created_at, expires_at from sessions where user_id = bench.id($1, $3) and id = bench.id($2, $3)',
        ['user', 'session', randomUser(users)],
      ),
  },
  'session insert': {
    width: connections,
    work: () =>
      ask(
        'session_insert',
        `insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
        values ($1::uuid, $2, $3, $4, sha256($1::text::bytea), now(), now())`,
        [randomUUID(), randomUUID(), randomUUID(), randomUUID()],
      ),
  },
  'page query': {
    width: connections,
    work: ({ readers }) =>
      ask(
        'page_query',
        'select * from notifications where user_id = bench.id($1, $2) order by sequence desc limit 20',
        // Not the first user, who has too many notifications.
        ['user', 1 + randomUser(readers)],
      ),
  },
  'notification insert': {
    width: connections,
    work: () => ask('notification_insert', `${insertNotification} from generate_series(1, 1) n`, []),
  },
  'insert select': {
    width: 1,
    work: ({ rows }) => ask('insert_select', `${insertNotification} from generate_series(1, $1) n`, [rows]),
  },
};

function ask(name, text, values) {
  return pool.query({ name, text, values });
}

process.on('message', async ({ kind, seconds, ...sizes }) => {
  const { width, work } = kinds[kind];
  const times = [];
  const since = performance.now();
  const until = since + seconds * 1000;
  const loop = async () => {
    for (let now = performance.now(); now < until; ) {
      const startedAt = now;
      await work(sizes);
      now = performance.now();
      times.push(now - startedAt);
    }
  };
  await Promise.all(Array.from({ length: width }, loop));
  process.send(summarise(times, (performance.now() - since) / 1000));
});
process.on('disconnect', async () => {
  await postgres.close();
});
process.send('ready');
