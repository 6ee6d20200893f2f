// The rate of a publication to a topic, and what it costs others: `npm run build && node bench/publications.mjs [subscribers]
// [rounds]`. It compares the rate with that of "one item to 10,000 users" and of a job for each recipient, and the medians of single publishes and logins with
// those without a publication, in turns. It writes bench/RESULTS.md.
import { ownersOf } from './generate.mjs';
import { jobForEach } from './jobs.mjs';
import { closedLoop } from './load.mjs';
import { median, shown, table } from './measure.mjs';
import { operations, sample } from './operations.mjs';
import { record } from './results.mjs';
import { withFilledPostern } from './service.mjs';

const [subscribers = 100_000, rounds = 5] = process.argv.slice(2, 4).map(Number);
const sizes = { users: 200_000, notifications: 200_000, inbox: 50_000 };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const topic = 'bench';

await withFilledPostern({ sizes, folder: process.env.BENCH_DIR }, async ({ postern, pool, dataDir }) => {
  const ops = operations(postern, await sample(pool, { ...sizes, owners: ownersOf(sizes) }));
  const admin = async (method, path, body) => {
    const answer = await fetch(`${postern.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${postern.adminKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };
  await admin('PUT', `/topics/${topic}`, { title: 'Bench' });
  await pool.query(
    `insert into subscriptions (topic_id, user_id, created_at)
     select topics.id, bench.id('user', n), now() from topics, generate_series(1, $1::int) n where key = $2
     on conflict do nothing`,
    [subscribers, topic],
  );
  const start = () =>
    admin('POST', '/publications', {
      to: { topic },
      notification: { notification_type: 'payment', description: 'The tournament begins on Friday' },
    });
  const finished = async (id) => {
    for (;;) {
      const { status, created, started_at: from, ended_at: to } = await admin('GET', `/publications/${id}`);
      if (status === 'done') return created / ((Date.parse(to) - Date.parse(from)) / 1000);
      // Seldom: the fan-out leaves time to requests, and these are requests.
      await pause(1000);
    }
  };
  const cancelled = async (id) => {
    const answer = await fetch(`${postern.url}/admin/v1/publications/${id}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${postern.adminKey}` },
    });
    if (answer.status === 409) throw new Error('the publication was shorter than the load: use more subscribers');
  };
  const load = (name, connections) => closedLoop({ url: postern.url, next: ops[name], connections, seconds: 2 });

  const results = { list: [], jobs: [], publication: [], publish: [], login: [] };
  for (let round = 0; round <= rounds; round += 1) {
    const list = (await load('publishUsers', 1)).rate * 10_000;
    const publication = await finished((await start()).id);
    const jobs = await jobForEach(dataDir, 5000);
    const measured = {};
    for (const [name, connections] of [
      ['publish', 4],
      ['login', 2],
    ]) {
      const alone = (await load(name, connections)).p50;
      const { id } = await start();
      const beside = (await load(name, connections)).p50;
      await cancelled(id);
      measured[name] = [alone, beside];
    }
    if (round === 0) continue;
    results.list.push(list);
    results.jobs.push(jobs);
    results.publication.push(publication);
    for (const name of ['publish', 'login']) results[name].push(measured[name]);
  }
  const ratioOf = (pairs) => median(pairs.map(([before, after]) => after / before)).toFixed(2);
  const medianOf = (pairs, place) => `${median(pairs.map((pair) => pair[place])).toFixed(2)} ms`;
  const rateRow = (title, rates) => [
    title,
    shown(Math.round(median(rates))),
    shown(Math.round(median(results.publication))),
    median(results.publication.map((rate, round) => rate / rates[round])).toFixed(2),
  ];
  const text = `A publication to a topic of ${shown(subscribers)} subscribers; medians of ${rounds} rounds. The ratios are of values of one round.

${table([
  ['', 'Alone', 'Publication', 'Ratio'],
  rateRow('Notifications a second, compared with "one item to 10,000 users"', results.list),
  rateRow('Notifications a second, compared with a job for each recipient', results.jobs),
  [
    'Publish one, 4 connections: median',
    medianOf(results.publish, 0),
    medianOf(results.publish, 1),
    ratioOf(results.publish),
  ],
  ['Login, 2 connections: median', medianOf(results.login, 0), medianOf(results.login, 1), ratioOf(results.login)],
])}`;
  console.log(text);
  await record('publications', text);
});
