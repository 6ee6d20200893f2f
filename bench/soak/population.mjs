// Users who log in, read, get notifications, leave and come: each request is one that an app sends.
import { randomInt, randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { summarise } from '../measure.mjs';

const password = 'a battery of horses';
const device = { name: 'soak' };

/** How often each act is chosen, of 1,000. */
const mix = {
  verify: 560,
  session: 130,
  list: 100,
  publish: 90,
  known: 40,
  marker: 20,
  login: 25,
  code: 10,
  wrong: 10,
  logout: 10,
  leave: 5,
};

/** Creates the users, with a login and a session each, and opens streams for the first of them. */
export async function createPopulation({ url, adminKey }, receiver, { users, streams }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const state = { requests: 0, refused: 0, failed: 0, firstFailure: '', gaps: 0, times: [] };
  const people = [];

  /** Repeats a request that a busy service refused. @returns the status and the body of an answer */
  async function ask(method, path, { bearer, basic, body, accepts = [200, 201, 204, 304], headers = {} } = {}) {
    const sentAt = performance.now();
    const answer = await send(
      agent,
      new URL(path, url),
      method,
      {
        ...headers,
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(basic && { authorization: `Basic ${Buffer.from(basic).toString('base64')}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      body && JSON.stringify(body),
    );
    state.times.push(performance.now() - sentAt);
    state.requests += 1;
    if (answer.status === 503) {
      state.refused += 1;
      await wait(1000 * Number(answer.headers['retry-after'] ?? 1));
      return ask(method, path, { bearer, basic, body, accepts, headers });
    }
    if (!accepts.includes(answer.status))
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`);
    return answer;
  }
  const admin = (method, path, options) => ask(method, path, { bearer: adminKey, ...options });

  async function join() {
    const phone = `+1${randomInt(2_000_000_000, 9_999_999_999)}`;
    const username = `u${randomUUID()}`;
    const { body } = await admin('POST', '/admin/v1/users', { body: { username, phone, password } });
    const person = { id: body.id, username, phone, isBusy: false, tokens: [], session: '', etag: '' };
    await acts.login(person);
    await acts.session(person);
    return person;
  }

  const identity = (person) => ({ type: 'username', value: person.username });
  const acts = {
    verify: (person) => ask('POST', '/v1/sessions/verify', { bearer: person.session, accepts: [200, 401] }),
    async session(person) {
      const token = person.tokens.at(-1);
      if (token === undefined) return acts.login(person);
      const { body } = await ask('POST', '/v1/sessions', { basic: token });
      person.session = body.token;
    },
    async list(person) {
      const { headers } = await read(person, {});
      person.etag = headers.etag ?? '';
    },
    known: (person) => read(person, person.etag === '' ? {} : { 'if-none-match': person.etag }),
    publish: (person) =>
      admin('POST', '/admin/v1/notifications', {
        body: { user_id: person.id, notification_type: 'payment', description: 'Grace Hopper paid you 12.50' },
      }),
    marker: (person) =>
      ask('PUT', '/v1/notifications/marker', {
        bearer: person.session,
        body: { last_read_sequence: 0 },
        accepts: [200, 401, 422],
      }),
    async login(person) {
      const body = { identity: identity(person), authenticator: 'password', secret: password, device };
      const answer = await ask('POST', '/v1/tokens', { body });
      person.tokens.push(answer.body.token);
      if (person.tokens.length > 3) await end(person, person.tokens.shift());
    },
    async code(person) {
      const body = { identity: { type: 'phone', value: person.phone }, authenticator: 'sms', device };
      const { status, body: started } = await ask('POST', '/v1/tokens', { body, accepts: [201, 429] });
      if (status === 429) return;
      const secret = await receiver.codeOf(started.id);
      if (secret === undefined) throw new Error('no code has arrived within 10 s');
      const answer = await ask('POST', `/v1/tokens/${started.id}/secret`, { body: { secret } });
      await end(person, answer.body.token);
    },
    wrong: (person) =>
      ask('POST', '/v1/tokens', {
        body: { identity: identity(person), authenticator: 'password', secret: 'a wrong password', device },
        accepts: [201, 423],
      }),
    async logout(person) {
      if (person.tokens.length > 1) await end(person, person.tokens.shift());
    },
    async leave(person) {
      // Users with a stream do not leave, so the number of streams does not change.
      if (person.hasStream) return;
      const index = people.indexOf(person);
      await admin('DELETE', `/admin/v1/users/${person.id}`);
      people[index] = await join();
    },
  };

  async function read(person, headers) {
    const answer = await ask('GET', '/v1/notifications', { bearer: person.session, headers, accepts: [200, 304, 401] });
    if (answer.status === 401) await acts.session(person);
    return answer;
  }

  /** Logs out one login of a user. If it was the one of the session, the user gets another session. */
  async function end(person, token) {
    await ask('DELETE', '/v1/tokens', { basic: token });
    if (person.tokens.length > 0) await acts.session(person);
  }

  for (let from = 0; from < users; from += 20) {
    people.push(...(await Promise.all(Array.from({ length: Math.min(20, users - from) }, join))));
  }
  const followers = people.slice(0, streams).map((person) => follow(person));

  /** A stream with a session that it renews, which must show every sequence number once. */
  function follow(person) {
    person.hasStream = true;
    let last;
    let isOver = false;
    let current;
    const run = async () => {
      while (!isOver) {
        const { body } = await ask('POST', '/v1/sessions', { basic: person.tokens.at(-1) });
        await new Promise((resolve) => {
          current = request(
            new URL('/v1/notifications/stream', url),
            {
              headers: {
                authorization: `Bearer ${body.token}`,
                accept: 'text/event-stream',
                ...(last && { 'last-event-id': last.id }),
              },
            },
            (response) => {
              let text = '';
              response.setEncoding('utf8').on('data', (chunk) => {
                const events = (text + chunk).split('\n\n');
                text = events.pop();
                for (const event of events) take(event);
              });
              response.on('close', resolve);
            },
          );
          current.on('error', resolve).end();
        });
        if (!isOver) await wait(50 + randomInt(200));
      }
    };
    const take = (event) => {
      const id = /^id: (.+)$/m.exec(event)?.[1];
      if (id === undefined) return;
      if (/^event: /m.test(event)) {
        last = { ...last, id };
        return;
      }
      const sequence = JSON.parse(/^data: (.+)$/m.exec(event)?.[1] ?? 'null')?.sequence;
      if (last?.sequence !== undefined && sequence > last.sequence + 1) state.gaps += sequence - last.sequence - 1;
      last = { id, sequence };
    };
    const ended = run();
    return {
      async stop() {
        isOver = true;
        current?.destroy();
        await ended;
      },
    };
  }

  const choices = Object.entries(mix).flatMap(([name, share]) => Array(share).fill(name));
  async function actOnce() {
    const person = people[randomInt(people.length)];
    // One app sends one request after the other.
    if (person.isBusy) return;
    person.isBusy = true;
    try {
      await acts[choices[randomInt(choices.length)]](person);
    } catch (error) {
      state.failed += 1;
      state.firstFailure ||= error.message;
    } finally {
      person.isBusy = false;
    }
  }

  return {
    /** Sends this many requests a second until the given time, at random moments. */
    async run(rate, until) {
      const underWay = new Set();
      for (let due = performance.now(); due < until; due += (-Math.log(1 - Math.random()) * 1000) / rate) {
        const pause = due - performance.now();
        if (pause > 1) await wait(pause);
        const act = actOnce().finally(() => underWay.delete(act));
        underWay.add(act);
      }
      await Promise.all(underWay);
      await Promise.all(followers.map((follower) => follower.stop()));
      agent.destroy();
    },
    /** The counts so far, and the time of requests since the last call. */
    counts() {
      const { p99 } = summarise(state.times, 1);
      state.times = [];
      const { requests, refused, failed, firstFailure, gaps } = state;
      return { requests, refused, failed, firstFailure, gaps, p99 };
    },
  };
}

function send(agent, url, method, headers, body) {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { agent, method, headers: { ...headers, ...(body && { 'content-length': Buffer.byteLength(body) }) } },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.includes('json');
          resolve({
            status: response.statusCode,
            headers: response.headers,
            text,
            body: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    sent.on('error', reject).end(body);
  });
}
