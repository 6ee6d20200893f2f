import { describe, expect, test } from 'vitest';
import { allPages, readPage } from './markdown.js';

const folder = 'docs/decisions/';
const index = readPage(`${folder}README.md`);

interface DecisionRecord {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  readonly status: string;
}

const records: DecisionRecord[] = allPages()
  .filter((page) => /^docs\/decisions\/\d{4}-/.test(page))
  .map((page) => {
    const text = readPage(page);
    const [, number = '', title = ''] = /^# (\d+)\. (.+)$/m.exec(text) ?? [];
    const [, status = ''] = /^\*\*Status\.\*\* (.+?)\n\n/ms.exec(text) ?? [];
    return { file: page.slice(folder.length), number: Number(number), title, status: status.replaceAll('\n', ' ') };
  });

/** The rows of the index, as number, title, file and status. */
const rows = [...index.matchAll(/^\| (\d+) \| \[(.+?)\]\((.+?)\) \| (.+?) \| .+ \|$/gm)].map(
  ([, number, title, file, status]) => ({ number: Number(number), title, file, status }),
);

/** The files of the decisions that are linked from the sentences of a status that match a pattern. */
function linkedFiles(pattern: RegExp, status: string): string[] {
  const sentences = status.split(/(?<=[.]) (?=[A-Z[])/).filter((sentence) => pattern.test(sentence));
  return [...sentences.join(' ').matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(([, file = '']) => file);
}

/** The short status that the index shows. */
function shortStatus({ status }: DecisionRecord): string {
  const later = linkedFiles(/^Superseded/, status).map((file) => Number(file.slice(0, 4)));
  if (later.length === 0) return 'accepted';
  const by = `superseded by ${later.join(' and ')}`;
  return status.startsWith('Superseded by') ? by : `accepted, in part ${by}`;
}

test('the index lists each record once, with its number, title and status', () => {
  const expected = records.map((record) => ({
    number: record.number,
    title: record.title,
    file: record.file,
    status: shortStatus(record),
  }));
  expect(rows.toSorted((one, other) => one.number - other.number)).toEqual(expected);
});

test('the records are numbered from 1 without a gap, and each file name holds the number and the title', () => {
  expect(records.length).toBeGreaterThan(70);
  expect(records.map(({ number }) => number)).toEqual(records.map((_, position) => position + 1));
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

describe.each(records)('decision $number', ({ file, status }) => {
  test('has a status, a context, a decision, rejected alternatives and consequences', () => {
    expect(status).toMatch(/^(?:Accepted|Superseded by \[)/);
    const headings = [...readPage(folder + file).matchAll(/^\*\*([A-Z]\w+)\.\*\*/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Status', 'Context', 'Decision', 'Rejected', 'Consequences']);
  });

  test('is linked from each record that it supersedes or that supersedes it', () => {
    const statusOf = (other: string) => records.find((record) => record.file === other)?.status ?? '';
    for (const later of linkedFiles(/^Superseded/, status)) {
      expect(linkedFiles(/^Supersedes/, statusOf(later))).toContain(file);
    }
    for (const earlier of linkedFiles(/^Supersedes/, status)) {
      expect(linkedFiles(/^Superseded/, statusOf(earlier))).toContain(file);
    }
  });
});
