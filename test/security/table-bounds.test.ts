import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

/** The rows of the list of tables in SECURITY.md, each as the texts of its cells. */
function listedTables(): string[][] {
  const text = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  const [, section = ''] = text.split('\n## All stored data\n');
  const [list = ''] = section.split('\n## ');
  return list
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.slice(2, -2).split(' | '));
}

test('SECURITY.md says for each table the class of its data, what adds rows, what bounds them, and what removes them', async () => {
  const tables = await fresh.database.query<{ name: string }>(
    testSql("select tablename as name from pg_tables where schemaname = 'public'"),
  );
  const listed = listedTables();
  expect(listed.map(([name = '']) => name.replaceAll('`', '')).sort()).toEqual(tables.map(({ name }) => name).sort());
  for (const cells of listed) expect(cells.filter((cell) => cell.trim() !== '')).toHaveLength(5);
  expect(listed.filter(([, dataClass = '']) => !/^(secret|personal|internal)\b/.test(dataClass))).toEqual([]);
});
