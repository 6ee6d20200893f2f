// The loads of fairness.mjs, each of one user or one address. As a process, it is also the mail server, and runs the load of
// each message until `stop` comes.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { SMTPServer } from 'smtp-server';
import { password } from './generate.mjs';
import { open, request } from './load.mjs';
import { content } from './operations.mjs';

const image = await sharp({
  create: {
    width: 5000,
    height: 5000,
    channels: 3,
    background: 'red',
    noise: { type: 'gaussian', mean: 128, sigma: 20 },
  },
})
  .jpeg({ quality: 30 })
  .toBuffer();

if (process.argv[1] === fileURLToPath(import.meta.url)) await run();

async function run() {
  // The clients of a real service take no cores from it.
  setPriority(10);
  const mail = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _, done) => stream.resume().on('end', done),
  });
  await new Promise((resolve) => mail.listen(0, '127.0.0.1', resolve));
  process.send({ mailPort: mail.server.address().port });
  const [{ postern, people }] = await once(process, 'message');
  const loads = loadsOf(postern, requestsOf(postern, people), people);
  let stopping;
  process.on('message', async (message) => {
    if (message === 'stop') return stopping.abort();
    stopping = new AbortController();
    const load = message.rate === undefined ? loads[message.title] : harmless(postern, message);
    const since = performance.now();
    const count = await load(message.round, stopping.signal);
    process.send({ rate: (count / (performance.now() - since)) * 1000 });
  });
  process.on('disconnect', () => process.exit());
}

/** Harmless requests: as many a second as a load sends, over as many connections. They cost the service as little as possible. */
function harmless({ url }, { rate, connections }) {
  const message = request('GET', `${url}/livez`);
  return async (_, stop) => {
    const pause = () => wait((-Math.log(1 - Math.random()) * 1000 * connections) / rate, undefined, { signal: stop });
    await Promise.all(
      Array.from({ length: rate < 0.1 ? 0 : connections }, async () => {
        const connection = await open(url);
        for (let ended = false; !ended; ) {
          await connection.ask(message);
          await pause().catch(() => {
            ended = true;
          });
        }
        connection.close();
      }),
    );
    return 0;
  };
}

/** What the loads use, and the bench creates: a topic, and an audience whose tokens take the longest to sign. */
export const topic = 'club';
export const audience = 'https://api.example.com';

/** The requests. Each names the address from which it comes. */
export function requestsOf({ url, adminKey }, people) {
  const admin = { authorization: `Bearer ${adminKey}` };
  const login = (type, value, authenticator, rest) => ({ identity: { type, value }, authenticator, ...rest });
  const from = (address, headers) => ({ 'x-forwarded-for': address, ...headers });
  const as = ({ session }, address) => from(address, { authorization: `Bearer ${session}` });
  return {
    code: (address, type, value) =>
      request(
        'POST',
        `${url}/v1/tokens`,
        from(address, { body: login(type, value, type === 'email' ? 'email' : 'sms', { device: {} }) }),
      ),
    password: (address, username, secret, device) =>
      request(
        'POST',
        `${url}/v1/tokens`,
        from(address, { body: login('username', username, 'password', { secret, device: { id: device } }) }),
      ),
    list: (address, person, query = '') => request('GET', `${url}/v1/notifications${query}`, as(person, address)),
    session: (address, { token }) =>
      request(
        'POST',
        `${url}/v1/sessions`,
        from(address, { authorization: `Basic ${Buffer.from(token).toString('base64')}` }),
      ),
    rename: (address, person, name) =>
      request('PATCH', `${url}/v1/account`, { ...as(person, address), body: { name } }),
    upload: (address, person) =>
      request('POST', `${url}/v1/images`, { ...as(person, address), body: { encoded: image.toString('base64') } }),
    states: (address, person, body) =>
      request('PATCH', `${url}/v1/notifications/states`, { ...as(person, address), body }),
    counts: (address, person) =>
      request('GET', `${url}/v1/notifications/counts?by=notification_type`, as(person, address)),
    preferences: (address, person, body) => request('PATCH', `${url}/v1/preferences`, { ...as(person, address), body }),
    subscription: (method, address, person) =>
      request(method, `${url}/v1/topics/${topic}/subscription`, as(person, address)),
    accessToken: (address, person) =>
      request('POST', `${url}/v1/access-tokens`, { ...as(person, address), body: { audience } }),
    publish: (body) => request('POST', `${url}/admin/v1/notifications`, { ...admin, body }),
    import: (users) => request('POST', `${url}/admin/v1/users`, { ...admin, body: users }),
    admin,
    people,
  };
}

/** Makes a message once for each round. */
function perRound(make) {
  const made = new Map();
  return (use) => {
    if (!made.has(use.round)) made.set(use.round, make(use));
    return made.get(use.round);
  };
}

/**
 * The loads. A load runs until `stop` aborts, and resolves to the number of its requests. Each round has another user and
 * another address.
 */
export function loadsOf({ url }, ways, people) {
  const flood = (connections, make, pause = 0) =>
    Object.assign(
      async (round, stop) => {
        let count = 0;
        await Promise.all(
          Array.from({ length: connections }, async (_, at) => {
            const connection = await open(url);
            for (let nth = at; !stop.aborted; nth += connections) {
              const answer = await connection.ask(
                make({ address: `12.0.${round}.1`, person: people[100 + round], nth, round }),
                true,
              );
              count += 1;
              await wait(answer.latin1Slice(9, 12).startsWith('2') ? pause : 100);
            }
            connection.close();
          }),
        );
        return count;
      },
      { connections },
    );
  const [lister, popular] = people;
  return {
    'codes of one address': flood(16, ({ address, nth, round }) => {
      const { n, phone } = people[1000 + round * 500 + (nth % 500)];
      return ways.code(address, ...(nth % 2 ? ['phone', phone] : ['email', `user${n}@example.com`]));
    }),
    'logins of one address': flood(32, ({ address, nth, round }) =>
      ways.password(address, `user${1000 + round * 500 + (nth % 500)}`, 'wrong'),
    ),
    'logins of one user': flood(32, ({ address, person }) =>
      ways.password(address, `user${person.n}`, password, person.device),
    ),
    'sessions of one user': flood(32, ({ address, person }) => ways.session(address, person)),
    'lists of one user': flood(32, ({ address, person }) => ways.list(address, person)),
    'expensive lists of one user': flood(32, ({ address, nth }) =>
      ways.list(address, lister, `?filter=description:like:no${nth}`),
    ),
    // Each marks some 8,000 notifications one by one, or takes that back.
    'marks of one user': flood(8, ({ address, nth }) =>
      ways.states(address, lister, { filter: 'notification_type:payment', through: 25_000, archived: nth % 2 === 0 }),
    ),
    'counts of one user': flood(32, ({ address }) => ways.counts(address, lister)),
    'preferences of one user': flood(32, ({ address, person, nth }) =>
      ways.preferences(address, person, { channels: { email: nth % 2 ? 'on' : 'off' } }),
    ),
    'subscriptions of one user': flood(32, ({ address, person, nth }) =>
      ways.subscription(nth % 2 ? 'PUT' : 'DELETE', address, person),
    ),
    'access tokens of one user': flood(32, ({ address, person }) => ways.accessToken(address, person)),
    'streams of one user': Object.assign(
      async (round, stop) => {
        const opened = Array.from({ length: 20 }, () => reopen(`12.1.${round}.1`, people[200 + round], stop));
        return (await Promise.all(opened)).reduce((sum, count) => sum + count, 0);
      },
      { connections: 20 },
    ),
    // Built once for each round: the generator's own work on a large body would delay the others, too.
    'images of one user': flood(
      8,
      perRound(({ address, person }) => ways.upload(address, person)),
    ),
    'pushes to silent devices of one user': flood(1, () => ways.publish({ user_id: popular.id, ...content }), 50),
    'deliveries of webhooks': flood(16, ({ address, person, nth }) => ways.rename(address, person, `Name ${nth}`)),
    'publications of one sender': flood(1, ({ nth }) =>
      ways.publish(
        people
          .slice(2 + (nth % 8) * 1000)
          .slice(0, 1000)
          .map(({ id }) => ({ user_id: id, ...content })),
      ),
    ),
    'an import of users with passwords': Object.assign(
      async (round, stop) => {
        const lines = Array.from({ length: 2000 }, (_, n) =>
          JSON.stringify({ username: `new-${round}-${n}`, password }),
        );
        const headers = { ...ways.admin, 'content-type': 'application/x-ndjson' };
        const sent = fetch(`${url}/admin/v1/users/import`, {
          method: 'POST',
          headers,
          body: lines.join('\n'),
          signal: stop,
        });
        await sent.then((answer) => answer.text()).catch(() => undefined);
        return 1;
      },
      { connections: 1 },
    ),
  };

  /** Opens a stream again and again, and reads its beginning. @returns how often */
  async function reopen(address, { session }, stop) {
    const { hostname, port } = new URL(url);
    let count = 0;
    for (; !stop.aborted; count += 1) {
      const socket = connect(Number(port), hostname);
      socket.write(
        `GET /v1/notifications HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${session}\r\n\r\n`,
      );
      const [head] = await Promise.race([once(socket, 'data'), wait(1000).then(() => [''])]);
      socket.destroy();
      if (!String(head).startsWith('HTTP/1.1 200')) await wait(100);
    }
    return count;
  }
}
