// How many users are imported in a second, each with an argon2id hash, and how many if the same file is sent again.
// npm run build && node bench/import.mjs [users]
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { postgresCpu, processCpu } from './measure.mjs';
import { startPostern } from './service.mjs';

const count = Number(process.argv[2] ?? 50_000);
const say = (line) => void process.stdout.write(`${line}\n`);
const base64 = (bytes) => randomBytes(bytes).toString('base64').replaceAll('=', '');

/** Users as in an export of another system. The hashing scheme does not matter, because the import does not hash. */
const users = Array.from({ length: count }, (_, index) => ({
  id: randomUUID(),
  username: `user${index}-${base64(4).replaceAll(/[+/]/g, 'x')}`,
  email: `user${index}@example.com`,
  phone: `+1555${String(index).padStart(7, '0')}`,
  name: `User ${index}`,
  password_hash: `$argon2id$v=19$m=65536,t=3,p=4$${base64(16)}$${base64(32)}`,
  metadata: { plan: 'basic', legacy_id: index },
  created_at: '2017-10-19T17:02:03Z',
}));

/** Sends all users with these members and counts the results. */
async function send({ url, adminKey }, members, query = '') {
  const request = httpRequest(`${url}/admin/v1/users/import${query}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/x-ndjson' },
  });
  const answered = once(request, 'response');
  const [startedAt, cpu, databaseCpu] = [performance.now(), processCpu(service.pid), postgresCpu(folder)];
  const sending = (async () => {
    for (let from = 0; from < count; from += 500) {
      const lines = users.slice(from, from + 500).map((user) => JSON.stringify(user, members));
      if (!request.write(`${lines.join('\n')}\n`)) await once(request, 'drain');
    }
    request.end();
  })();
  const [response] = await answered;
  const results = {};
  for await (const line of createInterface({ input: response })) {
    const { result, ...rest } = JSON.parse(line);
    results[result ?? JSON.stringify(rest)] = (results[result ?? JSON.stringify(rest)] ?? 0) + 1;
  }
  await sending;
  const seconds = (performance.now() - startedAt) / 1000;
  const cost = (micros) => `${Math.round(micros / count)} µs`;
  return (
    `${Math.round(count / seconds)} users/s; CPU for each: Postern ${cost(processCpu(service.pid) - cpu)}, ` +
    `PostgreSQL ${cost(postgresCpu(folder) - databaseCpu)} (${JSON.stringify(results)} in ${seconds.toFixed(1)} s)`
  );
}

const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'));
const service = await startPostern(folder);
try {
  const allMembers = undefined;
  say(`dry run:                     ${await send(service, allMembers, '?dry_run=true')}`);
  say(`three identities each:       ${await send(service, allMembers)}`);
  say(`the same again:              ${await send(service, allMembers)}`);
  for (const user of users) {
    user.id = randomUUID();
    user.email = `again-${user.email}`;
  }
  const oneIdentity = ['id', 'email', 'name', 'password_hash', 'created_at'];
  say(`one identity each:           ${await send(service, oneIdentity)}`);
} finally {
  await service.stop();
  await rm(folder, { recursive: true });
}
