import { expect, test } from 'vitest';
import { allPages, readPage } from './markdown.js';

const index = 'docs/operations.md';
const pages = allPages().filter((page) => page.startsWith('docs/operations/'));

/** The cells of the table with this header. */
function rowsOf(page: string, header: string): string[][] {
  const [, table = ''] = readPage(page).split(`${header}\n`);
  const [, ...rows] = table.split('\n\n', 1)[0]?.split('\n') ?? [];
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

test('the index of operations names each page', () => {
  expect(pages.length).toBeGreaterThan(10);
  const missing = pages.filter((page) => !readPage(index).includes(`](${page.replace('docs/', '')})`));
  expect(missing).toEqual([]);
});

test('the index of operations names for each page what exists: pages of the console and metrics', () => {
  const rows = rowsOf(index, '| You want to | Page | Console | Command | Metric |');
  expect(rows.length).toBeGreaterThanOrEqual(pages.length);
  const consolePages = rowsOf('docs/console.md', '| Page | Shows |').map(([name]) => name);
  const metrics = new Set(
    [...readPage('docs/operations/monitor.md').matchAll(/^\| `(postern_[a-z_]+)/gm)].map(([, name]) => name),
  );
  for (const row of rows) {
    const [metric = '', , consolePage = ''] = row.toReversed();
    for (const name of consolePage.split(', ').filter(Boolean)) expect(consolePages).toContain(name);
    const [, used] = /^`(\w+)/.exec(metric) ?? [];
    if (used !== undefined) expect(metrics).toContain(used);
  }
});
