// How much memory idle streams take, and how long one publication takes to reach all of them.
// npm run build && node bench/streams.mjs [streams]; needs as many open files as streams, and some (ulimit -n).
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { newToken } from '../dist/lib/token-strings.js';

const count = Number(process.argv[2] ?? 10_000);
const rounds = 5;
const say = (line) => void process.stdout.write(`${line}\n`);
const adminKey = randomBytes(24).toString('hex');
const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'));
const service = spawn(process.execPath, [fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url)), 'serve'], {
  cwd: folder,
  env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: folder, ADMIN_API_KEY: adminKey, LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  await measure(await ready(service));
} finally {
  service.kill('SIGTERM');
  await once(service, 'exit');
  await rm(folder, { recursive: true });
}

/** @param {URL} url */
async function measure(url) {
  const people = await createPeople();
  await wait(1000);
  const idle = await memory();
  const startedAt = performance.now();
  const clients = [];
  for (let from = 0; from < people.length; from += 100) {
    clients.push(...(await Promise.all(people.slice(from, from + 100).map(({ token }) => openStream(url, token)))));
  }
  say(`${count} streams opened in ${Math.round(performance.now() - startedAt)} ms`);
  await wait(20_000);
  say(`memory of the service: ${idle} MB idle, ${await memory()} MB with ${count} idle streams`);
  const cpu = await cpuTime();
  await wait(10_000);
  say(`processor of the service for idle streams: ${(await cpuTime()) - cpu} ms in 10 s`);
  for (let round = 0; round < rounds; round += 1) await publishOnce(url, people, clients);
  say(`memory of the service afterwards: ${await memory()} MB`);
  for (const { socket } of clients) socket.destroy();
}

async function publishOnce(url, people, clients) {
  const arrivals = clients.map((client) => new Promise((resolve) => client.onEvent(() => resolve(performance.now()))));
  const sentAt = performance.now();
  const answer = await fetch(new URL('/admin/v1/notifications', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      user_ids: people.map(({ userId }) => userId),
      notification_type: 'payment',
      description: 'Grace Hopper paid you 12.50',
    }),
  });
  const answeredAt = performance.now();
  if (answer.status !== 201) throw new Error(await answer.text());
  await answer.arrayBuffer();
  const times = (await Promise.all(arrivals)).sort((one, other) => one - other);
  const after = (time) => `${Math.round(time - answeredAt)} ms`;
  say(
    `one publication to ${count}: answered after ${Math.round(answeredAt - sentAt)} ms; ` +
      `after the answer the first client had it in ${after(times[0])}, half in ${after(times[times.length >> 1])}, ` +
      `the last in ${after(times.at(-1))}`,
  );
}

/** Users with a session each, written where the service would write them: logging in is not what is measured. */
async function createPeople() {
  const client = new pg.Client({ host: join(folder, 'postgres'), user: 'postern', database: 'postern' });
  await client.connect();
  const people = Array.from({ length: count }, () => {
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
    await client.query(statement, values);
  }
  await client.query(
    `insert into sessions (user_id, id, authentication_id, device_id, token_digest, created_at, expires_at)
     select user_id, session_id, session_id, session_id, digest, now(), now() + interval '1 day'
     from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as person (user_id, session_id, digest)`,
    [...values, people.map(({ digest }) => digest)],
  );
  await client.query('analyze');
  await client.end();
  return people;
}

/** As little of a client as there can be: the clients share the machine with the service. */
async function openStream({ hostname, port }, token) {
  const socket = connect(Number(port), hostname);
  let hear = () => {};
  let begun = () => {};
  const beginning = new Promise((resolve) => {
    begun = resolve;
  });
  socket.on('data', (chunk) => {
    if (chunk.includes('HTTP/1.1 200')) begun();
    if (chunk.includes('data: ')) hear();
  });
  socket.write(
    `GET /v1/notifications HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  await beginning;
  return {
    socket,
    onEvent(listener) {
      hear = listener;
    },
  };
}

async function ready({ stdout }) {
  stdout.setEncoding('utf8');
  let text = '';
  for await (const chunk of stdout) {
    text += chunk;
    const [, url] = /^Postern is ready at (\S+)/m.exec(text) ?? [];
    if (url !== undefined) {
      stdout.resume();
      return new URL(url);
    }
  }
  throw new Error(`the service did not start: ${text}`);
}

/** Of the service's process, in MB. */
async function memory() {
  const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Milliseconds that the service's process has used. */
async function cpuTime() {
  const fields = (await readFile(`/proc/${service.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
