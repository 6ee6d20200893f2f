// The memory of idle streams, and the latency and cost of one publication to all of them. It needs somewhat more open
// files than streams (ulimit -n).
// npm run build && node bench/streams.mjs [streams [rounds]]
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { newToken } from '../dist/tools.js';
import { postgresCpu, processCpu, residentMegabytes, shown, summarise, table } from './measure.mjs';
import { openPostgres, startPostern } from './service.mjs';

const [count = 10_000, rounds = 9] = process.argv.slice(2).map(Number);
/** The number of streams of one user: the maximum. Each has its own client. */
const shapes = [1, 20];
const say = (line) => void process.stdout.write(`${line}\n`);
const dataDir = await mkdtemp(join(tmpdir(), 'postern-bench-'));
const postgres = await openPostgres(dataDir);
await postgres.migrate();
const pool = postgres.pool();
const postern = await startPostern(dataDir);
const address = new URL(postern.url);
/** A buffer that all clients share: each client checks its bytes before the next one reads. */
const read = Buffer.alloc(16 * 1024);
try {
  const results = [];
  for (const perUser of shapes) results.push(await measure(perUser, perUser === shapes[0]));
  say(`${count} streams, ${rounds} publications to all of them after one to warm up. Times are in ms from the start of the publishing
request, as medians: until its answer, until half of the streams have the notification, and until the last stream has it.
"least" and "most" are the shortest and the longest time until the last stream has it. CPU is the CPU time in µs for each
stream, from the request until a second after the last arrival.\n`);
  const headings = ['Streams', 'answer', 'half', 'last', 'least', 'most', 'last - answer', 'CPU', 'of PostgreSQL'];
  say(table([headings, ...results]));
} finally {
  await postern.stop();
  await postgres.close();
  await rm(dataDir, { recursive: true });
}

/** @returns a row of the table: medians of the rounds */
async function measure(perUser, isFirst) {
  const people = await createPeople(Math.ceil(count / perUser));
  const idle = residentMegabytes(postern.pid);
  const startedAt = performance.now();
  const clients = [];
  for (let from = 0; from < count; from += 100) {
    const some = Array.from({ length: Math.min(100, count - from) }, (_, n) => people[(from + n) % people.length]);
    clients.push(...(await Promise.all(some.map(({ token }) => openStream(token)))));
  }
  if (isFirst) {
    say(`${count} streams opened in ${shown(performance.now() - startedAt)} ms`);
    await wait(20_000);
    const memory = residentMegabytes(postern.pid);
    say(`memory of the service: ${shown(idle)} MB idle, ${shown(memory)} MB with ${count} idle streams`);
    const before = cpu();
    await wait(10_000);
    const [service, database] = cpu().map((now, who) => (now - before[who]) / 10);
    say(`CPU of idle streams: ${shown(service / 1000)} ms a second, and ${shown(database / 1000)} ms of PostgreSQL`);
  }
  const results = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = cpu();
    const result = await publishOnce(people, clients);
    await wait(1000);
    const [service, database] = cpu().map((now, who) => (now - before[who]) / count);
    if (round > 0) results.push({ ...result, service, database });
  }
  if (isFirst) say(`memory of the service afterwards: ${shown(residentMegabytes(postern.pid))} MB\n`);
  for (const { socket } of clients) socket.destroy();
  const sorted = (key) => results.map((result) => result[key]).sort((one, other) => one - other);
  const middle = (key) => shown(summarise(sorted(key), 1).p50);
  const last = sorted('last');
  return [
    perUser === 1 ? 'one a user' : `${perUser} a user`,
    ...['answer', 'half', 'last'].map(middle),
    ...[shown(last[0]), shown(last.at(-1))],
    ...['afterAnswer', 'service', 'database'].map(middle),
  ];
}

/** The CPU time of the service and of PostgreSQL, in µs. */
function cpu() {
  return [processCpu(postern.pid), postgresCpu(dataDir)];
}

/** Times in ms from the beginning of the request. */
async function publishOnce(people, clients) {
  const body = JSON.stringify({
    user_ids: people.map(({ userId }) => userId),
    notification_type: 'payment',
    description: 'Grace Hopper paid you 12.50',
  });
  const sentAt = performance.now();
  const all = await Promise.all([publish(body), ...clients.map((client) => client.arrival())]);
  const [answer, ...arrivals] = all.map((at) => at - sentAt);
  arrivals.sort((one, other) => one - other);
  const last = arrivals.at(-1);
  return { answer, half: arrivals[arrivals.length >> 1], last, afterAnswer: last - answer };
}

/** @returns when the answer began to arrive */
async function publish(body) {
  const headers = { authorization: `Bearer ${postern.adminKey}`, 'content-type': 'application/json' };
  const sent = request(new URL('/admin/v1/notifications', address), { method: 'POST', headers }).end(body);
  const [answer] = await once(sent, 'response');
  const answeredAt = performance.now();
  if (answer.statusCode !== 201) throw new Error(`the publication was refused with ${answer.statusCode}`);
  answer.resume();
  return answeredAt;
}

/** Users with one session each. They are written to the database directly, because logins are not measured. */
async function createPeople(size) {
  const people = Array.from({ length: size }, () => {
    const [userId, sessionId] = [randomUUID(), randomUUID()];
    return { userId, sessionId, ...newToken('session', [userId, sessionId]) };
  });
  const values = [people.map(({ userId }) => userId), people.map(({ sessionId }) => sessionId)];
  const users = 'from unnest($1::uuid[], $2::uuid[]) as person (user_id, session_id)';
  for (const statement of [
    `insert into users (id, created_at, updated_at) select user_id, now(), now() ${users}`,
    `insert into inboxes (user_id) select user_id ${users}`,
    `insert into authentications (user_id, id, device_id, authenticator, status, epoch, expires_at, created_at, updated_at)
     select user_id, session_id, session_id, 'password', 'approved', 0, now() + interval '1 day', now(), now() ${users}`,
  ]) {
    await pool.query(statement, values);
  }
  await pool.query(
    `insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
     select user_id, session_id, session_id, session_id, digest, now(), now() + interval '1 day'
     from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as person (user_id, session_id, digest)`,
    [...values, people.map(({ digest }) => digest)],
  );
  await pool.query('analyze');
  return people;
}

/** A minimal client, because the clients share the machine with the service. */
async function openStream(token) {
  let onBytes = () => {};
  let fail = () => {};
  const next = (mark) =>
    new Promise((resolve, reject) => {
      onBytes = (bytes) => bytes.includes(mark) && resolve(performance.now());
      fail = () => reject(new Error('a stream has ended'));
    });
  const onread = {
    buffer: read,
    callback(length) {
      onBytes(read.subarray(0, length));
      return true;
    },
  };
  const socket = connect({ port: Number(address.port), host: address.hostname, onread });
  socket.once('close', () => fail());
  const opened = next('HTTP/1.1 200');
  socket.write(
    `GET /v1/notifications HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  await opened;
  return { socket, arrival: () => next('data: ') };
}
