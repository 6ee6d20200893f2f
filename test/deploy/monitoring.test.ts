import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Scrape, scrape } from '../support/metrics.js';

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

test('operations describes every metric of Postern, and nothing else', async () => {
  const page = await read('docs/operations.md');
  const described = [...page.matchAll(/^\| `(postern_[a-z_]+)/gm)].map(([, name]) => name);
  const existing = [...metrics.names].filter((name) => name.startsWith('postern_'));
  expect(described.toSorted()).toEqual(existing.toSorted());
});

test('every alert has a section of operations, which its annotation names', async () => {
  const [rules, page] = await Promise.all([read('deploy/prometheus/alerts.yml'), read('docs/operations.md')]);
  const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name);
  const runbooks = [...rules.matchAll(/runbook: 'docs\/operations\.md#(\w+)'/g)].map(([, anchor]) => anchor);
  const headings = [...page.matchAll(/^#### (Postern\w+)$/gm)].map(([, name]) => name);
  expect(alerts.length).toBeGreaterThan(10);
  expect(runbooks).toEqual(alerts.map((name) => name.toLowerCase()));
  expect(headings).toEqual(alerts);
});
