import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTemplate } from '../../../src/notifications/templates/parse.js';

const faultsOf = (source: string) => {
  const parsed = parseTemplate(source);
  return 'faults' in parsed ? parsed.faults : [];
};

describe('parseTemplate', () => {
  test.each([
    ['{{{actor}}}', 1, '{{{ is not supported'],
    ['Hello {{& actor}}', 7, '{{& is not supported'],
    ['Hello {{> footer}}', 7, '{{> is not supported'],
    ['{{=<% %>=}}', 1, '{{= is not supported'],
    ['{{ \n > footer }}', 1, '{{> is not supported'],
    ['Hello {{actor', 7, 'the tag is not closed'],
    ['{{#data.a}}x', 13, 'unclosed section "data.a"'],
    ['x{{/data.a}}', 2, 'unopened section "data.a"'],
    ['{{#a}}x{{/b}}', 8, 'unclosed section "a"'],
    ['{{actor()}}', 1, '"actor()" is no path, such as data.total'],
    ['{{a..b}}', 1, '"a..b" is no path, such as data.total'],
    ['{{}}', 1, '"" is no path, such as data.total'],
    [`{{${'a'.repeat(1001)}}}`, 1, 'the tag has more than 1000 characters'],
  ])('refuses %j and says where', (source, position, reason) => {
    expect(faultsOf(source)).toEqual([{ position, reason }]);
  });

  test.each([
    ['{{data.sum | currancy data.code}}', 'currency'],
    ['{{data.at | date shrt}}', 'short'],
    ['{{data.n | plural oen "x" other "y"}}', 'one'],
  ])('suggests the right word for %j', (source, suggestion) => {
    expect(faultsOf(source)).toMatchObject([{ position: 1, suggestion }]);
  });

  test.each([
    '{{data.n | number 21}}',
    '{{data.n | currency}}',
    '{{data.n | plural one "x"}}',
    '{{data.n | plural one x other "y"}}',
    '{{data.n | plural one "x}}',
    '{{data.n | }}',
  ])('refuses %j', (source) => {
    expect(faultsOf(source)).toHaveLength(1);
  });

  test('lists several faults in one answer', () => {
    expect(faultsOf('{{a()}} {{b | nothing}} {{c..d}}').map(({ position }) => position)).toEqual([1, 9, 25]);
  });

  test('bounds the depth of sections', () => {
    const nested = (depth: number) => `${'{{#a}}'.repeat(depth)}${'{{/a}}'.repeat(depth)}`;
    expect(faultsOf(nested(32))).toEqual([]);
    expect(faultsOf(nested(33))).toEqual([
      { position: 193, reason: 'there are more than 32 sections within each other' },
    ]);
    expect(faultsOf(nested(5000))).toHaveLength(1);
  });

  test('answers any text, and never throws', () => {
    const pieces = fc.constantFrom(
      '{{',
      '}}',
      '#',
      '/',
      '^',
      '!',
      '{',
      '=',
      '>',
      '|',
      '.',
      '"',
      'a',
      'data',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 40 }), (parts) => {
        const parsed = parseTemplate(parts.join(''));
        expect('nodes' in parsed || parsed.faults.length > 0).toBe(true);
      }),
    );
  });

  test('takes time in proportion to the length, also for endless spaces and open tags', () => {
    const timeOf = (source: string) => {
      const start = performance.now();
      parseTemplate(source);
      return performance.now() - start;
    };
    const worst = [
      `{{${' '.repeat(64_000)}`,
      '{{'.repeat(32_000),
      `{{a${' '.repeat(990)}}}`.repeat(64),
      '{{ '.repeat(21_000),
    ];
    const plain = Math.min(...[1, 2, 3].map(() => timeOf('x'.repeat(64_000))));
    for (const source of worst) {
      expect(Math.min(...[1, 2, 3].map(() => timeOf(source)))).toBeLessThan(50 * plain);
    }
  });
});
