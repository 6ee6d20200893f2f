import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { scrape } from '../support/metrics.js';
import { createUser, signIn } from '../support/users.js';

const run = promisify(execFile);
const file = (path: string) => fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));

let postern: TestApp;
beforeAll(async () => {
  postern = await startTestApp({ METRICS_PORT: '0' });
  await signIn(postern, await createUser(postern));
});
afterAll(() => postern.close());

test('promtool accepts the metrics', async () => {
  const { text } = await scrape(postern.metricsUrl ?? '');
  const checking = run('promtool', ['check', 'metrics', '--extended']);
  checking.child.stdin?.end(text);
  const { stdout } = await checking;
  expect(stdout).toContain('postern_http_requests_total');
});

test('promtool accepts the alert rules and the example configuration', async () => {
  const { stdout } = await run('promtool', ['check', 'config', file('prometheus/prometheus.yml')]);
  expect(stdout).toContain('SUCCESS');
});

test('a real Prometheus scrapes the service and answers queries', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'postern-prometheus-'));
  const port = await freePort();
  const example = await readFile(file('prometheus/prometheus.yml'), 'utf8');
  const configuration = example
    .replace('127.0.0.1:9464', new URL(postern.metricsUrl ?? '').host)
    .replace('15s', '1s')
    .replace('alerts.yml', file('prometheus/alerts.yml'));
  await writeFile(join(folder, 'prometheus.yml'), configuration);
  const options = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const prometheus = spawn('prometheus', options, { stdio: 'ignore' });
  const ended = once(prometheus, 'exit');
  const query = async (expression: string) => {
    const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok !== true) return undefined;
    const { data } = (await response.json()) as { data: { result: { value: [number, string] }[] } };
    return data.result[0]?.value[1];
  };
  try {
    const approved = 'sum(postern_logins_total{authenticator="password",outcome="approved"})';
    expect(await eventually('the first scrape', () => query(approved))).toBe('1');
    expect(await query('min(up{job="postern"})')).toBe('1');
    const rules = await fetch(`http://127.0.0.1:${port}/api/v1/rules`);
    const { data } = (await rules.json()) as { data: { groups: { rules: { name: string; health: string }[] }[] } };
    const loaded = data.groups.flatMap((group) => group.rules);
    expect(loaded.length).toBeGreaterThan(10);
    expect(loaded.filter(({ health }) => health === 'err')).toEqual([]);
  } finally {
    prometheus.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
});
