import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { testSql } from '../support/sql.js';
import { allPages, fencesOf } from './markdown.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** The queries of all pages, without other statements, which would change the server. */
const queries = allPages().flatMap((page) =>
  fencesOf(page)
    .filter(({ language, text }) => language === 'sql' && text.startsWith('select'))
    .map(({ line, text }) => ({ page, line, text })),
);

test('the pages have queries', () => {
  expect(queries.length).toBeGreaterThan(1);
});

test.each(queries)('the query of $page in line $line runs', async ({ text }) => {
  await expect(db.database.query(testSql(text))).resolves.toBeInstanceOf(Array);
});
