import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/**
 * The levels of the requirements of ASVS 5.0.0, in the order of their numbers, by section. Sections with level 3 alone are
 * left out. From OWASP/ASVS, folder 5.0/en, © OWASP Foundation, CC BY-SA 4.0.
 */
const levels: Readonly<Record<string, string>> = {
  '1.1': '22',
  '1.2': '1111122223',
  '1.3': '112222222223',
  '1.4': '222',
  '1.5': '123',
  '2.1': '122',
  '2.2': '112',
  '2.3': '12223',
  '2.4': '23',
  '3.2': '113',
  '3.3': '12223',
  '3.4': '11222233',
  '3.5': '11122333',
  '3.7': '22333',
  '4.1': '12233',
  '4.2': '23333',
  '4.3': '22',
  '4.4': '1222',
  '5.1': '2',
  '5.2': '112333',
  '5.3': '113',
  '5.4': '222',
  '6.1': '122',
  '6.2': '111111112222',
  '6.3': '11223333',
  '6.4': '112233',
  '6.5': '22222333',
  '6.6': '2223',
  '6.8': '2222',
  '7.1': '222',
  '7.2': '1111',
  '7.3': '22',
  '7.4': '11222',
  '7.5': '223',
  '7.6': '22',
  '8.1': '1233',
  '8.2': '1123',
  '8.3': '133',
  '8.4': '23',
  '9.1': '111',
  '9.2': '1222',
  '10.1': '22',
  '10.2': '223',
  '10.3': '22223',
  '10.4': '1111122222233333',
  '10.5': '22222',
  '10.6': '22',
  '10.7': '222',
  '11.1': '2233',
  '11.2': '22233',
  '11.3': '11233',
  '11.4': '1222',
  '11.5': '23',
  '11.6': '23',
  '12.1': '12233',
  '12.2': '11',
  '12.3': '22223',
  '13.1': '2333',
  '13.2': '222223',
  '13.3': '2233',
  '13.4': '1222233',
  '14.1': '22',
  '14.2': '12223333',
  '14.3': '122',
  '15.1': '12233',
  '15.2': '12233',
  '15.3': '1222222',
  '16.1': '2',
  '16.2': '22222',
  '16.3': '2222',
  '16.4': '222',
  '16.5': '2223',
  '17.1': '23',
  '17.2': '22223333',
  '17.3': '22',
};
const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/asvs.md'), 'utf8');
const cellsOf = (line: string) => line.slice(2, -2).split(' | ');
/** A number, and the level that its type says: bold is level 1. */
const numbered = (text: string) => ({ number: text.replaceAll('*', ''), level: text.startsWith('**') ? '1' : '2' });
/** The paths of links from docs/, without the anchors, which the test of links checks. */
const placesIn = (where: string) =>
  [...where.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, path = '']) => normalize(join('docs', path)));
const cells = page
  .split('\n')
  .filter((line) => /^\| (?:\*\*)?\d+\.\d+\.\d+/.test(line))
  .map(cellsOf);
/** One row for each requirement that applies. */
const applicable = cells
  .filter((row) => row.length !== 2)
  .map(([number = '', title = '', text = '', ...rest]) => {
    const [, verdict = 'met', where = ''] = /^(?:(Operator|Refused|Open)\. )?(.*)$/.exec(text) ?? [];
    return { ...numbered(number), title, verdict: verdict.toLowerCase(), where, rest, places: placesIn(where) };
  });
/** Rows of several requirements, with the part that Postern does not have. */
const notApplicable = cells
  .filter((row) => row.length === 2)
  .flatMap(([numbers = '', where = '']) =>
    numbers.split(', ').map((number) => ({
      ...numbered(number),
      ...{ title: where, verdict: 'not applicable', where, rest: [] as string[], places: placesIn(where) },
    })),
  );
const inOrder = (number: string) => number.split('.').reduce((sum, part) => sum * 100 + Number(part), 0);
const rows = [...applicable, ...notApplicable].sort((one, other) => inOrder(one.number) - inOrder(other.number));
const withVerdict = (verdict: string) => rows.filter((row) => row.verdict === verdict);
const numbersOf = (some: typeof rows) => some.map(({ number }) => number);

it('the page has each requirement of the levels 1 and 2 once, and those that apply in order', () => {
  const expected = Object.entries(levels).flatMap(([section, each]) =>
    [...each].flatMap((level, index) => (level === '3' ? [] : [`${section}.${index + 1} ${level}`])),
  );
  expect(expected).toHaveLength(253);
  expect(rows.map(({ number, level }) => `${number} ${level}`)).toEqual(expected);
  expect(numbersOf(applicable)).toEqual(numbersOf(rows.filter((row) => row.verdict !== 'not applicable')));
});

it('each row has a title, a known verdict, and a reason if it is not met', () => {
  for (const { title, verdict, where, rest } of rows) {
    const hasReason = where.replace(/[\s,:]|\[[^\]]*\]\([^)]*\)/g, '') !== '';
    expect([title !== '', hasReason || verdict === 'met', rest]).toEqual([true, true, []]);
    expect(['met', 'not applicable', 'operator', 'refused', 'open']).toContain(verdict);
  }
});

it('each place exists, and no named test is switched off', () => {
  const places = rows.flatMap(({ number, places: each }) => each.map((place) => ({ number, place })));
  expect(places.filter(({ place }) => !existsSync(join(root, place)))).toEqual([]);
  const tests = [...new Set(places.map(({ place }) => place))].filter((place) => place.endsWith('.test.ts'));
  expect(tests.length).toBeGreaterThan(60);
  expect(
    tests.filter((test) => /\b(it|test|describe)\.(skip|todo|only)\b/.test(readFileSync(join(root, test), 'utf8'))),
  ).toEqual([]);
});

it('what is met has a test or a place, and what an operator does has a page', () => {
  expect(numbersOf(withVerdict('met').filter(({ places }) => places.length === 0))).toEqual([]);
  const isPage = (place: string) => place.endsWith('.md') && dirname(place) !== 'test';
  expect(numbersOf(withVerdict('operator').filter(({ places }) => !places.some(isPage)))).toEqual([]);
});

it('at most five requirements are refused, each with what an operator can do', () => {
  const refused = withVerdict('refused');
  expect(refused.length).toBeLessThanOrEqual(5);
  expect(numbersOf(refused.filter(({ where }) => !/\bYou can\b/.test(where)))).toEqual([]);
});

it('the numbers at the top are those of the rows', () => {
  const [top = ''] = page.split('\n## ');
  const counts = top
    .split('\n')
    .filter((line) => / \| \d+ \| \d+ \|$/.test(line))
    .map(cellsOf)
    .map(([verdict = '', , one, two]) => [verdict, Number(one), Number(two)]);
  const counted = (verdict: string, level: string) => withVerdict(verdict).filter((row) => row.level === level).length;
  expect(counts).toEqual(
    counts.map(([verdict]) => [verdict, counted(String(verdict), '1'), counted(String(verdict), '2')]),
  );
  expect(counts.reduce((sum, [, one, two]) => sum + Number(one) + Number(two), 0)).toBe(253);
});
