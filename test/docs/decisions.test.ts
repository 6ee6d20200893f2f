import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { allPages, readPage, root } from './markdown.js';

const folder = 'docs/decisions/';

interface DecisionRecord {
  readonly file: string;
  readonly number: number;
  readonly title: string;
}

const records: DecisionRecord[] = allPages()
  .filter((page) => page.startsWith(folder) && page !== `${folder}README.md`)
  .map((page) => {
    const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(readPage(page)) ?? [];
    return { file: page.slice(folder.length), number: Number(number), title };
  });

test('the index lists each record once, with its number, title and file', () => {
  const rows = [...readPage(`${folder}README.md`).matchAll(/^- (\d+): \[(.+?)\]\((.+?)\)$/gm)];
  const listed = rows.map(([, number, title, file]) => ({ number: Number(number), title, file }));
  expect(listed.toSorted((one, other) => one.number - other.number)).toEqual(
    records.map(({ number, title, file }) => ({ number, title, file })),
  );
});

test('each record has a number of its own, and each file name holds the number and the title', () => {
  expect(records.length).toBeGreaterThan(40);
  expect(new Set(records.map(({ number }) => number)).size).toBe(records.length);
  expect(records.map(({ file }) => file)).toEqual(
    records.map(({ number, title }) => {
      const words =
        title
          .toLowerCase()
          .replaceAll("'", '')
          .match(/[a-z0-9]+/g) ?? [];
      return `${String(number).padStart(4, '0')}-${words.join('-')}.md`;
    }),
  );
});

describe.each(records)('decision $number', ({ file }) => {
  test('has a context, a decision, rejected alternatives and consequences', () => {
    const headings = [...readPage(folder + file).matchAll(/^\*\*([A-Z]\w+)\.\*\*/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Context', 'Decision', 'Rejected', 'Consequences']);
  });
});

/** The files of the project that people write: pages and code, as paths from its root. */
function writtenFiles(): string[] {
  const code = ['src', 'test', 'scripts', 'bench', 'migrations', 'console/src', 'packages'].flatMap((name) =>
    readdirSync(`${root}${name}`, { recursive: true, encoding: 'utf8' }).map((path) => `${name}/${path}`),
  );
  const sources = code.filter((path) => /\.(?:[cm]?[jt]sx?|css|sql|md)$/.test(path));
  return [...allPages(), ...sources].filter((path) => !/(?:^|\/)(?:node_modules|dist|built)\//.test(path));
}

/** The numbers of the decisions that a text names, such as 3 and 7 in "(decisions 3 and 7)". */
function namedDecisions(text: string): number[] {
  const joined = text.replaceAll(/\s*\n\s*(?:\*|\/\/|--|#)?\s*/g, ' ');
  const lists = joined.matchAll(
    /\bdecisions? \[?(\d+(?:\]\([^)]*\))?(?:(?:, | and |, and )\[?\d+(?:\]\([^)]*\))?)*)/gi,
  );
  return [...lists].flatMap(([, list = '']) =>
    list
      .replaceAll(/\]\([^)]*\)/g, '')
      .split(/\D+/)
      .filter((part) => part !== '')
      .map(Number),
  );
}

test('decisions are found in comments, links and lists', () => {
  expect(namedDecisions('// first (decision\n// 12). See decisions 3, 4 and 5.')).toEqual([12, 3, 4, 5]);
  expect(namedDecisions('([decision\n  7](a/0007-x.md)) and decisions [8](0008-x.md) and\n[9](0009-x.md)')).toEqual([
    7, 8, 9,
  ]);
});

test('every decision that a page or a comment names exists', () => {
  const named = writtenFiles().flatMap((file) => namedDecisions(readPage(file)).map((number) => ({ file, number })));
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter(({ number }) => !records.some((record) => record.number === number))).toEqual([]);
});
