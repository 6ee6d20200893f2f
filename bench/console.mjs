// The console in Chromium: `node bench/console.mjs`. It needs Chromium in the path, and takes about five minutes.
// `node bench/console.mjs FOLDER` keeps the database in FOLDER, for a further run.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser, setUp } from '../scripts/lib/console-operator.mjs';
import { fill, inBulk } from './generate.mjs';
import { shown, summarise, table } from './measure.mjs';
import { record } from './results.mjs';
import { openPostgres, startPostern } from './service.mjs';

/** The number of rows of each list. */
const rows = 100_000;
const loads = 7;
const secondsOpen = 15;
/** The number of frames of one scroll, and of pixels of each frame: 3,000 pixels a second is a fast turn of the wheel. */
const frames = 480;
const step = 50;

const helpers = `
  create schema bench;
  create function bench.id(kind text, n bigint) returns uuid immutable language sql return md5(kind || n::text)::uuid;`;
const fills = {
  users: `select bench.id('user', n), 'user' || n, 'user' || n || '@example.com', '+1555' || lpad(n::text, 7, '0'), 'User Number ' || n, null,
      case when n % 50 = 0 then 'deactivated' else 'active' end, 'user', case when n % 20 = 1 then 'permanent' end,
      null, null, 0, null, null, '{}', at, at
    from generate_series(1, ${rows}) n, lateral (select now() - interval '400 days' + n * interval '1 minute' as at)`,
  identities: `select sha256(('username' || e'\\n' || username)::bytea), id, 'username', username from users`,
  events: `select bench.id('user', 1 + n % 1000), bench.id('event', n),
      (array['login.approved', 'login.rejected', 'device.removed', 'user.changed'])[1 + n % 4], 'user:' || bench.id('user', 1 + n % 1000),
      '192.0.2.7', null, '{}', now() - interval '100 days' + n * interval '1 minute'
    from generate_series(1, ${rows}) n`,
  outbox: `select bench.id('user', 1 + n % 1000), bench.id('message', n), null, 'email', 'login_code', 'user' || n || '@example.com',
      case when n % 3 = 0 then 'failed' else 'sent' end, 1, case when n % 3 = 0 then 'the mail server answered 550' end,
      null, at, at, at, null
    from generate_series(1, ${rows}) n, lateral (select now() - interval '20 days' + n * interval '10 seconds' as at)`,
};

const [keptFolder] = process.argv.slice(2);
const folder = keptFolder === undefined ? await mkdtemp(join(tmpdir(), 'postern-console-')) : resolve(keptFolder);
const say = (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`);
const stops = [];

async function main() {
  const isNew = !existsSync(join(folder, 'postgres'));
  await mkdir(folder, { recursive: true });
  const postgres = await openPostgres(folder);
  stops.unshift(() => postgres.close());
  if (isNew) await fillAll(postgres);
  const postern = await startPostern(folder);
  stops.unshift(() => postern.stop());
  const browser = await launchBrowser();
  stops.unshift(() => browser.close());
  const cookies = await setUp(browser, invitation(postern));
  const open = async (path) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en' });
    await context.addCookies(cookies);
    const page = await context.newPage();
    return { page, go: () => page.goto(new URL(path, postern.url).href), close: () => context.close() };
  };

  const first = await firstLoads(open);
  say(`first load: ${first.join(' | ')}`);
  const live = [];
  for (const [title, path] of [
    ['Overview', '/console'],
    ['Audit', '/console/audit'],
  ]) {
    live.push(await cpuOf(browser, open, postern, title, path));
    say(live.at(-1).join(' | '));
  }
  const lists = [];
  for (const [title, path, count] of [
    ['Users', '/console/users', rows],
    // All lists use the same component, so fewer rows of these two are enough.
    ['Audit', '/console/audit?live=off', rows / 10],
    ['Messages', '/console/messages?state=all', rows / 10],
  ]) {
    lists.push(...(await scroll(open, title, path, count)));
    say(lists.slice(-2).join('\n'));
  }
  const text = `Chromium ${browser.version()}, without a screen, at 1280 by 800 pixels. The browser, the service and PostgreSQL share the cores. The database has ${rows.toLocaleString('en')} users, events and messages.

The first load has an empty cache, and ends when the overview shows its figures: medians of ${loads} loads, and the slowest. Its size is what the service sends for the pages' files. Layout shift is the sum of Chromium's scores until the page has made no request for half a second.

${table([['First load', 'ms', 'slowest', 'kB', 'layout shift', 'wanted'], first])}

An open page, for ${secondsOpen} s with one refused login a second: the CPU time of the page's process, and of all processes of the browser, as a share of one core.

${table([['Open page', 'its process', 'browser', 'wanted'], ...live])}

A list is scrolled by ${frames} frames of ${step} pixels: first while it loads its rows, and again in the middle of rows that are already loaded. A late frame took more than 1.5 times its share of 1/60 s.

${table([['List', 'rows loaded', 'rows in the page', 'frames/s', 'late', 'longest ms', 'wanted'], ...lists])}`;
  console.log(text);
  await record('console', text);
}

async function fillAll(postgres) {
  await postgres.migrate();
  const pool = postgres.pool();
  await pool.query(helpers);
  await inBulk(pool, async () => {
    for (const [name, select] of Object.entries(fills)) await fill(pool, name, select, say);
  });
}

/** A set-up link of the service. */
function invitation({ url, adminKey }) {
  const program = fileURLToPath(new URL('../dist/cli/bin.js', import.meta.url));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, DATA_DIR: folder, ADMIN_API_KEY: adminKey };
  const answer = execFileSync(process.execPath, [program, 'operators', 'invite', '--json'], { env, encoding: 'utf8' });
  const { pathname, hash } = new URL(JSON.parse(answer).url);
  return new URL(pathname + hash, url).href;
}

/** Waits until the page has made no further request for half a second. Its stream of events stays open. */
async function settled(page) {
  const count = () => page.evaluate('performance.getEntriesByType("resource").length');
  for (let before = -1, now = await count(); now !== before; now = await count()) {
    before = now;
    await page.waitForTimeout(500);
  }
}

/** The layout shift since the page was opened. */
const layoutShift = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value; })
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => resolve(sum)));
})`;

async function firstLoads(open) {
  const times = [];
  let [bytes, shift] = [0, 0];
  for (let nth = 0; nth <= loads; nth += 1) {
    const { page, go, close } = await open('/console');
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const files = new Set();
    bytes = 0;
    session.on('Network.responseReceived', ({ requestId, response: { url } }) => {
      if (/\/console(?:\/assets\/.*)?$/.test(new URL(url).pathname)) files.add(requestId);
    });
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (files.has(requestId)) bytes += encodedDataLength;
    });
    const since = performance.now();
    await go();
    await page.getByRole('region', { name: 'Logins', exact: true }).locator('svg').first().waitFor();
    const time = performance.now() - since;
    await settled(page);
    shift = Math.max(shift, await page.evaluate(layoutShift));
    // The first one is a warm-up.
    if (nth > 0) times.push(time);
    await close();
  }
  const { p50 } = summarise(times, 1);
  const isMet = p50 < 1000 && bytes < 200_000 && shift === 0;
  return [
    ...['to the overview', shown(p50), shown(times.at(-1)), shown(bytes / 1000), shift.toFixed(3)],
    `< 1,000 ms, < 200 kB, 0: ${isMet ? 'met' : 'MISSED'}`,
  ];
}

/** The CPU time of the browser's processes so far, in seconds. */
async function cpuTimes(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo;
}

async function cpuOf(browser, open, postern, title, path) {
  const { page, go, close } = await open(path);
  await go();
  await settled(page);
  const before = await cpuTimes(browser);
  const since = performance.now();
  for (let second = 1; second <= secondsOpen; second += 1) {
    await refuseLogin(postern);
    await new Promise((resolve) => setTimeout(resolve, since + second * 1000 - performance.now()));
  }
  const seconds = (performance.now() - since) / 1000;
  const after = await cpuTimes(browser);
  const used = after.map(({ id, type, cpuTime }) => {
    const old = before.find((process) => process.id === id)?.cpuTime ?? 0;
    return { type, share: (cpuTime - old) / seconds };
  });
  const all = used.reduce((sum, { share }) => sum + share, 0);
  const own = Math.max(...used.filter(({ type }) => type === 'renderer').map(({ share }) => share));
  await close();
  return [title, percent(own), percent(all), `< 5 %: ${own < 0.05 ? 'met' : 'MISSED'}`];
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;

async function refuseLogin({ url }) {
  const identity = { type: 'username', value: 'user7' };
  const body = { identity, authenticator: 'password', secret: 'wrong', device: {} };
  await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** Scrolls down by `step` pixels a frame, and returns the milliseconds of each frame. */
const scrolling = `new Promise((resolve) => {
  const times = [];
  let before = performance.now();
  const next = (now) => {
    times.push(now - before);
    before = now;
    if (times.length > ${frames}) return resolve(times.slice(1));
    window.scrollBy(0, ${step});
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;

/** Goes to the end of the list again and again, until so many rows are loaded. */
const loading = (count) => `new Promise((resolve) => {
  const next = () => {
    window.scrollTo(0, document.documentElement.scrollHeight);
    const last = [...document.querySelectorAll('tbody tr[data-index]')].at(-1);
    if (Number(last?.dataset.index) >= ${count} - 10) resolve();
    else requestAnimationFrame(next);
  };
  next();
})`;

async function scroll(open, title, path, count) {
  const { page, go, close } = await open(path);
  await go();
  await page.locator('tbody tr[data-index]').first().waitFor();
  const asItLoads = await figures(page, title, 'as it is read');
  say(`${title}: loads ${count} rows`);
  await page.evaluate(loading(count));
  await page.evaluate(`window.scrollTo(0, document.documentElement.scrollHeight / 2)`);
  const whole = await figures(page, title, count.toLocaleString('en'));
  await close();
  return [asItLoads, whole];
}

async function figures(page, title, loaded) {
  const times = await page.evaluate(scrolling);
  const inPage = await page.locator('tbody tr[data-index]').count();
  const rate = (1000 * times.length) / times.reduce((sum, time) => sum + time, 0);
  const late = times.filter((time) => time > 25).length / times.length;
  return [
    ...[title, loaded, String(inPage), shown(rate), percent(late), shown(Math.max(...times))],
    `60: ${rate > 59 ? 'met' : 'MISSED'}`,
  ];
}

try {
  await main();
} finally {
  for (const stop of stops) await stop();
  if (keptFolder === undefined) await rm(folder, { recursive: true, force: true });
}
