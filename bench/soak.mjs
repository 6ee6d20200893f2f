// Runs mixed load for hours, and fails if something grows: npm run soak -- --hours N [--rate N] [--users N]
// The rate is requests a second. A line for each hour is what bench/RESULTS.md records.
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { shown, table } from './measure.mjs';
import { record } from './results.mjs';
import { openPostgres, startPostern } from './service.mjs';
import { createFigures, growthOf } from './soak/figures.mjs';
import { createPopulation } from './soak/population.mjs';

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '8' },
    rate: { type: 'string', default: '150' },
    users: { type: 'string', default: '2000' },
    streams: { type: 'string', default: '200' },
  },
});
const [hours, rate, users, streams] = ['hours', 'rate', 'users', 'streams'].map((name) => {
  const value = Number(values[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not ${values[name]}`);
  return value;
});

/** The number of samples an hour: one a minute, so that a short run can be compared too. */
const samplesAnHour = 60;
const say = (line) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

/** Receives the codes that Postern sends by SMS. */
async function startReceiver() {
  const codes = new Map();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authentication_id: id, code } = JSON.parse(Buffer.concat(chunks).toString());
    codes.get(id)?.(code);
    codes.delete(id);
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** The code of an authentication, or undefined after ten seconds. */
    codeOf: (id) =>
      Promise.race([
        new Promise((resolve) => codes.set(id, resolve)),
        wait(10_000, undefined, { ref: false }).then(() => void codes.delete(id)),
      ]),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Short lifetimes, so that rows expire during the run. Notifications and events are kept for a day at least. */
const settings = (receiver) => ({
  ...{ SESSION_TTL: '2m', NOTIFICATION_RETENTION: '*:1d', EVENT_RETENTION: '1d', PIN_POLICY: 'off' },
  ...{ CODE_LIMIT_PER_ADDRESS: '0', GUESS_LIMIT: '1000', ALLOW_PRIVATE_NETWORK_TARGETS: 'true' },
  ...{ SMS_PROVIDER: 'webhook', SMS_WEBHOOK_URL: `${receiver.url}/sms` },
  SMS_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
});

async function main() {
  const dataDir = await mkdtemp(join(tmpdir(), 'postern-soak-'));
  const receiver = await startReceiver();
  const postgres = await openPostgres(dataDir);
  const postern = await startPostern(dataDir, settings(receiver));
  try {
    const population = await createPopulation(postern, receiver, { users, streams });
    say(`${users} users and ${streams} streams are there; ${rate} requests a second for ${hours} h`);
    const figures = createFigures({ pid: postern.pid, pool: postgres.pool({ max: 1 }), dataDir });
    const until = performance.now() + hours * 3_600_000;
    const load = population.run(rate, until);
    const samples = [];
    const pause = 3_600_000 / samplesAnHour;
    // The load ends with the run, so the last figures are read a little before.
    while (performance.now() + pause < until) {
      await Promise.race([load, wait(pause)]);
      samples.push({ ...(await figures()), ...population.counts() });
      if (samples.length % 5 === 0) say(lineOf(samples.at(-1)));
    }
    await load;
    const report = reportOf(samples);
    say(`\n${report.text}`);
    if (hours >= 1) await record('soak', `${report.text}\n`);
    if (report.failures.length > 0) process.exitCode = 1;
  } finally {
    await postern.stop();
    await postgres.close();
    receiver.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const columns = [
  ...[
    ['requests', 'requests'],
    ['refused', 'refused'],
    ['failed', 'failed'],
    ['gaps in streams', 'gaps'],
  ],
  ...[
    ['MB of the service', 'rss'],
    ['files', 'files'],
    ['connections', 'connections'],
  ],
  ...[
    ['MB of PostgreSQL', 'databaseRss'],
    ['MB of tables', 'tables'],
    ['p99 ms', 'p99'],
  ],
];
const cellsOf = (sample) => columns.map(([, key]) => shown(sample[key]));
const lineOf = (sample) => columns.map(([head, key]) => `${head} ${shown(sample[key])}`).join(', ');

/** A line for each hour, or about four lines for a run of less than four hours. Then what has grown. */
function reportOf(samples) {
  const samplesPerLine = Math.min(samplesAnHour, Math.ceil(samples.length / 4));
  const lines = samples.filter((_, nth) => (nth + 1) % samplesPerLine === 0);
  const grown = growthOf(samples);
  const last = samples.at(-1);
  const failures = [
    ...grown.filter(({ isFailure }) => isFailure).map(({ text }) => text),
    ...(last.gaps > 0 ? [`${last.gaps} notifications did not reach a stream`] : []),
    ...(last.failed > 0 ? [`${last.failed} requests failed, the first with: ${last.firstFailure}`] : []),
  ];
  const head = ['h', ...columns.map(([name]) => name)];
  const rows = lines.map((sample) => [shown((samples.indexOf(sample) + 1) / samplesAnHour), ...cellsOf(sample)]);
  const text = `${users} users, ${streams} streams, ${rate} requests a second, ${shown(hours)} h.

${table([head, ...rows])}

${grown.map(({ text }) => `- ${text}`).join('\n') || '- Nothing has grown.'}
${failures.length > 0 ? `\nFAILED:\n${failures.map((failure) => `- ${failure}`).join('\n')}` : ''}`.trimEnd();
  return { text, failures };
}

await main();
