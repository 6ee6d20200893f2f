// How much one user or one address delays all others: `npm run build && node bench/fairness.mjs [rounds] [seconds] [load…]`.
// Each load uses one shared part as much as its limits allow. Meanwhile others request login codes, get pushes, list and
// publish, a few times a second. They are compared with the same requests while the generator of the load sends as many
// requests for /livez. It writes bench/RESULTS.md, unless loads are named.
import { fork } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import webPush from 'web-push';
import { audience, loadsOf, requestsOf, topic } from './fairness-loads.mjs';
import { openLoop } from './load.mjs';
import { median, shown, table } from './measure.mjs';
import { content } from './operations.mjs';
import { record } from './results.mjs';
import { withFilledPostern } from './service.mjs';

const [rounds = 5, seconds = 2] = process.argv.slice(2, 4).map(Number);
const only = process.argv.slice(4);
/** The first user has the large inbox. The users from `quiet` on are the others. */
const sizes = { users: 40_000, notifications: 300_000, inbox: 100_000 };
const quiet = 10_000;
/** Requests a second of each kind by others. */
const rate = 20;
/** How many times slower than alone others may become by one user or address. Operators have no limit. */
const wanted = 2;
const ofOperators = ['publications of one sender', 'an import of users with passwords'];
/** Milliseconds after which a code or a push counts as arrived. */
const patience = 20_000;

const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
const receiver = await startReceiver();
const loader = fork(fileURLToPath(new URL('fairness-loads.mjs', import.meta.url)));
const [{ mailPort }] = await once(loader, 'message');
const vapid = webPush.generateVAPIDKeys();
const settings = {
  ALLOW_PRIVATE_NETWORK_TARGETS: 'true',
  TRUST_PROXY: '127.0.0.1',
  REQUEST_LIMIT_PER_ADDRESS: '100/10s',
  REQUEST_LIMIT_PER_SESSION: '50/10s',
  LOGIN_LIMIT_PER_ADDRESS: '300',
  PUBLIC_URL: 'http://localhost',
  SMS_PROVIDER: 'webhook',
  SMS_WEBHOOK_URL: `${receiver.url}/sms`,
  SMS_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
  MAIL_PROVIDER: 'smtp',
  SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
  MAIL_FROM: 'ops@example.com',
  VAPID_PUBLIC_KEY: vapid.publicKey,
  VAPID_PRIVATE_KEY: vapid.privateKey,
  VAPID_SUBJECT: 'mailto:ops@example.com',
};

const peopleOf = `select n, bench.id('user', n) as id, bench.id('device', n) as device, '+1415' || (5000000 + n) as phone,
  bench.session_token(n) as session, bench.authentication_token(n) as token from generate_series(1, $1) n`;

try {
  await withFilledPostern({ sizes, settings }, main);
} finally {
  receiver.close();
  loader.disconnect();
}

async function main({ postern, pool }) {
  await prepare(pool);
  const people = (await pool.query(peopleOf, [sizes.users])).rows;
  const ways = requestsOf(postern, people);
  await subscribe(postern);
  const others = othersOf(postern, ways);
  // Until the checkpoint and the vacuum after the filling have ended.
  for (let round = 0; round < 10; round += 1) await measure(others);
  loader.send({ postern: { url: postern.url, adminKey: postern.adminKey }, people: people.slice(0, quiet) });
  const lines = [];
  for (const [title, { connections }] of Object.entries(loadsOf(postern, ways, people))) {
    if (only.length > 0 && !only.includes(title)) continue;
    lines.push([title, ...(await compare(others, { title, connections }))]);
    say(lines.at(-1).join(' | '));
  }
  const heads = ['Load', 'requests/s', ...Object.keys(others).map((name) => `${name}: p95 ms alone, ratio`), 'wanted'];
  const text = `Others request login codes by SMS (until the provider has them), get pushes (from the publication until the push service has them), list and publish, ${rate} of each a second at random times, each from an address of its own. "alone" is their p95 in milliseconds while the generator of the load sends as many requests for /livez as the load has, and the ratio is their p95 with the load divided by it: the median of ${rounds} pairs of ${seconds} s each, after one to warm up. The generator is another process with a low priority. The ratio should be at most ${wanted} for a load of one user or address. The last two loads come from an operator and have no limit. A load repeats a refused request after 100 ms. REQUEST_LIMIT_PER_ADDRESS is ${settings.REQUEST_LIMIT_PER_ADDRESS}, REQUEST_LIMIT_PER_SESSION is ${settings.REQUEST_LIMIT_PER_SESSION}, all other limits are the default.

${table([heads, ...lines])}`;
  console.log(text);
  if (only.length === 0) await record('fairness', text);
}

/** Users get phone numbers and mail addresses, and their browsers endpoints. Those of the first hundred devices do not answer. */
async function prepare(pool) {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const keys = { p256dh: point.toString('base64url'), auth: randomBytes(16).toString('base64url') };
  const numbered = (kind) => `from users, lateral (select substr(username, 5)::int as n) u where ${kind}`;
  await pool.query(
    `update users set phone = '+1415' || (5000000 + substr(username, 5)::int), email = username || '@example.com'`,
  );
  await pool.query(
    `insert into identities select sha256(('phone' || e'\\n' || phone)::bytea), id, 'phone', phone ${numbered('true')}`,
  );
  await pool.query(
    `insert into identities select sha256(('email' || e'\\n' || email)::bytea), id, 'email', email ${numbered('true')}`,
  );
  await pool.query(
    `update devices d set web_push_subscription = jsonb_build_object('endpoint', $1::text || '/push/' || n, 'keys', $2::jsonb)
     from generate_series(${quiet}, ${sizes.users}) n where d.user_id = bench.id('user', n)`,
    [receiver.url, keys],
  );
  // The second user is logged in on a hundred devices.
  await pool.query(`insert into authentications
    select (jsonb_populate_record(a, jsonb_build_object('id', bench.id('a', n), 'device_id', bench.id('d', n), 'token_digest', null))).*
    from authentications a, generate_series(1, 99) n where a.user_id = bench.id('user', 2)`);
  await pool.query(
    `insert into devices (user_id, id, created_at, updated_at, last_login_at, web_push_subscription)
     select bench.id('user', 2), bench.id('d', n), now(), now(), now(),
       jsonb_build_object('endpoint', $1::text || '/silent/' || n, 'keys', $2::jsonb) from generate_series(1, 99) n`,
    [receiver.url, keys],
  );
  await pool.query('analyze');
}

/** A webhook for all events, whose receiver never answers, and what loads use. */
async function subscribe({ url, adminKey }) {
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const create = async (method, path, body) => {
    const answer = await fetch(`${url}/admin/v1${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  };
  await create('POST', '/webhooks', { url: `${receiver.url}/silent/webhook`, events: ['*'] });
  await create('PUT', `/topics/${topic}`, { title: 'Club', is_open: true });
  await create('POST', '/audiences', { uri: audience, alg: 'RS256' });
}

/** The operations of others, each by another user from another address. */
function othersOf({ url }, ways) {
  let nth = quiet;
  const next = () => {
    nth = nth + 1 >= sizes.users ? quiet : nth + 1;
    return { person: ways.people[nth - 1], address: `11.${nth >> 8}.${nth & 255}.1` };
  };
  const loop = (make) => () => openLoop({ url, next: make, connections: 64, seconds, rate });
  return {
    'login code': loop(() => {
      const { person, address } = next();
      return Object.assign(ways.code(address, 'phone', person.phone), { arrived: receiver.arrival(person.phone) });
    }),
    push: loop(() => {
      const { person } = next();
      return Object.assign(ways.publish({ user_id: person.id, ...content }), {
        arrived: receiver.arrival(`/push/${person.n}`),
      });
    }),
    list: loop(() => {
      const { person, address } = next();
      return ways.list(address, person);
    }),
    publish: loop(() => ways.publish({ user_id: next().person.id, ...content })),
  };
}

async function measure(others) {
  const results = await Promise.all(Object.values(others).map((run) => run()));
  return results.map(({ p95 }) => p95);
}

/** The p95 of each operation while the generator runs a load, and the rate of the load. */
async function measureWith(load, others) {
  loader.send(load);
  const times = await measure(others);
  loader.send('stop');
  const [{ rate }] = await once(loader, 'message');
  // What the load has left in queues belongs to the load.
  await wait(200);
  return { times, rate };
}

/** @returns the cells of the row: the rate of the load; for each operation the p95 alone and the ratio */
async function compare(others, { title, connections }) {
  // The first round loads code, and shows how many requests the load sends.
  const warmUp = await measureWith({ title, round: rounds }, others);
  const pairs = [];
  for (let round = 0; round < rounds; round += 1) {
    const { times: alone } = await measureWith({ rate: warmUp.rate, connections }, others);
    const { times: loaded } = await measureWith({ title, round }, others);
    pairs.push(alone.map((p95, at) => ({ alone: p95, ratio: loaded[at] / p95 })));
  }
  const columns = Object.keys(others).map((_, at) => ({
    alone: median(pairs.map((pair) => pair[at].alone)),
    ratio: median(pairs.map((pair) => pair[at].ratio)),
  }));
  const isFair = columns.every(({ ratio }) => ratio <= wanted);
  const cells = columns.map(({ alone, ratio }) => `${shown(alone)}, ${shown(ratio)}`);
  const result = isFair ? 'met' : 'MISSED';
  return [shown(warmUp.rate), ...cells, ofOperators.includes(title) ? '' : result];
}

/** The SMS gateway, the push service and the receiver of webhooks. It never answers under /silent. */
async function startReceiver() {
  const expected = new Map();
  const arrive = (name) => expected.get(name)?.();
  const server = createServer(async (incoming, response) => {
    if (incoming.url.startsWith('/silent')) return;
    let text = '';
    for await (const chunk of incoming.setEncoding('latin1')) text += chunk;
    arrive(incoming.url === '/sms' ? JSON.parse(text).to : incoming.url);
    response.writeHead(201).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    arrival: (name) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, patience);
        expected.set(name, () => {
          clearTimeout(timer);
          expected.delete(name);
          resolve();
        });
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
