// A simple inbox: pages by OFFSET and a count, on a table with an index on user and time. It checks no session, and a
// notification is one INSERT. `node naive-inbox.mjs DATA_DIR` copies the existing notifications.
import Fastify from 'fastify';
import { openPostgres } from '../service.mjs';

const postgres = await openPostgres(process.argv[2]);
const pool = postgres.pool({ max: 20, options: '-c search_path=naive' });
await pool.query('create schema naive');
await pool.query('create table notifications as select * from public.notifications');
await pool.query('alter table notifications add primary key (id)');
await pool.query('create index on notifications (user_id, created_at desc)');
await pool.query('vacuum (analyze) notifications');

const app = Fastify();
app.get('/notifications', async ({ query }, reply) => {
  const { user, page = '1', limit = '20', type } = query;
  const matching = `from notifications where user_id = $1 ${type === undefined ? '' : 'and notification_type = $2'}`;
  const values = type === undefined ? [user] : [user, type];
  const [rows, total] = await Promise.all([
    pool.query({
      name: type === undefined ? 'page' : 'page_of_type',
      text: `select * ${matching} order by created_at desc offset $${values.length + 1} limit $${values.length + 2}`,
      values: [...values, (Number(page) - 1) * Number(limit), limit],
    }),
    pool.query({ name: type === undefined ? 'count' : 'count_of_type', text: `select count(*) ${matching}`, values }),
  ]);
  reply.header('x-total-count', total.rows[0].count);
  return rows.rows;
});
app.post('/notifications', async ({ body }, reply) => {
  const { rows } = await pool.query({
    name: 'insert',
    text: `insert into notifications (id, user_id, actor, notification_type, object_data_number, description, created_at, updated_at)
      values (gen_random_uuid(), $1, $2, $3, $4, $5, now(), now()) returning *`,
    values: [body.user_id, body.actor, body.notification_type, body.object_data_number, body.description],
  });
  return reply.code(201).send(rows[0]);
});
console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })} `);
process.on('SIGTERM', async () => {
  await app.close();
  await postgres.close();
  process.exit(0);
});
