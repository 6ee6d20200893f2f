import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFromDatabase } from '../../src/app/metrics/database-metrics.js';
import type { Sample } from '../../src/app/metrics/families.js';
import { readProcessMetrics } from '../../src/app/metrics/process-metrics.js';
import { metricNames } from '../../src/contract/operation/statistics.js';
import { createCounters } from '../../src/statistics/counters.js';
import { createMeters } from '../../src/statistics/meters.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Scrape, scrape } from '../support/metrics.js';
import { codeOf, createUser, newPhone, smsLogin } from '../support/users.js';

const read = (path: string) => readFile(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

let postern: TestApp;
let metrics: Scrape;
beforeAll(async () => {
  postern = await startTestApp({ METRICS_PORT: '0' });
  metrics = await scrape(postern.metricsUrl ?? '');
});
afterAll(() => postern.close());

/** The metrics that an expression uses, without the suffixes of histograms. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:postern|process|nodejs)_[a-z0-9_]+/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|count|sum)$/, '')))];
}

test.each(['deploy/prometheus/alerts.yml', 'deploy/grafana/postern.json'])(
  '%s uses only metrics that exist',
  async (path) => {
    const used = metricsIn(await read(path));
    expect(used.length).toBeGreaterThan(9);
    expect(used.filter((name) => !metrics.names.has(name))).toEqual([]);
  },
);

test('the page about monitoring describes every metric of Postern, and nothing else', async () => {
  const page = await read('docs/operations/monitor.md');
  const described = [...page.matchAll(/^\| `(postern_[a-z_]+)/gm)].map(([, name]) => name);
  const existing = [...metrics.names].filter((name) => name.startsWith('postern_'));
  expect(described.toSorted()).toEqual(existing.toSorted());
});

test('the page about incidents names the critical alerts', async () => {
  const [rules, page] = await Promise.all([read('deploy/prometheus/alerts.yml'), read('docs/operations/incidents.md')]);
  const [, ...texts] = rules.split(/^ *- alert: /m);
  const critical = texts.filter((text) => text.includes('severity: critical')).map((text) => text.split('\n', 1)[0]);
  const [, sentence = ''] = /([^.]+) are critical: /.exec(page) ?? [];
  expect(sentence.match(/Postern\w+/g)).toEqual(critical);
});

test('the page about monitoring names the labels of every metric', async () => {
  const page = await read('docs/operations/monitor.md');
  const described = [...page.matchAll(/^\| `(postern_[a-z_]+)(?:\{([a-z,]+)\})?`/gm)].map(
    ([, name = '', labels = '']) => [name, labels] as const,
  );
  const phone = newPhone();
  await createUser(postern, { phone });
  const { body: started } = await postern.api<{ id: string }>('POST', '/v1/tokens', { body: smsLogin(phone) });
  await codeOf(postern, started.id);
  const counters = createCounters({ withTotals: true });
  for (const metric of metricNames) counters.add(metric, 'label', 1, 'detail');
  const meters = createMeters();
  meters.requestAnswered({
    ...{
      requestId: '',
      method: 'GET',
      route: '/',
      status: 200,
      duration: 1,
      isStream: false,
      userId: undefined,
      keyId: undefined,
      address: undefined,
    },
  });
  const families = [
    ...readProcessMetrics({
      ...{ version: '', counters, meters, waitingHashes: () => 0, openStreams: () => 0 },
      openRevocationStreams: () => 0,
      runningJobs: () => new Map([['task', 1]]),
      pools: { requests: () => ({ used: 0, idle: 0, waiting: 0 }) },
    }),
    ...(await readFromDatabase(postern.database, {
      ...postern.config,
      BACKUP_TO: '/backups',
      BACKUP_CONTINUOUS: true,
    })),
  ];
  const labelsOf = (name: string) => {
    const samples = families.filter((family) => family.name === name).flatMap(({ values }) => values as Sample[]);
    expect(samples, name).not.toEqual([]);
    const labels = samples.map((sample) => Object.keys(sample.labels).filter((label) => label !== 'le'));
    return [...new Set(labels.map((names) => names.join()))];
  };
  expect(described.map(([name]) => [name, labelsOf(name)])).toEqual(
    described.map(([name, labels]) => [name, [labels]]),
  );
});

test('the dashboard shows every metric of Postern', async () => {
  const shown = new Set(metricsIn(await read('deploy/grafana/postern.json')));
  const existing = [...metrics.names].filter((name) => name.startsWith('postern_'));
  expect(existing.filter((name) => !shown.has(name))).toEqual([]);
});

test('every alert has a runbook: its annotation names a section, which is in the overview with a metric of the rule', async () => {
  const [rules, page] = await Promise.all([read('deploy/prometheus/alerts.yml'), read('docs/operations/incidents.md')]);
  const [, ...texts] = rules.split(/^ *- alert: /m);
  const alerts = texts.map((text) => ({ name: text.split('\n', 1)[0] ?? '', text }));
  expect(alerts.length).toBeGreaterThan(10);
  const headings = [...page.matchAll(/^### (Postern\w+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual(alerts.map(({ name }) => name));
  const rows = [...page.matchAll(/^\| \[(Postern\w+)\]\(#(\w+)\) \| `(\w+)` \|$/gm)];
  expect(rows.map(([, name]) => name)).toEqual(headings);
  for (const [index, { name, text }] of alerts.entries()) {
    const [, , anchor, metric] = rows[index] ?? [];
    expect(anchor).toBe(name.toLowerCase());
    expect(text).toContain(`runbook: 'docs/operations/incidents.md#${anchor}'`);
    expect(text).toMatch(new RegExp(`\\b${metric}(_bucket)?\\b`));
  }
});
